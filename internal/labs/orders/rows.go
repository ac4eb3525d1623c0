package orders

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/audit"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

const columns = `team_id, id, transaction_id, parent_id, origin, user_id, lab_id, lab_test_id, account_id, network, method, registrable,
	status, status_at, rev, created_at, updated_at, activate_by, scheduled, sample_id, priority, billing_type, insurance_id,
	has_abn, sms_enabled, details_id, appointment_id, collected_at, interpretation, is_critical, has_missing, expected_by, worst_by,
	body, shipment, link_generation`

type scanner interface{ Scan(dest ...any) error }

// sealedOrder is an order as stored, with its personal data sealed.
type sealedOrder struct {
	Order
	body, shipment []byte
}

func scan(from scanner) (sealedOrder, error) {
	var r sealedOrder
	var parent ID
	var sample, interpretation sql.NullString
	var insurance, appointment uuid.NullUUID
	err := from.Scan(&r.Team, &r.ID, &r.Transaction, &parent, &r.Origin, &r.User, &r.Lab, &r.LabTest, &r.Account, &r.Network, &r.Method, &r.Registrable,
		&r.Status, store.ScanTime(&r.StatusAt), &r.rev, store.ScanTime(&r.CreatedAt), store.ScanTime(&r.UpdatedAt), nullDate{&r.ActivateBy}, &r.Scheduled,
		&sample, &r.Priority, &r.Billing, &insurance, &r.HasABN, &r.SMSEnabled, &r.Details, &appointment, store.ScanNullTime(&r.CollectedAt),
		&interpretation, &r.IsCritical, &r.HasMissing, nullDate{&r.ExpectedBy}, nullDate{&r.WorstBy}, &r.body, &r.shipment, &r.LinkGeneration)
	if !parent.IsZero() {
		r.Parent = &parent
	}
	r.SampleID, r.Interpretation = sample.String, Interpretation(interpretation.String)
	r.Insurance, r.Appointment = uuidOrNil(insurance), uuidOrNil(appointment)
	return r, err
}

func uuidOrNil(id uuid.NullUUID) *uuid.UUID {
	if !id.Valid {
		return nil
	}
	return &id.UUID
}

type nullDate struct{ d **civil.Date }

func (n nullDate) Scan(src any) error {
	*n.d = nil
	if src == nil {
		return nil
	}
	var day civil.Date
	if err := day.Scan(src); err != nil {
		return err
	}
	*n.d = &day
	return nil
}

// unseal unseals the order. It may run queries, so no other rows may be open.
func (r sealedOrder) unseal(ctx context.Context, tx *store.Tx) (Order, error) {
	o := r.Order
	if err := unseal(ctx, tx, &o, bodyPlace, r.body, &o.Body); err != nil {
		return Order{}, err
	}
	if r.shipment == nil {
		return o, nil
	}
	return o, unseal(ctx, tx, &o, shipmentPlace, r.shipment, &o.Shipment)
}

const (
	bodyPlace     = "orders.body:"
	namesPlace    = "orders.names:"
	shipmentPlace = "orders.shipment:"
)

func unseal(ctx context.Context, tx *store.Tx, o *Order, place string, closed []byte, into any) error {
	doc, err := tx.Unseal(ctx, o.Team.UUID(), o.User.UUID(), place+o.ID.String(), closed)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(doc, into); err != nil {
		return fmt.Errorf("orders: the stored data of %s: %w", o.ID, err)
	}
	return nil
}

func seal(ctx context.Context, tx *store.Tx, o *Order, place string, value any) ([]byte, error) {
	doc, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("orders: marshalling %s: %w", o.ID, err)
	}
	return tx.Seal(ctx, o.Team.UUID(), o.User.UUID(), place+o.ID.String(), doc)
}

// Get returns an order of the team, or a NotFound fault.
func Get(ctx context.Context, tx *store.Tx, team teams.ID, id ID) (Order, error) {
	return get(ctx, tx, team, id, "")
}

// GetForUpdate returns an order like Get, and locks it until the transaction ends.
func GetForUpdate(ctx context.Context, tx *store.Tx, team teams.ID, id ID) (Order, error) {
	return get(ctx, tx, team, id, tx.ForUpdate())
}

func get(ctx context.Context, tx *store.Tx, team teams.ID, id ID, lock string) (Order, error) {
	r, err := scan(tx.QueryRow(ctx, `SELECT `+columns+` FROM orders WHERE team_id = $1 AND id = $2`+lock, team, id))
	if errors.Is(err, store.ErrNoRows) {
		return Order{}, fault.New(fault.NotFound, "This order doesn't exist")
	}
	if err != nil {
		return Order{}, fmt.Errorf("orders: reading %s: %w", id, err)
	}
	audit.NotePeople(ctx, r.User)
	return r.unseal(ctx, tx)
}

// Find returns an order of any team, for messages of a network. The context must
// see all teams. It returns a NotFound fault if there is none.
func Find(ctx context.Context, tx *store.Tx, id ID) (Order, error) {
	r, err := scan(tx.QueryRow(ctx, `SELECT `+columns+` FROM orders WHERE id = $1`, id))
	if errors.Is(err, store.ErrNoRows) {
		return Order{}, fault.New(fault.NotFound, "This order doesn't exist")
	}
	if err != nil {
		return Order{}, fmt.Errorf("orders: finding %s: %w", id, err)
	}
	return r.unseal(ctx, tx)
}

// FindBySample returns the orders with a sample id in all teams that the context
// sees, newest first. A recreated order has the sample id of its predecessor. Ids
// decide, because the clock of a sandbox team may go back between steps.
func FindBySample(ctx context.Context, tx *store.Tx, sample string) ([]Order, error) {
	return selectOrders(ctx, tx, `SELECT `+columns+` FROM orders WHERE sample_id = $1 ORDER BY id DESC LIMIT 20`, sample)
}

// OrdersOfUser returns up to limit orders of a user, newest first.
func OrdersOfUser(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, limit int) ([]Order, error) {
	return selectOrders(ctx, tx, `SELECT `+columns+` FROM orders WHERE team_id = $1 AND user_id = $2 ORDER BY id DESC LIMIT $3`, team, user, limit)
}

func selectOrders(ctx context.Context, tx *store.Tx, query string, args ...any) ([]Order, error) {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("orders: reading: %w", err)
	}
	defer rows.Close()
	var found []sealedOrder
	for rows.Next() {
		r, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("orders: reading: %w", err)
		}
		found = append(found, r)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if err := warmKeys(ctx, tx, found); err != nil {
		return nil, err
	}
	all := make([]Order, len(found))
	for i, r := range found {
		if all[i], err = r.unseal(ctx, tx); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// warmKeys reads the keys of many orders' users at once.
func warmKeys(ctx context.Context, tx *store.Tx, found []sealedOrder) error {
	for len(found) > 1 {
		same := 1
		users := []uuid.UUID{found[0].User.UUID()}
		for ; same < len(found) && found[same].Team == found[0].Team; same++ {
			users = append(users, found[same].User.UUID())
		}
		if err := tx.WarmKeys(ctx, found[0].Team.UUID(), users); err != nil {
			return err
		}
		found = found[same:]
	}
	return nil
}

// row returns the values of the columns and of names.
func (o *Order) row(ctx context.Context, tx *store.Tx) ([]any, error) {
	body, err := seal(ctx, tx, o, bodyPlace, o.Body)
	if err != nil {
		return nil, err
	}
	names, err := sealNames(ctx, tx, o)
	if err != nil {
		return nil, err
	}
	shipment, err := sealShipment(ctx, tx, o)
	return []any{
		o.Team, o.ID, o.Transaction, parentOrNil(o.Parent), string(o.Origin), o.User, o.Lab, o.LabTest, o.Account, o.Network, string(o.Method), o.Registrable,
		string(o.Status), o.StatusAt, o.rev, o.CreatedAt, o.UpdatedAt, o.ActivateBy, o.Scheduled, textOrNil(o.SampleID), o.Priority, string(o.Billing), o.Insurance,
		o.HasABN, o.SMSEnabled, o.Details, o.Appointment, o.CollectedAt, textOrNil(string(o.Interpretation)), o.IsCritical, o.HasMissing, o.ExpectedBy, o.WorstBy,
		body, shipment, o.LinkGeneration, names,
	}, err
}

// insert stores a new order.
func insert(ctx context.Context, tx *store.Tx, o *Order) error {
	row, err := o.row(ctx, tx)
	if err != nil {
		return err
	}
	change, err := stamp(ctx, tx, o.Team)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO orders (`+columns+`, names, change) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
		$15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, `+change+`)`, row...)
	if err != nil {
		return fmt.Errorf("orders: storing: %w", err)
	}
	return nil
}

// errStale means that the order was changed since it was read.
var errStale = errors.New("orders: the order has changed")

// save writes the columns that can change. The revision of the order must be the
// one that was read.
func save(ctx context.Context, tx *store.Tx, o *Order) error {
	shipment, err := sealShipment(ctx, tx, o)
	if err != nil {
		return err
	}
	change, err := stamp(ctx, tx, o.Team)
	if err != nil {
		return err
	}
	if err := keepPast(ctx, tx, o, change); err != nil {
		return err
	}
	n, err := tx.Exec(ctx, `UPDATE orders SET status = $4, status_at = $5, rev = rev + 1, updated_at = $6, activate_by = $7, sample_id = $8,
		insurance_id = $9, has_abn = $10, sms_enabled = $11, appointment_id = $12, collected_at = $13, interpretation = $14, is_critical = $15,
		has_missing = $16, expected_by = $17, worst_by = $18, shipment = $19, link_generation = $20, change = `+change+`
		WHERE team_id = $1 AND id = $2 AND rev = $3`,
		o.Team, o.ID, o.rev, string(o.Status), o.StatusAt, o.UpdatedAt, o.ActivateBy, textOrNil(o.SampleID),
		o.Insurance, o.HasABN, o.SMSEnabled, o.Appointment, o.CollectedAt, textOrNil(string(o.Interpretation)), o.IsCritical,
		o.HasMissing, o.ExpectedBy, o.WorstBy, shipment, o.LinkGeneration)
	switch {
	case err != nil:
		return fmt.Errorf("orders: changing %s: %w", o.ID, err)
	case n == 0:
		return errStale
	}
	o.rev++
	return nil
}

// savePerson writes the user and the personal data of an order. Call it before
// save, in the same transaction.
func savePerson(ctx context.Context, tx *store.Tx, o *Order) error {
	body, err := seal(ctx, tx, o, bodyPlace, o.Body)
	if err != nil {
		return err
	}
	names, err := sealNames(ctx, tx, o)
	if err != nil {
		return err
	}
	change, err := stamp(ctx, tx, o.Team)
	if err != nil {
		return err
	}
	if err := keepPast(ctx, tx, o, change); err != nil {
		return err
	}
	n, err := tx.Exec(ctx, `UPDATE orders SET user_id = $4, body = $5, names = $6 WHERE team_id = $1 AND id = $2 AND rev = $3`,
		o.Team, o.ID, o.rev, o.User, body, names)
	switch {
	case err != nil:
		return fmt.Errorf("orders: changing the person of %s: %w", o.ID, err)
	case n == 0:
		return errStale
	}
	return nil
}

func sealShipment(ctx context.Context, tx *store.Tx, o *Order) (any, error) {
	if o.Shipment == nil {
		return nil, nil
	}
	return seal(ctx, tx, o, shipmentPlace, o.Shipment)
}

func parentOrNil(id *ID) any {
	if id == nil {
		return nil
	}
	return *id
}

func textOrNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// Load stores existing orders of one team, for migration from another system.
// Each has its own transaction and one row of history. Orders are not checked,
// announced or placed. They need all fields except identifiers. Batches of a few
// hundred are fastest.
func Load(ctx context.Context, tx *store.Tx, all []Order) error {
	if len(all) == 0 {
		return nil
	}
	change, err := currentStamp(ctx, tx, all[0].Team)
	if err != nil {
		return err
	}
	var b store.Batch
	for i := range all {
		if err := all[i].load(ctx, tx, &b, change); err != nil {
			return err
		}
	}
	if err := tx.Run(ctx, &b); err != nil {
		return fmt.Errorf("orders: loading: %w", err)
	}
	return nil
}

func (o *Order) load(ctx context.Context, tx *store.Tx, b *store.Batch, change int64) error {
	o.ID, o.Transaction, o.Details = ids.FromUUID[Order](tx.NewUUID()), ids.FromUUID[Transaction](tx.NewUUID()), tx.NewUUID()
	row, err := o.row(ctx, tx)
	if err != nil {
		return err
	}
	status := statusOf([]Member{{Status: o.Status, Method: o.Method}})
	b.Insert(nil, `INSERT INTO order_transactions (team_id, id, status, created_at, updated_at)`,
		[]any{o.Team, o.Transaction, string(status), o.CreatedAt, o.UpdatedAt}, ``)
	b.Insert(nil, `INSERT INTO orders (`+columns+`, names, change)`, append(row, change), ``)
	b.Insert(nil, `INSERT INTO order_events (team_id, order_id, status, created_at)`, []any{o.Team, o.ID, string(o.Status), o.StatusAt}, ``)
	return nil
}

// currentStamp counts one change and returns the stamp of this transaction.
func currentStamp(ctx context.Context, tx *store.Tx, team teams.ID) (n int64, err error) {
	expression, err := stamp(ctx, tx, team)
	if err != nil {
		return 0, err
	}
	query, args := `SELECT `+expression, []any{team}
	if tx.Engine() == store.Postgres {
		args = nil
	}
	if err := tx.QueryRow(ctx, query, args...).Scan(&n); err != nil {
		return 0, fmt.Errorf("orders: asking for the number of a change: %w", err)
	}
	return n, nil
}
