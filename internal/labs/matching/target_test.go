package matching_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/inbox"
	"hale/internal/labs/matching"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// account opens an account with a lab that bills everywhere. Without an owner
// it is the platform's.
func (d reviewFixture) account(owner *teams.ID, lab catalogue.LabID, number string) (id catalogue.AccountID) {
	d.t.Helper()
	userstest.Write(d.t, d.db, func(ctx context.Context, tx *store.Tx) (err error) {
		id, err = catalogue.AddAccount(ctx, tx, catalogue.NewAccount{
			Owner: owner, Lab: lab, Status: catalogue.AccountActive, Flow: catalogue.NotDelegated, Number: number,
			AllowedBilling: map[catalogue.Billing][]string{catalogue.ClientBill: catalogue.States},
		})
		return err
	})
	return id
}

// lab finds a lab of the catalogue by its slug.
func (d reviewFixture) lab(slug string) (found catalogue.Lab) {
	d.t.Helper()
	d.read(func(tx *store.Tx) error {
		c, err := catalogue.Load(d.ctx(), tx, d.team.ID)
		found, _ = c.LabBySlug(slug)
		return err
	})
	return found
}

// patient creates a user in Phoenix.
func (d reviewFixture) patient() users.User {
	d.t.Helper()
	info := userstest.Info()
	info.Address.State, info.Address.City, info.Address.Zip = "AZ", "Phoenix", "85004"
	user := userstest.New(d.t, d.db, d.team.ID, users.NewUser{})
	userstest.WithInfo(d.t, d.db, user, info)
	return user
}

func otherPatient(r *networks.Report) {
	r.Patient = networks.ReportedPatient{FirstName: "Nobody", LastName: "Atall", DOB: civil.MustParse("1990-01-01")}
}

// A new order has the reported tests and the reported account, even if part of
// it could not be ordered that way.
func TestNewOrderFromReport(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		o := d.order(orders.RequisitionCreated)
		d.account(&d.team.ID, o.Lab, "111")
		second := d.account(&d.team.ID, o.Lab, "222")
		user := d.patient()
		report := func(account string) networks.Report {
			return d.report(o, otherPatient, func(r *networks.Report) {
				r.Account = account
				for _, code := range []string{"NO-SUCH-TEST", "70014"} { // the other one follows from a result, and is not ordered
					r.Results.Results = append(r.Results.Results, networks.Result{TestProviderID: code, ProviderID: code, Name: "More", Value: "1"})
				}
			})
		}
		next, err := d.accept(d.receive(report("222")), matching.Choice{User: &user.ID, ConfirmIdentity: true})
		if err != nil || next.User != user.ID || next.Account != second || d.results(next) == 0 {
			t.Fatalf("made %s under %s: %v", next.Status, next.Account, err)
		}
	})
}

// An order that is recreated at another lab is under the account that the lab
// reported for. When that account is unclear, the answer says what to do.
func TestAccountOfRecreatedOrder(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		o := d.order(orders.RequisitionCreated)
		other := d.lab("labcorp")
		d.account(&d.team.ID, other.ID, "111")
		second := d.account(&d.team.ID, other.ID, "222")
		report := func(account string) matching.ID {
			return d.receive(d.report(o, func(r *networks.Report) {
				r.Lab, r.Account = other.Slug, account
				r.Results.Results = []networks.Result{{TestProviderID: "800002", ProviderID: "800002", Name: "Panel", Value: "1"}}
			}))
		}
		if _, err := d.accept(report("333"), matching.Choice{}); !fault.Is(err, fault.Unprocessable) {
			t.Errorf("an account that the team does not have: %v", err)
		}
		next, err := d.accept(report("222"), matching.Choice{})
		if err != nil || next.Lab != other.ID || next.Account != second {
			t.Fatalf("made at lab %d under %s: %v", next.Lab, next.Account, err)
		}
	})
}

// An order is recreated once, also for results of a lab that is not in the
// catalogue.
func TestOrderIsRecreatedOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		o := d.order(orders.Cancelled)
		report := func(sample string) matching.ID {
			return d.receive(d.report(o, func(r *networks.Report) { r.Lab, r.SampleID = "a lab of its own", sample }))
		}
		first, second := report("UNKNOWN-1"), report("UNKNOWN-2")
		next, err := d.accept(first, matching.Choice{Order: &o.ID})
		if err != nil || next.ID == o.ID {
			t.Fatalf("accepted for %s: %v", next.ID, err)
		}
		if again, err := d.accept(second, matching.Choice{Order: &o.ID}); err != nil || again.ID != next.ID {
			t.Errorf("the second went to %s: %v", again.ID, err)
		}
	})
}

// A result that names no order belongs to the team of its account. Another lab
// may have an account of the same number, and the link may have been removed
// since.
func TestTeamOfAccount(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		o := d.order(orders.RequisitionCreated)
		d.account(&d.team.ID, o.Lab, "M-1")
		shared, unlinked := d.account(&d.team.ID, o.Lab, "S-1"), d.account(&d.team.ID, o.Lab, "U-1")
		d.account(nil, d.lab("labcorp").ID, "M-1")
		d.account(nil, o.Lab, "P-1")
		other := userstest.Team(t, db)
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			if err := catalogue.LinkAccount(ctx, tx, shared, other.ID); err != nil {
				return err
			}
			return catalogue.UnlinkAccount(ctx, tx, unlinked, d.team.ID)
		})
		queue := &matching.Queue{Log: discardLog(), Orders: orders.NewIndex()}
		for number, want := range map[string]int{"M-1": 1, "U-1": 1, "S-1": 0, "P-1": 0, "X-1": 0} {
			report := d.report(o, otherPatient, func(r *networks.Report) { r.Account = number })
			before := count(t, db, `SELECT COUNT(*) FROM unmatched_results WHERE team_id = $1`, d.team.ID)
			userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
				a := inbox.Arrival{ID: uuid.New(), Network: "sandboxlab", Key: "of " + number, ReceivedAt: tx.Now(), Report: report}
				return queue.TakeUnmatched(ctx, tx, a, inbox.NoOrder, nil)
			})
			if n := count(t, db, `SELECT COUNT(*) FROM unmatched_results WHERE team_id = $1`, d.team.ID) - before; n != want {
				t.Errorf("%s: the team was given %d", number, n)
			}
		}
	})
}

// A report without an account number belongs to a team only if no other team can be
// meant.
func TestTeamOfReportWithoutAccount(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		o := d.order(orders.RequisitionCreated)
		newTeam := func(environment teams.Environment) (team teams.Team) {
			userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) (err error) {
				team, err = teams.Create(ctx, tx, "Team", environment)
				return err
			})
			return team
		}
		link := func(id catalogue.AccountID, team teams.Team, on bool) {
			userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
				if on {
					return catalogue.LinkAccount(ctx, tx, id, team.ID)
				}
				return catalogue.UnlinkAccount(ctx, tx, id, team.ID)
			})
		}
		one, other := newTeam(teams.Production), newTeam(teams.Production)
		queue := &matching.Queue{Log: discardLog(), Orders: orders.NewIndex()}
		from := "quest"
		want := func(name, network string, team *teams.Team) {
			t.Helper()
			report := d.report(o, otherPatient, func(r *networks.Report) { r.Lab = from })
			a := inbox.Arrival{ID: uuid.New(), Network: network, Key: name, ReceivedAt: db.Now(), Report: report}
			userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
				return queue.TakeUnmatched(ctx, tx, a, inbox.NoOrder, nil)
			})
			query, args := `SELECT COUNT(*) FROM unassigned_results WHERE id = $1`, []any{a.ID}
			if team != nil {
				query, args = `SELECT COUNT(*) FROM unmatched_results WHERE id = $1 AND team_id = $2`, []any{a.ID, team.ID}
			}
			if count(t, db, query, args...) != 1 {
				t.Errorf("%s: wrong team", name)
			}
		}
		want("no account", orders.HL7Network, nil)
		d.account(&other.ID, d.lab("labcorp").ID, "L-1")
		want("an account with another lab", orders.HL7Network, nil)
		first := d.account(&one.ID, o.Lab, "A-1")
		want("one account", orders.HL7Network, &one)
		want("a sandbox team may have the built-in account", orders.SandboxNetwork, nil)
		link(first, d.team, true)
		want("a sandbox team shares the account", orders.HL7Network, &one)
		want("the lab's test system", orders.HL7TestNetwork, nil)
		d.account(&one.ID, o.Lab, "A-2")
		want("two accounts of one team", orders.HL7Network, &one)
		link(first, other, true)
		want("a shared account", orders.HL7Network, nil)
		link(first, one, false)
		want("the account of another owner", orders.HL7Network, nil)
		link(first, other, false)
		want("the link was removed", orders.HL7Network, &one)
		d.account(&other.ID, o.Lab, "A-3")
		want("accounts of two teams", orders.HL7Network, nil)
		from = "labcorp"
		want("one account with the other lab", orders.HL7Network, &other)
		d.account(nil, d.lab("labcorp").ID, "P-1")
		want("an account of the platform", orders.HL7Network, nil)
	})
}

// An order keeps its account when the team may no longer order under it: a
// report for another account is no safe match.
func TestUnlinkedAccount(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		id := d.account(&d.team.ID, d.lab("quest").ID, "U-1")
		o := d.order(orders.RequisitionCreated)
		if o.Account != id {
			t.Fatalf("the order is under %s", o.Account)
		}
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error { return catalogue.UnlinkAccount(ctx, tx, id, d.team.ID) })
		got := d.get(d.receive(d.report(o, func(r *networks.Report) { r.SampleID, r.Account = o.SampleID, "another" })))
		if got.Status != matching.TeamReview || !got.AccountDiffers {
			t.Errorf("for another account: %s, differs %v", got.Status, got.AccountDiffers)
		}
		if got := d.get(d.receive(d.report(o, func(r *networks.Report) { r.SampleID, r.Account = o.SampleID, "U-1" }))); got.Status != matching.Matched {
			t.Errorf("for its own account: %s", got.Status)
		}
	})
}

// An order for another person than the named order's has no answers or notes of
// that order.
func TestOrderForAnotherPersonHasNoDataOfTheFirst(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newReviewFixture(t, db)
		ask := orderstest.Request(t, db, orderstest.User(t, db, d.team.ID), orderstest.Test(t, db, d.team.ID, catalogue.WalkIn))
		mine := "the clinic's own"
		ask.ClinicalNotes, ask.Passthrough = "pregnant", &mine
		var o orders.Order
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) (err error) {
			o, err = orders.Create(ctx, tx, d.team.ID, ask)
			return err
		})
		orderstest.MoveTo(t, db, &o, orders.RequisitionCreated)
		info := userstest.Info()
		info.FirstName, info.LastName, info.BirthDate = "Grace", "Hopper", civil.MustParse("1956-12-09")
		info.Address.State, info.Address.City, info.Address.Zip = "AZ", "Phoenix", "85004"
		grace := userstest.New(t, db, d.team.ID, users.NewUser{})
		userstest.WithInfo(t, db, grace, info)
		id := d.receive(d.report(o, func(r *networks.Report) {
			r.SampleID = o.SampleID
			r.Patient = networks.ReportedPatient{FirstName: "Grace", LastName: "Hopper", DOB: info.BirthDate, Gender: "F"}
		}))
		next, err := d.accept(id, matching.Choice{User: &grace.ID})
		if err != nil {
			t.Fatal(err)
		}
		if next.User != grace.ID || next.Body.Patient.LastName != "Hopper" {
			t.Fatalf("made for %s", next.User)
		}
		said := next.Body
		said.Patient, said.Address, said.Physician = nil, nil, nil
		if !reflect.DeepEqual(said, orders.Body{}) || next.Billing != catalogue.ClientBill {
			t.Error("the order has something of the first person")
		}
	})
}
