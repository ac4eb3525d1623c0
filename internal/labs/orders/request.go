package orders

import (
	"log/slog"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/secrets"
)

// Request is what a team gives to order a test.
//
// Reference 1.9, CreateOrderRequestCompatible.
type Request struct {
	User          users.ID
	LabTest       *catalogue.TestID // the older way to name one lab test
	Set           *OrderSet
	Method        *Method
	Physician     *catalogue.Physician
	Priority      bool
	Billing       catalogue.Billing // client_bill when empty
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

// OrderSet names what is ordered.
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

// LogValue keeps a person out of logs.
func (Request) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// set is the request's order set in the words of the catalogue, and the lab
// account that the request names.
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
			v.addOn(a, r.Method)
		}
	}
	return set, account
}

// addOn refuses the shapes of an add-on that mean nothing.
//
// Reference 1.9.
func (v *review) addOn(a *AddOn, method *Method) {
	switch {
	case len(a.MarkerIDs) == 0 && len(a.ProviderIDs) == 0:
		v.refuse("empty_add_on", "order_set.add_on must name marker_ids or provider_ids", "order_set", "add_on")
	case len(a.MarkerIDs) > 0 && len(a.ProviderIDs) > 0:
		v.refuse("both_id_kinds", "order_set.add_on takes either marker_ids or provider_ids, not both", "order_set", "add_on")
	case method == nil:
		v.refuse("collection_method_missing", "collection_method is required when order_set.add_on is given", "collection_method")
	}
}
