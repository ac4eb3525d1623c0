package replay

import (
	"context"
	"slices"
	"testing"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/ingest"
)

// A user may receive newer data all the time, as during the import of an export.
// This neither blocks nor fails the run: the run returns to the user.
func TestAUserToWhomDataKeepsComing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		first := b.user
		others := []users.User{first, userstest.New(t, db, first.Team, users.NewUser{})}
		for _, b.user = range others {
			b.push("heartrate", `[{"timestamp":"2026-02-01T08:00:00Z","value":60}]`)
			b.storeQuietly("heartrate", func(s *wearables.Samples) { s.Value = []float64{55} })
			b.stale()
		}
		var done []users.ID
		left := 2*maxTries + 1 // more than an attempt takes
		b.service.Sink = ingest.NewReprocessor(db, func(ctx context.Context, tx *store.Tx, user users.User, _ []wearables.Touched) error {
			if user.ID != first.ID {
				done = append(done, user.ID)
				return nil
			}
			if left--; left < 0 {
				done = append(done, user.ID)
				return nil
			}
			return errNewer
		})
		if r := b.run(Order{}); r.Done != 2 || r.Report.Users != 2 || r.Report.Resources["heartrate"].Updated != 2 {
			t.Errorf("%+v", r)
		}
		if !slices.Equal(done, []users.ID{others[1].ID, first.ID}) {
			t.Errorf("%v", done)
		}
		var attempts int
		b.write(func(tx *store.Tx) error {
			return tx.QueryRow(b.ctx, `SELECT MAX(attempts) FROM jobs WHERE kind = 'ledger.renormalise' AND team_id = $1`, first.Team).Scan(&attempts)
		})
		if attempts != 1 {
			t.Errorf("%d attempts", attempts)
		}

		left = 2*maxTries + 1 // and one user alone
		b.user = first
		b.storeQuietly("heartrate", func(s *wearables.Samples) { s.Value = []float64{55} })
		if r := b.run(Order{User: &first.ID, Every: true}); r.Report.Resources["heartrate"].Updated != 1 {
			t.Errorf("%+v", r)
		}
	})
}
