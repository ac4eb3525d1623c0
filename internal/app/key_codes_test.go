package app_test

import (
	"strings"
	"testing"

	"hale/internal/app"
	"hale/internal/app/apptest"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// A start after an update keeps the keys of the older version working. A person who later
// writes a digest into the database, and resets what the database says about the update,
// gets no key.
func TestAnUpdateKeepsKeysAndCreatesNone(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		change := func(s *apptest.Service, statements map[string][]any) {
			t.Helper()
			ctx := store.AsSystem(t.Context())
			err := s.DB.Write(ctx, func(tx *store.Tx) error {
				for statement, args := range statements {
					if _, err := tx.Exec(ctx, statement, args...); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		answers := func(s *apptest.Service, key string, want int) {
			t.Helper()
			called := *s
			called.Key = key
			if status, body := called.Call("GET", "/v2/user", ""); status != want {
				t.Errorf("%d, not %d: %s", status, want, body)
			}
		}
		s := apptest.Start(t, d)
		change(s, map[string][]any{
			`UPDATE api_keys SET hash = $1, code = NULL, proof = NULL`: {secrets.Hash(apptest.Key)},
			`UPDATE instance SET keys_coded_at = 0`:                    nil,
		})
		s.End()
		if err := app.ForgetCodes(d.Dir, d.Engine); err != nil { // the older version knew nothing of them
			t.Fatal(err)
		}
		s = apptest.Start(t, d)
		answers(s, apptest.Key, 200)

		const forged = "sk_a_key_of_the_attackers_own_making"
		change(s, map[string][]any{
			`INSERT INTO api_keys (id, team_id, label, hint, hash, created_at)
			 SELECT team_id, team_id, 'forged', 'sk_…', $1, created_at FROM api_keys`: {secrets.Hash(forged)},
			`UPDATE instance SET keys_coded_at = 0`: nil,
		})
		answers(s, forged, 401)
		s.End()
		s = apptest.Start(t, d)
		answers(s, forged, 401)
		answers(s, apptest.Key, 200)
		if !strings.Contains(s.Log.String(), "API keys without a code open nothing") {
			t.Error("the log does not mention the key without a code")
		}
	})
}
