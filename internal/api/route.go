package api

import (
	"context"
	"net/http"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"hale/internal/platform/fault"
	"hale/internal/platform/teams"
)

// Handler is the function of one operation. ctx is limited to the caller's team, and so
// are its transactions.
type Handler[I, O any] func(ctx context.Context, c Caller, in *I) (*O, error)

// StreamHandler is the function of an operation whose body does not fit in memory. It
// writes the answer itself, or returns an error before it writes anything.
type StreamHandler func(ctx context.Context, c Caller, w http.ResponseWriter, r *http.Request) error

// Route is one row of a table of operations. Create it with Get, Post, Patch, Put, Delete
// or Stream, and refine it with the methods below.
type Route struct {
	op       huma.Operation
	create   bool                   // accepts Idempotency-Key
	withheld bool                   // 422 answers do not repeat the input
	rawBody  bool                   // the handler parses the body itself
	repeats  bool                   // has the same effect when it runs again
	strict   bool                   // refuses unknown query parameters
	reads    bool                   // changes nothing, as every GET
	ownData  bool                   // the phone of a user may call it for that user
	open     bool                   // requires no key
	scope    teams.Scope            // of the key; empty for the default of the path
	headers  map[string]*huma.Param // of every answer
	tagged   bool                   // the answer has an ETag
	current  CurrentVersion         // of the record that it changes; nil for no conditions
	events   []string               // types that it may cause
	codes    []string               // of its refusals
	add      func(a *API, r chi.Router, op huma.Operation)
}

func Get[I, O any](path string, h Handler[I, O], sentence string) Route {
	return newRoute(http.MethodGet, path, h, sentence)
}

func Post[I, O any](path string, h Handler[I, O], sentence string) Route {
	return newRoute(http.MethodPost, path, h, sentence)
}

func Patch[I, O any](path string, h Handler[I, O], sentence string) Route {
	return newRoute(http.MethodPatch, path, h, sentence)
}

func Put[I, O any](path string, h Handler[I, O], sentence string) Route {
	return newRoute(http.MethodPut, path, h, sentence)
}

func Delete[I, O any](path string, h Handler[I, O], sentence string) Route {
	return newRoute(http.MethodDelete, path, h, sentence)
}

// Stream returns a route whose handler reads the body as a stream. describe completes
// the OpenAPI description.
func Stream(method, path string, h StreamHandler, sentence string, describe func(op *huma.Operation)) Route {
	rt := Route{op: operation(method, path, sentence, h)}
	rt.add = func(a *API, r chi.Router, op huma.Operation) {
		describe(&op)
		a.huma.OpenAPI().AddOperation(&op)
		r.Method(method, path, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			ctx := req.Context()
			err := checkedQuery(req, &op)
			if err == nil {
				err = h(ctx, CallerOf(ctx), w, req)
			}
			if err != nil {
				writeError(w, a.refusal(ctx, err))
			}
		}))
	}
	return rt
}

func newRoute[I, O any](method, path string, h Handler[I, O], sentence string) Route {
	rt := Route{op: operation(method, path, sentence, h), tagged: hasVersion(reflect.TypeFor[O]())}
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

// operation returns an operation whose id is the name of its handler function. The id is
// part of the contract: code generators name their functions after it. So a renamed
// handler changes docs/openapi.json, and TestTheOpenAPIDocumentIsTheOneInDocs fails.
func operation(method, path, sentence string, h any) huma.Operation {
	name := runtime.FuncForPC(reflect.ValueOf(h).Pointer()).Name()
	name = strings.TrimSuffix(name[strings.LastIndexByte(name, '.')+1:], "-fm")
	return huma.Operation{
		OperationID: name, Method: method, Path: path, Summary: sentence,
		Tags:     []string{tagOf(path)},
		Security: []map[string][]string{{"apiKey": {}}, {"bearer": {}}},
	}
}

// tagOf groups operations by the first segment of the path that is not a version.
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

// Creates makes the operation accept Idempotency-Key. Its handler answers in the
// transaction of its change, or records its progress.
func (rt Route) Creates() Route { rt.create = true; return rt }

// Sensitive omits personal input from 422 answers.
func (rt Route) Sensitive() Route { rt.withheld = true; return rt }

// Announces lists the types of the events that the operation and the work that it begins
// may cause. * stands for any text in a type. An operation without it causes none.
func (rt Route) Announces(types ...string) Route { rt.events = types; return rt }

// Refuses lists the codes of refusals that the operation may answer and that few others
// do. Creates and a method other than GET add the codes that they bring. An operation with
// another reason for 409 lists conflict.
func (rt Route) Refuses(codes ...string) Route {
	for _, code := range codes {
		if _, known := fault.FindCode(code); !known {
			panic("api: package fault has no code " + code)
		}
	}
	rt.codes = slices.Concat(rt.codes, codes)
	return rt
}

// Raw leaves the parsing of the body to the handler and allows MaxPush bytes.
func (rt Route) Raw() Route { rt.rawBody = true; return rt }

// Deprecated marks the operation in OpenAPI.
func (rt Route) Deprecated() Route { rt.op.Deprecated = true; return rt }

// Tag lists the operation under another heading of the docs.
func (rt Route) Tag(name string) Route { rt.op.Tags = []string{name}; return rt }

// Status sets the status of success. The default is 200.
func (rt Route) Status(code int) Route { rt.op.DefaultStatus = code; return rt }

// Describe lets a table complete the OpenAPI description.
func (rt Route) Describe(fn func(op *huma.Operation)) Route { fn(&rt.op); return rt }

// WithHeader sets a header of every answer. An empty value sets none. doc
// describes it in the OpenAPI document.
func (rt Route) WithHeader(name, doc string, value func(ctx context.Context, c Caller) string) Route {
	rt.op.Middlewares = append(rt.op.Middlewares, func(ctx huma.Context, next func(huma.Context)) {
		if text := value(ctx.Context(), CallerOf(ctx.Context())); text != "" {
			ctx.SetHeader(name, text)
		}
		next(ctx)
	})
	rt.headers = map[string]*huma.Param{name: {Description: doc, Schema: &huma.Schema{Type: huma.TypeString}}}
	return rt
}

func (rt Route) register(a *API, r chi.Router) {
	op := rt.op
	op.MaxBodyBytes = a.MaxBody
	op.BodyReadTimeout = -1 // see extendReadDeadline
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
	op.Metadata[metaStrict] = rt.strict
	op.Metadata[metaReads] = rt.isRead()
	a.reads[op.Method+" "+op.Path], a.creates[op.Method+" "+op.Path] = rt.isRead(), rt.create
	op.Middlewares = append(op.Middlewares, a.checkQuery, a.anyContentType)
	if rt.create {
		op.Middlewares = append(op.Middlewares, a.idempotent)
		op.Parameters = append(op.Parameters, idempotencyParameters()...)
	}
	rt.op.DefaultStatus = op.DefaultStatus
	a.audits[op.Method+" "+op.Path] = rt.audits()
	a.ownDataOperations[op.Method+" "+op.Path], a.openOperations[op.Method+" "+op.Path] = rt.ownData, rt.open
	need := rt.need()
	a.needs[op.Method+" "+op.Path] = need
	if !rt.open {
		op.Extensions = map[string]any{"x-scope": need.scope, "x-personal-data": need.personal}
	}
	if rt.events != nil {
		if op.Extensions == nil {
			op.Extensions = map[string]any{}
		}
		op.Extensions["x-events"] = rt.events
	}
	if codes := rt.refusalCodes(); len(codes) > 0 {
		if op.Extensions == nil {
			op.Extensions = map[string]any{}
		}
		op.Extensions[CodesExtension] = codes
	}
	a.currents[op.Method+" "+op.Path], a.tagged[op.Method+" "+op.Path] = rt.current, rt.tagged
	documentErrors(&op)
	rt.documentVersions(&op)
	if rt.headers != nil {
		documentHeaders(&op, rt.headers)
	}
	rt.add(a, r, op)
	rt.removeImpossible(a.OpenAPI().Paths[op.Path])
	documentLists(a.OpenAPI().Paths[op.Path])
}

// OwnData lets the phone of a user call the operation for that user; see ownDataOnly.
// The path contains the user as user_id, or the handler checks the owner of the data.
// All other operations require the team's key.
func (rt Route) OwnData() Route {
	rt.ownData = true
	rt.op.Description += "The phone of a signed-in user may call this operation for that user, with its access token."
	return rt
}

// Open lets every caller use the operation, without a key.
func (rt Route) Open() Route {
	rt.open = true
	rt.op.Security = []map[string][]string{}
	return rt
}

// KnownParameters refuses query parameters that the operation does not have. It is for
// operations that delete: a filter with a spelling mistake would select everything.
func (rt Route) KnownParameters() Route { rt.strict = true; return rt }

// Reads marks an operation whose method is POST and that changes nothing.
func (rt Route) Reads() Route { rt.reads = true; return rt }

func (rt Route) isRead() bool { return rt.reads || rt.op.Method == http.MethodGet }

// Repeatable marks an operation that has the same effect when it runs again.
func (rt Route) Repeatable() Route { rt.repeats = true; return rt }

// Push marks an operation for a batch of measurements: the body is large, and the
// request can be repeated with or without the same Idempotency-Key.
func (rt Route) Push() Route { return rt.Repeatable().Raw().Sensitive().Creates() }
