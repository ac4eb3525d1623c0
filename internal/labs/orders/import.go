package orders

import (
	"context"
	"log/slog"

	"hale/internal/labs/catalogue"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Import describes an order that its lab already has.
//
// Reference 1.13, ImportOrderBody.
type Import struct {
	User      users.ID
	Billing   catalogue.Billing
	Set       OrderSet
	Method    Method
	Physician *catalogue.Physician
	Patient   Patient
	Address   Address
	SampleID  string // the lab's number for the order
	Account   *catalogue.AccountID
}

// LogValue keeps personal data out of logs.
func (Import) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// ImportOrder imports an order. It is not placed with the lab. Pending accounts are
// allowed.
//
// Spec: Further operations, POST /v3/order/import.
func ImportOrder(ctx context.Context, tx *store.Tx, team teams.ID, r Import) (Order, error) {
	o, _, err := ImportWithWarnings(ctx, tx, team, r)
	return o, err
}

// ImportWithWarnings imports an order like ImportOrder. It also returns the warnings
// that do not refuse the order.
func ImportWithWarnings(ctx context.Context, tx *store.Tx, team teams.ID, r Import) (Order, []*fault.Error, error) {
	v := newReview(ctx, tx, team)
	oneOf(v, "billing_type", r.Billing, catalogue.Billings)
	oneOf(v, "collection_method", r.Method, catalogue.Methods)
	v.checkPatient(&r.Patient)
	v.checkImportedAddress("patient_address", &r.Address)
	v.checkPhysician(r.Physician)
	r.SampleID = v.form.Text("sample_id", r.SampleID, LongestLine)
	v.checkUser(ctx, r.User)
	v.warnOtherPerson(ctx, r.User, &r.Patient)
	v.checkMinor(ctx, r.User, &r.Patient)
	o := v.importedOrder(ctx, &r)
	if len(v.problems()) == 0 {
		v.checkSampleFree(ctx, r.SampleID)
	}
	if err := v.verdict(); err != nil {
		return Order{}, nil, err
	}
	if err := storeNew(ctx, tx, &o); err != nil {
		return Order{}, nil, err
	}
	changed, err := Advance(ctx, tx, &o, Move{To: RequisitionBypassed, By: Call})
	return o, v.warnings, requireMove(changed, err, &o, RequisitionBypassed)
}

func (v *review) importedOrder(ctx context.Context, r *Import) Order {
	as := Request{Set: &r.Set, Method: &r.Method, Account: r.Account}
	set, account := as.set(v)
	if len(set.TestIDs)+len(set.MarkerIDs)+len(set.ProviderIDs) == 0 {
		v.refuse("empty_order_set", "order_set must name lab_test_ids, or marker_ids or provider_ids in add_on", "order_set")
		return Order{}
	}
	p, ok := v.findPlace(ctx, func(set catalogue.OrderSet, method *Method, account *catalogue.AccountID) (catalogue.Panel, error) {
		return catalogue.ResolveOrderSet(ctx, v.tx, v.team, set, method, account)
	}, set, &r.Method, account, true)
	if !ok {
		return Order{}
	}
	if !catalogue.BillingAllowed(p.account, r.Billing, r.Address.State) {
		v.refuse("billing_not_allowed", "billing_type "+string(r.Billing)+" is not allowed for this lab account in this state", "billing_type")
	}
	if p.account.Flow.TeamOrders() && r.Physician == nil {
		v.refuse("physician_missing", "A physician is required: orders under this lab account are delegated to the team", "physician")
	}
	physician, err := physicianOf(ctx, v.tx, v.team, p.account, r.Physician)
	v.check(err)
	o := p.order(v.team, r.User)
	o.Billing, o.SampleID = r.Billing, r.SampleID
	o.Body = Body{Patient: &r.Patient, Address: &r.Address, Physician: physician}
	return o
}

// checkSampleFree refuses a sample id that another order of the team has. It locks,
// so that imports of the same sample wait for each other.
func (v *review) checkSampleFree(ctx context.Context, sample string) {
	if sample == "" {
		return
	}
	if !v.check(v.tx.Lock(ctx, "orders.sample:"+v.team.String()+":"+sample)) {
		return
	}
	var n int
	err := v.tx.QueryRow(ctx, `SELECT COUNT(*) FROM orders WHERE sample_id = $2 AND team_id = $1`, v.team, sample).Scan(&n)
	if v.check(err) && n > 0 {
		v.faults = append(v.faults, fault.New(fault.Invalid, "Value error, an order with this sample_id exists").At("body", "sample_id"))
	}
}
