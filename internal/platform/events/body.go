package events

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/google/uuid"
	"github.com/klauspost/compress/zstd"

	"hale/internal/platform/rows"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
)

// A stored body consists of one byte for its format, and the envelope. It is sealed
// with the key of the event's user, or with the team's if the event has no user.
// Erasing a user destroys the key, and with it the contents of the user's events, in
// backups too. Envelopes above a KiB are compressed first; below, compression saves
// less than its frame needs.
const (
	plainForm      = 0
	compressedForm = 1
	asRows         = 2 // see rows.Pack
	compressAbove  = 1 << 10
	bodyColumn     = "events.body:"
	maxStoredPlain = MaxBody + 1
)

// ErrUnreadable means that the stored body of one event is damaged, or has a format of
// a newer version.
var ErrUnreadable = errors.New("events: a stored body cannot be read")

var encoder = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(MaxBody), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // only for contradicting options
	}
	return e
})

var decoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxStoredPlain), zstd.WithDecoderLowmem(true))
	if err != nil {
		panic(err)
	}
	return d
})

func pack(body []byte) []byte {
	if len(body) > compressAbove {
		return encoder().EncodeAll(body, append(make([]byte, 0, len(body)/2), compressedForm))
	}
	return append(append(make([]byte, 0, len(body)+1), plainForm), body...)
}

func unpack(stored []byte) ([]byte, error) {
	if len(stored) == 0 {
		return nil, ErrUnreadable
	}
	switch stored[0] {
	case plainForm:
		return stored[1:], nil
	case compressedForm:
		body, err := decoder().DecodeAll(stored[1:], nil)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
		}
		return body, nil
	case asRows:
		body, err := rows.Unpack(nil, stored[1:], MaxBody)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
		}
		return body, nil
	}
	return nil, fmt.Errorf("%w: format %d is unknown", ErrUnreadable, stored[0])
}

func sealBody(ctx context.Context, tx *store.Tx, e New, id ID, packed []byte) ([]byte, error) {
	return tx.Seal(ctx, e.Team, e.User, bodyColumn+id.String(), packed)
}

// Open opens a stored body. It returns the envelope, or nil if the user it is about
// was erased. The error is ErrUnreadable if it concerns this body alone.
func Open(ctx context.Context, tx *store.Tx, team, user uuid.UUID, id ID, sealed []byte) ([]byte, error) {
	stored, err := tx.Unseal(ctx, team, user, bodyColumn+id.String(), sealed)
	if errors.Is(err, store.ErrNoKey) {
		return nil, nil
	}
	if errors.Is(err, secrets.ErrSealed) {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	if err != nil {
		return nil, err
	}
	return unpack(stored)
}
