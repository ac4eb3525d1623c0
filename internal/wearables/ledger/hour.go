package ledger

import (
	"encoding/binary"
	"time"
)

// hour is the hour of the first sample of a body, in hours since 1970. The id of the
// payload contains it, so the id locates the row.
type hour int64

// noHour is the hour of files and summaries, and of samples whose time does not fit into
// an id. Payloads from versions without hours have it too.
const noHour hour = 0

// maxHour is the last hour whose milliseconds fit into 48 bits.
const maxHour = hour((1<<48 - 1) / int64(time.Hour/time.Millisecond))

// hourOf returns the hour of an instant in microseconds.
func hourOf(micros int64) hour {
	h := hour(micros / time.Hour.Microseconds())
	if h < 0 || h > maxHour {
		return noHour
	}
	return h
}

func (h hour) millis() int64 { return int64(h) * time.Hour.Milliseconds() }

// hourIn returns the hour in the id of a payload.
func hourIn(payload ID) hour {
	id := payload.UUID()
	if id.Version() != 7 {
		return noHour
	}
	millis := int64(binary.BigEndian.Uint32(id[:]))<<16 | int64(binary.BigEndian.Uint16(id[4:]))
	return hour(millis / time.Hour.Milliseconds())
}
