package ledger

import (
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

// Packed is a pushed body that is ready to be stored.
type Packed struct {
	kind, provider, resource string
	size                     int64
	about                    hour
	chunks                   [][]byte // compressed, not sealed; at least one
}

// WithTime sets the time of the first sample of the body, in microseconds. Bodies of the
// same hour are stored together.
func (p *Packed) WithTime(first int64) *Packed {
	p.about = hourOf(first)
	return p
}

// Pack compresses a body. It takes 0.1 ms for a day of one sample a minute, so call it
// before the transaction.
func Pack(kind, provider, resource string, body []byte) *Packed {
	p := &Packed{kind: kind, provider: provider, resource: resource, size: int64(len(body))}
	for first := true; first || len(body) > 0; first = false {
		n := min(chunkSize, len(body))
		p.chunks = append(p.chunks, encoder.EncodeAll(body[:n], nil))
		body = body[n:]
	}
	return p
}

// PackRows packs a body like Pack. If text is not nil, the body is rows and is stored by
// columns, with a tenth of the work.
func PackRows(kind, provider, resource string, body []byte, text *rows.Table) *Packed {
	if text == nil || len(body) > maxUnpacked {
		return Pack(kind, provider, resource, body)
	}
	packed, err := text.Pack(make([]byte, 0, len(text.Head)+len(text.Tail)+256+2*text.Columns.Len()))
	if err != nil { // mostly samples that are not in order
		return Pack(kind, provider, resource, body)
	}
	return &Packed{kind: kind, provider: provider, resource: resource, size: int64(len(body)), chunks: [][]byte{packed}}
}

// maxUnpacked limits the size of unpacked rows. It is larger than any body.
const maxUnpacked = 64 << 20

// PackChunk appends up to a mebibyte of an unfinished upload, compressed.
func PackChunk(dst, plain []byte) []byte { return encoder.EncodeAll(plain, dst) }

// UnpackChunk appends the content of a chunk of PackChunk.
func UnpackChunk(dst, packed []byte) ([]byte, error) { return unpack(dst, packed) }

// unpack appends the content of a chunk. The decoder limits each chunk, so that a damaged
// one cannot grow beyond chunkSize.
func unpack(dst, packed []byte) ([]byte, error) {
	if len(packed) > 0 && packed[0] == rows.Mark {
		return rows.Unpack(dst, packed, maxUnpacked)
	}
	plain, err := decoder.DecodeAll(packed, nil)
	if err != nil {
		return dst, fmt.Errorf("ledger: decompressing a payload: %w", err)
	}
	return append(dst, plain...), nil
}
