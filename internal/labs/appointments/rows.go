package appointments

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"hale/internal/labs/labclock"
	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

const columns = `team_id, id, order_id, user_id, kind, provider, network, status, start_at, end_at, time_zone, reason_id, rev,
	created_at, updated_at, body`

// liveCondition selects live appointments, in the same way as Live.
var liveCondition = func() string {
	var quoted []string
	for _, status := range endStatuses {
		quoted = append(quoted, "'"+string(status)+"'")
	}
	return `status NOT IN (` + strings.Join(quoted, ", ") + `)`
}()

type scanner interface{ Scan(dest ...any) error }

// sealedAppointment is an appointment as stored, with its personal fields
// sealed.
type sealedAppointment struct {
	Appointment
	body []byte
}

func scan(from scanner) (sealedAppointment, error) {
	var r sealedAppointment
	var reason uuid.NullUUID
	err := from.Scan(&r.Team, &r.ID, &r.Order, &r.User, &r.Kind, &r.Provider, &r.Network, &r.Status, store.ScanNullTime(&r.Start),
		store.ScanNullTime(&r.End), &r.TimeZone, &reason, &r.rev, store.ScanTime(&r.CreatedAt), store.ScanTime(&r.UpdatedAt), &r.body)
	if reason.Valid {
		r.ReasonID = &reason.UUID
	}
	return r, err
}

func sealPlace(id ID) string { return "appointments.body:" + id.String() }

// open unseals the body. It may run queries, so no rows may be open.
func (r sealedAppointment) open(ctx context.Context, tx *store.Tx) (Appointment, error) {
	a := r.Appointment
	doc, err := tx.Unseal(ctx, a.Team.UUID(), a.User.UUID(), sealPlace(a.ID), r.body)
	if err != nil {
		return Appointment{}, err
	}
	if err := json.Unmarshal(doc, &a.Body); err != nil {
		return Appointment{}, fmt.Errorf("appointments: the stored data of %s: %w", a.ID, err)
	}
	return a, nil
}

func (a *Appointment) seal(ctx context.Context, tx *store.Tx) ([]byte, error) {
	doc, err := json.Marshal(a.Body)
	if err != nil {
		return nil, fmt.Errorf("appointments: marshalling %s: %w", a.ID, err)
	}
	return tx.Seal(ctx, a.Team.UUID(), a.User.UUID(), sealPlace(a.ID), doc)
}

var errNotFound = fault.New(fault.NotFound, "Appointment not found")

func readOne(ctx context.Context, tx *store.Tx, condition string, args ...any) (Appointment, error) {
	r, err := scan(tx.QueryRow(ctx, `SELECT `+columns+` FROM appointments WHERE `+condition, args...))
	if errors.Is(err, store.ErrNoRows) {
		return Appointment{}, errNotFound
	}
	if err != nil {
		return Appointment{}, fmt.Errorf("appointments: reading: %w", err)
	}
	return r.open(ctx, tx)
}

// get returns an appointment of the team, shown or not, or a NotFound fault.
func get(ctx context.Context, tx *store.Tx, team teams.ID, id ID) (Appointment, error) {
	return readOne(ctx, tx, `team_id = $1 AND id = $2`, team, id)
}

// GetLatest returns the newest appointment of an order that is shown: the live
// one when there is one. It is NotFound when there never was one.
func GetLatest(ctx context.Context, tx *store.Tx, o *orders.Order) (Appointment, error) {
	return readOne(ctx, tx, `team_id = $1 AND order_id = $2 AND status <> '' ORDER BY id DESC LIMIT 1`, o.Team, o.ID)
}

// liveAppointment returns the live appointment of an order, also one whose
// call is open. It is NotFound when there is none.
func liveAppointment(ctx context.Context, tx *store.Tx, o *orders.Order) (Appointment, error) {
	return readOne(ctx, tx, `team_id = $1 AND order_id = $2 AND `+liveCondition, o.Team, o.ID)
}

// conflictingAppointment returns a live appointment that blocks a new one: the
// order's own, or the patient's with the same phlebotomy provider.
func conflictingAppointment(ctx context.Context, tx *store.Tx, o *orders.Order, k Kind, provider string) (Appointment, error) {
	a, err := liveAppointment(ctx, tx, o)
	if k != Phlebotomy || !fault.Is(err, fault.NotFound) {
		return a, err
	}
	return readOne(ctx, tx, `team_id = $1 AND user_id = $2 AND provider = $3 AND kind = '`+string(Phlebotomy)+`' AND `+liveCondition, o.Team, o.User, provider)
}

// insert stores a new appointment. It fails with ErrLostRace when another one
// blocks it.
func insert(ctx context.Context, tx *store.Tx, a *Appointment) error {
	body, err := a.seal(ctx, tx)
	if err != nil {
		return err
	}
	n, err := tx.Exec(ctx, `INSERT INTO appointments (`+columns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
		ON CONFLICT DO NOTHING`,
		a.Team, a.ID, a.Order, a.User, string(a.Kind), a.Provider, a.Network, string(a.Status), a.Start, a.End, a.TimeZone, a.ReasonID, a.rev,
		a.CreatedAt, a.UpdatedAt, body)
	switch {
	case err != nil:
		return fmt.Errorf("appointments: storing: %w", err)
	case n == 0:
		return store.ErrLostRace
	}
	return nil
}

// save writes the columns that change. The row must be unchanged since it was
// read; otherwise the transaction is retried.
func save(ctx context.Context, tx *store.Tx, a *Appointment) error {
	now, err := labclock.TimeOf(ctx, tx, a.Team)
	if err != nil {
		return err
	}
	a.UpdatedAt = labclock.LaterOf(now, a.UpdatedAt)
	body, err := a.seal(ctx, tx)
	if err != nil {
		return err
	}
	n, err := tx.Exec(ctx, `UPDATE appointments SET status = $4, start_at = $5, end_at = $6, time_zone = $7, reason_id = $8, rev = rev + 1,
		updated_at = $9, body = $10 WHERE team_id = $1 AND id = $2 AND rev = $3`,
		a.Team, a.ID, a.rev, string(a.Status), a.Start, a.End, a.TimeZone, a.ReasonID, a.UpdatedAt, body)
	switch {
	case err != nil:
		return fmt.Errorf("appointments: changing %s: %w", a.ID, err)
	case n == 0:
		return store.ErrLostRace
	}
	a.rev++
	return nil
}

// deleteHidden deletes an appointment that was never shown.
func deleteHidden(ctx context.Context, tx *store.Tx, a *Appointment) error {
	_, err := tx.Exec(ctx, `DELETE FROM appointments WHERE team_id = $1 AND id = $2 AND status = ''`, a.Team, a.ID)
	if err != nil {
		return fmt.Errorf("appointments: forgetting %s: %w", a.ID, err)
	}
	return nil
}

// saveOrDelete saves an appointment, or deletes it when it was never shown and
// no request to its network is open.
func saveOrDelete(ctx context.Context, tx *store.Tx, a *Appointment) error {
	if a.Status == Asked && a.idle() {
		return deleteHidden(ctx, tx, a)
	}
	return save(ctx, tx, a)
}

func addEvent(ctx context.Context, tx *store.Tx, a *Appointment, data map[string]any) error {
	var doc any
	if data != nil {
		text, err := json.Marshal(data)
		if err != nil {
			return fmt.Errorf("appointments: marshalling the data of an event: %w", err)
		}
		doc = string(text)
	}
	now, err := labclock.TimeOf(ctx, tx, a.Team)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO appointment_events (team_id, appointment_id, status, data, created_at) VALUES ($1, $2, $3, $4, $5)`,
		a.Team, a.ID, string(a.Status), doc, now)
	if err != nil {
		return fmt.Errorf("appointments: adding to the history of %s: %w", a.ID, err)
	}
	return nil
}

// History returns an appointment's events, oldest first.
func History(ctx context.Context, tx *store.Tx, a *Appointment) ([]Event, error) {
	rows, err := tx.Query(ctx, `SELECT status, COALESCE(data, ''), created_at FROM appointment_events
		WHERE team_id = $1 AND appointment_id = $2 ORDER BY id`, a.Team, a.ID)
	if err != nil {
		return nil, fmt.Errorf("appointments: reading the history of %s: %w", a.ID, err)
	}
	defer rows.Close()
	var all []Event
	for rows.Next() {
		var e Event
		var data string
		if err := rows.Scan(&e.Status, &data, store.ScanTime(&e.CreatedAt)); err != nil {
			return nil, err
		}
		if data != "" {
			if err := json.Unmarshal([]byte(data), &e.Data); err != nil {
				return nil, fmt.Errorf("appointments: the history of %s: %w", a.ID, err)
			}
		}
		all = append(all, e)
	}
	return all, rows.Err()
}

// UserRecords returns the rows of users in this package.
func UserRecords() []users.Records {
	return []users.Records{{Name: "appointments", Erase: func(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (bool, error) {
		for _, query := range []string{
			`DELETE FROM appointment_events WHERE team_id = $1 AND appointment_id IN (SELECT id FROM appointments WHERE team_id = $1 AND user_id = $2)`,
			`DELETE FROM appointments WHERE team_id = $1 AND user_id = $2`,
		} {
			if _, err := tx.Exec(ctx, query, team, user); err != nil {
				return false, fmt.Errorf("appointments: erasing: %w", err)
			}
		}
		return false, nil
	}}}
}
