package orders

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/labclock"
	"hale/internal/people/insurance"
	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Request is a team's request for an order.
//
// Reference 1.9, CreateOrderRequestCompatible.
type Request struct {
	User          users.ID
	LabTest       *catalogue.TestID // deprecated way to name one lab test
	Set           *OrderSet
	Method        *Method
	Physician     *catalogue.Physician
	Priority      bool
	Billing       catalogue.Billing // client_bill if empty
	ICDCodes      []string
	Consents      []Consent
	ActivateBy    *civil.Date
	Answers       []Answer
	Passthrough   *string
	ClinicalNotes string
	Account       *catalogue.AccountID
	Creator       *uuid.UUID
	Patient       Patient
	Address       Address
}

// OrderSet names the tests of an order.
//
// Reference 1.9, OrderSetRequest.
type OrderSet struct {
	TestIDs []catalogue.TestID
	AddOn   *AddOn
	Account *catalogue.AccountID
}

// AddOn names single markers.
type AddOn struct {
	MarkerIDs   []catalogue.MarkerID
	ProviderIDs []string
}

// LogValue keeps personal data out of logs.
func (Request) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// set returns the request's order set in the types of package catalogue, and the
// lab account of the request.
func (r *Request) set(v *review) (catalogue.OrderSet, *catalogue.AccountID) {
	account := r.Account
	if s := r.Set; s != nil && s.Account != nil {
		if account != nil && *account != *s.Account {
			v.refuse("lab_account_twice", "lab_account_id and order_set.lab_account_id name two accounts", "lab_account_id")
		}
		account = s.Account
	}
	var set catalogue.OrderSet
	switch {
	case r.Set == nil && r.LabTest == nil:
		v.refuse("empty_order_set", "Give either lab_test_id or order_set", "order_set")
	case r.Set != nil && r.LabTest != nil:
		v.refuse("order_set_twice", "Give either lab_test_id or order_set, not both", "order_set")
	case r.LabTest != nil:
		set.TestIDs = []catalogue.TestID{*r.LabTest}
	default:
		set.TestIDs = r.Set.TestIDs
		if a := r.Set.AddOn; a != nil {
			set.MarkerIDs, set.ProviderIDs = a.MarkerIDs, a.ProviderIDs
			v.checkAddOn(a, r.Method)
		}
	}
	return set, account
}

// checkAddOn refuses invalid forms of an add-on.
//
// Reference 1.9.
func (v *review) checkAddOn(a *AddOn, method *Method) {
	switch {
	case len(a.MarkerIDs) == 0 && len(a.ProviderIDs) == 0:
		v.refuse("empty_add_on", "order_set.add_on must name marker_ids or provider_ids", "order_set", "add_on")
	case len(a.MarkerIDs) > 0 && len(a.ProviderIDs) > 0:
		v.refuse("both_id_kinds", "order_set.add_on takes either marker_ids or provider_ids, not both", "order_set", "add_on")
	case method == nil:
		v.refuse("collection_method_missing", "collection_method is required when order_set.add_on is given", "collection_method")
	}
}

// Create creates an order. A background job places it with the lab's network,
// now or on the day of its activate_by.
//
// Reference 1.9.
func Create(ctx context.Context, tx *store.Tx, team teams.ID, r Request) (Order, error) {
	o, _, err := CreateWithWarnings(ctx, tx, team, r)
	return o, err
}

// CreateWithWarnings creates an order like Create. It also returns the warnings that
// DryRun would return.
func CreateWithWarnings(ctx context.Context, tx *store.Tx, team teams.ID, r Request) (Order, []*fault.Error, error) {
	v := newReview(ctx, tx, team)
	o := v.requestOrder(ctx, &r, func(set catalogue.OrderSet, method *Method, account *catalogue.AccountID) (catalogue.Panel, error) {
		return catalogue.ResolveOrderSet(ctx, tx, team, set, method, account)
	})
	if err := v.verdict(); err != nil {
		return Order{}, nil, err
	}
	if err := storeNew(ctx, tx, &o); err != nil {
		return Order{}, nil, err
	}
	return o, v.warnings, dispatch(ctx, tx, &o)
}

// DryRunResult is the result of a dry run: the faults that would refuse the
// request, and warnings that would not.
type DryRunResult struct{ Problems, Warnings []*fault.Error }

// DryRun checks a request as Create does, and stores nothing.
func DryRun(ctx context.Context, tx *store.Tx, team teams.ID, r Request) (DryRunResult, error) {
	v := newReview(ctx, tx, team)
	v.requestOrder(ctx, &r, func(set catalogue.OrderSet, method *Method, account *catalogue.AccountID) (catalogue.Panel, error) {
		return catalogue.PreviewOrderSet(ctx, tx, team, set, method, account)
	})
	return DryRunResult{v.problems(), v.warnings}, v.err
}

// requestOrder checks a request and returns its order. The order is valid only
// if the review has no faults.
func (v *review) requestOrder(ctx context.Context, r *Request, resolve resolver) Order {
	v.checkTexts(r)
	v.checkPatient(&r.Patient)
	v.checkAddress("patient_address", &r.Address)
	v.checkPhysician(r.Physician)
	v.checkUser(ctx, r.User)
	set, account := r.set(v)
	v.warnOtherPerson(ctx, r.User, &r.Patient)
	v.checkMinor(ctx, r.User, &r.Patient)
	billed := v.findInsurance(ctx, r.User, r.Billing, r.ICDCodes)
	if len(v.problems()) > 0 && len(set.TestIDs)+len(set.MarkerIDs)+len(set.ProviderIDs) == 0 {
		return Order{}
	}
	p, ok := v.findPlace(ctx, resolve, set, r.Method, account, false)
	if !ok {
		return Order{}
	}
	v.checkTerms(p, r.Address.State, r.Billing, r.Physician)
	answers := v.checkAnswers(p.panel, r.Answers)
	v.checkConsents(ctx, r.Physician, r.Consents)
	physician, err := physicianOf(ctx, v.tx, v.team, p.account, r.Physician)
	v.check(err)
	o := p.order(v.team, r.User)
	o.ActivateBy, o.Scheduled = r.ActivateBy, r.ActivateBy != nil
	o.Priority, o.Billing, o.Insurance = r.Priority, r.Billing, billed
	o.Body = Body{
		Patient: &r.Patient, Address: &r.Address, Physician: physician, ClinicalNotes: r.ClinicalNotes, Passthrough: r.Passthrough,
		ICDCodes: r.ICDCodes, Answers: answers, Consents: r.Consents, Creator: r.Creator,
	}
	return o
}

// physicianOf returns the physician who signs: the given one, or that of the
// platform for accounts that leave ordering to it.
func physicianOf(ctx context.Context, tx *store.Tx, team teams.ID, account catalogue.Account, given *catalogue.Physician) (*catalogue.Physician, error) {
	if given != nil || account.Flow.TeamOrders() {
		return given, nil
	}
	offered, err := catalogue.Load(ctx, tx, team)
	if err != nil {
		return nil, err
	}
	if p, ok := offered.PlatformPhysician(); ok {
		return &p, nil
	}
	return nil, nil
}

// order returns an initial order for a resolved panel.
func (p placement) order(team teams.ID, user users.ID) Order {
	return Order{
		Team: team, User: user, Origin: Initial, Lab: p.panel.Lab.ID, LabTest: p.panel.Test.ID, Account: p.account.ID,
		Method: p.panel.Method, Billing: catalogue.ClientBill, SMSEnabled: true,
	}
}

// storeNew stores a new order with the status ordered, in its transaction or in a
// new one, and emits the event.
func storeNew(ctx context.Context, tx *store.Tx, o *Order) error {
	e, err := insertNew(ctx, tx, o)
	if err != nil {
		return err
	}
	return announceNew(ctx, tx, o, e)
}

// announceNew announces an order of insertNew. e is its first event.
func announceNew(ctx context.Context, tx *store.Tx, o *Order, e Event) error {
	return announceChange(ctx, tx, Change{Order: o, Event: e, By: Call})
}

// insertNew stores a new order and returns its first event. A caller that also moves another
// order of the transaction moves it before announceNew, so that all events show both.
func insertNew(ctx context.Context, tx *store.Tx, o *Order) (Event, error) {
	team, err := teams.Get(ctx, tx, o.Team)
	if err != nil {
		return Event{}, err
	}
	o.ID, o.Details, o.Network = ids.FromUUID[Order](tx.NewUUID()), tx.NewUUID(), networkOf(team)
	now, err := labclock.TimeOf(ctx, tx, o.Team)
	if err != nil {
		return Event{}, err
	}
	o.Status, o.StatusAt, o.CreatedAt, o.UpdatedAt = Ordered, now, now, now
	if o.HasABN, err = needsNotice(ctx, tx, o); err != nil {
		return Event{}, err
	}
	joins := !o.Transaction.IsZero()
	if !joins {
		if o.Transaction, err = beginTransaction(ctx, tx, o.Team); err != nil {
			return Event{}, err
		}
	}
	if err := copySignature(ctx, tx, o); err != nil {
		return Event{}, err
	}
	if err := insert(ctx, tx, o); err != nil {
		return Event{}, err
	}
	if err := saveSignature(ctx, tx, o); err != nil {
		return Event{}, err
	}
	e, err := addEvent(ctx, tx, o, NoDetail)
	if err != nil {
		return Event{}, err
	}
	if joins {
		if err := updateTransactionStatus(ctx, tx, o.Team, o.Transaction); err != nil {
			return Event{}, err
		}
	}
	return e, nil
}

// The networks of orders. An order of a sandbox team is sent out only to the test
// system of its lab: when it is placed, see Placer.route.
const (
	SandboxNetwork = "sandboxlab"
	HL7Network     = "hl7v2"
	HL7TestNetwork = "hl7v2test"
)

// FulfilmentNetwork is the network that ships kits and makes visits for orders of
// other networks.
const FulfilmentNetwork = "fulfilment"

func networkOf(team teams.Team) string {
	if team.Environment == teams.Sandbox {
		return SandboxNetwork
	}
	return HL7Network
}

// requireMove checks a move that nothing can prevent. It returns err, or an error if the
// order did not move.
func requireMove(changed bool, err error, o *Order, to Status) error {
	if err == nil && !changed {
		return fmt.Errorf("orders: %s did not move from %s to %s", o.ID, o.Status, to)
	}
	return err
}

// needsNotice reports whether the patient needs a notice, before the sample is
// collected, that Medicare may not pay. This is the case if the order is billed
// to Medicare and, for some marker, none of its diagnoses is covered. The lab's
// compendium lists the covered diagnoses. A lab that decides by itself reports
// it in its receipt.
//
// Reference 1.1, has_abn: the reference has the flag but does not name who sets it.
// Medicare Claims Processing Manual, chapter 30, section 50: the notice is for
// tests that lack medical necessity.
func needsNotice(ctx context.Context, tx *store.Tx, o *Order) (bool, error) {
	if o.Insurance == nil {
		return false, nil
	}
	record, err := insurance.Get(ctx, tx, o.Team, o.User, *o.Insurance)
	if fault.Is(err, fault.NotFound) { // a recreated order whose record was deleted
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("orders: reading the insurance: %w", err)
	}
	if !record.Medicare() {
		return false, nil
	}
	offered, err := catalogue.Load(ctx, tx, o.Team)
	if err != nil {
		return false, err
	}
	test, err := catalogue.GetTest(ctx, tx, o.Team, o.LabTest)
	if err != nil {
		return false, err
	}
	for _, m := range offered.MarkersOf(test) {
		if !m.Supported(o.Body.ICDCodes) {
			return true, nil
		}
	}
	return false, nil
}
