package audit

import (
	"context"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
)

// CountParts returns the number of statements for n waiting rows.
func CountParts(n int) (count int) {
	eachPart(make([]uuid.UUID, n), func([]uuid.UUID) { count++ })
	return count
}

// Backdate moves the beginning of the list of chains into the past.
func Backdate(ctx context.Context, l *Log, by time.Duration) error {
	ctx = store.AsSystem(ctx)
	return l.db.Write(ctx, func(tx *store.Tx) error {
		all, err := readListing(ctx, tx, l.root)
		if err != nil {
			return err
		}
		all.begun = all.begun.Add(-by)
		return all.write(ctx, tx, l.root)
	})
}
