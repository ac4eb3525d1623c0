package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// On SQLite a jump of the clock stops deletions until it is confirmed or taken back. A
// clock that goes back deletes too little, which harms nothing.
func TestCheckClockOnSQLite(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	now := start
	db := storetest.NewSQLite(t).Open(t, func() time.Time { return now })
	ctx := store.AsSystem(t.Context())
	for _, step := range []struct {
		at      time.Duration
		confirm bool
		trusted bool
	}{
		{at: 0, trusted: true},
		{at: time.Hour, trusted: true},
		{at: 26 * time.Hour, trusted: true},
		{at: 26*time.Hour + store.TrustedGap + time.Second, trusted: false},
		{at: 10 * 365 * 24 * time.Hour, trusted: false},
		{at: 27 * time.Hour, trusted: true}, // set right
		{at: -48 * time.Hour, trusted: true},
		{at: 28 * time.Hour, trusted: true},
		{at: 100 * time.Hour, trusted: false},
		{at: 100 * time.Hour, confirm: true, trusted: true},
	} {
		now = start.Add(step.at)
		if step.confirm {
			if err := db.ConfirmClock(ctx); err != nil {
				t.Fatal(err)
			}
		}
		for name, check := range map[string]func(context.Context) error{"examining": db.ExamineClock, "checking": db.CheckClock} {
			if err := check(ctx); (err == nil) != step.trusted || err != nil && !errors.Is(err, store.ErrClock) {
				t.Errorf("%s after %v: %v", name, step.at, err)
			}
		}
	}
}

// On PostgreSQL the clock of the node is compared with the server's.
func TestCheckClockOnPostgres(t *testing.T) {
	var ahead time.Duration
	db := storetest.NewPostgres(t).Open(t, func() time.Time { return time.Now().Add(ahead) })
	ctx := store.AsSystem(t.Context())
	for _, ahead = range []time.Duration{0, 30 * time.Second, -30 * time.Second, 2 * time.Minute, -2 * time.Minute, 365 * 24 * time.Hour} {
		if err := db.CheckClock(ctx); errors.Is(err, store.ErrClock) != (ahead.Abs() > store.TrustedSkew) {
			t.Errorf("%v ahead: %v", ahead, err)
		}
	}
}
