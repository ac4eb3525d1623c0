package merged

import (
	"context"

	"hale/internal/platform/store"
)

// The names of this file are for tests that store data: they import package ingest, which
// imports this package.

const (
	WidestStretch     = widestStretch
	MaxStretchSamples = maxStretchSamples
)

// Fit returns the end of a stretch from a moment, and the number of its samples.
func Fit(ctx context.Context, tx *store.Tx, q Query, from, to int64) (end int64, n int, err error) {
	r, err := q.open(ctx, tx, false)
	if err != nil {
		return 0, 0, err
	}
	return r.fit(ctx, tx, from, to)
}

// Walk calls each with the pieces of each stretch of a range. most is the limit of pieces
// at once; 0 means the usual one.
func Walk(ctx context.Context, tx *store.Tx, q Query, most int, from, to int64, each func(pieces []Piece)) error {
	r, err := q.open(ctx, tx, false)
	if err != nil {
		return err
	}
	if most > 0 {
		r.most = most
	}
	return r.walk(ctx, tx, from, to, func(l line) bool {
		each(l.kept)
		return true
	})
}
