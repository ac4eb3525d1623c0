package api

import (
	"errors"
	"net/http"
	"testing"

	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// A stored answer that cannot be opened is lost, and the request is not carried
// out again.
func TestADamagedAnswerIsLost(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		a := &API{db: db}
		team := userstest.Team(t, db).ID
		ctx := store.WithTeam(t.Context(), team.UUID())
		at := attemptOn(t, db, team.UUID())
		if err := a.keep(ctx, at, &answerBuffer{header: http.Header{}, status: http.StatusNotFound}); err != nil {
			t.Fatal(err)
		}
		for _, damaged := range []string{"\x01damaged beyond repair, and long enough", "\x07of a key that is not there", ""} {
			if err := db.Write(ctx, func(tx *store.Tx) error {
				_, err := tx.Exec(ctx, `UPDATE idempotency_keys SET body = $1`, []byte(damaged))
				return err
			}); err != nil {
				t.Fatal(err)
			}
			again := *at
			if rec, err := a.kept(ctx, &again); !errors.Is(err, errLost) {
				t.Errorf("%q: %v, %v", damaged, rec, err)
			}
		}
	})
}
