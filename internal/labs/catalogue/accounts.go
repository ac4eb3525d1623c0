package catalogue

import (
	"context"
	"fmt"
	"slices"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

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
