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

// AccountStatus is the state of a lab account.
//
// Reference 1.16.
type AccountStatus string

// The statuses. Orders need an active account; imports also accept a pending one.
const (
	AccountActive        AccountStatus = "active"
	AccountPending       AccountStatus = "pending"
	AccountSuspended     AccountStatus = "suspended"
	AccountReadyToLaunch AccountStatus = "ready_to_launch"
)

// AccountStatuses lists all statuses.
var AccountStatuses = []AccountStatus{AccountActive, AccountPending, AccountSuspended, AccountReadyToLaunch}

// Known reports whether the status exists.
func (s AccountStatus) Known() bool { return containsWord(s, AccountStatuses) }

// DelegatedFlow is the part of the physicians' work that a team does itself.
//
// Reference 1.16.
type DelegatedFlow string

// The flows. With OrderDelegated and FullyDelegated the team's physician orders;
// with ResultDelegated and FullyDelegated the team follows up.
const (
	OrderDelegated  DelegatedFlow = "order_delegated"
	ResultDelegated DelegatedFlow = "result_delegated"
	FullyDelegated  DelegatedFlow = "fully_delegated"
	NotDelegated    DelegatedFlow = "not_delegated"
)

// DelegatedFlows lists all flows.
var DelegatedFlows = []DelegatedFlow{OrderDelegated, ResultDelegated, FullyDelegated, NotDelegated}

// TeamOrders reports whether a physician of the team must order.
func (f DelegatedFlow) TeamOrders() bool { return f == OrderDelegated || f == FullyDelegated }

// Account is an account with a lab, under which orders are placed.
//
// Reference 1.16, ClientFacingLabAccount.
type Account struct {
	ID     AccountID
	Owner  *teams.ID // nil for an account of the platform, which every team can use
	Lab    Lab
	Status AccountStatus
	Flow   DelegatedFlow
	// Number is the account's number at the lab.
	Number       string
	Name         string // empty if none
	DefaultNotes string // printed on every requisition, after the notes of the order
	// BusinessUnits are the regional companies of the lab that accept the
	// account.
	BusinessUnits []string
	// AllowedBilling lists the states in which each billing type is allowed. A
	// type that is absent is allowed nowhere.
	AllowedBilling map[Billing][]string
	// Teams are the linked teams that the caller may see; none for an account of
	// the platform.
	Teams []teams.ID
}

// IsPlatform reports whether every team can use the account.
func (a *Account) IsPlatform() bool { return a.Owner == nil }

// Offers reports whether a lab test may be ordered under the account.
func (a *Account) Offers(t Test) bool {
	return t.Lab == a.Lab.ID && (t.Account == nil || *t.Account == a.ID)
}

// BillingAllowed reports whether the account allows a billing type for a person
// of a state.
func BillingAllowed(a Account, b Billing, state string) bool {
	return containsWord(state, a.AllowedBilling[b])
}

// ServesState reports whether a lab can test people of a state.
func ServesState(l Lab, state string) bool { return l.Serves(state) }

// AccountFilter selects accounts; the zero value selects all.
type AccountFilter struct {
	IDs      []AccountID
	Statuses []AccountStatus
}

// Accounts lists the lab accounts under which a team can order: first those that
// are linked to it, oldest first, then those of the platform.
//
// Spec: Further operations, GET /v3/lab_test/lab_account.
func Accounts(ctx context.Context, tx *store.Tx, team teams.ID, f AccountFilter) ([]Account, error) {
	c, err := Load(ctx, tx, team)
	if err != nil {
		return nil, err
	}
	all, err := teamAccounts(ctx, tx, team, c)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Concat(all, c.accounts), func(a Account) bool {
		return f.IDs != nil && !slices.Contains(f.IDs, a.ID) || f.Statuses != nil && !slices.Contains(f.Statuses, a.Status)
	}), nil
}

// GetAccount returns an account that the team can order under, in any status, or
// a NotFound fault.
func GetAccount(ctx context.Context, tx *store.Tx, team teams.ID, id AccountID) (Account, error) {
	found, err := Accounts(ctx, tx, team, AccountFilter{IDs: []AccountID{id}})
	if err != nil {
		return Account{}, err
	}
	if len(found) == 0 {
		return Account{}, fault.New(fault.NotFound, "Lab account does not exist").At("body", "lab_account_id").WithType("unknown_lab_account")
	}
	return found[0], nil
}

// AccountOf returns the account of an existing order. The team may no longer be
// able to order under it, but existing orders continue. For a missing account it
// does not return a NotFound fault, which would mean that the order was erased.
func AccountOf(ctx context.Context, tx *store.Tx, team teams.ID, id AccountID) (Account, error) {
	c, err := Load(ctx, tx, team)
	if err != nil {
		return Account{}, err
	}
	stored, err := queryAccounts(ctx, tx, `SELECT `+accountColumns+` FROM lab_accounts a WHERE a.id = $1`, id)
	if err != nil {
		return Account{}, err
	}
	for _, a := range slices.Concat(stored, c.accounts) {
		if a.ID != id {
			continue
		}
		if lab, ok := c.Lab(a.Lab.ID); ok { // a lab that is no longer offered has only its id
			a.Lab = lab
		}
		return a, nil
	}
	return Account{}, fmt.Errorf("catalogue: there is no account %s", id)
}

// ChooseAccount returns the account for an order with a lab. If the caller gives
// one, it is that account. Otherwise it is the only active account of the team
// with the lab. If the team has no account with the lab, it is the account of
// the platform. An import also accepts a pending account.
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
			return Account{}, refuseOtherLab()
		case !usable(a):
			return Account{}, refuse("lab_account_not_active", "The lab account is not active: lab_account_id", "lab_account_id")
		}
		return a, nil
	}
	all, err := Accounts(ctx, tx, team, AccountFilter{})
	if err != nil {
		return Account{}, err
	}
	return chooseUsable(slices.DeleteFunc(all, func(a Account) bool { return a.Lab.ID != lab }), usable)
}

// chooseUsable returns the account to use among those with the lab of an order.
func chooseUsable(all []Account, usable func(Account) bool) (Account, error) {
	var linked, platform []Account
	own := false
	for _, a := range all {
		switch {
		case !a.IsPlatform():
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

// scanAccount reads an account. Its lab has only the id.
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
		return Account{}, fmt.Errorf("catalogue: lab account %s: %w", a.ID, err)
	}
	return a, nil
}

func queryAccounts(ctx context.Context, tx *store.Tx, query string, args ...any) ([]Account, error) {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("catalogue: listing accounts: %w", err)
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

// teamAccounts returns the stored accounts that a team can order under, its own
// before those of the platform. Accounts with labs that the team does not see
// are omitted.
func teamAccounts(ctx context.Context, tx *store.Tx, team teams.ID, c *Catalogue) ([]Account, error) {
	own, err := queryAccounts(ctx, tx, `SELECT `+accountColumns+` FROM lab_accounts a
		WHERE a.owner IS NOT NULL AND a.id IN (SELECT t.account_id FROM lab_account_teams t WHERE t.team_id = $1)
		ORDER BY a.created_at, a.id`, team)
	if err != nil {
		return nil, err
	}
	for i := range own {
		own[i].Teams = []teams.ID{team} // the caller must not see the other teams
	}
	platform, err := queryAccounts(ctx, tx, `SELECT `+accountColumns+` FROM lab_accounts a WHERE a.owner IS NULL ORDER BY a.created_at, a.id`)
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

// NewAccount holds the fields of a new account. Owner is nil for an account of
// the platform.
type NewAccount struct {
	Owner          *teams.ID
	Lab            LabID
	Status         AccountStatus
	Flow           DelegatedFlow
	Number         string // the account's number at the lab
	Name           string
	DefaultNotes   string
	BusinessUnits  []string
	AllowedBilling map[Billing][]string
}

// longestNotes is the limit of the specification for clinical notes, in
// characters.
const longestNotes = 1000

func (n NewAccount) check() error {
	var faults []*fault.Error
	wrong := func(field, msg string) {
		faults = append(faults, fault.New(fault.Invalid, "Value error, "+msg).At("body", field))
	}
	if !containsWord(n.Status, AccountStatuses) {
		wrong("status", "must be active, pending, suspended or ready_to_launch")
	}
	if !containsWord(n.Flow, DelegatedFlows) {
		wrong("delegated_flow", "must be not_delegated, order_delegated, result_delegated or fully_delegated")
	}
	if strings.TrimSpace(n.Number) == "" || len(n.Number) > 100 {
		wrong("provider_account_id", "must have 1 to 100 characters")
	}
	if len([]rune(n.DefaultNotes)) > longestNotes {
		wrong("default_clinical_notes", "must have at most 1000 characters")
	}
	for billing, states := range n.AllowedBilling {
		if !containsWord(billing, Billings) {
			wrong("allowed_billing", "has an unknown billing type")
		}
		if slices.ContainsFunc(states, func(s string) bool { return !containsWord(s, States) }) {
			wrong("allowed_billing", "has an unknown state")
		}
	}
	return fault.Join(faults...)
}

// encode returns the JSON of the business units and of the billing types.
func (n NewAccount) encode() (units, billing string, err error) {
	if n.BusinessUnits == nil {
		n.BusinessUnits = []string{}
	}
	if n.AllowedBilling == nil {
		n.AllowedBilling = map[Billing][]string{}
	}
	one, err := json.Marshal(n.BusinessUnits)
	if err != nil {
		return "", "", fmt.Errorf("catalogue: marshalling business units: %w", err)
	}
	other, err := json.Marshal(n.AllowedBilling)
	if err != nil {
		return "", "", fmt.Errorf("catalogue: marshalling billing: %w", err)
	}
	return string(one), string(other), nil
}

// AddAccount creates an account and links it to its owner.
func AddAccount(ctx context.Context, tx *store.Tx, n NewAccount) (AccountID, error) {
	if err := n.check(); err != nil {
		return AccountID{}, err
	}
	units, billing, err := n.encode()
	if err != nil {
		return AccountID{}, err
	}
	id := ids.FromUUID[Account](tx.NewUUID())
	var owner any
	if n.Owner != nil {
		owner = *n.Owner
	}
	_, err = tx.Exec(ctx, `INSERT INTO lab_accounts (id, owner, lab_id, status, delegated_flow, provider_account_id, account_name,
		default_clinical_notes, business_units, allowed_billing, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11)`,
		id, owner, n.Lab, string(n.Status), string(n.Flow), strings.TrimSpace(n.Number), nullableText(n.Name), nullableText(n.DefaultNotes),
		units, billing, tx.Now())
	if err != nil {
		return AccountID{}, fmt.Errorf("catalogue: adding an account: %w", err)
	}
	if n.Owner != nil {
		err = LinkAccount(ctx, tx, id, *n.Owner)
	}
	return id, err
}

func nullableText(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// LinkAccount lets another team order under an account.
func LinkAccount(ctx context.Context, tx *store.Tx, id AccountID, team teams.ID) error {
	var owned bool
	err := tx.QueryRow(ctx, `SELECT owner IS NOT NULL FROM lab_accounts WHERE id = $1`, id).Scan(&owned)
	if errors.Is(err, store.ErrNoRows) {
		return fault.New(fault.NotFound, "Lab account does not exist")
	}
	if err != nil {
		return fmt.Errorf("catalogue: reading an account: %w", err)
	}
	if !owned {
		return fault.New(fault.Refused, "An account of the platform is open to every team already")
	}
	_, err = tx.Exec(ctx, `INSERT INTO lab_account_teams (team_id, account_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, team, id)
	if err != nil {
		return fmt.Errorf("catalogue: linking an account: %w", err)
	}
	return nil
}

// UnlinkAccount removes a link. Existing orders under the account continue.
func UnlinkAccount(ctx context.Context, tx *store.Tx, id AccountID, team teams.ID) error {
	n, err := tx.Exec(ctx, `DELETE FROM lab_account_teams WHERE team_id = $1 AND account_id = $2`, team, id)
	if err == nil && n == 0 {
		err = fault.New(fault.NotFound, "The account is not linked to the team")
	}
	return err
}

// SetAccountStatus changes the status of an account.
func SetAccountStatus(ctx context.Context, tx *store.Tx, id AccountID, status AccountStatus) error {
	if !containsWord(status, AccountStatuses) {
		return fault.New(fault.Invalid, "Value error, must be active, pending, suspended or ready_to_launch").At("body", "status")
	}
	n, err := tx.Exec(ctx, `UPDATE lab_accounts SET status = $1, updated_at = $2 WHERE id = $3`, string(status), tx.Now(), id)
	if err == nil && n == 0 {
		err = fault.New(fault.NotFound, "Lab account does not exist")
	}
	return err
}

// AccountEdit holds the new values of an account's fields; nil keeps a value.
type AccountEdit struct {
	Flow           *DelegatedFlow
	Number         *string
	Name           *string
	DefaultNotes   *string
	BusinessUnits  *[]string
	AllowedBilling map[Billing][]string
}

// EditAccount changes an account. Existing orders under it continue.
func EditAccount(ctx context.Context, tx *store.Tx, id AccountID, e AccountEdit) error {
	found, err := queryAccounts(ctx, tx, `SELECT `+accountColumns+` FROM lab_accounts a WHERE a.id = $1`, id)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return fault.New(fault.NotFound, "Lab account does not exist")
	}
	a := found[0]
	set(&a.Flow, e.Flow)
	set(&a.Number, e.Number)
	set(&a.Name, e.Name)
	set(&a.DefaultNotes, e.DefaultNotes)
	set(&a.BusinessUnits, e.BusinessUnits)
	if e.AllowedBilling != nil {
		a.AllowedBilling = e.AllowedBilling
	}
	n := NewAccount{
		Owner: a.Owner, Lab: a.Lab.ID, Status: a.Status, Flow: a.Flow, Number: a.Number, Name: a.Name, DefaultNotes: a.DefaultNotes,
		BusinessUnits: a.BusinessUnits, AllowedBilling: a.AllowedBilling,
	}
	if err := n.check(); err != nil {
		return err
	}
	units, billing, err := n.encode()
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE lab_accounts SET delegated_flow = $2, provider_account_id = $3, account_name = $4, default_clinical_notes = $5,
		business_units = $6, allowed_billing = $7, updated_at = $8 WHERE id = $1`,
		id, string(n.Flow), strings.TrimSpace(n.Number), nullableText(n.Name), nullableText(n.DefaultNotes), units, billing, tx.Now())
	if err != nil {
		return fmt.Errorf("catalogue: changing an account: %w", err)
	}
	return nil
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// StoredAccounts lists all accounts of the installation with their teams and
// labs, for the operator.
func StoredAccounts(ctx context.Context, tx *store.Tx) ([]Account, error) {
	all, err := queryAccounts(ctx, tx, `SELECT `+accountColumns+` FROM lab_accounts a ORDER BY a.created_at, a.id`)
	if err != nil {
		return nil, err
	}
	imported, err := importedLabs(ctx, tx)
	if err != nil {
		return nil, err
	}
	byID := map[LabID]Lab{}
	for _, l := range slices.Concat(builtinData().labs, imported) {
		byID[l.ID] = l
	}
	for i := range all {
		if lab, ok := byID[all[i].Lab.ID]; ok {
			all[i].Lab = lab
		}
	}
	rows, err := tx.Query(ctx, `SELECT account_id, team_id FROM lab_account_teams ORDER BY account_id, team_id`)
	if err != nil {
		return nil, fmt.Errorf("catalogue: listing the teams of accounts: %w", err)
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
