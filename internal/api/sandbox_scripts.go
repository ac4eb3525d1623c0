package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/labs/networks/sandboxlab"
	"hale/internal/labs/orders"
	"hale/internal/platform/store"
)

type sandboxScriptBody struct {
	Name     string `json:"name"`
	Story    string `json:"story" doc:"What happens."`
	TestKits bool   `json:"testkits_only"`
}

type sandboxScriptsBody struct {
	Data []sandboxScriptBody `json:"data"`
}

func (a *API) listSandboxScripts(context.Context, Caller, *struct{}) (*out[sandboxScriptsBody], error) {
	var body sandboxScriptsBody
	for _, s := range sandboxlab.Scripts {
		body.Data = append(body.Data, sandboxScriptBody{string(s.Name), s.Story, s.Kits})
	}
	return answer(body), nil
}

type runSandboxScriptIn struct {
	OrderPath
	Body struct {
		Script sandboxScriptWord `json:"script"`
	}
}

// sandboxRunBody is what an order has before it.
type sandboxRunBody struct {
	OrderID orders.ID         `json:"order_id" format:"uuid"`
	Script  string            `json:"script"`
	Plans   []sandboxPlanBody `json:"plans" doc:"What will happen when the clock is turned, soonest first."`
}

func (a *API) runSandboxScript(ctx context.Context, c Caller, in *runSandboxScriptIn) (*out[sandboxRunBody], error) {
	var body sandboxRunBody
	err := a.db.Write(ctx, func(tx *store.Tx) error {
		body = sandboxRunBody{OrderID: in.OrderID, Script: string(in.Body.Script), Plans: []sandboxPlanBody{}}
		if _, err := a.Sandbox.Play(ctx, tx, c.Team, in.OrderID, sandboxlab.Script(in.Body.Script)); err != nil {
			return err
		}
		plans, err := sandboxlab.Plans(ctx, tx, c.Team, &in.OrderID, 100)
		for _, p := range plans {
			body.Plans = append(body.Plans, sandboxPlanBody{p.Order, Time(p.Due), string(p.Step.Act), orNone(string(p.Step.Status))})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(body), nil
}

// Words of the sandbox.
type (
	orderEventWord    string
	sandboxResultWord string
	sandboxScriptWord string
)

// Schema lists the event strings of every method.
func (orderEventWord) Schema(huma.Registry) *huma.Schema {
	var words []string
	seen := map[string]bool{}
	for _, course := range orders.Courses {
		for _, s := range orders.Statuses {
			if full := s.Full(course.Method()); course.Has(s) && !seen[full] {
				seen[full] = true
				words = append(words, full)
			}
		}
	}
	return wordsOf(words)
}

func (sandboxResultWord) Schema(huma.Registry) *huma.Schema {
	return wordsOf([]string{"numeric", "range", "comment", "coded_value"})
}

func (sandboxScriptWord) Schema(huma.Registry) *huma.Schema {
	var words []string
	for _, s := range sandboxlab.Scripts {
		words = append(words, string(s.Name))
	}
	return wordsOf(words)
}
