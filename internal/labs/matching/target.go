package matching

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// target is the order that a result goes to.
type target struct {
	item   *Item
	report networks.Report
}

// usableOrder returns the order when it can have results of that lab. An order
// is recreated if it was cancelled, if its lab never had it, or if it is with
// another lab. That happens once. Later results of the same sample go to the
// recreated order.
//
// Reference 1.7, recreation.
func (t target) usableOrder(ctx context.Context, tx *store.Tx, o *orders.Order) (orders.Order, error) {
	elsewhere := t.item.Lab != 0 && t.item.Lab != o.Lab
	if !elsewhere && (o.Course().Allows(o.Status, orders.Completed, orders.Lab) || orderStateOf(o) == stateCompleted) {
		return *o, nil
	}
	id, replaced, err := orders.FindReplacement(ctx, tx, o)
	if err != nil {
		return orders.Order{}, err
	}
	if replaced {
		next, err := orders.Get(ctx, tx, o.Team, id)
		if err == nil && (t.item.Lab == 0 || next.Lab == t.item.Lab) && orderStateOf(&next) != stateCancelled {
			return next, nil
		}
		if err != nil && !fault.Is(err, fault.NotFound) {
			return orders.Order{}, err
		}
	}
	if o.Body.Patient == nil {
		return orders.Order{}, inconsistentChoice("The test kit of this order is not registered: register it first")
	}
	return t.recreate(ctx, tx, o)
}

// recreate replaces an order by one of the same person.
func (t target) recreate(ctx context.Context, tx *store.Tx, o *orders.Order) (orders.Order, error) {
	how := orders.Recreate{SampleID: t.sampleID(o.SampleID)}
	if t.item.Lab == 0 || t.item.Lab == o.Lab {
		return orders.RecreateOrder(ctx, tx, o, how)
	}
	test, _, err := t.test(ctx, tx, &o.Method)
	if err != nil {
		return orders.Order{}, err
	}
	how.Test, how.IncorrectLab = &test.ID, true
	if how.Account, err = t.account(ctx, tx); err != nil {
		return orders.Order{}, err
	}
	next, err := orders.RecreateOrder(ctx, tx, o, how)
	if fault.Is(err, fault.Refused) {
		return orders.Order{}, inconsistentChoice("The team has no account, or no certain one, for an order with this lab: import one, and accept the result for it")
	}
	return next, err
}

// account returns the team's account that the lab reported for; nil when the
// team has no account of that number.
func (t target) account(ctx context.Context, tx *store.Tx) (*catalogue.AccountID, error) {
	if t.report.Account == "" {
		return nil, nil
	}
	all, err := catalogue.Accounts(ctx, tx, t.item.Team, catalogue.AccountFilter{})
	for _, a := range all {
		if accountKey(a.Number) == accountKey(t.report.Account) && a.Lab.ID == t.item.Lab {
			return &a.ID, nil
		}
	}
	return nil, err
}

// sampleID returns the sample id of an order that is created for this result.
// It is never empty: the lab has the sample, and must not be asked for another
// one.
func (t target) sampleID(before string) string {
	switch {
	case t.report.SampleID != "":
		return t.report.SampleID
	case t.report.Results != nil && t.report.Results.Specimen.Number != "":
		return t.report.Results.Specimen.Number
	case before != "":
		return before
	}
	return t.ownSampleID()
}

// ownSampleID returns a number that no lab has.
func (t target) ownSampleID() string { return "U-" + t.item.ID.String()[24:] }

// newSampleID returns the sample id of an order without a predecessor. The
// report may have the number of another order, even of another person.
func (t target) newSampleID(ctx context.Context, tx *store.Tx) (string, error) {
	number := t.sampleID("")
	found, err := orders.FindBySample(ctx, tx, number)
	if err != nil || !slices.ContainsFunc(found, func(o orders.Order) bool { return o.Team == t.item.Team }) {
		return number, err
	}
	return t.ownSampleID(), nil
}

// createOrder creates an order for a user with the reported tests, as an order
// that the lab had before we did.
func (t target) createOrder(ctx context.Context, tx *store.Tx, user users.ID) (orders.Order, error) {
	patient, address, err := t.details(ctx, tx, user)
	if err != nil {
		return orders.Order{}, err
	}
	test, method, err := t.test(ctx, tx, nil)
	if err != nil {
		return orders.Order{}, err
	}
	account, err := t.account(ctx, tx)
	if err != nil {
		return orders.Order{}, err
	}
	sample, err := t.newSampleID(ctx, tx)
	if err != nil {
		return orders.Order{}, err
	}
	o, err := orders.ImportOrder(ctx, tx, t.item.Team, orders.Import{
		User: user, Billing: catalogue.ClientBill, Method: method, Patient: patient, Address: address, SampleID: sample,
		Set: orders.OrderSet{TestIDs: []catalogue.TestID{test.ID}}, Account: account,
	})
	if err != nil && fault.KindOf(err) != fault.Internal {
		return orders.Order{}, inconsistentChoice("No order can be created from this result for the user: import one, and accept the result for it")
	}
	return o, err
}

func (t target) codes() []string {
	var all []string
	for _, m := range t.item.Summary.Markers {
		if m.ProviderID != "" && !contains(all, m.ProviderID) {
			all = append(all, m.ProviderID)
		}
	}
	return all
}

// test returns a lab test with the reported tests, for a collection method or
// for any.
func (t target) test(ctx context.Context, tx *store.Tx, method *catalogue.Method) (catalogue.Test, catalogue.Method, error) {
	offered, err := catalogue.Load(ctx, tx, t.item.Team)
	if err != nil {
		return catalogue.Test{}, "", err
	}
	var markers []catalogue.MarkerID
	for _, code := range t.codes() {
		if m, ok := offered.MarkerByCode(t.item.Lab, code); ok {
			markers = append(markers, m.ID)
		}
	}
	ways := catalogue.Methods
	if method != nil {
		ways = append([]catalogue.Method{*method}, catalogue.Methods...)
	}
	if len(markers) > 0 {
		for _, way := range ways {
			panel, err := catalogue.PanelOf(ctx, tx, t.item.Team, markers, way)
			switch fault.KindOf(err) {
			case fault.Refused, fault.Invalid, fault.NotFound:
				continue
			default:
			}
			if err != nil {
				return catalogue.Test{}, "", fmt.Errorf("matching: a lab test of the reported tests: %w", err)
			}
			return panel.Test, way, nil
		}
	}
	return catalogue.Test{}, "", inconsistentChoice("The reported tests are not in the lab's catalogue: import an order, and accept the result for it")
}

// details returns a user's demographics as an order has them.
func (t target) details(ctx context.Context, tx *store.Tx, user users.ID) (orders.Patient, orders.Address, error) {
	info, err := users.LatestInfo(ctx, tx, t.item.Team, user)
	if users.IsNoInfo(err) {
		return orders.Patient{}, orders.Address{}, inconsistentChoice("The user's demographics are not known: set them first")
	}
	if fault.Is(err, fault.NotFound) { // choose has found the user
		return orders.Patient{}, orders.Address{}, inconsistentChoice("The user is deleted and gets no new order: choose an order with order_id, or undo the deletion first")
	}
	if err != nil {
		return orders.Patient{}, orders.Address{}, err
	}
	patient := orders.Patient{
		FirstName: info.FirstName, LastName: info.LastName, BirthDate: info.BirthDate, Gender: genderOf(info.Gender),
		PhoneNumber: info.PhoneNumber, Email: info.Email, MedicalProxy: info.MedicalProxy, Race: info.Race, Ethnicity: info.Ethnicity,
		SexualOrientation: info.SexualOrientation, GenderIdentity: info.GenderIdentity,
	}
	return patient, orders.Address{Address: info.Address, Receiver: info.Name(), PhoneNumber: info.PhoneNumber}, nil
}

// genderOf returns a word that labs know.
func genderOf(word string) string {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "f", "female":
		return "female"
	case "m", "male":
		return "male"
	}
	return "unknown"
}
