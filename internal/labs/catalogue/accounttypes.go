package catalogue

import (
	"hale/internal/platform/ids"
	"hale/internal/platform/teams"
)

// AccountID identifies an account with a lab.
type AccountID = ids.Of[Account]

// AccountStatus is where a lab account is in its life.
//
// Reference 1.16.
type AccountStatus string

// The statuses. Orders need an active account; imports also take a pending one.
const (
	AccountActive        AccountStatus = "active"
	AccountPending       AccountStatus = "pending"
	AccountSuspended     AccountStatus = "suspended"
	AccountReadyToLaunch AccountStatus = "ready_to_launch"
)

// AccountStatuses lists them all.
var AccountStatuses = []AccountStatus{AccountActive, AccountPending, AccountSuspended, AccountReadyToLaunch}

// Known reports whether the status is one of them.
func (s AccountStatus) Known() bool { return known(s, AccountStatuses) }

// DelegatedFlow says which part of the physicians' work a team does itself.
//
// Reference 1.16.
type DelegatedFlow string

// The flows: with OrderDelegated and FullyDelegated the team's physician
// orders, with ResultDelegated and FullyDelegated the team follows up.
const (
	OrderDelegated  DelegatedFlow = "order_delegated"
	ResultDelegated DelegatedFlow = "result_delegated"
	FullyDelegated  DelegatedFlow = "fully_delegated"
	NotDelegated    DelegatedFlow = "not_delegated"
)

// DelegatedFlows lists them all.
var DelegatedFlows = []DelegatedFlow{OrderDelegated, ResultDelegated, FullyDelegated, NotDelegated}

// TeamOrders reports whether a physician of the team must order.
func (f DelegatedFlow) TeamOrders() bool { return f == OrderDelegated || f == FullyDelegated }

// Account is an account with a lab, under which orders are placed.
//
// Reference 1.16, ClientFacingLabAccount.
type Account struct {
	ID     AccountID
	Owner  *teams.ID // nil: the platform's, open to every team
	Lab    Lab
	Status AccountStatus
	Flow   DelegatedFlow
	// Number is the account's number at the lab.
	Number       string
	Name         string // empty for none
	DefaultNotes string // printed on every requisition, after the order's own
	// BusinessUnits are the lab's regional companies that honour it.
	BusinessUnits []string
	// AllowedBilling is in which states each billing type may be used. A type
	// that is not there may be used nowhere.
	AllowedBilling map[Billing][]string
	// Teams it is linked to, as far as the caller may know; none for the platform's.
	Teams []teams.ID
}

// Platform reports whether the account is open to every team.
func (a *Account) Platform() bool { return a.Owner == nil }

// Offers reports whether a lab test may be ordered under the account.
func (a *Account) Offers(t Test) bool {
	return t.Lab == a.Lab.ID && (t.Account == nil || *t.Account == a.ID)
}

// BillingAllowed reports whether an order under the account may be paid in a
// way for a person of a state.
func BillingAllowed(a Account, b Billing, state string) bool {
	return known(state, a.AllowedBilling[b])
}

// ServesState reports whether a lab may test people of a state.
func ServesState(l Lab, state string) bool { return l.Serves(state) }
