package catalogue

import (
	"errors"
	"strings"
	"testing"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// account adds an account with a lab to the team.
func (r *fixture) account(lab LabID, status AccountStatus) (id AccountID) {
	r.Helper()
	r.write(func(tx *store.Tx) (err error) {
		id, err = AddAccount(r.ctx, tx, NewAccount{
			Owner: &r.team.ID, Lab: lab, Status: status, Flow: OrderDelegated, Number: "12345",
			AllowedBilling: map[Billing][]string{ClientBill: {"AZ"}},
		})
		return err
	})
	return id
}

// choose returns the chosen account or the code of the error.
func (r *fixture) choose(lab LabID, given *AccountID, forImport bool) (a Account, code string) {
	r.Helper()
	err := r.db.Read(r.ctx, func(tx *store.Tx) (err error) {
		a, err = ChooseAccount(r.ctx, tx, r.team.ID, lab, given, forImport)
		return err
	})
	var f *fault.Error
	if errors.As(err, &f) {
		return a, f.Code()
	}
	if err != nil {
		r.Fatal(err)
	}
	return a, ""
}

// The table of reference 1.16.
func TestChoiceOfAccount(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		a, code := r.choose(quest, nil, false)
		if code != "" || !a.IsPlatform() || a.Lab.ID != quest || a.Flow != NotDelegated {
			r.Errorf("no account of one's own: %+v %s", a, code)
		}
		pending := r.account(quest, AccountPending)
		if _, code := r.choose(quest, nil, false); code != "lab_account_not_active" {
			r.Errorf("only a pending account: %s", code)
		}
		if a, code := r.choose(quest, nil, true); code != "" || a.ID != pending {
			r.Errorf("a pending account for an import: %s", code)
		}
		if _, code := r.choose(quest, &pending, false); code != "lab_account_not_active" {
			r.Errorf("a pending account by name: %s", code)
		}
		if a, code := r.choose(labcorp, nil, false); code != "" || !a.IsPlatform() {
			r.Errorf("another lab: %s", code)
		}
		active := r.account(quest, AccountActive)
		if a, code := r.choose(quest, nil, false); code != "" || a.ID != active || !BillingAllowed(a, ClientBill, "AZ") || BillingAllowed(a, ClientBill, "CA") || BillingAllowed(a, PatientBill, "AZ") {
			r.Errorf("one active account: %+v %s", a, code)
		}
		if _, code := r.choose(quest, nil, true); code != "lab_account_ambiguous" {
			r.Errorf("an active and a pending account for an import: %s", code)
		}
		second := r.account(quest, AccountActive)
		if _, code := r.choose(quest, nil, false); code != "lab_account_ambiguous" {
			r.Errorf("two active accounts: %s", code)
		}
		if a, code := r.choose(quest, &second, false); code != "" || a.ID != second {
			r.Errorf("by name: %s", code)
		}
		if _, code := r.choose(labcorp, &second, false); code != "lab_account_other_lab" {
			r.Errorf("of another lab: %s", code)
		}
		r.write(func(tx *store.Tx) error { return SetAccountStatus(r.ctx, tx, second, AccountSuspended) })
		if _, code := r.choose(quest, &second, true); code != "lab_account_not_active" {
			r.Errorf("a suspended account: %s", code)
		}
		if a, code := r.choose(quest, nil, false); code != "" || a.ID != active {
			r.Errorf("the only active one: %s", code)
		}
	})
}

func TestAccountsOfOthers(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		id := r.account(quest, AccountActive)
		other := newFixture(r.T, r.db, teams.Sandbox)
		if _, code := other.choose(quest, &id, false); code != "unknown_lab_account" {
			r.Errorf("another team's account: %s", code)
		}
		r.write(func(tx *store.Tx) error { return LinkAccount(r.ctx, tx, id, other.team.ID) })
		a, code := other.choose(quest, nil, false)
		if code != "" || a.ID != id || len(a.Teams) != 1 || a.Teams[0] != other.team.ID || *a.Owner != r.team.ID {
			r.Errorf("linked: %+v %s", a, code)
		}
		r.read(func(tx *store.Tx) error {
			all, err := StoredAccounts(r.ctx, tx)
			if len(all) != 1 || len(all[0].Teams) != 2 {
				r.Errorf("stored: %+v", all)
			}
			return err
		})
		r.write(func(tx *store.Tx) error { return UnlinkAccount(r.ctx, tx, id, other.team.ID) })
		if a, code := other.choose(quest, nil, false); code != "" || !a.IsPlatform() {
			r.Errorf("unlinked: %+v %s", a, code)
		}
		for _, change := range []func(tx *store.Tx) error{
			func(tx *store.Tx) error { return LinkAccount(r.ctx, tx, AccountID{7}, r.team.ID) },
			func(tx *store.Tx) error { return UnlinkAccount(r.ctx, tx, id, other.team.ID) },
			func(tx *store.Tx) error { return SetAccountStatus(r.ctx, tx, AccountID{7}, AccountActive) },
		} {
			if err := r.db.Write(r.ctx, change); !fault.Is(err, fault.NotFound) {
				r.Errorf("what is not there: %v", err)
			}
		}
	})
}

func TestAccountsWithoutPlatform(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, teams.Production)
		r.importList(acmeList(), true)
		l, _ := r.catalogue().LabBySlug("acme_lab")
		if _, code := r.choose(l.ID, nil, false); code != "lab_account_missing" {
			r.Errorf("no account at all: %s", code)
		}
		var platform AccountID
		r.write(func(tx *store.Tx) (err error) {
			platform, err = AddAccount(r.ctx, tx, NewAccount{Lab: l.ID, Status: AccountActive, Flow: NotDelegated, Number: "1"})
			return err
		})
		if a, code := r.choose(l.ID, nil, false); code != "" || a.ID != platform || !a.IsPlatform() {
			r.Errorf("the platform's: %+v %s", a, code)
		}
		if err := r.db.Write(r.ctx, func(tx *store.Tx) error { return LinkAccount(r.ctx, tx, platform, r.team.ID) }); !fault.Is(err, fault.Refused) {
			r.Errorf("linking the platform's: %v", err)
		}
	})
}

func TestBadAccounts(t *testing.T) {
	good := NewAccount{Status: AccountActive, Flow: NotDelegated, Number: "1"}
	if err := good.check(); err != nil {
		t.Error(err)
	}
	for field, spoil := range map[string]func(n *NewAccount){
		"status":                 func(n *NewAccount) { n.Status = "PENDING" },
		"delegated_flow":         func(n *NewAccount) { n.Flow = "" },
		"provider_account_id":    func(n *NewAccount) { n.Number = " " },
		"default_clinical_notes": func(n *NewAccount) { n.DefaultNotes = strings.Repeat("é", 1001) },
		"allowed_billing":        func(n *NewAccount) { n.AllowedBilling = map[Billing][]string{ClientBill: {"XX"}} },
	} {
		bad := good
		spoil(&bad)
		if err := bad.check(); err == nil || !strings.Contains(err.Error(), "body."+field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestPhysicians(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		add := func(p Physician) error {
			return r.db.Write(r.ctx, func(tx *store.Tx) error { _, err := AddPhysician(r.ctx, tx, r.team.ID, p); return err })
		}
		for _, p := range []Physician{
			{FirstName: "Jane", LastName: "Example", NPI: "1234567893", States: []string{"AZ"}},
			{FirstName: "Joan", LastName: "Example", NPI: "1245319599"},
			{FirstName: "Jane", LastName: "Sample", NPI: "1234567893"},
		} {
			if err := add(p); err != nil {
				r.Fatal(err)
			}
		}
		list := func(of *fixture) (all []Physician) {
			of.read(func(tx *store.Tx) (err error) { all, err = Physicians(of.ctx, tx, of.team.ID); return err })
			return all
		}
		if all := list(r); len(all) != 2 || all[0].LastName != "Sample" || all[1].FirstName != "Joan" {
			r.Errorf("%+v", all)
		}
		if all := list(newFixture(r.T, r.db, teams.Sandbox)); len(all) != 0 {
			r.Errorf("another team sees %d", len(all))
		}
		for field, p := range map[string]Physician{
			"npi":             {FirstName: "A", LastName: "B", NPI: "1234567890"},
			"first_name":      {FirstName: " ", LastName: "B", NPI: "1234567893"},
			"licensed_states": {FirstName: "A", LastName: "B", NPI: "1234567893", States: []string{"XX"}},
		} {
			if err := add(p); err == nil || !strings.Contains(err.Error(), field) {
				r.Errorf("%s: %v", field, err)
			}
		}
		r.write(func(tx *store.Tx) error { return RemovePhysician(r.ctx, tx, r.team.ID, "1234567893") })
		if all := list(r); len(all) != 1 {
			r.Errorf("%+v", all)
		}
	})
}

// AccountOf finds the account of an order, with its lab, also after it was
// unlinked, and also an account of the sandbox.
func TestAccountOf(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		id := r.account(quest, AccountActive)
		other := newFixture(r.T, r.db, teams.Sandbox)
		r.write(func(tx *store.Tx) error { return LinkAccount(r.ctx, tx, id, other.team.ID) })
		r.write(func(tx *store.Tx) error { return UnlinkAccount(r.ctx, tx, id, other.team.ID) })
		builtin := r.platform(labcorp)
		other.read(func(tx *store.Tx) error {
			for id, want := range map[AccountID]LabID{id: quest, builtin: labcorp} {
				a, err := AccountOf(other.ctx, tx, other.team.ID, id)
				if err != nil {
					return err
				}
				if a.ID != id || a.Lab.ID != want || a.Lab.Slug == "" || a.Number == "" || len(a.Teams) != 0 {
					t.Errorf("%+v", a)
				}
			}
			if _, err := GetAccount(other.ctx, tx, other.team.ID, id); !fault.Is(err, fault.NotFound) {
				t.Errorf("it may still be ordered under: %v", err)
			}
			if _, err := AccountOf(other.ctx, tx, other.team.ID, AccountID{7}); err == nil || fault.Is(err, fault.NotFound) {
				t.Errorf("one that is not there: %v", err)
			}
			return nil
		})
	})
}

// A set of markers takes as long as its slowest. The time is unknown if one
// marker does not have one.
func TestTAT(t *testing.T) {
	days := func(n int) *int { return &n }
	quick, slow := &Marker{CommonTAT: days(1), WorstTAT: days(3)}, &Marker{CommonTAT: days(2), WorstTAT: days(2)}
	half, silent := &Marker{CommonTAT: days(4)}, &Marker{}
	for _, c := range []struct {
		name          string
		markers       []*Marker
		common, worst int // 0 for nil
	}{
		{"nothing", nil, 0, 0},
		{"one", []*Marker{quick}, 1, 3},
		{"the slowest", []*Marker{quick, slow}, 2, 3},
		{"half of it is not known", []*Marker{half, quick}, 4, 0},
		{"one does not say", []*Marker{quick, silent, slow}, 0, 0},
	} {
		common, worst := TAT(c.markers)
		for _, got := range []struct {
			days *int
			want int
		}{{common, c.common}, {worst, c.worst}} {
			if (got.days == nil) != (got.want == 0) || got.days != nil && *got.days != got.want {
				t.Errorf("%s: %v and %v", c.name, common, worst)
			}
		}
	}
}
