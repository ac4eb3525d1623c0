package labs

import (
	"context"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/api"
	"hale/internal/labs/labclock"
	"hale/internal/labs/networks/sandboxlab"
	"hale/internal/labs/orders"
	"hale/internal/labs/results"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// The lab of sandbox teams. The reference moves an order to a status. Our additions
// advance the lab's clock.
//
// Reference 1.15.

func (h *Handlers) sandboxRoutes() []api.Route {
	return []api.Route{
		api.Post("/v3/order/{order_id}/test", h.simulateOrder, "Move an order of a sandbox team to a status").Creates().Conditional(orderVersion).Announces(laboratoryEvents...).Refuses("not_sandbox", "order_at_test_system", "order_held"),
		api.Get("/v3/sandbox", h.getSandbox, "Get the time and the next steps of your sandbox lab").Refuses("not_sandbox"),
		api.Post("/v3/sandbox/advance", h.advanceSandbox, "Advance the clock of your sandbox lab").Announces(laboratoryEvents...).Refuses("not_sandbox"),
		api.Get("/v3/sandbox/scripts", h.listSandboxScripts, "List the scenarios for an order of a sandbox team"),
		api.Post("/v3/sandbox/order/{order_id}/run", h.runSandboxScript, "Run a scenario on an order of a sandbox team").Creates().Conditional(orderVersion).Announces(laboratoryEvents...).Refuses("not_sandbox", "order_at_test_system", "order_held"),
	}
}

// laboratoryEvents lists the types of events that steps of the sandbox laboratory cause.
var laboratoryEvents = []string{"labtest.order.*", "labtest.appointment.*", "labtest.result.critical", "labtest.match_review.*"}

type simulateOrderIn struct {
	OrderPath
	FinalStatus orderEventWord `query:"final_status" doc:"The final status of the order. The default is completed."`
	Delay       int            `query:"delay" minimum:"0" maximum:"31536000" doc:"Seconds to wait before the change."`
	Body        *api.ObjectOrNull[simulationIn]
}

// simulationIn has the fields of the contract's SimulationFlags.
type simulationIn struct {
	Interpretation interpretationWord                `json:"interpretation,omitempty" default:"normal"`
	ResultTypes    api.ListOrNull[sandboxResultWord] `json:"result_types" required:"false" maxItems:"100" doc:"The types of the results, used in turn. By default each result has the type of the catalogue."`
	HasMissing     *bool                             `json:"has_missing_results" required:"false" doc:"Omit one result as not measurable."`
}

// simulationWait is the maximum time that an answer waits for the change to be visible. A
// slower change still happens.
const simulationWait = 3 * time.Second

func (h *Handlers) simulateOrder(ctx context.Context, c api.Caller, in *simulateOrderIn) (*api.Out[string], error) {
	s := sandboxlab.Simulation{
		Final: string(in.FinalStatus), Delay: time.Duration(in.Delay) * time.Second,
	}
	if in.Body != nil && in.Body.Value != nil {
		b := in.Body.Value
		s.Outcome.Interpretation = orders.Interpretation(b.Interpretation)
		s.Outcome.Missing = b.HasMissing != nil && *b.HasMissing
		if len(b.ResultTypes) > 0 {
			s.Outcome.Types = textsOf(b.ResultTypes)
		}
	}
	var end orders.Status
	err := h.DB.Write(ctx, func(tx *store.Tx) (err error) {
		if end, err = h.Sandbox.Simulate(ctx, tx, c.Team, in.OrderID, s); err != nil {
			return err
		}
		return api.RecordAnswer(ctx, tx, "Success")
	})
	if err != nil {
		return nil, err
	}
	err = h.waitUntil(ctx, simulationWait, func(tx *store.Tx) (bool, error) {
		o, err := orders.Get(ctx, tx, c.Team, in.OrderID)
		return o.Status == end || o.Status.Terminal() && end != orders.Corrected, err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer("Success"), nil
}

// waitUntil polls a condition. It gives up without an error after some time.
func (h *Handlers) waitUntil(ctx context.Context, longest time.Duration, so func(tx *store.Tx) (bool, error)) error {
	end := time.NewTimer(longest)
	defer end.Stop()
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		var is bool
		err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
			is, err = so(tx)
			return err
		})
		if err != nil || is {
			return err
		}
		select {
		case <-time.After(pause):
		case <-end.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// sandboxBody is the state of a sandbox lab.
type sandboxBody struct {
	Now     api.Time          `json:"now" doc:"Time of the lab's clock."`
	Ahead   int64             `json:"ahead_seconds" doc:"Seconds by which the lab's clock is ahead of the real one."`
	Waiting int               `json:"waiting" doc:"Number of due steps that have not run yet."`
	Plans   []sandboxPlanBody `json:"plans" doc:"The next steps, soonest first, at most 100."`
}

// sandboxMoveBody is a new event of an order.
type sandboxMoveBody struct {
	OrderID orders.ID `json:"order_id" format:"uuid"`
	Status  string    `json:"status" doc:"The new status, as in the order's events."`
	Detail  *string   `json:"status_detail"`
	At      api.Time  `json:"created_at" doc:"Time of the step by the clock of the lab."`
}

// advanceSandboxBody is the state of a sandbox lab after its clock advanced.
type advanceSandboxBody struct {
	Now     api.Time          `json:"now" doc:"Time of the lab's clock."`
	Ahead   int64             `json:"ahead_seconds" doc:"Seconds by which the lab's clock is ahead of the real one."`
	Waiting int               `json:"waiting" doc:"Number of due steps that have not run yet."`
	Moved   []sandboxMoveBody `json:"moved" doc:"The new events of orders, oldest first, of at most 1,000 orders."`
	Plans   []sandboxPlanBody `json:"plans" doc:"The next steps, soonest first, at most 100."`
}

type sandboxPlanBody struct {
	OrderID orders.ID      `json:"order_id" format:"uuid"`
	Due     api.Time       `json:"due_at" doc:"Time of the next step by the clock of the lab."`
	Act     sandboxActWord `json:"act"`
	Status  *string        `json:"status" doc:"The status of the order after the step."`
}

func (h *Handlers) sandbox(ctx context.Context, tx *store.Tx, c api.Caller) (sandboxBody, error) {
	body := sandboxBody{Plans: []sandboxPlanBody{}}
	if err := sandboxlab.Check(ctx, tx, c.Team); err != nil {
		return body, err
	}
	now, err := labclock.TimeOf(ctx, tx, c.Team)
	if err != nil {
		return body, err
	}
	ahead, err := labclock.Offset(ctx, tx, c.Team)
	if err != nil {
		return body, err
	}
	body.Now, body.Ahead = api.Time(now), int64(ahead/time.Second)
	if body.Waiting, _, err = sandboxlab.CountDue(ctx, tx, c.Team); err != nil {
		return body, err
	}
	plans, err := sandboxlab.PlannedSteps(ctx, tx, c.Team, nil, 100)
	for _, p := range plans {
		body.Plans = append(body.Plans, sandboxPlanBody{p.Order, api.Time(p.Due), sandboxActWord(p.Step.Act), api.TextOrNull(string(p.Step.Status))})
	}
	return body, err
}

func (h *Handlers) getSandbox(ctx context.Context, c api.Caller, _ *struct{}) (*api.Out[sandboxBody], error) {
	var body sandboxBody
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		body, err = h.sandbox(ctx, tx, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(body), nil
}

type advanceSandboxIn struct {
	Body struct {
		Seconds int64 `json:"seconds" minimum:"0" maximum:"315360000" doc:"Seconds to advance the clock; 0 only runs the due steps."`
	}
}

// advanceWait is the maximum time that an answer waits for due steps to run.
const advanceWait = 20 * time.Second

func (h *Handlers) advanceSandbox(ctx context.Context, c api.Caller, in *advanceSandboxIn) (*api.Out[advanceSandboxBody], error) {
	var advance sandboxAdvance
	err := h.DB.Write(ctx, func(tx *store.Tx) (err error) {
		advance = sandboxAdvance{}
		if err := sandboxlab.Check(ctx, tx, c.Team); err != nil {
			return err
		}
		if advance.mark, err = orders.MarkChanges(ctx, tx, c.Team); err != nil {
			return err
		}
		if advance.from, err = labclock.TimeOf(ctx, tx, c.Team); err != nil {
			return err
		}
		now, err := h.Sandbox.Advance(ctx, tx, c.Team, time.Duration(in.Body.Seconds)*time.Second)
		if err != nil {
			return err
		}
		if advance.due, err = sandboxlab.DueOrders(ctx, tx, c.Team, now); err != nil {
			return err
		}
		advance.before, err = orders.Histories(ctx, tx, c.Team, advance.due)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = h.waitUntil(ctx, advanceWait, func(tx *store.Tx) (bool, error) {
		return h.Sandbox.IsSettled(ctx, tx, c.Team)
	})
	if err != nil {
		return nil, err
	}
	var body advanceSandboxBody
	err = h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		lab, err := h.sandbox(ctx, tx, c)
		if err != nil {
			return err
		}
		body = advanceSandboxBody{Now: lab.Now, Ahead: lab.Ahead, Waiting: lab.Waiting, Plans: lab.Plans}
		body.Moved, err = advance.moves(ctx, tx, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(body), nil
}

// sandboxAdvance is the state of a team's orders before its clock moved forward.
type sandboxAdvance struct {
	from   time.Time // by the lab's clock
	mark   orders.ChangeMark
	due    []orders.ID // orders with a due step
	before map[orders.ID][]orders.Event
}

// movedOrders bounds the orders of an answer.
const movedOrders = 1000

// moves returns the events that orders have in addition to earlier ones, the oldest
// first. The orders had a due step, or the advance created them, such as a redraw, or
// another job moved them.
func (s *sandboxAdvance) moves(ctx context.Context, tx *store.Tx, c api.Caller) ([]sandboxMoveBody, error) {
	moved := []sandboxMoveBody{}
	all := s.due
	changed, err := orders.ChangedSince(ctx, tx, c.Team, s.mark, movedOrders)
	if err != nil {
		return nil, err
	}
	for _, id := range changed {
		if _, had := s.before[id]; !had && !slices.Contains(all, id) && len(all) < movedOrders {
			all = append(all, id)
		}
	}
	after, err := orders.Histories(ctx, tx, c.Team, all)
	if err != nil {
		return nil, err
	}
	for _, id := range all {
		o, err := orders.Get(ctx, tx, c.Team, id)
		if fault.Is(err, fault.NotFound) { // erased meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, e := range after[id][min(len(s.before[id]), len(after[id])):] {
			if e.CreatedAt.Before(s.from) {
				continue
			}
			moved = append(moved, sandboxMoveBody{id, e.Status.Full(o.Method), api.TextOrNull(string(e.Detail)), api.Time(e.CreatedAt)})
		}
	}
	slices.SortStableFunc(moved, func(a, b sandboxMoveBody) int { return time.Time(a.At).Compare(time.Time(b.At)) })
	return moved, nil
}

type sandboxScriptBody struct {
	Name     string `json:"name"`
	Story    string `json:"story" doc:"Description of the scenario."`
	TestKits bool   `json:"testkits_only"`
}

type sandboxScriptsBody struct {
	Data []sandboxScriptBody `json:"data"`
}

func (h *Handlers) listSandboxScripts(context.Context, api.Caller, *struct{}) (*api.Out[sandboxScriptsBody], error) {
	var body sandboxScriptsBody
	for _, s := range sandboxlab.Scripts {
		body.Data = append(body.Data, sandboxScriptBody{string(s.Name), s.Story, s.Kits})
	}
	return api.Answer(body), nil
}

type runSandboxScriptIn struct {
	OrderPath
	Body struct {
		Script sandboxScriptWord `json:"script"`
	}
}

// sandboxRunBody contains the planned steps of an order.
type sandboxRunBody struct {
	OrderID orders.ID         `json:"order_id" format:"uuid"`
	Script  string            `json:"script"`
	Plans   []sandboxPlanBody `json:"plans" doc:"The steps that run when the clock advances, soonest first."`
}

func (h *Handlers) runSandboxScript(ctx context.Context, c api.Caller, in *runSandboxScriptIn) (*api.Out[sandboxRunBody], error) {
	return api.Commit(ctx, h.API, func(tx *store.Tx) (sandboxRunBody, error) {
		body := sandboxRunBody{OrderID: in.OrderID, Script: string(in.Body.Script), Plans: []sandboxPlanBody{}}
		if _, err := h.Sandbox.RunScript(ctx, tx, c.Team, in.OrderID, sandboxlab.Script(in.Body.Script)); err != nil {
			return body, err
		}
		plans, err := sandboxlab.PlannedSteps(ctx, tx, c.Team, &in.OrderID, 100)
		for _, p := range plans {
			body.Plans = append(body.Plans, sandboxPlanBody{p.Order, api.Time(p.Due), sandboxActWord(p.Step.Act), api.TextOrNull(string(p.Step.Status))})
		}
		return body, err
	})
}

// Types for values of the sandbox.
type (
	orderEventWord    string
	sandboxResultWord string
	sandboxScriptWord string
	sandboxActWord    string
)

// Schema lists the event strings of every method.
func (orderEventWord) Schema(huma.Registry) *huma.Schema {
	var words []string
	seen := map[string]bool{}
	for _, course := range orders.Courses {
		for _, s := range orders.Statuses {
			if full := s.Full(course.Method()); course.Includes(s) && !seen[full] {
				seen[full] = true
				words = append(words, full)
			}
		}
	}
	return api.Enum(words)
}

func (sandboxResultWord) Schema(huma.Registry) *huma.Schema { return api.Enum(results.Types) }
func (sandboxActWord) Schema(huma.Registry) *huma.Schema    { return api.Enum(sandboxlab.Acts) }

func (sandboxScriptWord) Schema(huma.Registry) *huma.Schema {
	var words []string
	for _, s := range sandboxlab.Scripts {
		words = append(words, string(s.Name))
	}
	return api.Enum(words)
}
