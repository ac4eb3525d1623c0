package orders

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/labclock"
	"hale/internal/platform/audit"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// statusOf returns the status of a transaction: active while some order is not terminal,
// cancelled if all orders are cancelled, otherwise completed.
//
// Reference 1.7.
func statusOf(members []Member) TransactionStatus {
	cancelled := true
	for _, m := range members {
		if !m.Status.Terminal() {
			return TransactionActive
		}
		cancelled = cancelled && m.Status.Stage(m.Method) == StageCancelled
	}
	if cancelled {
		return TransactionCancelled
	}
	return TransactionCompleted
}

// beginTransaction creates the transaction of an initial order.
func beginTransaction(ctx context.Context, tx *store.Tx, team teams.ID) (TransactionID, error) {
	id := ids.FromUUID[Transaction](tx.NewUUID())
	now, err := labclock.TimeOf(ctx, tx, team)
	if err != nil {
		return TransactionID{}, err
	}
	_, err = tx.Exec(ctx, `INSERT INTO order_transactions (team_id, id, status, created_at, updated_at) VALUES ($1, $2, $3, $4, $4)`,
		team, id, string(TransactionActive), store.Micros(now))
	if err != nil {
		return TransactionID{}, fmt.Errorf("orders: creating a transaction: %w", err)
	}
	return id, nil
}

// updateTransactionStatus updates a transaction's status after one of its
// orders moved. The first statement locks the transaction against moves of its
// other orders, so that the second reads their final state.
func updateTransactionStatus(ctx context.Context, tx *store.Tx, team teams.ID, id TransactionID) error {
	now, err := labclock.TimeOf(ctx, tx, team)
	if err != nil {
		return err
	}
	var before TransactionStatus
	err = tx.QueryRow(ctx, `UPDATE order_transactions SET updated_at = $3 WHERE team_id = $1 AND id = $2 RETURNING status`,
		team, id, store.Micros(now)).Scan(&before)
	if err != nil {
		return fmt.Errorf("orders: updating transaction %s: %w", id, err)
	}
	members, err := readMembers(ctx, tx, team, id)
	if err != nil {
		return err
	}
	if status := statusOf(members); status != before {
		_, err = tx.Exec(ctx, `UPDATE order_transactions SET status = $3 WHERE team_id = $1 AND id = $2`, team, id, string(status))
	}
	if err != nil {
		return fmt.Errorf("orders: updating transaction %s: %w", id, err)
	}
	return nil
}

// lockTransaction blocks other changes of a transaction.
func lockTransaction(ctx context.Context, tx *store.Tx, team teams.ID, id TransactionID) error {
	now, err := labclock.TimeOf(ctx, tx, team)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE order_transactions SET updated_at = $3 WHERE team_id = $1 AND id = $2`, team, id, store.Micros(now))
	if err != nil {
		return fmt.Errorf("orders: locking transaction %s: %w", id, err)
	}
	return nil
}

// GetTransaction returns a transaction of the team with its orders, or a
// NotFound fault.
//
// Reference 1.14, GET /v3/order_transaction/{transaction_id}.
func GetTransaction(ctx context.Context, tx *store.Tx, team teams.ID, id TransactionID) (Transaction, error) {
	t := Transaction{ID: id, Team: team}
	err := tx.QueryRow(ctx, `SELECT status, created_at, updated_at FROM order_transactions WHERE team_id = $1 AND id = $2`, team, id).
		Scan(&t.Status, store.ScanTime(&t.CreatedAt), store.ScanTime(&t.UpdatedAt))
	if errors.Is(err, store.ErrNoRows) {
		return Transaction{}, fault.New(fault.NotFound, "Order transaction not found")
	}
	if err != nil {
		return Transaction{}, fmt.Errorf("orders: reading transaction %s: %w", id, err)
	}
	t.Members, err = readMembers(ctx, tx, team, id)
	for _, m := range t.Members {
		audit.NotePeople(ctx, m.User)
	}
	return t, err
}

// OrdersOfTransaction returns the orders of a transaction, oldest first.
func OrdersOfTransaction(ctx context.Context, tx *store.Tx, team teams.ID, id TransactionID) ([]Order, error) {
	return selectOrders(ctx, tx, `SELECT `+columns+` FROM orders WHERE team_id = $1 AND transaction_id = $2 ORDER BY id`, team, id)
}

func readMembers(ctx context.Context, tx *store.Tx, team teams.ID, id TransactionID) ([]Member, error) {
	rows, err := tx.Query(ctx, `SELECT `+memberColumns+` FROM orders WHERE team_id = $1 AND transaction_id = $2 ORDER BY id`, team, id)
	if err != nil {
		return nil, fmt.Errorf("orders: reading the orders of transaction %s: %w", id, err)
	}
	defer rows.Close()
	var all []Member
	for rows.Next() {
		m, err := scanMember(rows)
		if err != nil {
			return nil, fmt.Errorf("orders: reading the orders of transaction %s: %w", id, err)
		}
		all = append(all, m)
	}
	return all, rows.Err()
}

const memberColumns = `id, user_id, parent_id, origin, method, status, status_at, created_at, updated_at`

// memberColumnsOf returns memberColumns for a table alias.
func memberColumnsOf(alias string) string {
	return alias + "." + strings.ReplaceAll(memberColumns, ", ", ", "+alias+".")
}

func scanMember(from scanner, first ...any) (Member, error) {
	var m Member
	var parent ID
	dest := append(first, &m.ID, &m.User, &parent, &m.Origin, &m.Method, &m.Status, store.ScanTime(&m.StatusAt), store.ScanTime(&m.CreatedAt), store.ScanTime(&m.UpdatedAt))
	err := from.Scan(dest...)
	if !parent.IsZero() {
		m.Parent = &parent
	}
	return m, err
}

// redrawLabs take a second sample without a new requisition.
//
// Reference 1.7. All labs of the sandbox do.
var redrawLabs = []string{"labcorp", "quest", "bioreference"}

// Redraw ends an order whose final results lack markers because the lab could not
// measure them. It orders these markers again in the same transaction. done is false
// if the order must be completed instead. This is the case if the team has no redraws
// enabled, or the method or lab does not support them. It is also the case if the
// transaction already had a redraw.
//
// Reference 1.7. The code that stores results calls it in its transaction, instead of
// advancing to completed; m has the report.
func Redraw(ctx context.Context, tx *store.Tx, o *Order, missing []catalogue.MarkerID, m Move) (next Order, done bool, err error) {
	if o.Method != catalogue.WalkIn || o.Origin == RedrawOf || len(missing) == 0 || !o.Course().Allows(o.Status, RedrawAvailable, Lab) {
		return Order{}, false, nil
	}
	if err := lockTransaction(ctx, tx, o.Team, o.Transaction); err != nil {
		return Order{}, false, err
	}
	if ok, err := mayRedraw(ctx, tx, o); err != nil || !ok {
		return Order{}, false, err
	}
	panel, err := catalogue.PanelOf(ctx, tx, o.Team, missing, o.Method)
	if fault.Is(err, fault.Refused) { // the lab no longer offers them
		return Order{}, false, nil
	}
	if err != nil {
		return Order{}, false, err
	}
	next = o.successor(RedrawOf)
	next.LabTest = panel.Test.ID
	e, err := insertNew(ctx, tx, &next)
	if err != nil {
		return Order{}, false, err
	}
	m.To, m.By = RedrawAvailable, Lab
	changed, err := Advance(ctx, tx, o, m)
	if err == nil && !changed { // the order moved since it was read
		err = store.ErrLostRace
	}
	if err != nil {
		return Order{}, false, err
	}
	if err := announceNew(ctx, tx, &next, e); err != nil {
		return Order{}, false, err
	}
	return next, true, dispatch(ctx, tx, &next)
}

func mayRedraw(ctx context.Context, tx *store.Tx, o *Order) (bool, error) {
	team, err := teams.Get(ctx, tx, o.Team)
	if err != nil || !team.Settings.Redraws {
		return false, err
	}
	offered, err := catalogue.Load(ctx, tx, o.Team)
	if err != nil {
		return false, err
	}
	lab, _ := offered.Lab(o.Lab)
	if team.Environment != teams.Sandbox && !slices.Contains(redrawLabs, lab.Slug) {
		return false, nil
	}
	members, err := readMembers(ctx, tx, o.Team, o.Transaction)
	return !slices.ContainsFunc(members, func(m Member) bool { return m.Origin == RedrawOf }), err
}

// successor returns a new order that follows o.
func (o *Order) successor(origin Origin) Order {
	parent := o.ID
	next := Order{
		Team: o.Team, User: o.User, Transaction: o.Transaction, Parent: &parent, Origin: origin,
		Lab: o.Lab, LabTest: o.LabTest, Account: o.Account, Method: o.Method,
		Priority: o.Priority, Billing: o.Billing, Insurance: o.Insurance, SMSEnabled: o.SMSEnabled, Body: o.Body,
	}
	next.Body.Notes = ""
	return next
}

// Recreate describes the replacement of an order.
type Recreate struct {
	// Test replaces the lab test. With another lab, the account is chosen again.
	Test *catalogue.TestID
	// Account is the new account; nil chooses one.
	Account *catalogue.AccountID
	// IncorrectLab chooses the lab account again, instead of keeping it.
	//
	// Spec: Further operations, update reason INCORRECT_LAB.
	IncorrectLab bool
	// SampleID is set if the lab already has the sample; the order is then not
	// placed.
	SampleID string
	// Answers replace the answers to the questions of the markers, if not nil.
	Answers []Answer
}

// UpdateReason is the reason of a team for replacing an order.
type UpdateReason string

// IncorrectLab means that the order went to the wrong lab or lab account.
const IncorrectLab UpdateReason = "INCORRECT_LAB"

// UpdateReasons lists all reasons.
var UpdateReasons = []UpdateReason{IncorrectLab}

// Replacement is a team's request to replace an order.
type Replacement struct {
	Reason UpdateReason
	// Test is the lab test at the right lab; nil for the same one.
	Test *catalogue.TestID
	// Account is the right lab account; nil chooses one, as for a new order.
	Account *catalogue.AccountID
	// Answers are for the questions of the new lab test.
	Answers []Answer
}

// Replace cancels an order that is not yet at its lab and orders again for the same
// person. The new order has the lab account of the request; without one, Replace chooses
// an account again. already reports that the order was replaced before. next is then the
// earlier replacement.
//
// Spec: Further operations, update reason INCORRECT_LAB.
func Replace(ctx context.Context, tx *store.Tx, team teams.ID, id ID, r Replacement) (next Order, already bool, err error) {
	old, err := Get(ctx, tx, team, id)
	if fault.Is(err, fault.NotFound) {
		err = noOrder()
	}
	if err != nil {
		return Order{}, false, err
	}
	if err := r.checkIDs(ctx, tx, team); err != nil {
		return Order{}, false, err
	}
	if err := lockTransaction(ctx, tx, team, old.Transaction); err != nil {
		return Order{}, false, err
	}
	replacement, done, err := FindReplacement(ctx, tx, &old)
	if err != nil {
		return Order{}, false, err
	}
	if done {
		next, err = Get(ctx, tx, team, replacement)
		return next, true, err
	}
	how, err := checkReplacement(ctx, tx, &old, r)
	if err != nil {
		return Order{}, false, err
	}
	next, err = RecreateOrder(ctx, tx, &old, how)
	return next, false, err
}

// checkIDs refuses ids that the team does not know, also when the order was
// replaced before.
func (r *Replacement) checkIDs(ctx context.Context, tx *store.Tx, team teams.ID) error {
	if r.Test != nil {
		if _, err := catalogue.GetTest(ctx, tx, team, *r.Test); fault.Is(err, fault.NotFound) {
			return fault.New(fault.NotFound, "Lab test does not exist").At("body", "lab_test_id").WithType("unknown_lab_test")
		} else if err != nil {
			return err
		}
	}
	if r.Account != nil {
		if _, err := catalogue.GetAccount(ctx, tx, team, *r.Account); err != nil {
			return err
		}
	}
	return nil
}

// checkReplacement checks a replacement as a new order is checked.
func checkReplacement(ctx context.Context, tx *store.Tx, old *Order, r Replacement) (Recreate, error) {
	v := newReview(ctx, tx, old.Team)
	if deleted, err := isUserDeleted(ctx, tx, old); err != nil {
		return Recreate{}, err
	} else if deleted {
		return Recreate{}, unknownUser()
	}
	oneOf(v, "update_reason", r.Reason, UpdateReasons)
	switch {
	case old.Body.Patient == nil || old.Body.Address == nil:
		v.refuse("order_not_registered", "The kit of this order is not registered")
	case old.Status.Stage(old.Method) != StageCancelled && !old.Course().Allows(old.Status, Cancelled, Operator):
		v.refuse("order_not_replaceable", fmt.Sprintf("Order status %s cannot be replaced", old.Full()))
	}
	if err := v.verdict(); err != nil {
		return Recreate{}, err
	}
	test := old.LabTest
	if r.Test != nil {
		test = *r.Test
	}
	p, ok := v.findPlace(ctx, func(set catalogue.OrderSet, method *Method, account *catalogue.AccountID) (catalogue.Panel, error) {
		panel, err := catalogue.ResolveOrderSet(ctx, tx, old.Team, set, method, account)
		return panel, nameLabTest(err)
	}, catalogue.OrderSet{TestIDs: []catalogue.TestID{test}}, nil, r.Account, false)
	how := Recreate{Test: &test, Account: r.Account, IncorrectLab: true}
	if ok {
		v.checkTerms(p, old.Body.Address.State, old.Billing, old.Body.Physician)
		given := r.Answers
		if given == nil {
			given = slices.DeleteFunc(slices.Clone(old.Body.Answers), func(a Answer) bool { return !isAsked(p.panel, a) })
		}
		how.Answers = append([]Answer{}, v.checkAnswers(p.panel, given)...)
	}
	return how, v.verdict()
}

// RecreateOrder replaces an order by a new one of the same person. Both are in
// one transaction. The old order is cancelled if possible. An order is never
// recreated for another person: its own patient still waits for a result.
//
// Reference 1.7, recreation.
func RecreateOrder(ctx context.Context, tx *store.Tx, old *Order, r Recreate) (Order, error) {
	next := old.successor(Recreation)
	if err := next.retarget(ctx, tx, r); err != nil {
		return Order{}, err
	}
	next.SampleID = r.SampleID
	if r.Answers != nil {
		next.Body.Answers = r.Answers
	}
	e, err := insertNew(ctx, tx, &next)
	if err != nil {
		return Order{}, err
	}
	if _, err := Advance(ctx, tx, old, Move{To: Cancelled, By: Operator}); err != nil {
		return Order{}, err
	}
	if old.Status.Stage(old.Method) == StageCancelled {
		if err := withdraw(ctx, tx, old); err != nil {
			return Order{}, err
		}
	}
	if err := announceNew(ctx, tx, &next, e); err != nil {
		return Order{}, err
	}
	if r.SampleID == "" {
		return next, dispatch(ctx, tx, &next)
	}
	changed, err := Advance(ctx, tx, &next, Move{To: RequisitionBypassed, By: Call})
	return next, requireMove(changed, err, &next, RequisitionBypassed)
}

// retarget sets the lab test and the account of a recreated order.
func (o *Order) retarget(ctx context.Context, tx *store.Tx, r Recreate) error {
	if r.Test != nil {
		test, err := catalogue.GetTest(ctx, tx, o.Team, *r.Test)
		if err != nil {
			return err
		}
		r.IncorrectLab = r.IncorrectLab || test.Lab != o.Lab
		o.LabTest, o.Lab, o.Method = test.ID, test.Lab, test.Method
	}
	if !r.IncorrectLab {
		return nil
	}
	account, err := catalogue.ChooseAccount(ctx, tx, o.Team, o.Lab, r.Account, r.SampleID != "")
	if err != nil {
		return fmt.Errorf("orders: an account for a recreated order: %w", err)
	}
	o.Account = account.ID
	return nil
}

// FindReplacement returns the order that replaced an order, if any.
func FindReplacement(ctx context.Context, tx *store.Tx, o *Order) (ID, bool, error) {
	members, err := readMembers(ctx, tx, o.Team, o.Transaction)
	for _, m := range members {
		if m.Origin == Recreation && m.Parent != nil && *m.Parent == o.ID {
			return m.ID, true, nil
		}
	}
	return ids.ID[Order]{}, false, err
}
