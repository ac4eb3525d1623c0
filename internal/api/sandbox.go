package api

import (
	"context"
	"time"

	"hale/internal/labs/networks/sandboxlab"
	"hale/internal/labs/orders"
	"hale/internal/platform/store"
)

// The lab of sandbox teams: bringing an order to a status as the reference
// does, and ours to turn its clock.
//
// Reference 1.15.

func (a *API) sandboxRoutes() []route {
	return []route{
		post("/v3/order/{order_id}/test", a.simulateOrder, "Bring an order of a sandbox team to a status"),
		get("/v3/sandbox", a.getSandbox, "The time in your sandbox lab, and what it is going to do"),
		post("/v3/sandbox/advance", a.advanceSandbox, "Turn the clock of your sandbox lab"),
		get("/v3/sandbox/scripts", a.listSandboxScripts, "What can happen to an order of a sandbox team"),
		post("/v3/sandbox/order/{order_id}/run", a.runSandboxScript, "Let an order of a sandbox team fare in a way"),
	}
}

type simulateOrderIn struct {
	OrderPath
	FinalStatus orderEventWord `query:"final_status" doc:"Where the order is to end; completed when absent."`
	Delay       int            `query:"delay" minimum:"0" maximum:"31536000" doc:"Seconds to wait before."`
	Body        *objectOrNull[simulationIn]
}

// simulationIn is the contract's SimulationFlags.
type simulationIn struct {
	Interpretation interpretationWord            `json:"interpretation,omitempty" default:"normal"`
	ResultTypes    listOrNull[sandboxResultWord] `json:"result_types" required:"false" maxItems:"100" doc:"The types of the results, in turn; numeric, comment and range when absent."`
	HasMissing     *bool                         `json:"has_missing_results" required:"false" doc:"Leave a result out as one that could not be measured."`
}

// simulated bounds how long an answer waits for what it says to be seen. What
// takes longer happens all the same.
const simulated = 3 * time.Second

func (a *API) simulateOrder(ctx context.Context, c Caller, in *simulateOrderIn) (*out[string], error) {
	s := sandboxlab.Simulation{
		Final: string(in.FinalStatus), Delay: time.Duration(in.Delay) * time.Second,
		Outcome: sandboxlab.Outcome{Types: []string{"numeric", "comment", "range"}},
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
	err := a.db.Write(ctx, func(tx *store.Tx) (err error) {
		end, err = a.Sandbox.Simulate(ctx, tx, c.Team, in.OrderID, s)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = a.until(ctx, simulated, func(tx *store.Tx) (bool, error) {
		o, err := orders.Get(ctx, tx, c.Team, in.OrderID)
		return o.Status == end || o.Status.Terminal() && end != orders.Corrected, err
	})
	if err != nil {
		return nil, err
	}
	return answer("Success"), nil
}

// until looks again and again whether something is so, and gives up without an
// error after a while.
func (a *API) until(ctx context.Context, longest time.Duration, so func(tx *store.Tx) (bool, error)) error {
	end := time.NewTimer(longest)
	defer end.Stop()
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		var is bool
		err := a.db.Read(ctx, func(tx *store.Tx) (err error) {
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

// sandboxBody is a sandbox lab at a moment.
type sandboxBody struct {
	Now     Time              `json:"now" doc:"By the lab's clock."`
	Waiting int               `json:"waiting" doc:"How much of what is due is not done yet."`
	Plans   []sandboxPlanBody `json:"plans" doc:"What comes next, soonest first, at most 100."`
}

type sandboxPlanBody struct {
	OrderID orders.ID `json:"order_id" format:"uuid"`
	Due     Time      `json:"due_at" doc:"By the lab's clock."`
	Act     string    `json:"act" enum:"accept,scan,visit,draw,reject,report"`
	Status  *string   `json:"status" doc:"What the order comes to by it."`
}

func (a *API) sandbox(ctx context.Context, tx *store.Tx, c Caller) (sandboxBody, error) {
	body := sandboxBody{Plans: []sandboxPlanBody{}}
	if err := sandboxlab.Check(ctx, tx, c.Team); err != nil {
		return body, err
	}
	now, err := sandboxlab.Now(ctx, tx, c.Team)
	if err != nil {
		return body, err
	}
	body.Now = Time(now)
	if body.Waiting, err = sandboxlab.Due(ctx, tx, c.Team); err != nil {
		return body, err
	}
	plans, err := sandboxlab.Plans(ctx, tx, c.Team, nil, 100)
	for _, p := range plans {
		body.Plans = append(body.Plans, sandboxPlanBody{p.Order, Time(p.Due), string(p.Step.Act), orNone(string(p.Step.Status))})
	}
	return body, err
}

func (a *API) getSandbox(ctx context.Context, c Caller, _ *struct{}) (*out[sandboxBody], error) {
	var body sandboxBody
	err := a.db.Read(ctx, func(tx *store.Tx) (err error) {
		body, err = a.sandbox(ctx, tx, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(body), nil
}

type advanceSandboxIn struct {
	Body struct {
		Seconds int64 `json:"seconds" minimum:"0" maximum:"315360000" doc:"How far to turn it; 0 does what is due already."`
	}
}

// advanced bounds how long an answer waits for what is due to be done.
const advanced = 20 * time.Second

func (a *API) advanceSandbox(ctx context.Context, c Caller, in *advanceSandboxIn) (*out[sandboxBody], error) {
	err := a.db.Write(ctx, func(tx *store.Tx) error {
		if err := sandboxlab.Check(ctx, tx, c.Team); err != nil {
			return err
		}
		_, err := a.Sandbox.Advance(ctx, tx, c.Team, time.Duration(in.Body.Seconds)*time.Second)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = a.until(ctx, advanced, func(tx *store.Tx) (bool, error) {
		n, err := sandboxlab.Due(ctx, tx, c.Team)
		return n == 0, err
	})
	if err != nil {
		return nil, err
	}
	return a.getSandbox(ctx, c, nil)
}
