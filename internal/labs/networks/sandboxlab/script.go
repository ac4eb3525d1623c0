package sandboxlab

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Script is how an order fares.
type Script string

// The scripts.
const (
	Success       Script = "success"
	Abnormal      Script = "abnormal"
	Critical      Script = "critical"
	Missing       Script = "missing_result"
	Corrected     Script = "partial_then_corrected"
	Hemolyzed     Script = "hemolyzed"
	Insufficient  Script = "quantity_not_sufficient"
	Late          Script = "late"
	Duplicated    Script = "duplicated"
	OutOfOrder    Script = "out_of_order"
	WrongPatient  Script = "wrong_patient"
	LostKit       Script = "lost_kit"
	LostSample    Script = "lost_sample"
	Undeliverable Script = "undeliverable"
	Blocked       Script = "blocked"
)

// ScriptInfo describes a script.
type ScriptInfo struct {
	Name Script
	// Story is what happens, for people.
	Story string
	// Kits tells that it is about test kits only.
	Kits bool

	change func([]Step) []Step
}

// Scripts lists them all.
var Scripts = []ScriptInfo{
	{Success, "everything goes well", false, same},
	{Abnormal, "a result is out of its range", false, outcome(func(o *Outcome) { o.Interpretation = orders.Abnormal })},
	{Critical, "a result is where a physician must be called", false, outcome(func(o *Outcome) { o.Interpretation = orders.Critical })},
	{Missing, "the lab could not measure one of the results", false, outcome(func(o *Outcome) { o.Missing = true })},
	{Corrected, "partial results, then final ones, then a correction", false, correctedLater},
	{Hemolyzed, "the lab finds the sample haemolysed", false, rejected("RH")},
	{Insufficient, "the sample is too small", false, rejected("QS")},
	{Late, "results come three weeks late, and scans that were forgotten after them", false, late},
	{Duplicated, "every message comes three times", false, duplicated},
	{OutOfOrder, "messages overtake each other", false, outOfOrder},
	{WrongPatient, "the report is about somebody else and waits for review", false, outcome(func(o *Outcome) { o.Stranger = true })},
	{LostKit, "the carrier loses the kit on its way out", true, endsWith(orders.TransitCustomer, Step{Act: Scan, Status: orders.Lost, Wait: 5 * day})},
	{LostSample, "the carrier loses the kit on its way back", true, endsWith(orders.TransitLab, Step{Act: Scan, Status: orders.Lost, Wait: 5 * day})},
	{Undeliverable, "nobody takes the kit in", true, endsWith(orders.OutForDelivery, Step{Act: Scan, Status: orders.FailureToDeliverToCustomer, Wait: delivering})},
	{Blocked, "the lab doubts whose sample it is, and asks", true, blocked},
}

func (s Script) info() (ScriptInfo, bool) {
	i := slices.IndexFunc(Scripts, func(i ScriptInfo) bool { return i.Name == s })
	if i < 0 {
		return ScriptInfo{}, false
	}
	return Scripts[i], true
}

func (s Script) change(steps []Step) []Step {
	info, ok := s.info()
	if !ok {
		return steps
	}
	return info.change(steps)
}

// Play gives an order a script: what it has behind it stays, and what comes is
// planned anew. An order that the lab does not have yet is taken at once.
func (l *Lab) Play(ctx context.Context, tx *store.Tx, team teams.ID, id orders.ID, script Script) (orders.Order, error) {
	o, err := simulated(ctx, tx, team, id)
	if err != nil {
		return orders.Order{}, err
	}
	info, known := script.info()
	switch {
	case !known:
		return o, fault.New(fault.Invalid, "Value error, there is no such script").At("body", "script")
	case info.Kits && o.Method != catalogue.TestKit:
		return o, fault.New(fault.Refused, "This script is about test kits, and the order is none").At("body", "script")
	case o.Status.Terminal():
		return o, fault.Newf(fault.Refused, "Nothing more happens to an order in status %s", o.Full())
	}
	if _, err := l.accept(ctx, tx, &o); err != nil {
		return o, err
	}
	if _, err := tx.Exec(ctx, `UPDATE sandbox_orders SET script = $3 WHERE team_id = $1 AND id = $2`, team, id, string(script)); err != nil {
		return o, fmt.Errorf("sandboxlab: changing the script of %s: %w", id, err)
	}
	return o, replan(ctx, tx, &o)
}

// scriptOf is the script that an order follows.
func scriptOf(ctx context.Context, tx *store.Tx, o *orders.Order) (s Script, err error) {
	err = tx.QueryRow(ctx, `SELECT script FROM sandbox_orders WHERE team_id = $1 AND id = $2`, o.Team, o.ID).Scan(&s)
	if errors.Is(err, store.ErrNoRows) {
		return Success, nil
	}
	return s, err
}

func same(steps []Step) []Step { return steps }

// outcome changes what every report says.
func outcome(change func(*Outcome)) func([]Step) []Step {
	return func(steps []Step) []Step {
		for i := range steps {
			if steps[i].Act == Report {
				change(&steps[i].Outcome)
			}
		}
		return steps
	}
}

// results is where the reports begin; len(steps) when there are none.
func results(steps []Step) int {
	if i := slices.IndexFunc(steps, func(s Step) bool { return s.Act == Report }); i >= 0 {
		return i
	}
	return len(steps)
}

// rejected lets the lab refuse the sample instead of reporting.
func rejected(code string) func([]Step) []Step {
	return func(steps []Step) []Step {
		if i := results(steps); i < len(steps) {
			return append(steps[:i], Step{Act: Reject, Status: orders.SampleError, Code: code, Wait: steps[i].Wait, due: steps[i].due})
		}
		return steps
	}
}

func correctedLater(steps []Step) []Step {
	i := results(steps)
	if i == len(steps) {
		return steps
	}
	first := steps[i]
	first.Status, first.Outcome.Partial = orders.PartialResults, true
	return append(steps[:i], first, final(measuring), corrected(replacing))
}

// late moves the first report three weeks on, and the scans of the way back
// behind the last.
func late(steps []Step) []Step {
	i := results(steps)
	if i == len(steps) {
		return steps
	}
	steps[i].Wait += 21 * day
	if !steps[i].due.IsZero() {
		steps[i].due = steps[i].due.Add(21 * day)
	}
	var onTime, forgotten []Step
	for _, s := range steps {
		if s.Status == orders.TransitLab {
			forgotten = append(forgotten, s)
			continue
		}
		onTime = append(onTime, s)
	}
	return append(onTime, forgotten...)
}

func duplicated(steps []Step) []Step {
	for i := range steps {
		steps[i].Twice = steps[i].Act != Draw
	}
	return steps
}

// outOfOrder lets the arrival overtake the way back, and final results partial
// ones.
func outOfOrder(steps []Step) []Step {
	if i := results(steps); i < len(steps) {
		first := steps[i]
		first.Status, first.Outcome = orders.Completed, Outcome{}
		second := Step{Act: Report, Status: orders.PartialResults, Wait: accepting, Outcome: Outcome{Partial: true}}
		steps = append(steps[:i], first, second)
	}
	for i := range steps[:max(len(steps)-1, 0)] {
		if steps[i].Status == orders.TransitLab {
			steps[i], steps[i+1] = steps[i+1], steps[i]
			break
		}
	}
	return steps
}

// endsWith lets the course end after the step that reaches a status.
func endsWith(status orders.Status, last Step) func([]Step) []Step {
	return func(steps []Step) []Step {
		for i, s := range steps {
			if s.Status == status {
				return append(steps[:i+1], last)
			}
		}
		return steps
	}
}

func blocked(steps []Step) []Step {
	for i, s := range steps {
		if s.Status == orders.DeliveredToLab {
			return slices.Insert(steps, i+1,
				Step{Act: Reject, Status: orders.LabProcessingBlocked, Code: "RI", Wait: accepting},
				Step{Act: Scan, Status: orders.DeliveredToLab, Wait: 2 * day})
		}
	}
	return steps
}
