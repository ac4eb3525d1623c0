package messages

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/ids"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Topics of reminders, which are cleared together.
const (
	kitTopic     = "kit"
	bookingTopic = "booking"
	visitTopic   = "visit"
)

// When reminders are due: after the kit came, after the requisition, and
// before the visit.
//
// Reference 1.19.
var (
	afterKit         = []time.Duration{2 * 24 * time.Hour, 7 * 24 * time.Hour}
	afterRequisition = []time.Duration{24 * time.Hour, 72 * time.Hour, 7 * 24 * time.Hour}
	beforeVisit      = []struct {
		event string
		ahead time.Duration
	}{{"reminder_visit_24h", 24 * time.Hour}, {"reminder_visit_2h", 2 * time.Hour}}
)

// orderReminders plans and clears by an order's new status.
func (s *subject) orderReminders(ctx context.Context, tx *store.Tx, status string) error {
	switch status {
	case "ordered": // there can be none yet
		return nil
	case withPatient:
		return s.remind(ctx, tx, kitTopic, "reminder_kit", afterKit)
	case requisition, bypassed:
		return s.remind(ctx, tx, bookingTopic, "reminder_booking", afterRequisition)
	case pending, calledOff: // no time was found yet
		return s.clear(ctx, tx, kitTopic)
	case confirmed:
		return s.clear(ctx, tx, kitTopic, bookingTopic)
	}
	return s.clear(ctx, tx, kitTopic, bookingTopic, visitTopic)
}

// remind plans a topic's reminders anew, at the given times from now.
func (s *subject) remind(ctx context.Context, tx *store.Tx, topic, event string, after []time.Duration) error {
	if err := s.clear(ctx, tx, topic); err != nil || !s.settings.Reminders {
		return err
	}
	for _, wait := range after {
		if err := s.say(ctx, tx, event, s.rule(event), Message{Topic: topic, Due: tx.Now().Add(wait)}); err != nil {
			return err
		}
	}
	return nil
}

// visitReminders plans those of an appointment anew. What is past already is
// left out.
func (s *subject) visitReminders(ctx context.Context, tx *store.Tx, e AppointmentEvent) error {
	if err := s.clear(ctx, tx, visitTopic); err != nil || !s.settings.Reminders {
		return err
	}
	if e.Status != "confirmed" || e.Start.IsZero() {
		return nil
	}
	for _, r := range beforeVisit {
		due := e.Start.Add(-r.ahead)
		if !due.After(tx.Now()) {
			continue
		}
		if err := s.say(ctx, tx, r.event, s.rule(r.event), Message{Topic: visitTopic, Due: due, Expires: e.Start}); err != nil {
			return err
		}
	}
	return nil
}

func (s *subject) clear(ctx context.Context, tx *store.Tx, topics ...string) error {
	for _, topic := range topics {
		err := clearWhere(ctx, tx, s.base.Team, `order_id = $2 AND topic = $3`, s.base.Order, topic)
		if err != nil {
			return err
		}
	}
	return nil
}

// SilenceSMS clears what an order still has to say by SMS, as when its switch
// is turned off. What failed and waits to be tried again is cleared, too.
func SilenceSMS(ctx context.Context, tx *store.Tx, team teams.ID, order uuid.UUID) error {
	return clearWhere(ctx, tx, team, `order_id = $2 AND channel = $3`, order, string(SMS))
}

// clearWhere ends what was planned or is to be tried again, and its jobs. The
// condition's parameters begin with $2.
func clearWhere(ctx context.Context, tx *store.Tx, team teams.ID, condition string, args ...any) error {
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
		return nil, fmt.Errorf("messages: looking for what is planned: %w", err)
	}
	defer rows.Close()
	planned := map[ID]jobs.ID{}
	for rows.Next() {
		var id ID
		var job uuid.UUID
		if err := rows.Scan(&id, &job); err != nil {
			return nil, err
		}
		planned[id] = ids.From[jobs.Job](job)
	}
	return planned, rows.Err()
}
