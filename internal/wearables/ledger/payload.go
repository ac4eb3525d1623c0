package ledger

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/klauspost/compress/zstd"

	"hale/internal/people/users"
	"hale/internal/platform/ids"
	"hale/internal/platform/rows"
	"hale/internal/platform/teams"
)

// ID identifies a payload of a user.
type ID = ids.ID[Payload]

// Payload is a received body or file, without its content.
type Payload struct {
	ID       ID
	Team     teams.ID
	User     users.ID
	Kind     string // Samples, Summaries or the kind of a file
	Provider string // slug; empty for a file
	Resource string // of a push: path segment; empty for a file
	Mapping  int    // version of the mapping that read it last
	Size     int64  // bytes as received
	Packed   int64  // bytes as stored
	Times    int    // how often it was received
	FirstAt  time.Time
	LastAt   time.Time

	chunks int64
	whole  bool
}

// Whole reports whether the payload is complete. A file is incomplete while it is
// written.
func (p *Payload) Whole() bool { return p.whole }

// Stale reports whether another mapping than the current one read it last.
func (p *Payload) Stale() bool { return p.Mapping != Mapping(p.Kind) }

// chunkSize is the size of the pieces that are compressed and sealed.
const chunkSize = 1 << 20

// The fastest level: bodies of samples are as small as with the next one, and small ones
// are three times as fast. A chunk is one frame.
var (
	encoder = mustInit(zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(chunkSize),
		zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true)))
	decoder = mustInit(zstd.NewReader(nil, zstd.WithDecoderMaxMemory(2*chunkSize), zstd.WithDecoderConcurrency(0)))
)

func mustInit[T any](v T, err error) T {
	if err != nil {
		panic("ledger: zstd: " + err.Error())
	}
	return v
}

// PackedBody is a pushed body that is ready to be stored.
type PackedBody struct {
	kind, provider, resource string
	size                     int64
	about                    hour
	chunks                   [][]byte // compressed, not sealed; at least one
}

// WithTime sets the time of the first sample of the body, in microseconds. Bodies of the
// same hour are stored together.
func (p *PackedBody) WithTime(first int64) *PackedBody {
	p.about = hourOf(first)
	return p
}

// Pack compresses a body. It takes 0.1 ms for a day of one sample a minute, so call it
// before the transaction.
func Pack(kind, provider, resource string, body []byte) *PackedBody {
	p := &PackedBody{kind: kind, provider: provider, resource: resource, size: int64(len(body))}
	for first := true; first || len(body) > 0; first = false {
		n := min(chunkSize, len(body))
		p.chunks = append(p.chunks, encoder.EncodeAll(body[:n], nil))
		body = body[n:]
	}
	return p
}

// PackRows packs a body like Pack. If text is not nil, the body is rows and is stored by
// columns, with a tenth of the work.
func PackRows(kind, provider, resource string, body []byte, text *rows.Table) *PackedBody {
	if text == nil || len(body) > maxUnpacked {
		return Pack(kind, provider, resource, body)
	}
	packed, err := text.Pack(make([]byte, 0, len(text.Head)+len(text.Tail)+256+2*text.Columns.Len()))
	if err != nil { // mostly samples that are not in order
		return Pack(kind, provider, resource, body)
	}
	return &PackedBody{kind: kind, provider: provider, resource: resource, size: int64(len(body)), chunks: [][]byte{packed}}
}

// maxUnpacked limits the size of unpacked rows. It is larger than any body.
const maxUnpacked = 64 << 20

// PackChunk appends up to a mebibyte of an unfinished upload, compressed.
func PackChunk(dst, plain []byte) []byte { return encoder.EncodeAll(plain, dst) }

// UnpackChunk appends the content of a chunk of PackChunk.
func UnpackChunk(dst, packed []byte) ([]byte, error) { return unpackChunk(dst, packed) }

// unpackChunk appends the content of a chunk. The decoder limits each chunk, so that a damaged
// one cannot grow beyond chunkSize.
func unpackChunk(dst, packed []byte) ([]byte, error) {
	if len(packed) > 0 && packed[0] == rows.Mark {
		return rows.Unpack(dst, packed, maxUnpacked)
	}
	plain, err := decoder.DecodeAll(packed, nil)
	if err != nil {
		return dst, fmt.Errorf("ledger: decompressing a payload: %w", err)
	}
	return append(dst, plain...), nil
}

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

// The kinds of pushed payloads. Files have the kinds of imports, such as apple_health.
const (
	// Samples is a pushed body of samples of one resource.
	Samples = "push_samples"
	// Series is a pushed body of samples of several resources.
	Series = "push_series"
	// Summaries is a pushed body of summaries of one resource.
	Summaries = "push_summaries"
)

// mappings has the version of the current mapping of each kind. A change of the mapping
// increments it. Kinds that are not listed have version 1.
var mappings = map[string]int{
	// 2: sensor_location, intensity and the words of insulin. 3: steps with an
	// interval of seconds, or none. 4: values of other units are converted to the nearest
	// number: 2.3 g for 2300 mg. 5: short words of types, such as ldl.
	Samples: 5,
	Series:  5,

	// 2: a session or a meal without a day has that of its place; the number of a sport.
	Summaries: 2,

	// 2: insulin, swimming strokes, sports of distance, cycles, electrocardiograms.
	// 3: steps as above. 4: the words of insulin; the place of a thermometer.
	// 5: units as above.
	"apple_health": 5,

	// 2: meals and injections of one moment are added. 3, if present: steps as above; the
	// height that was measured last; the words of insulin; the place of a thermometer.
	// 4: all insulin of Nightscout is a bolus; of Health Connect, units as above.
	"dexcom_clarity": 2, "nightscout": 4, "health_connect": 4,
	// 2: the same; wall-clock times.
	"libreview": 2,
	// 2: the id identifies an activity; the zone of the profile. 3: steps as above.
	"fitbit": 3,
	// 2: the stages of a night end with them; the height that was measured last;
	// steps as above.
	"withings": 2,
	// 2: steps as above; the height that was measured last, of Polar also that of the
	// account. FIT also has the beats of a strap and R-R intervals. 3: a stated
	// variability is that of the night before; of Polar also the steps at the end of a
	// file.
	"fit": 3, "garmin": 2, "google_fit": 2, "polar": 3,
	// 2: the hours of days on which the clock changes.
	"fitbit_fitabase": 2,
	// 2: the source type of a maker's recording is that of its replies.
	"gpx": 2, "tcx": 2,
}

// Mapping returns the version of the current mapping of a kind. A payload has the version
// that read it last.
func Mapping(kind string) int {
	if version, ok := mappings[kind]; ok {
		return version
	}
	return 1
}
