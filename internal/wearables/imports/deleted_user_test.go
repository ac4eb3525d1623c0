package imports_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/imports"
)

// interruptedSink calls a function before the second batch.
type interruptedSink struct {
	files.Sink
	batches atomic.Int32
	before  func()
}

func (s *interruptedSink) Ingest(ctx context.Context, user users.User, b wearables.Batch) (wearables.Result, error) {
	if s.batches.Add(1) == 2 {
		s.before()
	}
	return s.Sink.Ingest(ctx, user, b)
}

// A user is deleted before an import or during it, and restored. The import then has the
// same result as one without the deletion.
func TestImportOfADeletedUserIsComplete(t *testing.T) {
	data := export(t, 3)
	var ahead atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	storetest.EachAt(t, now, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		whole := b.service.Sink
		b.finish(b.upload(data, false))
		want := b.values()
		remove := func() {
			if err := db.Write(b.ctx, func(tx *store.Tx) error { return users.Delete(b.ctx, tx, b.user.Team, b.user.ID) }); err != nil {
				t.Error(err)
			}
		}
		restore := func() {
			if err := db.Write(b.ctx, func(tx *store.Tx) error {
				return users.UndoDelete(b.ctx, tx, b.user.Team, users.Ref{ID: &b.user.ID})
			}); err != nil {
				t.Fatal(err)
			}
			ahead.Add(int64(time.Minute))
		}

		b.user = userstest.New(t, db, b.user.Team, users.NewUser{})
		made := b.upload(data, false)
		remove()
		stop := b.work(b.service)
		for i := range 1200 {
			if b.get(made.ID).Error != "" {
				break
			}
			if i == 1199 {
				t.Fatal("the import does not wait for its user")
			}
			time.Sleep(25 * time.Millisecond)
		}
		restore()
		b.await(made.ID, imports.Succeeded)
		stop()
		if got := b.values(); got != want {
			t.Errorf("the import that waited stored %d values, a whole one %d", got, want)
		}

		b.user = userstest.New(t, db, b.user.Team, users.NewUser{})
		removed := make(chan struct{})
		b.service.Sink = &interruptedSink{Sink: whole, before: func() { remove(); close(removed) }}
		made = b.upload(data, false)
		stop = b.work(b.service)
		<-removed
		restore()
		b.await(made.ID, imports.Succeeded)
		stop()
		if got := b.values(); got != want || want == 0 {
			t.Errorf("the interrupted import stored %d values, a whole one %d", got, want)
		}
	})
}

// finish runs an import to its end.
func (b *fixture) finish(made imports.Import) {
	b.t.Helper()
	stop := b.work(b.service)
	b.await(made.ID, imports.Succeeded)
	stop()
}

// values counts the stored samples and summaries of the user.
func (b *fixture) values() (n int) {
	b.t.Helper()
	err := b.db.Read(b.ctx, func(tx *store.Tx) error {
		return tx.QueryRow(b.ctx, `SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) + (SELECT COUNT(*) FROM summaries WHERE user_id = $1)
			FROM sample_blocks WHERE user_id = $1`, b.user.ID).Scan(&n)
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return n
}
