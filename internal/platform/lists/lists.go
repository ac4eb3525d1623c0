// Package lists keeps public lists that an operator imports for all teams,
// such as the yearly codes of diagnoses: one packed row each in the database,
// parsed into memory once.
//
// A domain declares its list with what ships in the binary:
//
//	var directory = lists.List[*Directory]{Name: "payors", Shipped: shipped, Parse: parse}
//
// and asks for the current one inside any transaction. Every node looks at the
// row's revision, which is one small read, and parses again only when another
// import has come. What was handed out stays valid and never changes.
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

// List is one public list in the form T, which must not be changed once made.
type List[T any] struct {
	Name string
	// Shipped is the list while nothing was imported.
	Shipped func() T
	// Parse makes the list from the text that Put was given.
	Parse func(text []byte) (T, error)

	mu       sync.Mutex
	revision uuid.UUID
	current  T
}

// Current is the list in force.
func (l *List[T]) Current(ctx context.Context, tx *store.Tx) (T, error) {
	var none T
	var revision uuid.UUID
	err := tx.QueryRow(ctx, `SELECT revision FROM public_lists WHERE name = $1`, l.Name).Scan(&revision)
	if errors.Is(err, store.ErrNoRows) {
		return l.Shipped(), nil
	}
	if err != nil {
		return none, fmt.Errorf("lists: looking for %s: %w", l.Name, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if revision == l.revision {
		return l.current, nil
	}
	text, revision, err := read(ctx, tx, l.Name)
	if err != nil {
		return none, err
	}
	made, err := l.Parse(text)
	if err != nil {
		return none, fmt.Errorf("lists: reading %s: %w", l.Name, err)
	}
	l.current, l.revision = made, revision
	return made, nil
}

// Put replaces the imported list. text must be what Parse reads.
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

// largest bounds an unpacked list, in bytes.
const largest = 256 << 20

func pack(text []byte) []byte {
	coder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(fmt.Sprintf("lists: %v", err)) // only wrong options do this
	}
	defer coder.Close()
	return coder.EncodeAll(text, nil)
}

func unpack(packed []byte) ([]byte, error) {
	coder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(largest))
	if err != nil {
		return nil, err
	}
	defer coder.Close()
	return coder.DecodeAll(packed, nil)
}
