package teams_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// Write access to the database, without the root key, makes no API key and changes none.
func TestAKeyInsertedIntoTheDatabaseIsRefused(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := store.AsSystem(t.Context())
		var mine, other teams.Team
		var limited, ended teams.Key
		var limitedText, endedText, good secrets.Text
		write(ctx, t, db, func(tx *store.Tx) (err error) {
			if mine, err = teams.Create(ctx, tx, "mine", teams.Sandbox); err != nil {
				return err
			}
			if other, err = teams.Create(ctx, tx, "other", teams.Sandbox); err != nil {
				return err
			}
			n := teams.NewKey{Rights: teams.Rights{Scopes: []teams.Scope{teams.Read}}}
			if limited, limitedText, err = teams.CreateKey(ctx, tx, mine, n); err != nil {
				return err
			}
			if ended, endedText, err = teams.CreateKey(ctx, tx, mine, teams.NewKey{Label: "ended", Rights: teams.FullRights}); err != nil {
				return err
			}
			_, good, err = teams.CreateKey(ctx, tx, mine, teams.NewKey{Label: "good", Rights: teams.FullRights})
			return err
		})
		write(ctx, t, db, func(tx *store.Tx) error { return teams.EndKey(ctx, tx, mine.ID, ended.ID, tx.Now()) })
		const forged = "sk_a_key_of_the_attackers_own_making"
		insert := `INSERT INTO api_keys (id, team_id, label, hint, hash, code, proof, created_at) SELECT $1, $2, 'forged', 'sk_…', $3, `
		for name, attack := range map[string]struct {
			text  string
			query string
			args  []any
		}{
			"a digest":                 {forged, insert + `NULL, NULL, 0`, []any{limited.Team.UUID(), other.ID, secrets.Hash(forged)}},
			"a digest as the code":     {forged, insert + `$3, $3, 0`, []any{limited.Team.UUID(), other.ID, secrets.Hash(forged)}},
			"the proof of another key": {forged, insert + `$3, proof, 0 FROM api_keys WHERE proof IS NOT NULL LIMIT 1`, []any{limited.Team.UUID(), other.ID, secrets.Hash(forged)}},
			"another team":             {limitedText.Reveal(), `UPDATE api_keys SET team_id = $1 WHERE id = $2`, []any{other.ID, limited.ID}},
			"wider rights":             {limitedText.Reveal(), `UPDATE api_keys SET scopes = '', personal_data = TRUE WHERE id = $1`, []any{limited.ID}},
			"other addresses":          {limitedText.Reveal(), `UPDATE api_keys SET addresses = '10.0.0.0/8' WHERE id = $1`, []any{limited.ID}},
			"an end that was moved":    {endedText.Reveal(), `UPDATE api_keys SET expires_at = NULL WHERE id = $1`, []any{ended.ID}},
		} {
			errUndo := errors.New("undo")
			err := db.Write(ctx, func(tx *store.Tx) error {
				if n, err := tx.Exec(ctx, attack.query, attack.args...); err != nil || n != 1 {
					t.Errorf("%s: %d rows, %v", name, n, err)
					return errUndo
				}
				if _, key, err := teams.Resolve(ctx, tx, attack.text); !errors.Is(err, teams.ErrNoKey) {
					t.Errorf("%s opens %+v: %v", name, key, err)
				}
				return errUndo
			})
			if !errors.Is(err, errUndo) {
				t.Errorf("%s: %v", name, err)
			}
		}
		resolves(ctx, t, db, limitedText, true)
		resolves(ctx, t, db, good, true)

		// An administrator who rotates or ends a changed key gives it no proof.
		write(ctx, t, db, func(tx *store.Tx) error {
			if _, err := tx.Exec(ctx, `UPDATE api_keys SET scopes = '' WHERE id = $1`, limited.ID); err != nil {
				return err
			}
			if _, _, err := teams.RotateKey(ctx, tx, mine, limited.ID, time.Hour); !fault.Is(err, fault.Conflict) {
				t.Errorf("rotating a changed key: %v", err)
			}
			return teams.EndKey(ctx, tx, mine.ID, limited.ID, tx.Now().Add(time.Hour))
		})
		resolves(ctx, t, db, limitedText, false)
	})
}

// Keys of an older version, stored as digests, keep working. Their digests go, on
// PostgreSQL a day later, when no node of that version serves any more.
func TestKeysOfAnOlderVersionGetCodesOnce(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	storetest.EachAt(t, func() time.Time { return now }, func(t *testing.T, db *store.DB) {
		now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		ctx := store.AsSystem(t.Context())
		var text secrets.Text
		digested := func(text secrets.Text) (n int) {
			t.Helper()
			write(ctx, t, db, func(tx *store.Tx) error {
				return tx.QueryRow(ctx, `SELECT count(*) FROM api_keys WHERE hash = $1`, secrets.Hash(text.Reveal())).Scan(&n)
			})
			return n
		}
		older := func(label string) (text secrets.Text) {
			t.Helper()
			write(ctx, t, db, func(tx *store.Tx) error {
				team, err := teams.Create(ctx, tx, "team", teams.Sandbox)
				if err != nil {
					return err
				}
				var key teams.Key
				if key, text, err = teams.CreateKey(ctx, tx, team, teams.NewKey{Label: label, Rights: teams.FullRights}); err != nil {
					return err
				}
				_, err = tx.Exec(ctx, `UPDATE api_keys SET hash = $1, code = NULL, proof = NULL WHERE id = $2`, secrets.Hash(text.Reveal()), key.ID)
				return err
			})
			return text
		}
		code := func(known bool) (c teams.Coding) {
			t.Helper()
			write(ctx, t, db, func(tx *store.Tx) (err error) {
				c, err = teams.CodeKeys(ctx, tx, known)
				return err
			})
			return c
		}
		text = older("from before")
		resolves(ctx, t, db, text, false)
		if c := code(false); c.Coded != 1 || c.Refused != 0 {
			t.Errorf("first: %+v", c)
		}
		resolves(ctx, t, db, text, true)
		if n := digested(text); (n == 1) != (db.Engine() == store.Postgres) {
			t.Errorf("%d digests after the update", n)
		}
		late := older("written as a digest afterwards")
		if c := code(false); c.Coded != 0 || c.Refused != 1 {
			t.Errorf("second: %+v", c)
		}
		now = now.Add(25 * time.Hour)
		if c := code(true); c.Coded != 0 || c.Refused != 1 {
			t.Errorf("a day later: %+v", c)
		}
		if n := digested(text); n != 0 {
			t.Errorf("%d digests a day later", n)
		}
		// The mark of the database was reset; the data folder knows better.
		write(ctx, t, db, func(tx *store.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE instance SET keys_coded_at = 0`)
			return err
		})
		if c := code(true); c.Coded != 0 || c.Refused != 1 {
			t.Errorf("after the reset: %+v", c)
		}
		resolves(ctx, t, db, text, true)
		resolves(ctx, t, db, late, false)
	})
}

func write(ctx context.Context, t *testing.T, db *store.DB, fn func(tx *store.Tx) error) {
	t.Helper()
	if err := db.Write(ctx, fn); err != nil {
		t.Fatal(err)
	}
}

func resolves(ctx context.Context, t *testing.T, db *store.DB, text secrets.Text, want bool) {
	t.Helper()
	err := db.Read(ctx, func(tx *store.Tx) error {
		_, _, err := teams.Resolve(ctx, tx, text.Reveal())
		return err
	})
	if (err == nil) != want || err != nil && !errors.Is(err, teams.ErrNoKey) {
		t.Errorf("the key opens: %v", err)
	}
}
