// Package lists keeps public lists that an operator imports for all teams, such
// as the yearly diagnosis codes. Each list is one compressed row in the database
// and is parsed into memory once per database.
//
// A domain declares its list, with the content that ships in the binary:
//
//	var directory = lists.New(lists.Definition[*Directory]{Name: "payors", Shipped: shipped, Parse: parse})
//
// and calls Current in any transaction. Current reads the revision of the row,
// and parses again only after another import. A list that Current returned stays
// valid and never changes.
package lists

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/google/uuid"
	"github.com/klauspost/compress/zstd"

	"hale/internal/platform/store"
)

// Definition describes one public list.
type Definition[T any] struct {
	Name string
	// Shipped returns the list for use before the first import.
	Shipped func() T
	// Parse makes the list from the text that was given to Put.
	Parse func(text []byte) (T, error)
}

// List is one public list in the form T. T must not be changed after Parse.
type List[T any] struct {
	Definition[T]
	cache *store.Slot[*parsedList[T]]
}

// parsedList caches the imported list of one database.
type parsedList[T any] struct {
	mu       sync.Mutex
	revision uuid.UUID
	list     T
}

// New returns the list of a definition.
func New[T any](d Definition[T]) *List[T] {
	return &List[T]{d, store.NewSlot(func() *parsedList[T] { return &parsedList[T]{} })}
}

// Current returns the imported list, or the shipped one if none was imported.
func (l *List[T]) Current(ctx context.Context, tx *store.Tx) (T, error) {
	var none T
	var revision uuid.UUID
	err := tx.QueryRow(ctx, `SELECT revision FROM public_lists WHERE name = $1`, l.Name).Scan(&revision)
	if errors.Is(err, store.ErrNoRows) {
		return l.Shipped(), nil
	}
	if err != nil {
		return none, fmt.Errorf("lists: reading the revision of %s: %w", l.Name, err)
	}
	cache := l.cache.Of(tx)
	cache.mu.Lock()
	defer cache.mu.Unlock()
	if revision == cache.revision {
		return cache.list, nil
	}
	text, revision, err := read(ctx, tx, l.Name)
	if err != nil {
		return none, err
	}
	list, err := l.Parse(text)
	if err != nil {
		return none, fmt.Errorf("lists: parsing %s: %w", l.Name, err)
	}
	cache.list, cache.revision = list, revision
	return list, nil
}

// Put replaces the imported list with text, which Parse must accept.
func (l *List[T]) Put(ctx context.Context, tx *store.Tx, edition string, entries int, text []byte) error {
	_, err := tx.Exec(ctx, `INSERT INTO public_lists (name, revision, edition, entries, body, imported_at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (name) DO UPDATE SET revision = excluded.revision, edition = excluded.edition, entries = excluded.entries,
			body = excluded.body, imported_at = excluded.imported_at`,
		l.Name, tx.NewUUID(), edition, entries, pack(text), tx.Now())
	if err != nil {
		return fmt.Errorf("lists: storing %s: %w", l.Name, err)
	}
	return nil
}

func read(ctx context.Context, tx *store.Tx, name string) (text []byte, revision uuid.UUID, err error) {
	var packed []byte
	err = tx.QueryRow(ctx, `SELECT revision, body FROM public_lists WHERE name = $1`, name).Scan(&revision, &packed)
	if err != nil {
		return nil, revision, fmt.Errorf("lists: reading %s: %w", name, err)
	}
	text, err = unpack(packed)
	if err != nil {
		return nil, revision, fmt.Errorf("lists: unpacking %s: %w", name, err)
	}
	return text, revision, nil
}

// maxListSize is the maximum size of an uncompressed list, in bytes.
const maxListSize = 256 << 20

func pack(text []byte) []byte {
	coder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(fmt.Sprintf("lists: %v", err)) // only wrong options do this
	}
	defer coder.Close()
	return coder.EncodeAll(text, nil)
}

func unpack(packed []byte) ([]byte, error) {
	coder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxListSize))
	if err != nil {
		return nil, err
	}
	defer coder.Close()
	return coder.DecodeAll(packed, nil)
}
