package catalogue

import (
	"testing"

	"hale/internal/people/users/person"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// An account has its own practice, or that of its team. Fields are normalized and
// checked.
func TestPractices(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		account := r.account(quest, AccountActive)
		other := r.account(labcorp, AccountActive)
		clinic := Practice{
			Name: " Acme Clinic ", Address: person.Address{FirstLine: "1 Main Street", City: "Phoenix", State: "az", Zip: "85004"},
			Phone: "(602) 555-0100", AfterHours: "602-555-0199",
		}
		read := func(team teams.ID, id AccountID) (p Practice) {
			if err := r.db.Read(r.ctx, func(tx *store.Tx) (err error) {
				p, err = PracticeOf(r.ctx, tx, team, id)
				return err
			}); err != nil {
				r.Fatal(err)
			}
			return p
		}
		if got := read(r.team.ID, account); !got.IsZero() {
			r.Errorf("before: %+v", got)
		}
		r.write(func(tx *store.Tx) error {
			_, err := SetPractice(r.ctx, tx, r.team.ID, nil, clinic)
			return err
		})
		want := Practice{
			Name: "Acme Clinic", Address: person.Address{FirstLine: "1 Main Street", City: "Phoenix", State: "AZ", Zip: "85004", Country: "US"},
			Phone: "+16025550100", AfterHours: "+16025550199",
		}
		if got := read(r.team.ID, account); got != want {
			r.Errorf("that of the team: %+v", got)
		}
		north := clinic
		north.Name, north.AfterHours = "Acme North", ""
		r.write(func(tx *store.Tx) error {
			_, err := SetPractice(r.ctx, tx, r.team.ID, &account, north)
			return err
		})
		if a, b := read(r.team.ID, account), read(r.team.ID, other); a.Name != "Acme North" || a.AfterHours != "" || b != want {
			r.Errorf("of the account: %+v, of another: %+v", a, b)
		}
		for name, change := range map[string]func(p *Practice){
			"name": func(p *Practice) { p.Name = " " }, "phone": func(p *Practice) { p.Phone = "12" }, "zip": func(p *Practice) { p.Address.Zip = "8500" },
			"after hours": func(p *Practice) { p.AfterHours = "at night" }, "fax": func(p *Practice) { p.Fax = "none" },
		} {
			bad := clinic
			change(&bad)
			if err := r.db.Write(r.ctx, func(tx *store.Tx) error {
				_, err := SetPractice(r.ctx, tx, r.team.ID, nil, bad)
				return err
			}); !fault.Is(err, fault.Invalid) {
				r.Errorf("%s: %v", name, err)
			}
		}
		r.write(func(tx *store.Tx) error { return RemovePractice(r.ctx, tx, r.team.ID, &account) })
		if got := read(r.team.ID, account); got != want {
			r.Errorf("after the removal: %+v", got)
		}
	})
}

// An edit changes only the named fields, and refuses what AddAccount refuses.
func TestEditAccount(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		id := r.account(quest, AccountActive)
		edit := func(e AccountEdit) error {
			return r.db.Write(r.ctx, func(tx *store.Tx) error { return EditAccount(r.ctx, tx, id, e) })
		}
		number := "777"
		if err := edit(AccountEdit{Number: &number, AllowedBilling: map[Billing][]string{ClientBill: {"AZ", "CA"}, PatientBill: {"AZ"}}}); err != nil {
			r.Fatal(err)
		}
		a, code := r.choose(quest, nil, false)
		if code != "" || a.ID != id || a.Number != number || a.Flow != OrderDelegated || !BillingAllowed(a, PatientBill, "AZ") || !BillingAllowed(a, ClientBill, "CA") {
			r.Errorf("edited: %+v %s", a, code)
		}
		empty, flow := " ", DelegatedFlow("somehow")
		for _, bad := range []AccountEdit{{Number: &empty}, {Flow: &flow}, {AllowedBilling: map[Billing][]string{"free": {"AZ"}}}} {
			if err := edit(bad); !fault.Is(err, fault.Invalid) {
				r.Errorf("%+v: %v", bad, err)
			}
		}
		id = AccountID{1}
		if err := edit(AccountEdit{Number: &number}); !fault.Is(err, fault.NotFound) {
			r.Errorf("an unknown account: %v", err)
		}
	})
}
