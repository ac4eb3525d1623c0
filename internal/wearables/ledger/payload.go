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

// Payload is a body or a file as it came, without its content.
type Payload struct {
	ID       ID
	Team     teams.ID
	User     users.ID
	Kind     string // Samples, Summaries or the kind of a file
	Provider string // slug; empty for a file
	Resource string // of a push: path segment; empty for a file
	Mapping  int    // version of the mapping that read it last
	Size     int64  // bytes as it came
	Packed   int64  // bytes as it is kept
	Times    int    // how often it came
	FirstAt  time.Time
	LastAt   time.Time

	chunks int64
	whole  bool
}

// Whole says whether all of it is here; a file is not while it is written.
func (p *Payload) Whole() bool { return p.whole }

// Stale says whether another mapping than today's read it last.
func (p *Payload) Stale() bool { return p.Mapping != Mapping(p.Kind) }

// chunkSize is how much of a payload is compressed and sealed as one piece.
const chunkSize = 1 << 20

// The fastest level: on bodies of samples it is as small as the next one and
// three times as fast on small ones. One frame a chunk keeps chunks apart.
var (
	encoder = must(zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(chunkSize),
		zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true)))
	decoder = must(zstd.NewReader(nil, zstd.WithDecoderMaxMemory(2*chunkSize), zstd.WithDecoderConcurrency(0)))
)

func must[T any](v T, err error) T {
	if err != nil {
		panic("ledger: zstd: " + err.Error())
	}
	return v
}

// Packed is a pushed body that is ready to be kept.
type Packed struct {
	kind, provider, resource string
	size                     int64
	about                    hour
	chunks                   [][]byte // compressed, not sealed; at least one
}

// About notes when the first sample of the body was measured, in microseconds.
// Bodies about the same hour lie together.
func (p *Packed) About(first int64) *Packed {
	p.about = hourOf(first)
	return p
}

// Pack compresses a body. It costs 0.1 ms for a day of one sample a minute, so
// do it before the transaction.
func Pack(kind, provider, resource string, body []byte) *Packed {
	p := &Packed{kind: kind, provider: provider, resource: resource, size: int64(len(body))}
	for first := true; first || len(body) > 0; first = false {
		n := min(chunkSize, len(body))
		p.chunks = append(p.chunks, encoder.EncodeAll(body[:n], nil))
		body = body[n:]
	}
	return p
}

// PackRows is Pack for a body that may be rows, which are kept by their columns:
// that is a tenth of the work. text is nil when it is none.
func PackRows(kind, provider, resource string, body []byte, text *rows.Table) *Packed {
	if text == nil || len(body) > mostRows {
		return Pack(kind, provider, resource, body)
	}
	packed, err := text.Pack(make([]byte, 0, len(text.Head)+len(text.Tail)+256+2*text.Columns.Len()))
	if err != nil { // samples that are not in order, mostly
		return Pack(kind, provider, resource, body)
	}
	return &Packed{kind: kind, provider: provider, resource: resource, size: int64(len(body)), chunks: [][]byte{packed}}
}

// mostRows bounds what rows are unpacked to. It is above what a body may be.
const mostRows = 64 << 20

// PackChunk appends up to a mebibyte of an upload that is on its way, compressed.
func PackChunk(dst, plain []byte) []byte { return encoder.EncodeAll(plain, dst) }

// UnpackChunk appends what such a chunk was made of.
func UnpackChunk(dst, packed []byte) ([]byte, error) { return unpack(dst, packed) }

// unpack appends what a chunk was made of. The decoder bounds each chunk by
// itself, so that no damaged one makes more than a chunk can hold.
func unpack(dst, packed []byte) ([]byte, error) {
	if len(packed) > 0 && packed[0] == rows.Mark {
		return rows.Unpack(dst, packed, mostRows)
	}
	plain, err := decoder.DecodeAll(packed, nil)
	if err != nil {
		return dst, fmt.Errorf("ledger: opening a payload: %w", err)
	}
	return append(dst, plain...), nil
}
