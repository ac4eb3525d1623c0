package catalogue

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// AccountID identifies an account with a lab.
type AccountID = ids.ID[Account]

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

// AccountFilter narrows the list of accounts; the zero value is all of them.
type AccountFilter struct {
	ID     *AccountID
	Status AccountStatus
}

// Accounts lists the lab accounts under which a team may order: those that it
// is linked to, oldest first, then the platform's.
//
// Spec: Further operations, GET /v3/lab_test/lab_account.
func Accounts(ctx context.Context, tx *store.Tx, team teams.ID, f AccountFilter) ([]Account, error) {
	c, err := For(ctx, tx, team)
	if err != nil {
		return nil, err
	}
	all, err := openAccounts(ctx, tx, team, c)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Concat(all, c.accounts), func(a Account) bool {
		return f.ID != nil && a.ID != *f.ID || f.Status != "" && a.Status != f.Status
	}), nil
}

// GetAccount returns an account that the team may order under, whatever its
// status, or a NotFound fault.
func GetAccount(ctx context.Context, tx *store.Tx, team teams.ID, id AccountID) (Account, error) {
	found, err := Accounts(ctx, tx, team, AccountFilter{ID: &id})
	if err != nil {
		return Account{}, err
	}
	if len(found) == 0 {
		return Account{}, fault.New(fault.NotFound, "Lab account does not exist").At("body", "lab_account_id").WithType("unknown_lab_account")
	}
	return found[0], nil
}

// AccountOf returns the account that an order of a team names, also when the
// team may order under it no more: what was placed goes on. One that is not
// there at all is no NotFound fault, which of an order means that it was erased.
func AccountOf(ctx context.Context, tx *store.Tx, team teams.ID, id AccountID) (Account, error) {
	c, err := For(ctx, tx, team)
	if err != nil {
		return Account{}, err
	}
	stored, err := manyAccounts(ctx, tx, `SELECT `+accountColumns+` FROM lab_accounts a WHERE a.id = $1`, id)
	if err != nil {
		return Account{}, err
	}
	for _, a := range slices.Concat(stored, c.accounts) {
		if a.ID != id {
			continue
		}
		if lab, ok := c.Lab(a.Lab.ID); ok { // one that is offered no more has no more than its id
			a.Lab = lab
		}
		return a, nil
	}
	return Account{}, fmt.Errorf("labs: there is no account %s", id)
}

// ChooseAccount is the account that an order with a lab is placed under: the
// given one, or the team's only active one, or the platform's when the team
// has none with the lab. An import also takes a pending account.
//
// Reference 1.16; Spec: Further operations, lab_account_id.
func ChooseAccount(ctx context.Context, tx *store.Tx, team teams.ID, lab LabID, given *AccountID, forImport bool) (Account, error) {
	usable := func(a Account) bool {
		return a.Status == AccountActive || forImport && a.Status == AccountPending
	}
	if given != nil {
		a, err := GetAccount(ctx, tx, team, *given)
		switch {
		case err != nil:
			return Account{}, err
		case a.Lab.ID != lab:
			return Account{}, accountOfOtherLab()
		case !usable(a):
			return Account{}, refuse("lab_account_not_active", "The lab account is not active", "lab_account_id")
		}
		return a, nil
	}
	all, err := Accounts(ctx, tx, team, AccountFilter{})
	if err != nil {
		return Account{}, err
	}
	return chooseAmong(slices.DeleteFunc(all, func(a Account) bool { return a.Lab.ID != lab }), usable)
}

// chooseAmong chooses one of the accounts with the lab of an order.
func chooseAmong(all []Account, usable func(Account) bool) (Account, error) {
	var linked, platform []Account
	own := false
	for _, a := range all {
		switch {
		case !a.Platform():
			own = true
			if usable(a) {
				linked = append(linked, a)
			}
		case usable(a):
			platform = append(platform, a)
		}
	}
	switch {
	case len(linked) == 1:
		return linked[0], nil
	case len(linked) > 1:
		return Account{}, refuse("lab_account_ambiguous", "The team has several active accounts with this lab: name one with lab_account_id", "lab_account_id")
	case own:
		return Account{}, refuse("lab_account_not_active", "None of the team's accounts with this lab is active", "lab_account_id")
	case len(platform) == 0:
		return Account{}, refuse("lab_account_missing", "There is no account with this lab", "lab_account_id")
	}
	return platform[0], nil
}

const accountColumns = `a.id, a.owner, a.lab_id, a.status, a.delegated_flow, a.provider_account_id, a.account_name,
	a.default_clinical_notes, a.business_units, a.allowed_billing`

// scanAccount reads an account, of whose lab only the id is known.
func scanAccount(row scanner) (Account, error) {
	var a Account
	var owner teams.ID
	var name, notes sql.NullString
	var units, billing string
	if err := row.Scan(&a.ID, &owner, &a.Lab.ID, &a.Status, &a.Flow, &a.Number, &name, &notes, &units, &billing); err != nil {
		return Account{}, err
	}
	if !owner.IsZero() {
		a.Owner = &owner
	}
	a.Name, a.DefaultNotes = name.String, notes.String
	err := errors.Join(json.Unmarshal([]byte(units), &a.BusinessUnits), json.Unmarshal([]byte(billing), &a.AllowedBilling))
	if err != nil {
		return Account{}, fmt.Errorf("labs: lab account %s: %w", a.ID, err)
	}
	return a, nil
}

func manyAccounts(ctx context.Context, tx *store.Tx, query string, args ...any) ([]Account, error) {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("labs: listing accounts: %w", err)
	}
	defer rows.Close()
	var all []Account
	for rows.Next() {
		a, err := scanAccount(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, rows.Err()
}

// openAccounts are the stored accounts that a team may order under, its own
// before the platform's. Those of a lab that the team does not see are left out.
func openAccounts(ctx context.Context, tx *store.Tx, team teams.ID, c *Catalogue) ([]Account, error) {
	own, err := manyAccounts(ctx, tx, `SELECT `+accountColumns+` FROM lab_accounts a
		WHERE a.owner IS NOT NULL AND a.id IN (SELECT t.account_id FROM lab_account_teams t WHERE t.team_id = $1)
		ORDER BY a.created_at, a.id`, team)
	if err != nil {
		return nil, err
	}
	for i := range own {
		own[i].Teams = []teams.ID{team} // not who else: that is not the caller's to know
	}
	platform, err := manyAccounts(ctx, tx, `SELECT `+accountColumns+` FROM lab_accounts a WHERE a.owner IS NULL ORDER BY a.created_at, a.id`)
	if err != nil {
		return nil, err
	}
	var seen []Account
	for _, a := range slices.Concat(own, platform) {
		if lab, ok := c.Lab(a.Lab.ID); ok {
			a.Lab = lab
			seen = append(seen, a)
		}
	}
	return seen, nil
}

// NewAccount is what an account is made of. Owner is nil for one of the
// platform's.
type NewAccount struct {
	Owner          *teams.ID
	Lab            LabID
	Status         AccountStatus
	Flow           DelegatedFlow
	Number         string // at the lab
	Name           string
	DefaultNotes   string
	BusinessUnits  []string
	AllowedBilling map[Billing][]string
}

// longestNotes is the specification's limit for clinical notes, in characters.
const longestNotes = 1000

func (n NewAccount) check() error {
	var faults []*fault.Error
	wrong := func(field, msg string) {
		faults = append(faults, fault.New(fault.Invalid, "Value error, "+msg).At("body", field))
	}
	if !known(n.Status, AccountStatuses) {
		wrong("status", "must be active, pending, suspended or ready_to_launch")
	}
	if !known(n.Flow, DelegatedFlows) {
		wrong("delegated_flow", "must be not_delegated, order_delegated, result_delegated or fully_delegated")
	}
	if strings.TrimSpace(n.Number) == "" || len(n.Number) > 100 {
		wrong("provider_account_id", "must have 1 to 100 characters")
	}
	if len([]rune(n.DefaultNotes)) > longestNotes {
		wrong("default_clinical_notes", "must have at most 1000 characters")
	}
	for billing, states := range n.AllowedBilling {
		if !known(billing, Billings) {
			wrong("allowed_billing", "has an unknown billing type")
		}
		if slices.ContainsFunc(states, func(s string) bool { return !known(s, States) }) {
			wrong("allowed_billing", "has an unknown state")
		}
	}
	return fault.Join(faults...)
}

// AddAccount makes an account and links it to its owner.
func AddAccount(ctx context.Context, tx *store.Tx, n NewAccount) (AccountID, error) {
	if err := n.check(); err != nil {
		return AccountID{}, err
	}
	if n.BusinessUnits == nil {
		n.BusinessUnits = []string{}
	}
	if n.AllowedBilling == nil {
		n.AllowedBilling = map[Billing][]string{}
	}
	units, err := json.Marshal(n.BusinessUnits)
	if err != nil {
		return AccountID{}, fmt.Errorf("labs: marshalling business units: %w", err)
	}
	billing, err := json.Marshal(n.AllowedBilling)
	if err != nil {
		return AccountID{}, fmt.Errorf("labs: marshalling billing: %w", err)
	}
	id := ids.FromUUID[Account](tx.NewUUID())
	var owner any
	if n.Owner != nil {
		owner = *n.Owner
	}
	_, err = tx.Exec(ctx, `INSERT INTO lab_accounts (id, owner, lab_id, status, delegated_flow, provider_account_id, account_name,
		default_clinical_notes, business_units, allowed_billing, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11)`,
		id, owner, n.Lab, string(n.Status), string(n.Flow), strings.TrimSpace(n.Number), orNull(n.Name), orNull(n.DefaultNotes),
		string(units), string(billing), tx.Now())
	if err != nil {
		return AccountID{}, fmt.Errorf("labs: adding an account: %w", err)
	}
	if n.Owner != nil {
		err = LinkAccount(ctx, tx, id, *n.Owner)
	}
	return id, err
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// LinkAccount lets a team order under an account that another owns.
func LinkAccount(ctx context.Context, tx *store.Tx, id AccountID, team teams.ID) error {
	var owned bool
	err := tx.QueryRow(ctx, `SELECT owner IS NOT NULL FROM lab_accounts WHERE id = $1`, id).Scan(&owned)
	if errors.Is(err, store.ErrNoRows) {
		return fault.New(fault.NotFound, "Lab account does not exist")
	}
	if err != nil {
		return fmt.Errorf("labs: reading an account: %w", err)
	}
	if !owned {
		return fault.New(fault.Refused, "An account of the platform is open to every team already")
	}
	_, err = tx.Exec(ctx, `INSERT INTO lab_account_teams (team_id, account_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, team, id)
	if err != nil {
		return fmt.Errorf("labs: linking an account: %w", err)
	}
	return nil
}

// UnlinkAccount takes that back. Orders that were placed go on under it.
func UnlinkAccount(ctx context.Context, tx *store.Tx, id AccountID, team teams.ID) error {
	n, err := tx.Exec(ctx, `DELETE FROM lab_account_teams WHERE team_id = $1 AND account_id = $2`, team, id)
	if err == nil && n == 0 {
		err = fault.New(fault.NotFound, "The account is not linked to the team")
	}
	return err
}

// SetAccountStatus changes where an account is in its life.
func SetAccountStatus(ctx context.Context, tx *store.Tx, id AccountID, status AccountStatus) error {
	if !known(status, AccountStatuses) {
		return fault.New(fault.Invalid, "Value error, must be active, pending, suspended or ready_to_launch").At("body", "status")
	}
	n, err := tx.Exec(ctx, `UPDATE lab_accounts SET status = $1, updated_at = $2 WHERE id = $3`, string(status), tx.Now(), id)
	if err == nil && n == 0 {
		err = fault.New(fault.NotFound, "Lab account does not exist")
	}
	return err
}

// StoredAccounts lists every account of the installation with its teams and its
// lab, for who sees all of them.
func StoredAccounts(ctx context.Context, tx *store.Tx) ([]Account, error) {
	all, err := manyAccounts(ctx, tx, `SELECT `+accountColumns+` FROM lab_accounts a ORDER BY a.created_at, a.id`)
	if err != nil {
		return nil, err
	}
	imported, err := importedLabs(ctx, tx)
	if err != nil {
		return nil, err
	}
	byID := map[LabID]Lab{}
	for _, l := range slices.Concat(builtin().labs, imported) {
		byID[l.ID] = l
	}
	for i := range all {
		if lab, ok := byID[all[i].Lab.ID]; ok {
			all[i].Lab = lab
		}
	}
	rows, err := tx.Query(ctx, `SELECT account_id, team_id FROM lab_account_teams ORDER BY account_id, team_id`)
	if err != nil {
		return nil, fmt.Errorf("labs: listing the teams of accounts: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id AccountID
		var team teams.ID
		if err := rows.Scan(&id, &team); err != nil {
			return nil, err
		}
		for i := range all {
			if all[i].ID == id {
				all[i].Teams = append(all[i].Teams, team)
			}
		}
	}
	return all, rows.Err()
}
