package insurance_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hale/internal/people/insurance"
	"hale/internal/people/users"
	"hale/internal/people/users/person"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

func create(db *store.DB, user users.User, r insurance.Record) (kept insurance.Record, err error) {
	ctx := store.WithTeam(context.Background(), user.Team.UUID())
	err = db.Write(ctx, func(tx *store.Tx) (err error) {
		kept, err = insurance.Create(ctx, tx, user.Team, user.ID, r)
		return err
	})
	return kept, err
}

func getLatest(db *store.DB, user users.User, primary bool) (r insurance.Record, err error) {
	ctx := store.WithTeam(context.Background(), user.Team.UUID())
	err = db.Read(ctx, func(tx *store.Tx) (err error) {
		r, err = insurance.GetLatest(ctx, tx, user.Team, user.ID, primary)
		return err
	})
	return r, err
}

func patient(t *testing.T, db *store.DB) users.User {
	t.Helper()
	user := userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{})
	userstest.WithInfo(t, db, user, userstest.Info())
	return user
}

func record() insurance.Record {
	address := person.Address{FirstLine: "1 Main Street", City: "Austin", State: "TX", Zip: "78701", Country: person.US}
	return insurance.Record{
		PayorCode: "UHC", MemberID: "M-1", GroupID: "G-1", Relationship: insurance.Self, IsPrimary: true,
		Insured: insurance.Insured{
			FirstName: "Ada", LastName: "Byron", Gender: "Female", BirthDate: civil.MustParse("1984-12-10"),
			Email: "ada@example.org", PhoneNumber: "+15125550132", Address: address,
		},
	}
}

func guarantor() *person.Guarantor {
	return &person.Guarantor{FirstName: "Anne", LastName: "Byron", PhoneNumber: "+15125550133", Address: record().Insured.Address}
}

func TestCreateAndLatest(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := patient(t, db)
		if _, err := getLatest(db, user, true); !fault.Is(err, fault.NotFound) {
			t.Errorf("without records: %v", err)
		}
		first := record()
		kept, err := create(db, user, first)
		if err != nil || kept.Company.Name != "UnitedHealthcare" {
			t.Fatalf("%+v, %v", kept, err)
		}
		second, other := record(), record()
		second.MemberID, second.Relationship, second.Guarantor = "M-2", insurance.Spouse, guarantor()
		other.MemberID, other.IsPrimary = "M-3", false
		for _, r := range []insurance.Record{second, other} {
			if _, err := create(db, user, r); err != nil {
				t.Fatal(err)
			}
		}
		got, err := getLatest(db, user, true)
		want := second
		want.Company, want.Insured.Gender = kept.Company, "female"
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("newest primary: %v\n%s", err, cmp.Diff(want, got))
		}
		if got, err := getLatest(db, user, false); err != nil || got.MemberID != "M-3" {
			t.Errorf("newest other: %+v, %v", got, err)
		}
	})
}

func TestRecordsAreSealed(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := patient(t, db)
		if _, err := create(db, user, record()); err != nil {
			t.Fatal(err)
		}
		var stored []byte
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			return tx.QueryRow(ctx, `SELECT body FROM insurance WHERE user_id = $1`, user.ID).Scan(&stored)
		})
		for _, word := range []string{"Byron", `"M-1"`, `"UHC"`, "Austin"} {
			if bytes.Contains(stored, []byte(word)) {
				t.Errorf("the row contains %q", word)
			}
		}
	})
}

func TestUsersOfRecords(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{})
		if _, err := create(db, user, record()); err != nil {
			t.Errorf("without demographics: %v", err)
		}
		stranger := patient(t, db)
		stranger.Team = user.Team
		if _, err := create(db, stranger, record()); !fault.Is(err, fault.NotFound) {
			t.Errorf("another team's user: %v", err)
		}
		if _, err := getLatest(db, stranger, true); !fault.Is(err, fault.NotFound) {
			t.Errorf("another team's user: %v", err)
		}
	})
}

func TestRules(t *testing.T) {
	db := storetest.SQLite(t)
	user := patient(t, db)
	for _, c := range []struct {
		rule   string
		change func(r *insurance.Record)
		loc    string // empty: accepted
	}{
		{"as it is", func(*insurance.Record) {}, ""},
		{"no payor", func(r *insurance.Record) { r.PayorCode = "" }, "body.payor_code"},
		{"blank payor", func(r *insurance.Record) { r.PayorCode = "  " }, "body.payor_code"},
		{"long payor", func(r *insurance.Record) { r.PayorCode = strings.Repeat("x", 201) }, "body.payor_code"},
		{"payor in lower case", func(r *insurance.Record) { r.PayorCode = "uhc" }, ""},
		{"no member", func(r *insurance.Record) { r.MemberID = " " }, "body.member_id"},
		{"no group", func(r *insurance.Record) { r.GroupID = "" }, ""},
		{"no relationship", func(r *insurance.Record) { r.Relationship = "" }, "body.relationship"},
		{"unknown relationship", func(r *insurance.Record) { r.Relationship = "Cousin" }, "body.relationship"},
		{"other with guarantor", func(r *insurance.Record) { r.Relationship, r.Guarantor = insurance.Other, guarantor() }, ""},
		{"self with guarantor", func(r *insurance.Record) { r.Guarantor = guarantor() }, ""},
		{"bad guarantor", func(r *insurance.Record) { r.Guarantor = &person.Guarantor{} }, "body.guarantor.first_name"},
		{"no gender", func(r *insurance.Record) { r.Insured.Gender = "" }, "body.insured.gender"},
		{"long gender", func(r *insurance.Record) { r.Insured.Gender = strings.Repeat("x", 101) }, "body.insured.gender"},
		{"name with an accent", func(r *insurance.Record) { r.Insured.FirstName = "Zoë" }, "body.insured.first_name"},
		{"bad e-mail", func(r *insurance.Record) { r.Insured.Email = "x" }, "body.insured.email"},
		{"bad telephone", func(r *insurance.Record) { r.Insured.PhoneNumber = "1" }, "body.insured.phone_number"},
		{"born tomorrow", func(r *insurance.Record) { r.Insured.BirthDate = civil.MustParse("2999-01-01") }, "body.insured.dob"},
		{"bad zip", func(r *insurance.Record) { r.Insured.Address.Zip = "x" }, "body.insured.address.zip"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			r := record()
			c.change(&r)
			_, err := create(db, user, r)
			if c.loc == "" && err != nil || c.loc != "" && (!fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.loc+":")) {
				t.Errorf("%v, want %q", err, c.loc)
			}
		})
	}
}

func TestPlansOfTheState(t *testing.T) {
	db := storetest.SQLite(t)
	user := patient(t, db)
	for _, c := range []struct{ code, state, want, company, city string }{
		{"MEDFED", "TX", "MEDFED_TX", "Medicare, Texas", "Baltimore"},
		{"MEDFED", "tx", "MEDFED_TX", "Medicare, Texas", "Baltimore"},
		{"MAIDFED", "NY", "MAIDFED_NY", "Medicaid, New York", ""},
		{"MAIDFED", "DC", "MAIDFED_DC", "Medicaid, District of Columbia", ""},
		{"maidfed", "PR", "MAIDFED_PR", "Medicaid, Puerto Rico", ""},
		{"MAIDFED_CA", "NV", "MAIDFED_CA", "Medicaid, California", ""},
	} {
		r := record()
		r.PayorCode, r.Insured.Address.State = c.code, c.state
		got, err := create(db, user, r)
		if err != nil || got.PayorCode != c.want || got.Company.Name != c.company || got.Company.Address.City != c.city {
			t.Errorf("%s in %s: %+v, %v", c.code, c.state, got, err)
		}
	}
}

// Records that cannot be billed are stored, and their warnings say why.
func TestWarnings(t *testing.T) {
	abroad := person.Address{FirstLine: "1", City: "Oslo", State: "OR", Zip: "0150", Country: "NO"}
	military := record().Insured.Address
	military.State = "AE"
	unknown, plan, missing := "payor_unknown:payor_code", "state_plan_unknown:payor_code", "guarantor_missing:guarantor"
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{})
		for _, c := range []struct {
			name     string
			change   func(r *insurance.Record)
			code     string
			company  string
			warnings []string // code:field
		}{
			{"known payor", func(*insurance.Record) {}, "UHC", "UnitedHealthcare", nil},
			{"code of the right form", func(r *insurance.Record) { r.PayorCode = "Acme_Health" }, "Acme_Health", "Acme_Health", []string{unknown}},
			{"any text", func(r *insurance.Record) { r.PayorCode = " Assurance & Fils (Québec) " }, "Assurance & Fils (Québec)", "Assurance & Fils (Québec)", []string{unknown}},
			{"payor of no team", func(r *insurance.Record) { r.PayorCode = "TEAM-AAAAAAAAAAAAA" }, "TEAM-AAAAAAAAAAAAA", "TEAM-AAAAAAAAAAAAA", []string{unknown}},
			{"plan abroad", func(r *insurance.Record) { r.PayorCode, r.Insured.Address = "MEDFED", abroad }, "MEDFED", "MEDFED", []string{plan}},
			{"plan by military mail", func(r *insurance.Record) { r.PayorCode, r.Insured.Address = "MAIDFED", military }, "MAIDFED", "MAIDFED", []string{plan}},
			{"plan of no state", func(r *insurance.Record) { r.PayorCode = "MEDFED_ZZ" }, "MEDFED_ZZ", "MEDFED_ZZ", []string{unknown}},
			{"plan without its state", func(r *insurance.Record) { r.PayorCode = "MAIDFED_" }, "MAIDFED_", "MAIDFED_", []string{unknown}},
			{"plan of no state abroad", func(r *insurance.Record) { r.PayorCode, r.Insured.Address = "MEDFED_ZZ", abroad }, "MEDFED_ZZ", "MEDFED_ZZ", []string{unknown}},
			{"spouse without guarantor", func(r *insurance.Record) { r.Relationship = insurance.Spouse }, "UHC", "UnitedHealthcare", []string{missing}},
			{"other without guarantor", func(r *insurance.Record) { r.Relationship, r.PayorCode = insurance.Other, "?" }, "?", "?", []string{unknown, missing}},
			{"other with guarantor", func(r *insurance.Record) { r.Relationship, r.Guarantor = insurance.Other, guarantor() }, "UHC", "UnitedHealthcare", nil},
		} {
			r := record()
			c.change(&r)
			made, err := create(db, user, r)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			read, err := getLatest(db, user, true)
			if err != nil || !cmp.Equal(made, read) {
				t.Errorf("%s: read %v\n%s", c.name, err, cmp.Diff(made, read))
			}
			var warnings []string
			for _, w := range made.Warnings() {
				warnings = append(warnings, w.Code+":"+w.Field)
			}
			if made.PayorCode != c.code || made.Company.Name != c.company || !cmp.Equal(warnings, c.warnings) {
				t.Errorf("%s: %q, %q, %q", c.name, made.PayorCode, made.Company.Name, warnings)
			}
		}
	})
}

func TestInsuredGender(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := patient(t, db)
		for given, want := range map[string]string{
			"Female": "female", "MALE": "male", "other": "other", " Unknown ": "unknown",
			"F": "F", "Non-binary": "Non-binary", "Weiblich": "Weiblich",
		} {
			r := record()
			r.Insured.Gender = given
			if made, err := create(db, user, r); err != nil || made.Insured.Gender != want {
				t.Errorf("%q: %q, %v", given, made.Insured.Gender, err)
			}
		}
	})
}

// A payor that the operator imports later becomes the payor of earlier records.
func TestImportMakesAPayorKnown(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := patient(t, db)
		r := record()
		r.PayorCode = "later-health"
		if _, err := create(db, user, r); err != nil {
			t.Fatal(err)
		}
		file := "payor_code,name\nLATER-HEALTH,Later Health\n"
		payors, err := insurance.ParsePayors(strings.NewReader(file), civil.MustParse("2026-01-01"))
		if err != nil {
			t.Fatal(err)
		}
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			return insurance.ImportPayors(ctx, tx, "1", payors)
		})
		got, err := getLatest(db, user, true)
		if err != nil || got.PayorCode != "LATER-HEALTH" || got.Company.Name != "Later Health" || len(got.Warnings()) != 0 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}
