package orders

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/labclock"
	"hale/internal/labs/networks"
	"hale/internal/people/insurance"
	"hale/internal/platform/fault"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Placer places orders with networks, in background jobs. Each job is enqueued
// in the transaction that requires it, so none is lost. Networks ignore
// duplicates, so an order may be sent more than once.
type Placer struct {
	DB *store.DB
	// Networks by slug.
	Networks map[string]networks.Network
	// Answers receives the answers of labs that come with a receipt; nil drops
	// them.
	Answers Answers
	Log     *slog.Logger
}

// Answers receives a lab's answer to an order, in the transaction of the receipt
// and before the order moves. An event about the move then already includes the
// tests that the lab refused.
type Answers interface {
	TakeAnswer(ctx context.Context, tx *store.Tx, o *Order, answer networks.Message) error
}

type jobArgs struct {
	Team  teams.ID `json:"team"`
	Order ID       `json:"order"`
}

// The kinds of job.
var (
	placeKind    = jobs.NewKind[jobArgs]("orders.place").With(placeLimits)
	withdrawKind = jobs.NewKind[jobArgs]("orders.withdraw").With(placeLimits)
	shipKind     = jobs.NewKind[jobArgs]("orders.ship").With(placeLimits)
)

// placeLimits let an order wait about three days for its lab.
var placeLimits = jobs.Limits{Concurrency: 8, Timeout: 2 * time.Minute, Attempts: 24}

// Jobs returns the kinds of job that a runner needs.
func (p *Placer) Jobs() []jobs.Handler {
	return []jobs.Handler{placeKind.Do(p.place).Sends(), withdrawKind.Do(p.withdraw).Sends(), shipKind.Do(p.ship).Sends()}
}

func enqueueJob(ctx context.Context, tx *store.Tx, kind jobs.Kind[jobArgs], o *Order, at time.Time) error {
	_, err := kind.Enqueue(ctx, tx, jobArgs{o.Team, o.ID}, jobs.Options{Team: o.Team.UUID(), Key: o.ID.String(), At: at})
	return err
}

// dispatch enqueues the placing of an order, now or on the day of its
// activate_by.
func dispatch(ctx context.Context, tx *store.Tx, o *Order) error {
	if o.ActivateBy == nil {
		return enqueueJob(ctx, tx, placeKind, o, time.Time{})
	}
	ahead, err := labclock.Offset(ctx, tx, o.Team)
	if err != nil {
		return err
	}
	var at time.Time
	if o.ActivateBy.After(Today(tx.Now().Add(ahead))) {
		at = o.ActivationTime().Add(-ahead)
	}
	return enqueueJob(ctx, tx, placeKind, o, at)
}

// ActivationTime returns when an order with an activate_by may be placed, by
// the clock of its lab.
func (o *Order) ActivationTime() time.Time { return o.ActivateBy.In(newYork) }

// PlaceNow enqueues the placing of an order whose activate_by has come because
// the clock of its lab moved.
func PlaceNow(ctx context.Context, tx *store.Tx, o *Order) error {
	return enqueueJob(ctx, tx, placeKind, o, time.Time{})
}

// place sends one order. It reads the order before and moves it after the
// network call. An order that was cancelled in between is withdrawn.
func (p *Placer) place(ctx context.Context, run *jobs.Run, args jobArgs) error {
	var o Order
	var whole networks.Order
	var now time.Time
	var held bool
	err := p.DB.Read(ctx, func(tx *store.Tx) (err error) {
		if o, err = Get(ctx, tx, args.Team, args.Order); err != nil {
			return err
		}
		if held, err = IsHeld(ctx, tx, &o); err != nil || held {
			return err
		}
		if now, err = labclock.TimeOf(ctx, tx, args.Team); err != nil {
			return err
		}
		whole, err = ForNetwork(ctx, tx, &o)
		return err
	})
	if fault.Is(err, fault.NotFound) { // erased
		return nil
	}
	if err != nil {
		return err
	}
	if held || !o.awaitsPlacing() {
		return nil
	}
	if o.ActivateBy != nil && o.ActivateBy.After(Today(now)) {
		return jobs.RetryLater(o.ActivationTime().Sub(now))
	}
	network, err := p.route(ctx, &o, whole)
	if err != nil {
		return err
	}
	receipt, err := network.Place(ctx, whole)
	var refusal *networks.Refusal
	switch {
	case errors.As(err, &refusal):
		return p.DB.Write(ctx, func(tx *store.Tx) error { return endRefused(ctx, tx, args, refusal) })
	case err != nil:
		return fmt.Errorf("orders: placing %s: %w", o.ID, err)
	}
	return p.DB.Write(ctx, func(tx *store.Tx) error { return p.recordReceipt(ctx, tx, args, receipt) })
}

// awaitsPlacing reports whether the lab is still to get the order.
func (o *Order) awaitsPlacing() bool {
	return o.Status == Registered || o.Status == Ordered && !o.Registrable
}

// recordReceipt records a lab's receipt.
func (p *Placer) recordReceipt(ctx context.Context, tx *store.Tx, args jobArgs, receipt networks.Receipt) error {
	o, err := Get(ctx, tx, args.Team, args.Order)
	if err != nil {
		return err
	}
	if receipt.Answer != nil && p.Answers != nil {
		if err := p.Answers.TakeAnswer(ctx, tx, &o, *receipt.Answer); err != nil {
			return err
		}
	}
	if !receipt.Pending {
		_, err = Advance(ctx, tx, &o, Move{To: RequisitionCreated, By: Requisition, Change: func(o *Order) {
			o.setSampleID(receipt.SampleID)
			o.HasABN = o.HasABN || receipt.Notice
		}})
	}
	if err == nil {
		err = AddNumbers(ctx, tx, &o, receipt.SampleID)
	}
	if err == nil && o.Status.Stage(o.Method) == StageCancelled {
		err = enqueueJob(ctx, tx, withdrawKind, &o, time.Time{})
	}
	return err
}

// setSampleID sets the sample id, except if the kit or the import already has one.
func (o *Order) setSampleID(id string) {
	if o.SampleID == "" {
		o.SampleID = id
	}
}

// endRefused ends an order that the lab refuses for good.
func endRefused(ctx context.Context, tx *store.Tx, args jobArgs, refusal *networks.Refusal) error {
	o, err := Get(ctx, tx, args.Team, args.Order)
	if err != nil {
		return err
	}
	if err := SetReason(ctx, tx, &o, refusal.Reason); err != nil {
		return err
	}
	to := Cancelled
	if o.Method == catalogue.TestKit {
		to = DoNotProcess
	}
	_, err = Advance(ctx, tx, &o, Move{To: to, By: Requisition})
	return err
}

// SetReason stores the lab's reason before an order ends.
func SetReason(ctx context.Context, tx *store.Tx, o *Order, why string) error {
	o.Body.Notes = why
	return restartIfStale(savePerson(ctx, tx, o))
}

// restartIfStale restarts the whole transaction after a lost race.
func restartIfStale(err error) error {
	if errors.Is(err, errStale) {
		return store.ErrLostRace
	}
	return err
}

// withdraw withdraws a cancelled order from its network.
func (p *Placer) withdraw(ctx context.Context, _ *jobs.Run, args jobArgs) error {
	o, whole, err := p.read(ctx, args)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	network, err := p.network(o.Network)
	if err != nil {
		return err
	}
	unregistered := o.Registrable && o.Body.Patient == nil // the lab never had it
	if o.Network == SandboxNetwork || !unregistered {
		if err := network.Cancel(ctx, whole); err != nil {
			return fmt.Errorf("orders: withdrawing %s: %w", o.ID, err)
		}
	}
	recaller, ok := p.Networks[FulfilmentNetwork].(networks.Recaller)
	if !ok || o.Network == SandboxNetwork || o.Method != catalogue.TestKit {
		return nil
	}
	if err := recaller.Recall(ctx, whole); err != nil {
		return fmt.Errorf("orders: recalling the kit of %s: %w", o.ID, err)
	}
	return nil
}

// ShipKits follows orders; it is a Listener. A kit whose patient is known is sent
// when the lab has the order. The simulated lab sends its kits by itself.
func ShipKits(ctx context.Context, tx *store.Tx, c Change) error {
	o := c.Order
	if !o.Status.HasRequisition() || !awaitsShipping(o) || o.Network == SandboxNetwork {
		return nil
	}
	return enqueueJob(ctx, tx, shipKind, o, time.Time{})
}

// awaitsShipping reports whether a kit is to be sent: before its registration, or
// when the lab has the order of a known patient.
func awaitsShipping(o *Order) bool {
	if o.Registrable {
		return o.Status == AwaitingRegistration
	}
	return o.Method == catalogue.TestKit && (o.Status == RequisitionCreated || o.Status == RequisitionBypassed)
}

// ship sends a kit.
func (p *Placer) ship(ctx context.Context, _ *jobs.Run, args jobArgs) error {
	o, whole, err := p.read(ctx, args)
	if fault.Is(err, fault.NotFound) || err == nil && !awaitsShipping(&o) {
		return nil
	}
	if err != nil {
		return err
	}
	var held bool
	err = p.DB.Read(ctx, func(tx *store.Tx) (err error) {
		held, err = IsHeld(ctx, tx, &o)
		return err
	})
	if err != nil || held {
		return err
	}
	network, err := p.route(ctx, &o, whole)
	if err != nil {
		return err
	}
	shipper, ok := network.(networks.Shipper)
	if !ok {
		shipper, ok = p.Networks[FulfilmentNetwork].(networks.Shipper)
	}
	if !ok { // kits are sent by hand
		return nil
	}
	if err := shipper.Ship(ctx, whole); err != nil {
		return fmt.Errorf("orders: shipping %s: %w", o.ID, err)
	}
	return nil
}

func (p *Placer) read(ctx context.Context, args jobArgs) (o Order, whole networks.Order, err error) {
	err = p.DB.Read(ctx, func(tx *store.Tx) (err error) {
		if o, err = Get(ctx, tx, args.Team, args.Order); err != nil {
			return err
		}
		whole, err = ForNetwork(ctx, tx, &o)
		return err
	})
	return o, whole, err
}

// route returns the network of an order. A sandbox order whose lab has a test
// system first moves to the network of that system. The move is stored before the
// lab gets the order, so the lab's messages find it.
func (p *Placer) route(ctx context.Context, o *Order, whole networks.Order) (networks.Network, error) {
	tests, ok := p.Networks[HL7TestNetwork].(networks.TestNetwork)
	if !ok || o.Network != SandboxNetwork || !tests.Tests(whole.Lab) {
		return p.network(o.Network)
	}
	err := p.DB.Write(ctx, func(tx *store.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE orders SET network = $4, rev = rev + 1 WHERE team_id = $1 AND id = $2 AND rev = $3`, o.Team, o.ID, o.rev, HL7TestNetwork)
		if err == nil && n == 0 {
			return fmt.Errorf("orders: %s changed while it was routed", o.ID) // the job tries again
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	o.Network = HL7TestNetwork
	return tests, nil
}

func (p *Placer) network(slug string) (networks.Network, error) {
	n, ok := p.Networks[slug]
	if !ok {
		return nil, fmt.Errorf("orders: the network %s is not set up on this node", slug)
	}
	return n, nil
}

// unplacedQuery and scheduledQuery list the statuses in the same way as the index
// orders_unplaced. One reads orders without activate_by, the other those whose
// activate_by has come.
var (
	unplacedQuery = `SELECT id, status FROM orders WHERE team_id = $1 AND status IN (` + unplacedStatuses() + `)
		AND activate_by IS NULL` + ofLiveUser + ` ORDER BY activate_by DESC, created_at DESC, id DESC LIMIT $2`
	scheduledQuery = `SELECT id, status FROM orders WHERE team_id = $1 AND status IN (` + unplacedStatuses() + `)
		AND activate_by <= $3` + ofLiveUser + ` ORDER BY activate_by DESC, created_at DESC, id DESC LIMIT $2`
)

// ofLiveUser leaves out the orders of deleted users.
const ofLiveUser = ` AND NOT EXISTS (SELECT 1 FROM users u WHERE u.team_id = orders.team_id AND u.user_id = orders.user_id AND u.deleted_at IS NOT NULL)`

// unplacedStatuses returns the statuses of orders that no lab has yet, as SQL texts.
func unplacedStatuses() string {
	var quoted []string
	for _, row := range statusTable {
		if row.unplaced {
			quoted = append(quoted, "'"+string(row.status)+"'")
		}
	}
	return strings.Join(quoted, ", ")
}

// UnplacedOrder is an order that no lab has yet.
type UnplacedOrder struct {
	ID     ID
	Status Status
}

// ListUnplaced returns the newest orders that no lab has yet: at most limit without
// activate_by, and at most limit whose activate_by has come. Orders of deleted users wait
// and are left out.
func ListUnplaced(ctx context.Context, tx *store.Tx, team teams.ID, limit int) (all []UnplacedOrder, err error) {
	now, err := labclock.TimeOf(ctx, tx, team)
	if err != nil {
		return nil, err
	}
	take := func(row store.Scanner) error {
		var u UnplacedOrder
		err := row.Scan(&u.ID, &u.Status)
		all = append(all, u)
		return err
	}
	var b store.Batch
	b.Query(take, unplacedQuery, team, limit)
	b.Query(take, scheduledQuery, team, limit, Today(now).String())
	if err := tx.Run(ctx, &b); err != nil {
		return nil, fmt.Errorf("orders: reading orders that no lab has: %w", err)
	}
	return all, nil
}

// ForNetwork returns the order for its lab. It never returns a NotFound fault,
// because callers interpret that as an erased order.
func ForNetwork(ctx context.Context, tx *store.Tx, o *Order) (networks.Order, error) {
	n, err := forNetwork(ctx, tx, o)
	if fault.Is(err, fault.NotFound) {
		err = fmt.Errorf("orders: data of %s is missing: %s", o.ID, err.Error())
	}
	return n, err
}

func forNetwork(ctx context.Context, tx *store.Tx, o *Order) (networks.Order, error) {
	team, err := teams.Get(ctx, tx, o.Team)
	if err != nil {
		return networks.Order{}, err
	}
	facts, err := ReadFacts(ctx, tx, o.Team, []Order{*o})
	if err != nil {
		return networks.Order{}, err
	}
	account, err := catalogue.AccountOf(ctx, tx, o.Team, o.Account)
	if err != nil {
		return networks.Order{}, fmt.Errorf("orders: the account of %s: %w", o.ID, err)
	}
	f := facts[0]
	n := networks.Order{
		ID: o.ID.UUID(), Transaction: o.Transaction.UUID(), Team: o.Team.UUID(), Sandbox: team.Environment == teams.Sandbox,
		Lab: f.Lab.Slug, Account: networks.Account{Number: account.Number, Name: account.Name}, Method: string(o.Method),
		SampleID: o.SampleID, Priority: o.Priority, Billing: string(o.Billing), ICDCodes: o.Body.ICDCodes,
		Notes: notes(o.Body.ClinicalNotes, account.DefaultNotes), Fasting: f.Test.Fasting, PlacedAt: o.CreatedAt,
		Notice: o.HasABN, Tests: testsOf(f.Markers), Answers: answersOf(f.Markers, o.Body.Answers),
	}
	if p := o.Body.Patient; p != nil {
		n.Patient = p.forNetwork(o.User.UUID(), o.Body.Address)
	}
	if p := o.Body.Physician; p != nil {
		n.Physician = networks.Physician{FirstName: p.FirstName, LastName: p.LastName, NPI: p.NPI}
	}
	switch {
	case o.Method == catalogue.TestKit && o.Body.Shipping != nil:
		n.ShipTo = o.Body.Shipping.forNetwork()
	case o.Method == catalogue.TestKit:
		n.ShipTo = o.Body.Address.forNetwork()
	}
	practice, err := catalogue.PracticeOf(ctx, tx, o.Team, o.Account)
	if err != nil {
		return networks.Order{}, err
	}
	n.Practice = networks.Practice{
		Name: practice.Name, Address: *(&Address{Address: practice.Address}).forNetwork(), Phone: practice.Phone, Fax: practice.Fax, AfterHours: practice.AfterHours,
	}
	n.Insurance, err = insuranceOf(ctx, tx, o)
	if i := n.Insurance; i != nil {
		i.PayorCode = cmp.Or(f.Lab.PayorCodes[i.PayorCode], i.PayorCode)
	}
	return n, err
}

func notes(own, account string) string {
	if own != "" && account != "" {
		return own + "\n" + account
	}
	return own + account
}

func insuranceOf(ctx context.Context, tx *store.Tx, o *Order) (*networks.Insurance, error) {
	if o.Insurance == nil {
		return nil, nil
	}
	r, err := insurance.Get(ctx, tx, o.Team, o.User, *o.Insurance)
	if err != nil {
		return nil, fmt.Errorf("orders: the insurance of %s: %w", o.ID, err)
	}
	i := r.Insured
	n := &networks.Insurance{
		PayorCode: r.PayorCode, Company: r.Company.Name, CompanyAddress: *(&Address{Address: r.Company.Address}).forNetwork(), MemberID: r.MemberID, GroupID: r.GroupID, Relationship: string(r.Relationship),
		Insured: networks.Patient{
			FirstName: i.FirstName, LastName: i.LastName, DOB: i.BirthDate, Gender: i.Gender, Phone: i.PhoneNumber, Email: i.Email,
			Address: *(&Address{Address: i.Address}).forNetwork(),
		},
	}
	if g := r.Guarantor; g != nil {
		n.Guarantor = &networks.Patient{
			FirstName: g.FirstName, LastName: g.LastName, Phone: g.PhoneNumber, Email: g.Email,
			Address: *(&Address{Address: g.Address}).forNetwork(),
		}
	}
	return n, nil
}

func (p *Patient) forNetwork(user uuid.UUID, a *Address) networks.Patient {
	return networks.Patient{
		ID: user, FirstName: p.FirstName, LastName: p.LastName, DOB: p.BirthDate, Gender: p.Gender, Phone: p.PhoneNumber, Email: p.Email,
		Address: *a.forNetwork(), Race: p.Race, Ethnicity: p.Ethnicity,
	}
}

func (a *Address) forNetwork() *networks.Address {
	if a == nil {
		return &networks.Address{}
	}
	return &networks.Address{
		Receiver: a.Receiver, FirstLine: a.FirstLine, SecondLine: a.SecondLine, City: a.City, State: a.State, Zip: a.Zip,
		Country: a.Country, Phone: a.PhoneNumber, AccessNotes: a.AccessNotes,
	}
}

func testsOf(markers []*catalogue.Marker) []networks.Test {
	all := make([]networks.Test, len(markers))
	for i, m := range markers {
		all[i] = networks.Test{MarkerID: m.ID, ProviderID: m.ProviderID, Name: m.Name, Slug: m.Slug, LOINC: m.LOINC, Specimen: specimenNeeded(m)}
		for _, r := range m.Results {
			e := networks.ExpectedResult{ProviderID: r.ProviderID, Name: r.Name, Slug: r.Slug, Required: r.Required, LOINC: r.LOINC}
			if c := r.Code(); c != nil {
				e.LOINCSlug, e.Unit = c.Slug(), c.Unit
			}
			all[i].Expected = append(all[i].Expected, e)
		}
	}
	return all
}

func specimenNeeded(m *catalogue.Marker) networks.SpecimenNeeded {
	s := m.Collect()
	code, _ := s.Type.Code()
	return networks.SpecimenNeeded{
		Name: code.Name, SNOMED: code.SNOMED, SNOMEDName: code.SNOMEDName, HL7: code.HL7, HL7Name: code.HL7Name,
		Container: s.Container, MinVolume: s.MinVolume, Temperature: s.Temperature, Stability: s.Stability, Notes: s.Notes,
	}
}

func answersOf(markers []*catalogue.Marker, given []Answer) []networks.Answer {
	var all []networks.Answer
	for _, a := range given {
		for _, m := range markers {
			for _, q := range m.Questions {
				if m.ID == a.MarkerID && q.ID == a.QuestionID {
					all = append(all, networks.Answer{MarkerID: m.ID, ProviderID: m.ProviderID, QuestionCode: q.Code, Question: q.Value, Answer: a.Answer})
				}
			}
		}
	}
	return all
}
