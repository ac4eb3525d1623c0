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

// Script is the scenario of an order.
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
	// Story describes the events.
	Story string
	// Kits marks scripts for test kits only.
	Kits bool

	change func([]Step) []Step
}

// Scripts lists them all.
var Scripts = []ScriptInfo{
	{Success, "everything goes well", false, keepSteps},
	{Abnormal, "a result is out of its range", false, changeOutcome(func(o *Outcome) { o.Interpretation = orders.Abnormal })},
	{Critical, "a result is critical: a physician must be called", false, changeOutcome(func(o *Outcome) { o.Interpretation = orders.Critical })},
	{Missing, "the lab could not measure one of the results", false, changeOutcome(func(o *Outcome) { o.Missing = true })},
	{Corrected, "partial results, then final ones, then a correction", false, addCorrection},
	{Hemolyzed, "the lab finds the sample haemolysed", false, rejectSample("RH")},
	{Insufficient, "the sample is too small", false, rejectSample("QS")},
	{Late, "results come three weeks late, followed by delayed scans", false, delayReports},
	{Duplicated, "every message comes three times", false, repeatMessages},
	{OutOfOrder, "messages overtake each other", false, swapMessages},
	{WrongPatient, "the report is about another person and waits for review", false, changeOutcome(func(o *Outcome) { o.OtherPatient = true })},
	{LostKit, "the carrier loses the kit on its way out", true, endAfter(orders.TransitCustomer, Step{Act: Scan, Status: orders.Lost, Wait: 5 * day})},
	{LostSample, "the carrier loses the kit on its way back", true, endAfter(orders.TransitLab, Step{Act: Scan, Status: orders.Lost, Wait: 5 * day})},
	{Undeliverable, "the kit cannot be delivered", true, endAfter(orders.OutForDelivery, Step{Act: Scan, Status: orders.FailureToDeliverToCustomer, Wait: deliveryTime})},
	{Blocked, "the lab cannot match the sample to the patient, and asks", true, addBlock},
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

// RunScript gives an order a script: past steps stay, and future steps are
// planned again. An order that the lab does not have yet is accepted at once.
func (l *Lab) RunScript(ctx context.Context, tx *store.Tx, team teams.ID, id orders.ID, script Script) (orders.Order, error) {
	o, err := simulatedOrder(ctx, tx, team, id)
	if err != nil {
		return orders.Order{}, err
	}
	info, known := script.info()
	switch {
	case !known:
		names := make([]Script, len(Scripts))
		for i, s := range Scripts {
			names[i] = s.Name
		}
		return o, fault.NotInEnum(names).At("body", "script").WithInput(string(script))
	case info.Kits && o.Method != catalogue.TestKit:
		return o, fault.New(fault.Refused, "This script is for test kits only: script").At("body", "script")
	case o.Status.Terminal():
		return o, fault.Newf(fault.Refused, "An order in status %s has no further steps", o.Full())
	}
	if _, err := l.accept(ctx, tx, &o); err != nil {
		return o, err
	}
	if _, err := tx.Exec(ctx, `UPDATE sandbox_orders SET script = $3 WHERE team_id = $1 AND id = $2`, team, id, string(script)); err != nil {
		return o, fmt.Errorf("sandboxlab: changing the script of %s: %w", id, err)
	}
	return o, replanNow(ctx, tx, &o)
}

// scriptOf returns the script of an order.
func scriptOf(ctx context.Context, tx *store.Tx, o *orders.Order) (s Script, err error) {
	err = tx.QueryRow(ctx, `SELECT script FROM sandbox_orders WHERE team_id = $1 AND id = $2`, o.Team, o.ID).Scan(&s)
	if errors.Is(err, store.ErrNoRows) {
		return Success, nil
	}
	return s, err
}

func keepSteps(steps []Step) []Step { return steps }

// changeOutcome changes the outcome of every report.
func changeOutcome(change func(*Outcome)) func([]Step) []Step {
	return func(steps []Step) []Step {
		for i := range steps {
			if steps[i].Act == Report {
				change(&steps[i].Outcome)
			}
		}
		return steps
	}
}

// firstReport returns the index of the first report; len(steps) without
// reports.
func firstReport(steps []Step) int {
	if i := slices.IndexFunc(steps, func(s Step) bool { return s.Act == Report }); i >= 0 {
		return i
	}
	return len(steps)
}

// rejectSample replaces the reports by a rejection of the sample.
func rejectSample(code string) func([]Step) []Step {
	return func(steps []Step) []Step {
		if i := firstReport(steps); i < len(steps) {
			return append(steps[:i], Step{Act: Reject, Status: orders.SampleError, Code: code, Wait: steps[i].Wait, due: steps[i].due})
		}
		return steps
	}
}

func addCorrection(steps []Step) []Step {
	i := firstReport(steps)
	if i == len(steps) {
		return steps
	}
	first := steps[i]
	first.Status, first.Outcome.Partial = orders.PartialResults, true
	return append(steps[:i], first, finalReport(measuringTime), correctedReport(correctionTime))
}

// delayReports delays the first report by three weeks, and moves the scans of
// the return after the last report.
func delayReports(steps []Step) []Step {
	i := firstReport(steps)
	if i == len(steps) {
		return steps
	}
	steps[i].Wait += 21 * day
	if !steps[i].due.IsZero() {
		steps[i].due = steps[i].due.Add(21 * day)
	}
	var onTime, delayed []Step
	for _, s := range steps {
		if s.Status == orders.TransitLab {
			delayed = append(delayed, s)
			continue
		}
		onTime = append(onTime, s)
	}
	return append(onTime, delayed...)
}

func repeatMessages(steps []Step) []Step {
	for i := range steps {
		steps[i].Twice = steps[i].Act != Draw
	}
	return steps
}

// swapMessages puts the arrival before the return, and final results before
// partial ones.
func swapMessages(steps []Step) []Step {
	if i := firstReport(steps); i < len(steps) {
		first := steps[i]
		first.Status, first.Outcome = orders.Completed, Outcome{}
		second := Step{Act: Report, Status: orders.PartialResults, Wait: acceptTime, Outcome: Outcome{Partial: true}}
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

// endAfter ends the course after the step that reaches a status.
func endAfter(status orders.Status, last Step) func([]Step) []Step {
	return func(steps []Step) []Step {
		for i, s := range steps {
			if s.Status == status {
				return append(steps[:i+1], last)
			}
		}
		return steps
	}
}

func addBlock(steps []Step) []Step {
	for i, s := range steps {
		if s.Status == orders.DeliveredToLab {
			return slices.Insert(steps, i+1,
				Step{Act: Reject, Status: orders.LabProcessingBlocked, Code: "RI", Wait: acceptTime},
				Step{Act: Scan, Status: orders.DeliveredToLab, Wait: 2 * day})
		}
	}
	return steps
}
