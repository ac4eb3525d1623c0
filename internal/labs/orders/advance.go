package orders

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hale/internal/labs/labclock"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Move is a requested step of an order.
type Move struct {
	To     Status
	By     Trigger
	Detail Detail
	// At is the time of the event, according to the reporter; zero means now.
	At time.Time
	// Key identifies a report, so that a duplicate counts once. Reports of labs
	// and carriers have one. Calls and jobs, which read the order first, need
	// none.
	Key string
	// Change, if set, changes other fields with the move: a sample id, an
	// interpretation, a shipment. It may run more than once.
	Change func(o *Order)
}

// maxAttempts limits how often a move rereads an order that changes concurrently.
const maxAttempts = 5

// Advance makes a move if the table allows it, and reports whether it did. A move
// that the table does not allow is no error. It may be late, duplicate or out of
// order. It records a report with a key even then.
//
// o is the order as read, in this transaction or before. Advance updates it to
// the current state.
func Advance(ctx context.Context, tx *store.Tx, o *Order, m Move) (changed bool, err error) {
	now, err := labclock.TimeOf(ctx, tx, o.Team)
	if err != nil {
		return false, err
	}
	if m.At.IsZero() {
		m.At = now
	}
	if m.Key != "" {
		first, err := record(ctx, tx, o, m)
		if err != nil || !first {
			return false, err
		}
	}
	for range maxAttempts {
		if !o.Course().Allows(o.Status, m.To, m.By) {
			return false, nil
		}
		changed, err = step(ctx, tx, o, m, now)
		if !errors.Is(err, errStale) {
			return changed, err
		}
		if err := reload(ctx, tx, o); err != nil {
			return false, err
		}
	}
	return false, store.ErrLostRace
}

func reload(ctx context.Context, tx *store.Tx, o *Order) (err error) {
	*o, err = Get(ctx, tx, o.Team, o.ID)
	return err
}

// step makes one move of the table.
func step(ctx context.Context, tx *store.Tx, o *Order, m Move, now time.Time) (bool, error) {
	before := *o
	if m.Change != nil {
		m.Change(o)
	}
	now = labclock.LaterOf(now, o.StatusAt) // a history goes forward
	o.Status, o.StatusAt, o.UpdatedAt = m.To, now, labclock.LaterOf(now, o.UpdatedAt)
	if err := save(ctx, tx, o); err != nil {
		return false, err
	}
	if m.Key != "" {
		if err := recordMoved(ctx, tx, o, m.Key); err != nil {
			return false, err
		}
	}
	e, err := addEvent(ctx, tx, o, m.Detail)
	if err != nil {
		return false, err
	}
	if err := updateTransactionStatus(ctx, tx, o.Team, o.Transaction); err != nil {
		return false, err
	}
	return true, announceChange(ctx, tx, Change{Order: o, Before: before.Status, Event: e, By: m.By})
}

// addEvent adds the current status of the order to its history.
func addEvent(ctx context.Context, tx *store.Tx, o *Order, detail Detail) (Event, error) {
	e := Event{Status: o.Status, Detail: detail, CreatedAt: o.StatusAt}
	err := tx.QueryRow(ctx, `INSERT INTO order_events (team_id, order_id, status, detail, created_at) VALUES ($1, $2, $3, $4, $5) RETURNING id`,
		o.Team, o.ID, string(e.Status), textOrNil(string(e.Detail)), e.CreatedAt).Scan(&e.ID)
	if err != nil {
		return Event{}, fmt.Errorf("orders: adding to the history of %s: %w", o.ID, err)
	}
	return e, nil
}

// record stores the key of a report and returns whether it is new.
func record(ctx context.Context, tx *store.Tx, o *Order, m Move) (first bool, err error) {
	n, err := tx.Exec(ctx, `INSERT INTO order_reports (team_id, order_id, key, source, status, detail, reported_at, received_at, moved)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, FALSE) ON CONFLICT (team_id, order_id, key) DO NOTHING`,
		o.Team, o.ID, m.Key, m.By.String(), string(m.To), textOrNil(string(m.Detail)), m.At, tx.Now())
	if err != nil {
		return false, fmt.Errorf("orders: recording a report of %s: %w", o.ID, err)
	}
	return n == 1, nil
}

func recordMoved(ctx context.Context, tx *store.Tx, o *Order, key string) error {
	_, err := tx.Exec(ctx, `UPDATE order_reports SET moved = TRUE WHERE team_id = $1 AND order_id = $2 AND key = $3`, o.Team, o.ID, key)
	if err != nil {
		return fmt.Errorf("orders: recording a report of %s: %w", o.ID, err)
	}
	return nil
}

// Amend changes an order without a move, and announces it. change may run more
// than once and must not change the status.
func Amend(ctx context.Context, tx *store.Tx, o *Order, change func(o *Order)) error {
	now, err := labclock.TimeOf(ctx, tx, o.Team)
	if err != nil {
		return err
	}
	for range maxAttempts {
		change(o)
		o.UpdatedAt = labclock.LaterOf(now, o.UpdatedAt)
		err := save(ctx, tx, o)
		if err == nil {
			return emit(ctx, tx, o, UpdatedEvent)
		}
		if !errors.Is(err, errStale) {
			return err
		}
		if err := reload(ctx, tx, o); err != nil {
			return err
		}
	}
	return store.ErrLostRace
}

// Histories returns the events of some orders of a team.
func Histories(ctx context.Context, tx *store.Tx, team teams.ID, ids []ID) (map[ID][]Event, error) {
	of := make([]Order, len(ids))
	for i, id := range ids {
		of[i].Team, of[i].ID = team, id
	}
	return histories(ctx, tx, of)
}

// listWidth is the number of orders in one statement.
const listWidth = 25

// histories reads the events of some orders of one team.
func histories(ctx context.Context, tx *store.Tx, of []Order) (map[ID][]Event, error) {
	all := map[ID][]Event{}
	err := forIDLists(of, func(team any, ids []any, list string) error {
		rows, err := tx.Query(ctx, `SELECT order_id, id, status, COALESCE(detail, ''), created_at FROM order_events
			WHERE team_id = $1 AND order_id IN `+list+` ORDER BY order_id, id`, append([]any{team}, ids...)...)
		if err != nil {
			return fmt.Errorf("orders: reading histories: %w", err)
		}
		defer rows.Close()
		for rows.Next() {
			var id ID
			var e Event
			if err := rows.Scan(&id, &e.ID, &e.Status, &e.Detail, store.ScanTime(&e.CreatedAt)); err != nil {
				return fmt.Errorf("orders: reading histories: %w", err)
			}
			all[id] = append(all[id], e)
		}
		return rows.Err()
	})
	return all, err
}

// forIDLists calls fn with lists of the orders' ids for IN. A list has one id or
// listWidth of them; the last list is filled by repetition.
func forIDLists(of []Order, fn func(team any, ids []any, list string) error) error {
	width := listWidth
	if len(of) == 1 {
		width = 1
	}
	for from := 0; from < len(of); from += width {
		ids := make([]any, width)
		for i := range ids {
			ids[i] = of[min(from+i, len(of)-1)].ID
		}
		if err := fn(of[0].Team, ids, store.Placeholders(2, width)); err != nil {
			return err
		}
	}
	return nil
}

// Change describes a change of an order, in the transaction of the change.
type Change struct {
	// Order is the order after the change. A listener must not change it.
	Order *Order
	// Before is the earlier status, empty for a new order.
	Before Status
	Event  Event
	By     Trigger
}

// New reports whether the order was just created.
func (c Change) New() bool { return c.Before == "" }

// Listener reacts to changes of orders: it cancels appointments with their
// order, or writes to the patient.
type Listener struct {
	Name string
	// Changed runs in the transaction of the change, after its event. Its error
	// undoes the change.
	Changed func(ctx context.Context, tx *store.Tx, c Change) error
}

// listeners holds the listeners of each database, in calling order.
var listeners = store.NewSlot[[]Listener](nil)

// Listen sets the listeners of a database. The app calls it before any order
// moves.
func Listen(db *store.DB, all ...Listener) { listeners.Set(db, all) }

// announceChange emits the event of a change and calls the listeners.
func announceChange(ctx context.Context, tx *store.Tx, c Change) error {
	if err := announce(ctx, tx, c); err != nil {
		return err
	}
	for _, l := range listeners.Of(tx) {
		if err := l.Changed(ctx, tx, c); err != nil {
			return fmt.Errorf("orders: %s of order %s: %w", l.Name, c.Order.ID, err)
		}
	}
	return nil
}
