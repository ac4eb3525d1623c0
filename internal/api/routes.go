package api

import (
	"context"
	"net/http"
	"reflect"
	"runtime"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"
)

// routes is everything the door serves, one table per resource.
func (a *API) routes() []route {
	var all []route
	for _, table := range [][]route{
		a.userRoutes(),
		a.demographicsRoutes(),
		a.insuranceRoutes(),
		a.payorRoutes(),
		a.diagnosisRoutes(),
		a.messageRoutes(),
		a.portalLinkRoutes(),
		a.tokenRoutes(),
		a.manualRoutes(),
		a.connectionRoutes(),
		a.connectRoutes(),
		a.demoRoutes(),
		a.importRoutes(),
		a.partialRoutes(),
		a.deviceRoutes(),
		a.metricRoutes(),
		a.providerRoutes(),
		a.timeseriesRoutes(),
		a.plainSeriesRoutes(),
		a.noteRoutes(),
		a.mergedRoutes(),
		a.offsetRoutes(),
		a.priorityRoutes(),
		a.introspectRoutes(),
		a.summaryRoutes(),
		a.aggregateRoutes(),
		a.rawRoutes(),
		a.renormaliseRoutes(),
		a.labRoutes(),
		a.labTestRoutes(),
		a.labAccountRoutes(),
		a.compendiumRoutes(),
		a.placeRoutes(),
		a.orderRoutes(),
		a.appointmentRoutes(),
		a.documentRoutes(),
		a.resultRoutes(),
		a.unmatchedRoutes(),
		a.sandboxRoutes(),
		a.webhookRoutes(),
		a.webhookLogRoutes(),
		a.eventRoutes(),
		a.jobRoutes(),
	} {
		all = append(all, table...)
	}
	return all
}

// handler is one operation. ctx already carries the caller's team, which
// scopes every transaction opened with it.
type handler[I, O any] func(ctx context.Context, c Caller, in *I) (*O, error)

// streamHandler is an operation whose body does not fit in memory. It writes
// its own answer, or returns an error before writing anything.
type streamHandler func(ctx context.Context, c Caller, w http.ResponseWriter, r *http.Request) error

// route is one line of a table. Make it with get, post, amend (PATCH), put, del or
// stream, and refine it with the methods below.
type route struct {
	op       huma.Operation
	create   bool // honours Idempotency-Key
	withheld bool // 422 answers do not repeat the input
	rawBody  bool // the handler parses the body itself
	repeats  bool // carried out twice it changes nothing
	ownData  bool // a signed-in phone may call it for its user
	anybody  bool // needs no key
	add      func(a *API, r chi.Router, op huma.Operation)
}

func get[I, O any](path string, h handler[I, O], sentence string) route {
	return newRoute(http.MethodGet, path, h, sentence)
}

func post[I, O any](path string, h handler[I, O], sentence string) route {
	return newRoute(http.MethodPost, path, h, sentence)
}

func amend[I, O any](path string, h handler[I, O], sentence string) route {
	return newRoute(http.MethodPatch, path, h, sentence)
}

func put[I, O any](path string, h handler[I, O], sentence string) route {
	return newRoute(http.MethodPut, path, h, sentence)
}

func del[I, O any](path string, h handler[I, O], sentence string) route {
	return newRoute(http.MethodDelete, path, h, sentence)
}

// stream registers a handler that reads its body as it comes. describe fills
// in what OpenAPI should say of it.
func stream(method, path string, h streamHandler, sentence string, describe func(op *huma.Operation)) route {
	rt := route{op: operation(method, path, sentence, h)}
	rt.add = func(a *API, r chi.Router, op huma.Operation) {
		describe(&op)
		a.huma.OpenAPI().AddOperation(&op)
		r.Method(method, path, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			ctx := req.Context()
			if err := h(ctx, CallerOf(ctx), w, req); err != nil {
				writeError(w, a.refusal(ctx, err))
			}
		}))
	}
	return rt
}

func newRoute[I, O any](method, path string, h handler[I, O], sentence string) route {
	rt := route{op: operation(method, path, sentence, h)}
	rt.add = func(a *API, _ chi.Router, op huma.Operation) {
		huma.Register(a.huma, op, func(ctx context.Context, in *I) (*O, error) {
			out, err := h(ctx, CallerOf(ctx), in)
			if err != nil {
				return nil, a.refusal(ctx, err)
			}
			return out, nil
		})
	}
	return rt
}

// operation names the operation after its handler function.
func operation(method, path, sentence string, h any) huma.Operation {
	name := runtime.FuncForPC(reflect.ValueOf(h).Pointer()).Name()
	name = strings.TrimSuffix(name[strings.LastIndexByte(name, '.')+1:], "-fm")
	return huma.Operation{
		OperationID: name, Method: method, Path: path, Summary: sentence,
		Tags:     []string{tagOf(path)},
		Security: []map[string][]string{{"apiKey": {}}, {"bearer": {}}},
	}
}

// tagOf groups operations by the first word of their path that is no version.
func tagOf(path string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) > 1 && parts[1] == "user" && strings.HasSuffix(path, "/imports"):
		return "imports"
	case len(parts) > 1:
		return parts[1]
	}
	return parts[0]
}

// creates makes the operation honour Idempotency-Key.
func (rt route) creates() route { rt.create = true; return rt }

// sensitive keeps personal input out of 422 answers.
func (rt route) sensitive() route { rt.withheld = true; return rt }

// raw leaves parsing the body to the handler, and allows it MaxPush bytes.
func (rt route) raw() route { rt.rawBody = true; return rt }

// deprecated marks the operation in OpenAPI.
func (rt route) deprecated() route { rt.op.Deprecated = true; return rt }

// tag puts the operation under another heading of the docs.
func (rt route) tag(name string) route { rt.op.Tags = []string{name}; return rt }

// status sets the status of success; 200 otherwise.
func (rt route) status(code int) route { rt.op.DefaultStatus = code; return rt }

// describe lets a table refine what OpenAPI says.
func (rt route) describe(fn func(op *huma.Operation)) route { fn(&rt.op); return rt }

func (rt route) register(a *API, r chi.Router) {
	op := rt.op
	op.MaxBodyBytes = a.MaxBody
	op.BodyReadTimeout = -1 // see patient
	if rt.rawBody {
		op.MaxBodyBytes, op.SkipValidateBody = a.MaxPush, true
	}
	if op.DefaultStatus == 0 {
		op.DefaultStatus = http.StatusOK
	}
	op.Metadata = map[string]any{}
	if rt.withheld {
		op.Metadata[metaWithheld] = true
	}
	op.Metadata[metaRepeatable] = rt.repeats
	op.Middlewares = append(op.Middlewares, a.anyContentType)
	if rt.create {
		op.Middlewares = append(op.Middlewares, a.idempotent)
		op.Parameters = append(op.Parameters, idempotencyParameters()...)
	}
	a.own[op.Method+" "+op.Path], a.anybody[op.Method+" "+op.Path] = rt.ownData, rt.anybody
	documentErrors(&op)
	rt.add(a, r, op)
}
