package sandboxlab

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Act is a kind of step.
type Act string

// The acts.
const (
	Accept Act = "accept" // the lab confirms the order
	Scan   Act = "scan"   // a carrier reads a label
	Visit  Act = "visit"  // an appointment changes
	Draw   Act = "draw"   // the team's own staff draws the sample
	Reject Act = "reject" // the lab cannot use the sample, or not yet
	Report Act = "report" // the lab sends results
)

// Acts lists the acts.
var Acts = []Act{Accept, Scan, Visit, Draw, Reject, Report}

// Step is one future step of an order. Zero fields are not set.
type Step struct {
	Act Act `json:"act"`
	// Status is the order's status after the step, if the order can reach it.
	Status orders.Status `json:"status,omitempty"`
	// Wait is the time after the previous step; used only for planning.
	Wait time.Duration `json:"-"`
	// Code is the reason to reject a sample: HL7 table 0490.
	Code string `json:"code,omitempty"`
	// Visit is a status of the appointment Booking, as networks.Visit has it.
	Visit   string    `json:"visit,omitempty"`
	Booking string    `json:"booking,omitempty"`
	Start   time.Time `json:"start,omitzero"`
	End     time.Time `json:"end,omitzero"`
	// Outcome is the content of a report.
	Outcome Outcome `json:"outcome,omitzero"`
	// Collected and Received are the times of the specimen of a report or a
	// rejection. All reports of an order have the same.
	Collected time.Time `json:"collected,omitzero"`
	Received  time.Time `json:"received,omitzero"`
	// Twice sends the message again, once unchanged and once under a new
	// number.
	Twice bool `json:"twice,omitempty"`

	due time.Time
}

// Outcome describes the results of a report.
type Outcome struct {
	// Interpretation is normal by default.
	Interpretation orders.Interpretation `json:"interpretation,omitempty"`
	// Types are used in turn, row by row: numeric, range, comment,
	// coded_value. Without any, each row has the type of the catalogue.
	Types []string `json:"types,omitempty"`
	// Missing leaves one result out, as a result that the lab could not
	// measure.
	Missing bool `json:"missing,omitempty"`

	Partial   bool `json:"partial,omitempty"`
	Corrected bool `json:"corrected,omitempty"`
	// OtherPatient puts another person's name on the report.
	OtherPatient bool `json:"stranger,omitempty"`
}

// rank returns the position of a status in the life of an order.
func rank(s orders.Status) int { return slices.Index(orders.Statuses, s) }

// remainingSteps drops the steps that an order has passed.
func remainingSteps(steps []Step, now orders.Status) []Step {
	for i, s := range steps {
		if rank(s.Status) > rank(now) {
			return steps[i:]
		}
	}
	return nil
}

// replanNow plans the steps of an order again, from now.
func replanNow(ctx context.Context, tx *store.Tx, o *orders.Order) error {
	now, err := TimeOf(ctx, tx, o.Team)
	if err != nil {
		return err
	}
	return replan(ctx, tx, o, now)
}

// replan plans the steps of an order again, by its script and its appointment.
func replan(ctx context.Context, tx *store.Tx, o *orders.Order, from time.Time) error {
	script, err := scriptOf(ctx, tx, o)
	if err != nil {
		return err
	}
	visit, err := liveBooking(ctx, tx, o)
	if err != nil {
		return err
	}
	return replacePlan(ctx, tx, o, from, planCourse(o, script, visit))
}

// replacePlan replaces the planned steps of an order. A step without its own
// time is due its Wait after the previous one.
func replacePlan(ctx context.Context, tx *store.Tx, o *orders.Order, from time.Time, steps []Step) error {
	if err := deletePlan(ctx, tx, o.Team, o.ID); err != nil {
		return err
	}
	for i := range steps {
		from = from.Add(steps[i].Wait)
		if !steps[i].due.IsZero() {
			from = steps[i].due
		}
		steps[i].due = from
	}
	setSpecimen(o, steps)
	for _, s := range steps {
		text, err := json.Marshal(s)
		if err != nil {
			return fmt.Errorf("sandboxlab: marshalling a step: %w", err)
		}
		_, err = tx.Exec(ctx, `INSERT INTO sandbox_steps (team_id, id, order_id, user_id, due_at, step) VALUES ($1, $2, $3, $4, $5, $6)`,
			o.Team, tx.NewUUID(), o.ID, o.User, store.Micros(s.due), string(text))
		if err != nil {
			return fmt.Errorf("sandboxlab: planning %s: %w", o.ID, err)
		}
	}
	return nil
}

// setSpecimen sets the times of the order's specimen in the steps of its lab.
// The specimen is collected after the order and received after that, before the
// first report. A visit, a draw or a kit's way decides them; a patient without
// an appointment walks in a day before the first report.
func setSpecimen(o *orders.Order, steps []Step) {
	first := slices.IndexFunc(steps, func(s Step) bool { return s.Act == Report || s.Act == Reject })
	if first < 0 {
		return
	}
	due := steps[first].due
	collected, received := due.Add(-measuringTime), time.Time{}
	for _, s := range steps {
		switch {
		case s.Act == Draw, s.Act == Visit && s.Status == orders.DrawCompleted, s.Act == Scan && s.Status == orders.DrawCompleted:
			collected = s.due
		case s.Status == orders.TransitLab:
			collected = s.due.Add(-returnNotice)
		case s.Status == orders.DeliveredToLab && received.IsZero():
			received = s.due
		}
	}
	if o.CollectedAt != nil {
		collected = *o.CollectedAt
	}
	if !collected.After(o.CreatedAt) || collected.After(due) { // a plan in which no time passes
		collected = o.CreatedAt.Add(due.Sub(o.CreatedAt) / 2)
	}
	if received.Before(collected) || received.After(due) {
		received = collected.Add(min(courierTime, due.Sub(collected)/2))
	}
	for i := range steps {
		if steps[i].Act == Report || steps[i].Act == Reject {
			steps[i].Collected, steps[i].Received = collected, received
		}
	}
}

// deletePlan deletes the planned steps of an order.
func deletePlan(ctx context.Context, tx *store.Tx, team teams.ID, order orders.ID) error {
	_, err := tx.Exec(ctx, `DELETE FROM sandbox_steps WHERE team_id = $1 AND order_id = $2`, team, order)
	if err != nil {
		return fmt.Errorf("sandboxlab: deleting the plan of %s: %w", order, err)
	}
	return nil
}

// PlannedStep is a stored step.
type PlannedStep struct {
	ID    uuid.UUID
	Order orders.ID
	// Due is by the team's clock.
	Due  time.Time
	Step Step
}

const stepColumns = `id, order_id, due_at, step`

func scanStep(from interface{ Scan(dest ...any) error }) (PlannedStep, error) {
	var p PlannedStep
	var text string
	if err := from.Scan(&p.ID, &p.Order, store.ScanTime(&p.Due), &text); err != nil {
		return PlannedStep{}, err
	}
	if err := json.Unmarshal([]byte(text), &p.Step); err != nil {
		return PlannedStep{}, fmt.Errorf("sandboxlab: reading a step: %w", err)
	}
	return p, nil
}

// PlannedSteps returns the next steps of a team's orders, or of one order, the
// soonest first.
func PlannedSteps(ctx context.Context, tx *store.Tx, team teams.ID, order *orders.ID, limit int) ([]PlannedStep, error) {
	args := []any{team, limit}
	where := ``
	if order != nil {
		where, args = ` AND order_id = $3`, append(args, *order)
	}
	rows, err := tx.Query(ctx, `SELECT `+stepColumns+` FROM sandbox_steps WHERE team_id = $1`+where+` ORDER BY due_at, id LIMIT $2`, args...)
	if err != nil {
		return nil, fmt.Errorf("sandboxlab: reading plans: %w", err)
	}
	defer rows.Close()
	var all []PlannedStep
	for rows.Next() {
		p, err := scanStep(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, rows.Err()
}

// dueSteps is the maximum number of steps that DueOrders reads.
const dueSteps = 5000

// DueOrders returns orders with steps that are due at a time, at most 1,000.
func DueOrders(ctx context.Context, tx *store.Tx, team teams.ID, at time.Time) (due []orders.ID, err error) {
	rows, err := tx.Query(ctx, `SELECT order_id FROM sandbox_steps WHERE team_id = $1 AND due_at <= $2 ORDER BY due_at, id LIMIT $3`,
		team, store.Micros(at), dueSteps)
	if err != nil {
		return nil, fmt.Errorf("sandboxlab: reading due orders: %w", err)
	}
	defer rows.Close()
	seen := map[orders.ID]bool{}
	for rows.Next() && len(due) < 1000 {
		var id orders.ID
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("sandboxlab: reading due orders: %w", err)
		}
		if !seen[id] {
			seen[id], due = true, append(due, id)
		}
	}
	return due, rows.Err()
}

// The duration of each step, by the lab's clock.
const (
	acceptTime     = 10 * time.Minute
	pickupTime     = 6 * time.Hour  // until a carrier has a kit
	shippingTime   = 36 * time.Hour // until it is out for delivery
	deliveryTime   = 6 * time.Hour
	samplingTime   = day // until the patient sends it back
	returnTime     = 2 * day
	measuringTime  = day
	walkInTime     = 2 * day // until a patient without an appointment comes
	drawTime       = day     // until the team's own staff draws
	correctionTime = day     // until a lab corrects its report

	returnNotice = 2 * time.Hour // between the sampling and the first scan of the return
	courierTime  = 6 * time.Hour // from a draw to the lab
)

// planCourse returns the future steps of an order, without the ones that it
// has passed. Unregistered kits only reach the patient. A visit is followed by
// results. Without a visit a patient walks in some day, and a phlebotomist
// never comes.
func planCourse(o *orders.Order, script Script, visit *appointment) []Step {
	steps := []Step{{Act: Accept, Status: orders.RequisitionCreated, Wait: acceptTime}}
	switch {
	case isUnregistered(o):
		steps = outboundSteps()
	case o.Method == catalogue.TestKit && o.Registrable:
		steps = append(steps, inboundSteps()...)
	case o.Method == catalogue.TestKit:
		steps = append(append(steps, outboundSteps()...), inboundSteps()...)
	case o.Method == catalogue.OnSite:
		steps = append(steps, Step{Act: Draw, Status: orders.DrawCompleted, Wait: drawTime}, finalReport(measuringTime))
	case o.Method == catalogue.WalkIn && visit != nil:
		first := partialAndFinalReports(0)
		first[0].due = visit.End.Add(measuringTime)
		steps = append(append(steps, visit.confirmation()...), first...)
	case o.Method == catalogue.WalkIn:
		steps = append(steps, partialAndFinalReports(walkInTime)...)
	case visit != nil:
		steps = append(append(steps, visit.steps()...), finalReport(measuringTime))
	case o.Status == orders.DrawCompleted || o.Status == orders.PartialResults:
		steps = append(steps, finalReport(measuringTime))
	}
	return remainingSteps(script.change(steps), o.Status)
}

func isUnregistered(o *orders.Order) bool {
	return o.Registrable && rank(o.Status) < rank(orders.Registered) || o.Registrable && o.Body.Patient == nil
}

func outboundSteps() []Step {
	return []Step{
		{Act: Scan, Status: orders.TransitCustomer, Wait: pickupTime},
		{Act: Scan, Status: orders.OutForDelivery, Wait: shippingTime},
		{Act: Scan, Status: orders.WithCustomer, Wait: deliveryTime},
	}
}

func inboundSteps() []Step {
	return []Step{
		{Act: Scan, Status: orders.TransitLab, Wait: samplingTime},
		{Act: Scan, Status: orders.DeliveredToLab, Wait: returnTime},
		finalReport(measuringTime),
	}
}

func finalReport(wait time.Duration) Step {
	return Step{Act: Report, Status: orders.Completed, Wait: wait}
}

func partialAndFinalReports(wait time.Duration) []Step {
	return []Step{{Act: Report, Status: orders.PartialResults, Wait: wait, Outcome: Outcome{Partial: true}}, finalReport(measuringTime)}
}

func correctedReport(wait time.Duration) Step {
	return Step{Act: Report, Status: orders.Corrected, Wait: wait, Outcome: Outcome{Corrected: true}}
}
