package ledger

import (
	"encoding/binary"
	"time"
)

// hour is an hour since 1970 that a body is about: that of its first sample. It
// stands in the payload's id, so whoever has the id finds the row.
type hour int64

// noHour is that of files and summaries, of samples of a time that no id has
// room for, and of what was kept before there were hours.
const noHour hour = 0

// lastHour is the last one whose milliseconds have room in 48 bits.
const lastHour = hour((1<<48 - 1) / int64(time.Hour/time.Millisecond))

// hourOf is the hour of an instant in microseconds.
func hourOf(micros int64) hour {
	h := hour(micros / time.Hour.Microseconds())
	if h < 0 || h > lastHour {
		return noHour
	}
	return h
}

func (h hour) millis() int64 { return int64(h) * time.Hour.Milliseconds() }

// hourIn is the hour in the id of a payload.
func hourIn(payload ID) hour {
	id := payload.UUID()
	if id.Version() != 7 {
		return noHour
	}
	millis := int64(binary.BigEndian.Uint32(id[:]))<<16 | int64(binary.BigEndian.Uint16(id[4:]))
	return hour(millis / time.Hour.Milliseconds())
}
