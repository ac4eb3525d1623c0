package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"hale/internal/labs/orders"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// A dry run of an order says everything at once: what the body lacks, what
// cannot be read of it, and what the rest would be refused for. So a body that
// its schema refuses does not end there, as it does for an order in earnest.

// createdOrderBody is the answer of a creation: the order, or what a dry run
// found.
type createdOrderBody struct {
	order *postOrderBody
	trial *orderTrialBody
}

// orderTrialBody is what a dry run found.
type orderTrialBody struct {
	Valid    bool           `json:"valid"`
	Problems []orderProblem `json:"problems"`
	Warnings []orderWarning `json:"warnings" doc:"What refuses nothing and should be looked at."`
}

type orderWarning struct {
	Code string   `json:"code" doc:"For programs: icd_excludes1, icd_excludes2, consents_missing. The list may grow."`
	Loc  []string `json:"loc"`
	Msg  string   `json:"msg"`
}

type orderProblem struct {
	Status int      `json:"status" doc:"What the request would be answered with if this were the first problem."`
	Code   string   `json:"code" doc:"For programs."`
	Loc    []string `json:"loc"`
	Msg    string   `json:"msg"`
}

// MarshalJSON writes the one that is there.
func (b createdOrderBody) MarshalJSON() ([]byte, error) {
	if b.trial != nil {
		return json.Marshal(b.trial)
	}
	return json.Marshal(b.order)
}

// Schema says either.
func (createdOrderBody) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{
		r.Schema(reflect.TypeFor[postOrderBody](), true, ""), r.Schema(reflect.TypeFor[orderTrialBody](), true, ""),
	}}
}

// readForTrial lets dry runs see bodies that the schema refuses.
func (a *API) readForTrial(op *huma.Operation) { op.Middlewares = append(op.Middlewares, a.tryForm) }

// tryForm answers a dry run whose body the schema refuses. Everything else goes
// the ordinary way.
func (a *API) tryForm(ctx huma.Context, next func(huma.Context)) {
	if !isDryRun(ctx) {
		next(ctx)
		return
	}
	r, w := humachi.Unwrap(ctx)
	op := ctx.Operation()
	text, err := io.ReadAll(io.LimitReader(r.Body, op.MaxBodyBytes+1))
	if err != nil {
		writeDetail(w, http.StatusBadRequest, "The request body could not be read")
		return
	}
	unread := a.formProblems(op, text)
	if len(unread) == 0 {
		again := r.WithContext(ctx.Context())
		again.Body = io.NopCloser(bytes.NewReader(text))
		next(humachi.NewContext(op, again, w))
		return
	}
	var body createOrderBody
	_ = json.Unmarshal(text, &body) // what it cannot read has been found already
	request, more := body.request()
	trial, err := a.tryOrder(r.Context(), CallerOf(r.Context()), request, append(unread, beside(unread, listOf(more))...))
	if err != nil {
		writeError(w, a.refusal(r.Context(), err))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = huma.DefaultJSONFormat.Marshal(w, trial.Body) // a caller who went away needs none
}

// formProblems are what the schema of the operation's body refuses in a text.
// Of a text that is no JSON it finds nothing: the ordinary way says so.
func (a *API) formProblems(op *huma.Operation, text []byte) (found fault.List) {
	var value any
	if unmarshalJSON(text, &value) != nil {
		return nil
	}
	var result huma.ValidateResult
	at := huma.NewPathBuffer([]byte{}, 0)
	at.Push("body")
	schema := op.RequestBody.Content["application/json"].Schema
	huma.Validate(a.OpenAPI().Components.Schemas, schema, at, huma.ModeWriteToServer, value, &result)
	for _, err := range result.Errors {
		if d, ok := err.(*huma.ErrorDetail); ok { //nolint:errorlint // the validator makes no others
			p := schemaProblem(d, true)
			loc := make([]string, len(p.Loc))
			for i, part := range p.Loc {
				loc[i] = fmt.Sprint(part)
			}
			found = append(found, fault.New(fault.Invalid, p.Msg).WithType(p.Type).At(loc...))
		}
	}
	return found
}

// tryOrder answers a dry run. unread is what could not be read of the body;
// nothing more is said of those places.
func (a *API) tryOrder(ctx context.Context, c Caller, r orders.Request, unread fault.List) (*out[createdOrderBody], error) {
	var found orders.Trial
	err := a.db.Read(ctx, func(tx *store.Tx) (err error) {
		found, err = orders.Try(ctx, tx, c.Team, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	trial := &orderTrialBody{Problems: []orderProblem{}, Warnings: []orderWarning{}}
	for _, p := range append(unread, beside(unread, found.Problems)...) {
		trial.Problems = append(trial.Problems, orderProblem{statusOf[p.Kind()], p.Code(), p.Loc(), p.Message()})
	}
	for _, w := range found.Warnings {
		trial.Warnings = append(trial.Warnings, orderWarning{w.Code(), w.Loc(), w.Message()})
	}
	trial.Valid = len(trial.Problems) == 0
	return answer(createdOrderBody{trial: trial}), nil
}

// beside are those of more that are about other places than the problems are.
func beside(problems, more []*fault.Error) []*fault.Error {
	return slices.DeleteFunc(slices.Clone(more), func(m *fault.Error) bool {
		return slices.ContainsFunc(problems, func(p *fault.Error) bool { return within(m.Loc(), p.Loc()) })
	})
}

// within tells that a place is another one or in it.
func within(place, other []string) bool {
	return len(place) >= len(other) && slices.Equal(place[:len(other)], other)
}

// listOf takes an error apart that is a list of faults or one.
func listOf(err error) fault.List {
	switch e := err.(type) { //nolint:errorlint // fault.Join returns them as they are
	case fault.List:
		return e
	case *fault.Error:
		return fault.List{e}
	}
	return nil
}
