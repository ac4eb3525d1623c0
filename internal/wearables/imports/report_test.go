package imports

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// A report that was stored before one of its fields was there has that field,
// empty, in every way of reading it.
func TestReportsOfEarlierVersions(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{})
		made := Import{Team: user.Team, User: user.ID, Kind: "apple_health", SHA256: []byte{1}, Status: Succeeded, CreatedAt: time.Now(), spool: "x"}
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			made.ID = ids.FromUUID[Import](tx.NewUUID())
			if err := insert(ctx, tx, &made); err != nil {
				return err
			}
			sealed, err := tx.Seal(ctx, user.Team.UUID(), user.ID.UUID(), placeOfReport(made.ID), []byte(`{"records":2,"types":{"Record":{"read":2}}}`))
			if err != nil {
				return err
			}
			_, err = tx.Exec(ctx, `UPDATE imports SET report = $1 WHERE team_id = $2 AND id = $3`, sealed, made.Team, made.ID)
			return err
		})
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			one, err := Get(ctx, tx, user.Team, user.ID, made.ID)
			if err != nil {
				return err
			}
			all, err := List(ctx, tx, user.Team, user.ID)
			if err != nil || len(all) != 1 {
				t.Fatalf("%+v, %v", all, err)
			}
			for _, i := range []Import{one, all[0]} {
				text, err := json.Marshal(i.Report)
				if err != nil || i.Report.Records != 2 || i.Report.Types["Record"].Read != 2 || strings.Contains(string(text), "null") {
					t.Errorf("%s, %v", text, err)
				}
			}
			return nil
		})
	})
}
