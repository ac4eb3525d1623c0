package labs

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"hale/internal/api"
	"hale/internal/labs/orders"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// A dry run of an order reports all problems at once: missing fields, fields that
// cannot be parsed, and violations of the domain's rules. So a body that violates its
// schema is checked further, unlike the body of an actual order.

// createdOrderBody is the answer of a creation: the order, or the result of a dry run.
type createdOrderBody struct {
	order *postOrderBody
	trial *orderTrialBody
}

// orderTrialBody is the result of a dry run.
type orderTrialBody struct {
	Valid    bool           `json:"valid"`
	Problems []orderProblem `json:"problems"`
	Warnings []orderWarning `json:"warnings" doc:"Problems that do not block the order."`
}

type orderWarning struct {
	Code string   `json:"code" doc:"Code for programs: icd_excludes1, icd_excludes2, consents_missing, patient_differs_from_user, zip_state. The list may grow."`
	Loc  []string `json:"loc"`
	Msg  string   `json:"msg"`
}

func orderWarningsOf(found []*fault.Error) (all []orderWarning) {
	for _, w := range found {
		all = append(all, orderWarning{w.Code(), w.Loc(), w.Message()})
	}
	return all
}

type orderProblem struct {
	Status int      `json:"status" doc:"The status of the answer if this were the first problem."`
	Code   string   `json:"code" doc:"Code for programs."`
	Loc    []string `json:"loc"`
	Msg    string   `json:"msg"`
}

// MarshalJSON returns the one that is set.
func (b createdOrderBody) MarshalJSON() ([]byte, error) {
	if b.trial != nil {
		return json.Marshal(b.trial)
	}
	return json.Marshal(b.order)
}

// Version returns the order, or nil for a dry run.
func (b createdOrderBody) Version() any {
	if b.order == nil {
		return nil
	}
	return b.order.Version()
}

// Schema declares both.
func (createdOrderBody) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{
		r.Schema(reflect.TypeFor[postOrderBody](), true, ""), r.Schema(reflect.TypeFor[orderTrialBody](), true, ""),
	}}
}

// readForTrial passes bodies that violate the schema to the dry run.
func (h *Handlers) readForTrial(op *huma.Operation) {
	op.Middlewares = append(op.Middlewares, h.tryForm)
}

// tryForm answers a dry run whose body violates the schema. It passes all other
// requests to next.
func (h *Handlers) tryForm(ctx huma.Context, next func(huma.Context)) {
	if !api.IsDryRun(ctx) {
		next(ctx)
		return
	}
	r, w := humachi.Unwrap(ctx)
	op := ctx.Operation()
	text, err := io.ReadAll(io.LimitReader(r.Body, op.MaxBodyBytes+1))
	if err != nil {
		api.WriteDetail(w, http.StatusBadRequest, "The request body could not be read")
		return
	}
	unread := h.CheckBody(op, text)
	if len(unread) == 0 {
		again := r.WithContext(ctx.Context())
		again.Body = io.NopCloser(bytes.NewReader(text))
		next(humachi.NewContext(op, again, w))
		return
	}
	var body createOrderBody
	_ = json.Unmarshal(text, &body) // schema violations cover fields that do not parse
	request, more := body.request()
	trial, err := h.tryOrder(r.Context(), api.CallerOf(r.Context()), request, append(unread, problemsElsewhere(unread, faultsOf(more))...))
	if err != nil {
		h.WriteError(r.Context(), w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = huma.DefaultJSONFormat.Marshal(w, trial.Body) // the caller may have disconnected
}

// tryOrder answers a dry run. unread lists the fields that could not be parsed; it
// reports no other problems at those places.
func (h *Handlers) tryOrder(ctx context.Context, c api.Caller, r orders.Request, unread fault.List) (*api.Out[createdOrderBody], error) {
	var found orders.DryRunResult
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		found, err = orders.DryRun(ctx, tx, c.Team, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	trial := &orderTrialBody{Problems: []orderProblem{}, Warnings: []orderWarning{}}
	for _, p := range append(unread, problemsElsewhere(unread, found.Problems)...) {
		trial.Problems = append(trial.Problems, orderProblem{p.Kind().Status(), p.Code(), p.Loc(), p.Message()})
	}
	trial.Warnings = append(trial.Warnings, orderWarningsOf(found.Warnings)...)
	trial.Valid = len(trial.Problems) == 0
	return api.Answer(createdOrderBody{trial: trial}), nil
}

// problemsElsewhere returns the problems of more at places without a problem in problems.
func problemsElsewhere(problems, more []*fault.Error) []*fault.Error {
	return slices.DeleteFunc(slices.Clone(more), func(m *fault.Error) bool {
		return slices.ContainsFunc(problems, func(p *fault.Error) bool { return isWithin(m.Loc(), p.Loc()) })
	})
}

// isWithin reports whether a place equals another place or is inside it.
func isWithin(place, other []string) bool {
	return len(place) >= len(other) && slices.Equal(place[:len(other)], other)
}

// faultsOf returns the faults of an error that is a list of faults or one fault.
func faultsOf(err error) fault.List {
	switch e := err.(type) { //nolint:errorlint // fault.Join returns these types
	case fault.List:
		return e
	case *fault.Error:
		return fault.List{e}
	}
	return nil
}
