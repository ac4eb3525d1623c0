package teams_test

import (
	"context"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// A key has the rights with which it was created, and so has its successor.
func TestRightsAreStored(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := store.AsSystem(t.Context())
		want := teams.Rights{
			Scopes:    []teams.Scope{teams.Read, teams.Orders},
			Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::1/128")},
		}
		err := db.Write(ctx, func(tx *store.Tx) error {
			team, err := teams.Create(ctx, tx, "Acme", teams.Sandbox)
			if err != nil {
				return err
			}
			past := tx.Now().Add(-time.Second)
			if _, _, err := teams.CreateKey(ctx, tx, team, teams.NewKey{ExpiresAt: &past}); !fault.Is(err, fault.Invalid) {
				t.Errorf("a key that has ended: %v", err)
			}
			end := tx.Now().Add(time.Hour)
			key, text, err := teams.CreateKey(ctx, tx, team, teams.NewKey{Label: "limited", Rights: want, ExpiresAt: &end})
			if err != nil {
				return err
			}
			checkRights(ctx, t, tx, text.Reveal(), want, &end)
			_, text, err = teams.RotateKey(ctx, tx, team, key.ID, 0)
			if err != nil {
				return err
			}
			checkRights(ctx, t, tx, text.Reveal(), want, nil)
			_, text, err = teams.CreateKey(ctx, tx, team, teams.NewKey{Label: "full", Rights: teams.FullRights})
			if err != nil {
				return err
			}
			checkRights(ctx, t, tx, text.Reveal(), teams.FullRights, nil)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func checkRights(ctx context.Context, t *testing.T, tx *store.Tx, text string, want teams.Rights, end *time.Time) {
	t.Helper()
	_, key, err := teams.Resolve(ctx, tx, text)
	if err != nil || !reflect.DeepEqual(key.Rights, want) || !reflect.DeepEqual(key.ExpiresAt, end) {
		t.Errorf("%+v until %v, want %+v until %v: %v", key.Rights, key.ExpiresAt, want, end, err)
	}
}

func TestScopesAreReadFromText(t *testing.T) {
	for text, want := range map[string][]teams.Scope{
		"": nil, "read": {teams.Read}, "Read, orders,read": {teams.Read, teams.Orders},
	} {
		if got, err := teams.ParseScopes(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, want %v: %v", text, got, want, err)
		}
	}
	if _, err := teams.ParseScopes("read,everything"); !fault.Is(err, fault.Invalid) {
		t.Errorf("an unknown scope: %v", err)
	}
}
