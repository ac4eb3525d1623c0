package matching

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/critical"
	"hale/internal/labs/inbox"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/results"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Match judges a result. It looks for candidates in a reading transaction, and
// judges them again in the writing transaction, since they may have moved.
// review keeps even a safe match in the queue.
func (q *Queue) Match(ctx context.Context, db *store.DB, team teams.ID, id ID, review bool) error {
	var likely []orders.ID
	err := db.Read(ctx, func(tx *store.Tx) error {
		likely = nil
		i, r, err := readArrived(ctx, tx, team, id)
		if err != nil {
			return err
		}
		found, err := q.findOrders(ctx, tx, team, newReportFacts(i.Network, r))
		if err != nil {
			return err
		}
		among, err := readOrders(ctx, tx, team, found)
		if err != nil {
			return err
		}
		for _, c := range judge(newReportFacts(i.Network, r), among).Candidates {
			likely = append(likely, c.Order)
		}
		return nil
	})
	var assigned *results.Review
	if err == nil {
		assigned, err = teamAssignment(ctx, db, team, id)
	}
	if err == nil {
		err = db.Write(ctx, func(tx *store.Tx) error { return decide(ctx, tx, team, id, likely, review, assigned) })
	}
	if fault.Is(err, fault.NotFound) { // judged before, or erased
		return nil
	}
	return err
}

// readArrived reads a result that waits to be judged.
func readArrived(ctx context.Context, tx *store.Tx, team teams.ID, id ID) (Item, networks.Report, error) {
	i, err := readItem(ctx, tx, team, id)
	if err == nil && i.Status != Arrived {
		err = notFound()
	}
	if err != nil {
		return Item{}, networks.Report{}, err
	}
	r, err := i.report(ctx, tx)
	return i, r, err
}

// decide gives a result to its order, or puts it into the queue. assigned is the
// decision of an operator that the result belongs to the team; nil for none.
func decide(ctx context.Context, tx *store.Tx, team teams.ID, id ID, likely []orders.ID, review bool, assigned *results.Review) error {
	i, r, err := readArrived(ctx, tx, team, id)
	if err != nil {
		return err
	}
	among, err := readOrders(ctx, tx, team, likely)
	if err != nil {
		return err
	}
	v := judge(newReportFacts(i.Network, r), among)
	i.Decision, i.AccountDiffers, i.Candidates, i.UpdatedAt = v.Decision, v.AccountDiffers, v.Candidates, tx.Now()
	if v.Safe != nil && !review {
		o, err := orders.Get(ctx, tx, team, *v.Safe)
		if err != nil {
			return err
		}
		i.Status = Matched
		if assigned != nil {
			assigned.Decision, assigned.Patient = string(i.Decision), r.Patient
		}
		return recordResult(ctx, tx, &i, Arrived, &o, r, assigned)
	}
	of, err := teams.Get(ctx, tx, team)
	if err != nil {
		return err
	}
	i.Status = OperatorReview
	if of.ReviewsResults() {
		i.Status = TeamReview
	}
	if err := save(ctx, tx, &i, Arrived, true); err != nil {
		return err
	}
	if err := setCandidates(ctx, tx, &i); err != nil {
		return err
	}
	if i.Interpretation == orders.Critical {
		if err := critical.Raise(ctx, tx, team, critical.Subject{Result: i.ID.UUID()}); err != nil {
			return err
		}
	}
	if i.Status != TeamReview {
		return nil
	}
	return announce(ctx, tx, &i, CreatedEvent)
}

// recordResult gives a report to an order. From then on the queue's row is
// sealed with the key of the order's user, and is erased with the user. review
// is the decision of a person about the order or the team; nil for an automatic match.
func recordResult(ctx context.Context, tx *store.Tx, i *Item, from Status, o *orders.Order, r networks.Report, review *results.Review) error {
	if r.Results == nil {
		return fmt.Errorf("matching: the report %s has no results", i.ID)
	}
	a := results.Arrival{Key: i.Key, At: r.At, Sent: r.Sent, Received: i.CreatedAt, DateOnly: r.DateOnly, SampleID: r.SampleID, Account: r.Account, Patient: r.Patient, Set: *r.Results, Review: review}
	if err := results.Take(ctx, tx, o, a); err != nil {
		return err
	}
	ownKey := i.subject()
	i.User, i.Order = &o.User, &o.ID
	if err := inbox.Transfer(ctx, tx, i.ID.UUID(), i.Team.UUID(), o.User.UUID()); err != nil {
		return err
	}
	if err := save(ctx, tx, i, from, false); err != nil {
		return err
	}
	return tx.Shred(ctx, i.Team.UUID(), ownKey)
}

// Queue stores the results that the inbox could not match.
type Queue struct {
	Log    *slog.Logger
	Orders *orders.Index // finds candidates by name and birth date
}

var _ inbox.Unmatched = (*Queue)(nil)

type matchArgs struct {
	Team teams.ID `json:"team"`
	ID   ID       `json:"id"`
}

var matchKind = jobs.NewKind[matchArgs]("matching.match").With(jobs.Limits{Concurrency: 4, Timeout: 5 * time.Minute, Attempts: 100})

// Jobs returns the kinds of job that a runner needs.
func (q *Queue) Jobs() []jobs.Handler {
	return []jobs.Handler{
		matchKind.Do(func(ctx context.Context, run *jobs.Run, args matchArgs) error {
			return q.Match(ctx, run.DB(), args.Team, args.ID, false)
		}),
		ForgetJob,
	}
}

// TakeUnmatched stores a report for judging. A report whose team is unknown
// waits for an operator.
func (q *Queue) TakeUnmatched(ctx context.Context, tx *store.Tx, a inbox.Arrival, why inbox.Reason, candidates []orders.Order) error {
	team, ok, err := teamOf(ctx, tx, a, candidates)
	if err != nil {
		return err
	}
	if ok && a.Network == orders.HL7TestNetwork { // a test system has no results of real patients
		t, err := teams.Get(ctx, tx, team)
		if err != nil {
			return err
		}
		ok = t.Environment == teams.Sandbox
	}
	if !ok {
		q.Log.WarnContext(ctx, "the team of a result is unknown; hale results inbox list shows the result", "report", a.ID, "reason", string(why))
		return storeUnassigned(ctx, tx, a, why)
	}
	return takeForTeam(ctx, tx, team, a)
}

// Put stores a report of a team as arrived.
func Put(ctx context.Context, tx *store.Tx, team teams.ID, a inbox.Arrival) (ID, error) {
	offered, err := catalogue.Load(ctx, tx, team)
	if err != nil {
		return ID{}, err
	}
	lab, _ := offered.LabBySlug(a.Report.Lab) // zero for an unknown lab
	if a.Report.At.IsZero() {
		a.Report.At = a.ReceivedAt
	}
	summary := summarise(a.Report)
	set := cmp.Or(a.Report.Results, &networks.ResultSet{})
	i := Item{
		ID: ID(a.ID), Team: team, Status: Arrived, Lab: lab.ID, Network: a.Network, Key: a.Key,
		Partial: set.Partial, Interpretation: results.InterpretUnmatched(offered, lab, set),
		CreatedAt: tx.Now(), UpdatedAt: tx.Now(), Summary: &summary,
	}
	return i.ID, insert(ctx, tx, &i, a.Report)
}

// teamOf finds the team of a report. It is the team of the orders that the
// report names, or the only team that the report can be for by its account.
func teamOf(ctx context.Context, tx *store.Tx, a inbox.Arrival, named []orders.Order) (teams.ID, bool, error) {
	found := map[teams.ID]bool{}
	for _, o := range named {
		found[o.Team] = true
	}
	if len(found) == 0 && a.Report.Lab != "" {
		var err error
		if found, err = teamsOfAccount(ctx, tx, a); err != nil {
			return teams.ID{}, false, err
		}
	}
	for team := range found {
		return team, len(found) == 1, nil
	}
	return teams.ID{}, false, nil
}

// teamsOfAccount returns the teams of the account that a report names. An account
// without linked teams belongs to its owner. A report without an account number may
// be for any account of its laboratory, and for the owner of any. The result is empty
// if every team may be meant: the account is the platform's.
func teamsOfAccount(ctx context.Context, tx *store.Tx, arrival inbox.Arrival) (map[teams.ID]bool, error) {
	number := accountKey(arrival.Report.Account)
	accounts, err := catalogue.StoredAccounts(ctx, tx)
	if err != nil {
		return nil, err
	}
	found := map[teams.ID]bool{}
	for _, a := range accounts {
		if a.Lab.Slug != arrival.Report.Lab || number != "" && accountKey(a.Number) != number {
			continue
		}
		if a.IsPlatform() {
			return nil, nil
		}
		if len(a.Teams) == 0 || number == "" {
			found[*a.Owner] = true
		}
		for _, team := range a.Teams {
			found[team] = true
		}
	}
	if number == "" {
		return found, keepEnvironment(ctx, tx, found, arrival)
	}
	return found, nil
}

// keepEnvironment removes the teams that a report without an account number cannot be
// for. Sandbox teams have no results of real patients. In the sandbox, every team has an
// account with each built-in laboratory, so no team is certain.
func keepEnvironment(ctx context.Context, tx *store.Tx, found map[teams.ID]bool, a inbox.Arrival) error {
	environment := teams.Production
	if a.Network == orders.SandboxNetwork || a.Network == orders.HL7TestNetwork {
		environment = teams.Sandbox
	}
	_, builtIn := catalogue.KnownLab(a.Report.Lab)
	for id := range found {
		team, err := teams.Get(ctx, tx, id)
		if err != nil {
			return err
		}
		if team.Environment != environment || builtIn && environment == teams.Sandbox {
			delete(found, id)
		}
	}
	return nil
}

const (
	// the age of an order that a report can still find by its person
	lookBack = 400 * 24 * time.Hour
	// results of one lookup, newest first
	maxFound = 60
)

// newReportFacts returns a report's facts for the comparison.
func newReportFacts(network string, r networks.Report) reportFacts {
	s := summarise(r)
	return reportFacts{Person: s.Patient, Network: network, Lab: r.Lab, Account: r.Account, Samples: r.Samples(), Placers: r.Placers(), Markers: s.Markers, Values: cmp.Or(r.Results, &networks.ResultSet{}).Namings(), Set: r.Results, At: r.At}
}

// findOrders looks for orders that a report may belong to: by our number, by
// sample, by birth date and by last name. The last two use this process's
// index of sealed names. It runs in a reading transaction, because the index
// must not take rows that may be rolled back.
func (q *Queue) findOrders(ctx context.Context, tx *store.Tx, team teams.ID, r reportFacts) ([]orders.ID, error) {
	var all []orders.ID
	add := func(id orders.ID) {
		if !contains(all, id) {
			all = append(all, id)
		}
	}
	for _, number := range r.Placers {
		if id, err := ids.Parse[orders.Order](number); err == nil {
			add(id)
		}
	}
	for _, number := range r.Samples {
		found, err := orders.FindBySample(ctx, tx, number)
		if err != nil {
			return nil, err
		}
		for _, o := range found {
			if o.Team == team {
				add(o.ID)
			}
		}
	}
	since := tx.Now().Add(-lookBack)
	f := orders.Filter{Created: orders.Span{From: &since}, Key: orders.ByCreation, Page: 1, Size: maxFound}
	born, last := r.Person.DOB, r.Person.LastName
	// Both first: the people who share one of them can be more than a search finds.
	for _, search := range []orders.Filter{{BirthDate: born, PatientName: last}, {BirthDate: born}, {PatientName: last}} {
		if search.BirthDate.IsZero() && search.PatientName == "" {
			continue
		}
		f.BirthDate, f.PatientName = search.BirthDate, search.PatientName
		found, err := q.Orders.Select(ctx, tx, team, f)
		if err != nil {
			return nil, err
		}
		for _, id := range found.IDs {
			add(id)
		}
	}
	return all, nil
}

// readOrders reads orders for the comparison. It skips orders that do not
// exist, of another team, or of a user after the grace period.
func readOrders(ctx context.Context, tx *store.Tx, team teams.ID, at []orders.ID) ([]knownOrder, error) {
	offered, err := catalogue.Load(ctx, tx, team)
	if err != nil {
		return nil, err
	}
	numbers := map[catalogue.AccountID]string{}
	var all []knownOrder
	for _, id := range at {
		o, err := orders.Get(ctx, tx, team, id)
		if err == nil {
			_, err = users.ClientUserID(ctx, tx, team, o.User)
		}
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		test, err := catalogue.GetTest(ctx, tx, team, o.LabTest)
		if err != nil {
			return nil, err
		}
		if _, known := numbers[o.Account]; !known {
			account, err := catalogue.AccountOf(ctx, tx, team, o.Account)
			if err != nil {
				return nil, err
			}
			numbers[o.Account] = account.Number
		}
		first, err := orders.FirstObservation(ctx, tx, &o)
		if err != nil {
			return nil, err
		}
		lab, _ := offered.Lab(o.Lab)
		markers := offered.MarkersOf(test)
		all = append(all, knownOrder{
			Order: o, FirstObservation: first, Person: patientOf(&o), Lab: lab.Slug, Account: numbers[o.Account],
			Markers: markers, Reflex: offered.AddReflex(markers)[len(markers):], Offered: offered,
		})
	}
	return all, nil
}

func patientOf(o *orders.Order) Person {
	p := o.Body.Patient
	if p == nil {
		return Person{}
	}
	return Person{p.FirstName, p.LastName, p.BirthDate, p.Gender}
}
