package users_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hale/internal/people/users"
	"hale/internal/people/users/person"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

func latestInfo(tb testing.TB, db *store.DB, user users.User) (info users.Info, err error) {
	tb.Helper()
	err = write(db, user.Team, func(ctx context.Context, tx *store.Tx) (err error) {
		info, err = users.LatestInfo(ctx, tx, user.Team, user.ID)
		return err
	})
	return info, err
}

func TestInfoReplacesAndKeepsHistory(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{})
		_, err := latestInfo(t, db, user)
		wantFault(t, err, fault.NotFound, "User demographics data not found")
		if !users.IsNoInfo(err) {
			t.Error("IsNoInfo is false for a user without demographics")
		}
		first := userstest.Info()
		income := int64(48000)
		first.Race, first.MedicalProxy = "asian", &person.Guarantor{
			FirstName: "Anne", LastName: "Byron", PhoneNumber: "+14155550133", Address: first.Address, HouseholdIncome: &income,
		}
		userstest.WithInfo(t, db, user, first)
		if got, err := latestInfo(t, db, user); err != nil || !cmp.Equal(got, first) {
			t.Errorf("read back: %v\n%s", err, cmp.Diff(first, got))
		}
		second := userstest.Info()
		second.LastName = "King"
		userstest.WithInfo(t, db, user, second)
		if got, err := latestInfo(t, db, user); err != nil || !cmp.Equal(got, second) {
			t.Errorf("not replaced: %v\n%s", err, cmp.Diff(second, got))
		}
		if n := rowsOf(t, db, "user_info", user.ID); n != 2 {
			t.Errorf("%d versions kept, want 2", n)
		}
	})
}

func TestInfoIsSealed(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{})
		userstest.WithInfo(t, db, user, userstest.Info())
		var stored []byte
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			return tx.QueryRow(ctx, `SELECT body FROM user_info WHERE user_id = $1`, user.ID).Scan(&stored)
		})
		for _, word := range []string{"Byron", "1984", "Springfield", `"dob"`} {
			if bytes.Contains(stored, []byte(word)) {
				t.Errorf("the row contains %q", word)
			}
		}
	})
}

func TestInfoIsNormalized(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{})
		given := userstest.Info()
		given.FirstName, given.Email, given.PhoneNumber, given.Address.State, given.Address.Country = " Ada ", "Ada@Example.ORG", "(415) 555-0132", "il", ""
		userstest.WithInfo(t, db, user, given)
		got, err := latestInfo(t, db, user)
		want := userstest.Info()
		want.Email = "Ada@example.org"
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("%v\n%s", err, cmp.Diff(want, got))
		}
	})
}

func TestInfoRules(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{})
		for loc, change := range map[string]func(i *users.Info){
			"body.first_name":    func(i *users.Info) { i.FirstName = "Zoë" },
			"body.last_name":     func(i *users.Info) { i.LastName = "" },
			"body.email":         func(i *users.Info) { i.Email = "x" },
			"body.phone_number":  func(i *users.Info) { i.PhoneNumber = "12" },
			"body.gender":        func(i *users.Info) { i.Gender = " " },
			"body.dob":           func(i *users.Info) { i.BirthDate = civil.MustParse("2999-01-01") },
			"body.address.zip":   func(i *users.Info) { i.Address.Zip = "1" },
			"body.address.state": func(i *users.Info) { i.Address.State = "XX" },
			"body.medical_proxy.last_name": func(i *users.Info) {
				i.MedicalProxy = &person.Guarantor{FirstName: "A", PhoneNumber: "+14155550132", Address: i.Address}
			},
			"body.race":               func(i *users.Info) { i.Race = "purple" },
			"body.ethnicity":          func(i *users.Info) { i.Ethnicity = "purple" },
			"body.sexual_orientation": func(i *users.Info) { i.SexualOrientation = "purple" },
			"body.gender_identity":    func(i *users.Info) { i.GenderIdentity = "purple" },
		} {
			t.Run(loc, func(t *testing.T) {
				info := userstest.Info()
				change(&info)
				err := write(db, user.Team, func(ctx context.Context, tx *store.Tx) error {
					_, err := users.PutInfo(ctx, tx, user.Team, user.ID, info)
					return err
				})
				wantFault(t, err, fault.Invalid, loc+":")
			})
		}
		if _, err := latestInfo(t, db, user); !users.IsNoInfo(err) {
			t.Errorf("refused demographics were stored: %v", err)
		}
	})
}
