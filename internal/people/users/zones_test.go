package users_test

import (
	"context"
	"testing"
	"time"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/patch"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// The zone at an instant is known after later changes.
func TestFormerZones(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	storetest.EachAt(t, func() time.Time { return now }, func(t *testing.T, db *store.DB) {
		now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		zone := "Europe/Berlin"
		user := userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{TimeZone: &zone})
		want := []struct {
			at   time.Time
			name string
		}{{now.AddDate(-1, 0, 0), zone}, {now, zone}}
		for _, field := range []patch.Field[string]{patch.Set(zone), patch.Null[string](), patch.Set("Asia/Tokyo"), patch.Set("Asia/Tokyo")} {
			now = now.Add(time.Hour)
			userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) (err error) {
				user, err = users.Change(ctx, tx, user.Team, user.ID, users.Update{TimeZone: field})
				return err
			})
			want = append(want, struct {
				at   time.Time
				name string
			}{now, field.Value})
		}
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			zones, err := users.ZonesOf(ctx, tx, user)
			for _, w := range want {
				got := ""
				if zone := zones.At(w.at); zone != nil {
					got = zone.Name
				}
				if got != w.name {
					t.Errorf("%s: %q, want %q", w.at, got, w.name)
				}
			}
			var n int
			if err == nil {
				err = tx.QueryRow(ctx, `SELECT COUNT(*) FROM former_zones WHERE user_id = $1`, user.ID).Scan(&n)
			}
			if n != 2 {
				t.Errorf("%d former zones", n)
			}
			return err
		})
	})
}
