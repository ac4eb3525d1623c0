package events

import (
	"context"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
)

// awaitPoll is how often a waiting reader looks by itself: on PostgreSQL
// another node's events come without a word.
const awaitPoll = time.Second

// Await is After for a reader that would rather wait than get an empty page:
// it returns as soon as there are events, or an empty page after the wait, when
// ctx ends, or when enough is closed, as it is before the process stops.
func Await(ctx context.Context, db *store.DB, team uuid.UUID, after int64, limit int, types []string, wait time.Duration, enough <-chan struct{}) (Page, error) {
	news := make(chan struct{}, 1)
	defer OnReady(func(t uuid.UUID) {
		if t != team {
			return
		}
		select {
		case news <- struct{}{}:
		default:
		}
	})()
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	for {
		var page Page
		err := db.Read(ctx, func(tx *store.Tx) (err error) {
			page, err = After(ctx, tx, team, after, limit, types)
			return err
		})
		if err != nil || len(page.Events) > 0 || page.HasMore || wait <= 0 {
			return page, err
		}
		after = page.Next // what the types leave out need not be looked at again
		poll := time.NewTimer(awaitPoll)
		select {
		case <-news:
		case <-poll.C:
		case <-deadline.C:
			wait = 0
		case <-enough:
			wait = 0
		case <-ctx.Done():
			wait = 0
		}
		poll.Stop()
		if ctx.Err() != nil {
			return page, nil
		}
	}
}
