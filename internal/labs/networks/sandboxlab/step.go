package sandboxlab

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/orders"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Act is a sort of thing that happens to an order.
type Act string

// The acts.
const (
	Accept Act = "accept" // the lab confirms the order
	Scan   Act = "scan"   // a carrier reads a label
	Visit  Act = "visit"  // something becomes of an appointment
	Draw   Act = "draw"   // the team's own staff draws the sample
	Reject Act = "reject" // the lab cannot use the sample, or not yet
	Report Act = "report" // the lab sends results
)

// Step is one thing that will happen. Its zero fields say nothing.
type Step struct {
	Act Act `json:"act"`
	// Status is what the order comes to by it, as far as the order follows.
	Status orders.Status `json:"status,omitempty"`
	// Wait is how long after the step before it happens; kept only while
	// planning.
	Wait time.Duration `json:"-"`
	// Code says why a sample is rejected: HL7 table 0490.
	Code string `json:"code,omitempty"`
	// Visit is a status of the appointment Booking, as networks.Visit has it.
	Visit   string    `json:"visit,omitempty"`
	Booking string    `json:"booking,omitempty"`
	Start   time.Time `json:"start,omitzero"`
	End     time.Time `json:"end,omitzero"`
	// Outcome is what a report says.
	Outcome Outcome `json:"outcome,omitzero"`
	// Twice has the message sent again, once as it was and once under a new
	// number.
	Twice bool `json:"twice,omitempty"`

	due time.Time
}

// Outcome is how results come out.
type Outcome struct {
	// Interpretation is normal unless set.
	Interpretation orders.Interpretation `json:"interpretation,omitempty"`
	// Types are taken in turn, row by row: numeric, range, comment, coded_value.
	// Without any, each row is of the type that the catalogue has for it.
	Types []string `json:"types,omitempty"`
	// Missing leaves a result out, as one that the lab could not measure.
	Missing bool `json:"missing,omitempty"`

	Partial   bool `json:"partial,omitempty"`
	Corrected bool `json:"corrected,omitempty"`
	// Stranger puts another person's name on the report.
	Stranger bool `json:"stranger,omitempty"`
}

// rank is how far on in its life an order is.
func rank(s orders.Status) int { return slices.Index(orders.Statuses, s) }

// after leaves out the steps that an order has behind it.
func after(steps []Step, now orders.Status) []Step {
	for i, s := range steps {
		if rank(s.Status) > rank(now) {
			return steps[i:]
		}
	}
	return nil
}

// replan plans anew what is going to happen to an order, by its script and its
// appointment.
func replan(ctx context.Context, tx *store.Tx, o *orders.Order) error {
	now, err := Now(ctx, tx, o.Team)
	if err != nil {
		return err
	}
	script, err := scriptOf(ctx, tx, o)
	if err != nil {
		return err
	}
	visit, err := visitOf(ctx, tx, o)
	if err != nil {
		return err
	}
	return planInstead(ctx, tx, o, now, course(o, script, visit))
}

// planInstead replaces what was going to happen to an order. A step without a
// time of its own is due its Wait after the one before it.
func planInstead(ctx context.Context, tx *store.Tx, o *orders.Order, from time.Time, steps []Step) error {
	if err := forget(ctx, tx, o.Team, o.ID); err != nil {
		return err
	}
	for _, s := range steps {
		from = from.Add(s.Wait)
		if !s.due.IsZero() {
			from = s.due
		}
		text, err := json.Marshal(s)
		if err != nil {
			return fmt.Errorf("sandboxlab: marshalling a step: %w", err)
		}
		_, err = tx.Exec(ctx, `INSERT INTO sandbox_steps (team_id, id, order_id, user_id, due_at, step) VALUES ($1, $2, $3, $4, $5, $6)`,
			o.Team, tx.NewUUID(), o.ID, o.User, store.Micros(from), string(text))
		if err != nil {
			return fmt.Errorf("sandboxlab: planning %s: %w", o.ID, err)
		}
	}
	return nil
}

// forget drops all that was planned for an order.
func forget(ctx context.Context, tx *store.Tx, team teams.ID, order orders.ID) error {
	_, err := tx.Exec(ctx, `DELETE FROM sandbox_steps WHERE team_id = $1 AND order_id = $2`, team, order)
	if err != nil {
		return fmt.Errorf("sandboxlab: dropping the plans of %s: %w", order, err)
	}
	return nil
}

// Planned is a step that is still to come.
type Planned struct {
	ID    uuid.UUID
	Order orders.ID
	// Due is by the team's clock.
	Due  time.Time
	Step Step
}

const stepColumns = `id, order_id, due_at, step`

func scanStep(from interface{ Scan(dest ...any) error }) (Planned, error) {
	var p Planned
	var text string
	if err := from.Scan(&p.ID, &p.Order, store.ScanTime(&p.Due), &text); err != nil {
		return Planned{}, err
	}
	if err := json.Unmarshal([]byte(text), &p.Step); err != nil {
		return Planned{}, fmt.Errorf("sandboxlab: reading a step: %w", err)
	}
	return p, nil
}

// Plans are the next steps of a team's orders, or of one of them, soonest
// first.
func Plans(ctx context.Context, tx *store.Tx, team teams.ID, of *orders.ID, limit int) ([]Planned, error) {
	args := []any{team, limit}
	where := ``
	if of != nil {
		where, args = ` AND order_id = $3`, append(args, *of)
	}
	rows, err := tx.Query(ctx, `SELECT `+stepColumns+` FROM sandbox_steps WHERE team_id = $1`+where+` ORDER BY due_at, id LIMIT $2`, args...)
	if err != nil {
		return nil, fmt.Errorf("sandboxlab: reading plans: %w", err)
	}
	defer rows.Close()
	var all []Planned
	for rows.Next() {
		p, err := scanStep(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, rows.Err()
}
