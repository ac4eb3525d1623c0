package messages

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/orderwords"
	"hale/internal/people/users"
	"hale/internal/platform/ids"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Topics of reminders. The reminders of a topic are cleared together.
const (
	kitTopic     = "kit"
	bookingTopic = "booking"
	visitTopic   = "visit"
)

// Times of reminders: after the kit arrived, after the requisition, and before the
// visit.
//
// Reference 1.19.
var (
	kitReminderDelays         = []time.Duration{2 * 24 * time.Hour, 7 * 24 * time.Hour}
	requisitionReminderDelays = []time.Duration{24 * time.Hour, 72 * time.Hour, 7 * 24 * time.Hour}
	visitReminderLeads        = []struct {
		event string
		ahead time.Duration
	}{{"reminder_visit_24h", 24 * time.Hour}, {"reminder_visit_2h", 2 * time.Hour}}
)

// updateOrderReminders plans and clears reminders for an order's new status.
func (p *patient) updateOrderReminders(ctx context.Context, tx *store.Tx, status string) error {
	switch status {
	case orderwords.StatusOrdered: // a new order has no reminders
		return nil
	case orderwords.StatusWithCustomer:
		return p.planReminders(ctx, tx, kitTopic, "reminder_kit", kitReminderDelays)
	case orderwords.StatusRequisitionCreated, orderwords.StatusRequisitionBypassed:
		return p.planReminders(ctx, tx, bookingTopic, "reminder_booking", requisitionReminderDelays)
	case orderwords.StatusAppointmentPending, orderwords.StatusAppointmentCancelled: // the visit has no time yet
		return p.clearTopics(ctx, tx, kitTopic)
	case orderwords.StatusAppointmentScheduled:
		return p.clearTopics(ctx, tx, kitTopic, bookingTopic)
	}
	return p.clearTopics(ctx, tx, kitTopic, bookingTopic, visitTopic)
}

// planReminders replaces a topic's reminders with new ones, at the given times from
// now.
func (p *patient) planReminders(ctx context.Context, tx *store.Tx, topic, event string, after []time.Duration) error {
	if err := p.clearTopics(ctx, tx, topic); err != nil || !p.settings.Reminders {
		return err
	}
	for _, wait := range after {
		if err := p.queueEvent(ctx, tx, event, p.visitRule(event), Message{Topic: topic, Due: tx.Now().Add(wait)}); err != nil {
			return err
		}
	}
	return nil
}

// updateVisitReminders replaces an appointment's reminders. It plans none for a time
// in the past.
func (p *patient) updateVisitReminders(ctx context.Context, tx *store.Tx, e AppointmentEvent) error {
	if err := p.clearTopics(ctx, tx, visitTopic); err != nil || !p.settings.Reminders {
		return err
	}
	if e.Status != "confirmed" || e.Start.IsZero() {
		return nil
	}
	for _, r := range visitReminderLeads {
		due := e.Start.Add(-r.ahead)
		if !due.After(tx.Now()) {
			continue
		}
		if err := p.queueEvent(ctx, tx, r.event, p.visitRule(r.event), Message{Topic: visitTopic, Due: due, Expires: e.Start}); err != nil {
			return err
		}
	}
	return nil
}

func (p *patient) clearTopics(ctx context.Context, tx *store.Tx, topics ...string) error {
	for _, topic := range topics {
		err := clearWhere(ctx, tx, p.base.Team, `order_id = $2 AND topic = $3`, p.base.Order, topic)
		if err != nil {
			return err
		}
	}
	return nil
}

// SilenceSMS clears the planned SMS of an order whose switch was turned off. SMS
// that wait for a retry are cleared, too.
func SilenceSMS(ctx context.Context, tx *store.Tx, team teams.ID, order uuid.UUID) error {
	return clearWhere(ctx, tx, team, `order_id = $2 AND channel = $3`, order, string(SMS))
}

// userDeleted is the problem of reminders that were cleared because the user was deleted.
const userDeleted = "user_deleted"

// restoreReminders plans the reminders again that the deletion of the user cleared, if
// their time is still to come.
func restoreReminders(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) error {
	waiting, err := clearedReminders(ctx, tx, team, user)
	if err != nil {
		return err
	}
	for id, due := range waiting {
		job, err := sendKind.Enqueue(ctx, tx, sendArgs{id}, jobs.Options{Team: team.UUID(), At: due})
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE messages SET state = 'scheduled', problem = '', ended_at = NULL, job_id = $3 WHERE team_id = $1 AND id = $2`, team, id, job)
		if err != nil {
			return fmt.Errorf("messages: restoring a reminder: %w", err)
		}
	}
	return nil
}

func clearedReminders(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (map[ID]time.Time, error) {
	rows, err := tx.Query(ctx, `SELECT id, due_at FROM messages WHERE team_id = $1 AND user_id = $2 AND state = 'cleared' AND problem = $3 AND due_at > $4`,
		team, user, userDeleted, tx.Now())
	if err != nil {
		return nil, fmt.Errorf("messages: reading cleared reminders: %w", err)
	}
	defer rows.Close()
	all := map[ID]time.Time{}
	for rows.Next() {
		var id ID
		var due time.Time
		if err := rows.Scan(&id, store.ScanTime(&due)); err != nil {
			return nil, err
		}
		all[id] = due
	}
	return all, rows.Err()
}

// clearWhere clears messages that are planned or wait for a retry, and cancels
// their jobs. restoreReminders will not restore messages that the condition selects. The
// parameters of condition begin with $2.
func clearWhere(ctx context.Context, tx *store.Tx, team teams.ID, condition string, args ...any) error {
	_, err := tx.Exec(ctx, `UPDATE messages SET problem = '' WHERE team_id = $1 AND state = 'cleared' AND problem = '`+userDeleted+`' AND `+condition,
		append([]any{team}, args...)...)
	if err != nil {
		return fmt.Errorf("messages: clearing: %w", err)
	}
	planned, err := plannedJobs(ctx, tx, team, condition, args)
	if err != nil {
		return err
	}
	for id, job := range planned {
		_, err := tx.Exec(ctx, `UPDATE messages SET state = 'cleared', ended_at = $3 WHERE team_id = $1 AND id = $2 AND state IN ('scheduled', 'queued')`, team, id, tx.Now())
		if err != nil {
			return fmt.Errorf("messages: clearing: %w", err)
		}
		if _, err := jobs.Cancel(ctx, tx, team.UUID(), job); err != nil {
			return err
		}
	}
	return nil
}

func plannedJobs(ctx context.Context, tx *store.Tx, team teams.ID, condition string, args []any) (map[ID]jobs.ID, error) {
	rows, err := tx.Query(ctx, `SELECT id, job_id FROM messages WHERE team_id = $1 AND state IN ('scheduled', 'queued') AND `+condition, append([]any{team}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("messages: reading planned messages: %w", err)
	}
	defer rows.Close()
	planned := map[ID]jobs.ID{}
	for rows.Next() {
		var id ID
		var job uuid.UUID
		if err := rows.Scan(&id, &job); err != nil {
			return nil, err
		}
		planned[id] = ids.FromUUID[jobs.Job](job)
	}
	return planned, rows.Err()
}
