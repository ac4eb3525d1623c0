package teams_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

func TestKeysOpenUntilTheyEnd(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	storetest.EachAt(t, func() time.Time { return now }, func(t *testing.T, db *store.DB) {
		now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		ctx := store.AsSystem(t.Context())
		var team teams.Team
		var key teams.Key
		var text secrets.Text
		in := func(fn func(tx *store.Tx) error) {
			t.Helper()
			if err := db.Write(ctx, fn); err != nil {
				t.Fatal(err)
			}
		}
		opens := func(text secrets.Text) bool {
			t.Helper()
			var got teams.Team
			err := db.Read(ctx, func(tx *store.Tx) (err error) {
				got, _, err = teams.Resolve(ctx, tx, text.Reveal())
				return err
			})
			if err != nil && !errors.Is(err, teams.ErrNoKey) {
				t.Fatal(err)
			}
			return err == nil && got.ID == team.ID
		}
		in(func(tx *store.Tx) (err error) {
			if team, err = teams.Create(ctx, tx, " Clinic ", teams.Production); err != nil {
				return err
			}
			key, text, err = teams.CreateKey(ctx, tx, team, teams.NewKey{Label: "first", Rights: teams.FullRights})
			return err
		})
		if team.Name != "Clinic" || !strings.HasPrefix(text.Reveal(), "pk_") || !opens(text) || opens("pk_someone_elses_key") || opens("") {
			t.Fatalf("%+v", team)
		}
		var next secrets.Text
		in(func(tx *store.Tx) (err error) {
			_, next, err = teams.RotateKey(ctx, tx, team, key.ID, time.Hour)
			return err
		})
		if !opens(text) || !opens(next) {
			t.Error("both keys should open during the overlap")
		}
		now = now.Add(time.Hour)
		if opens(text) || !opens(next) {
			t.Error("only the new key should open after the overlap")
		}
		in(func(tx *store.Tx) error {
			all, err := teams.Keys(ctx, tx, team.ID)
			if err != nil || len(all) != 2 {
				t.Errorf("%d keys: %v", len(all), err)
			}
			return teams.EndKey(ctx, tx, team.ID, all[1].ID, tx.Now())
		})
		if opens(next) {
			t.Error("a key that has ended opens")
		}
	})
}

func TestAKeyOfAnotherTeamIsUnknown(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := store.AsSystem(t.Context())
		err := db.Write(ctx, func(tx *store.Tx) error {
			mine, err := teams.Create(ctx, tx, "mine", teams.Sandbox)
			if err != nil {
				return err
			}
			theirs, err := teams.Create(ctx, tx, "theirs", teams.Sandbox)
			if err != nil {
				return err
			}
			key, _, err := teams.CreateKey(ctx, tx, theirs, teams.NewKey{Rights: teams.FullRights})
			if err != nil {
				return err
			}
			for name, err := range map[string]error{
				"end": teams.EndKey(ctx, tx, mine.ID, key.ID, tx.Now()),
				"get": keyError(teams.GetKey(ctx, tx, mine.ID, key.ID)),
			} {
				if !fault.Is(err, fault.NotFound) {
					t.Errorf("%s: %v", name, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func keyError(_ teams.Key, err error) error { return err }

func TestTheSameKeyTwiceIsAConflict(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := store.AsSystem(t.Context())
		err := db.Write(ctx, func(tx *store.Tx) error {
			team, err := teams.Create(ctx, tx, "team", teams.Sandbox)
			if err != nil {
				return err
			}
			const given = "sk_given_from_outside"
			if _, err := teams.AddKey(ctx, tx, team, "", given); err != nil {
				return err
			}
			if _, err := teams.AddKey(ctx, tx, team, "", given); !fault.Is(err, fault.Conflict) {
				t.Errorf("again: %v", err)
			}
			if _, err := teams.AddKey(ctx, tx, team, "", "short"); !fault.Is(err, fault.Invalid) {
				t.Errorf("short: %v", err)
			}
			production, err := teams.Create(ctx, tx, "clinic", teams.Production)
			if err != nil {
				return err
			}
			if _, err := teams.AddKey(ctx, tx, production, "", "pk_thirty_one_characters_______"); !fault.Is(err, fault.Invalid) {
				t.Errorf("short in production: %v", err)
			}
			if _, err := teams.AddKey(ctx, tx, production, "", "pk_thirty_two_characters________"); err != nil {
				return err
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// A key that no header can carry, or that would be taken for a phone's token,
// would open nothing.
func TestKeysThatCouldNotBeSentAreRefused(t *testing.T) {
	db := storetest.SQLite(t)
	ctx := store.AsSystem(t.Context())
	err := db.Write(ctx, func(tx *store.Tx) error {
		team, err := teams.Create(ctx, tx, "team", teams.Sandbox)
		if err != nil {
			return err
		}
		for _, given := range []secrets.Text{
			" sk_given_from_outside", "sk_given_from_outside\n", "sk_given from_outside", "sk_gegeben_von_außen", "ſk_given_from_outside",
			"sk_given_from\x00outside", "ua_given_from_outside",
		} {
			if _, err := teams.AddKey(ctx, tx, team, "", given); !fault.Is(err, fault.Invalid) {
				t.Errorf("%q: %v", given.Reveal(), err)
			}
		}
		_, err = teams.AddKey(ctx, tx, team, "", "given!from~outside?yes=1")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestNamesOfTeamsAreOneLine(t *testing.T) {
	db := storetest.SQLite(t)
	ctx := store.AsSystem(t.Context())
	for name, good := range map[string]bool{
		"Clinic": true, "Praxis Dr. Müller & Söhne": true, "": false, " ": false, "a\nBcc: b": false, "a\x00b": false, "a\x7fb": false,
		strings.Repeat("é", 80): true, strings.Repeat("é", 81): false, "\xff": false,
	} {
		err := db.Write(ctx, func(tx *store.Tx) error {
			_, err := teams.Create(ctx, tx, name, teams.Sandbox)
			return err
		})
		if (err == nil) != good {
			t.Errorf("%q: %v", name, err)
		}
	}
}
