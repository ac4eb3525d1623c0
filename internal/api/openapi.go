package api

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/platform/fault"
)

const SchemaPrefix = "#/components/schemas/"

// EventTypeSchema is the name of the schema that lists the event types.
const EventTypeSchema = "EventType"

// config uses huma only to decode, validate and describe. It does not add links from
// answers to schemas, a docs page from another host, or huma's error model. It does not
// refuse unknown fields.
func (a *API) config() huma.Config {
	registry := huma.NewMapRegistry(SchemaPrefix, huma.DefaultSchemaNamer)
	registerPatchAliases(registry)
	cfg := huma.DefaultConfig("Hale", a.Version)
	cfg.Components.Schemas = registry
	cfg.AllowAdditionalPropertiesByDefault = true
	cfg.CreateHooks = nil
	cfg.OpenAPIPath, cfg.DocsPath, cfg.SchemasPath = "", "", ""
	cfg.Info.Description = "Health data and lab ordering, on your own machines. Guides: /docs/guides. A method that a path does not have is answered 405, with the methods in the header Allow."
	cfg.Info.License = &huma.License{Name: "Apache License 2.0", Identifier: "Apache-2.0"}
	cfg.Transformers = []huma.Transformer{addTag}
	cfg.Servers = []*huma.Server{{URL: a.BaseURL}}
	cfg.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"apiKey": {Type: "apiKey", In: "header", Name: a.KeyHeaders[0], Description: "A team's API key, sk_… or pk_…."},
		"bearer": {Type: "http", Scheme: "bearer", Description: "The same key as a bearer token."},
	}
	json := huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: UnmarshalJSON}
	cfg.Formats = map[string]huma.Format{"application/json": json, "json": json}
	return cfg
}

// UnmarshalJSON parses a body: first for the schema, then into the type of a handler.
func UnmarshalJSON(data []byte, v any) error {
	if err := checkJSON(data); err != nil {
		return err
	}
	if _, forSchema := v.(*any); !forSchema {
		return decode(data, v)
	}
	if err := json.Unmarshal(data, v); err != nil {
		return err
	}
	return checkMembers(data)
}

// refusals are the error responses of every operation. All operations share the values,
// because each description stays in memory.
var refusals = map[string]*huma.Response{
	"400": JSONResponse("Refused: well formed, but not allowed now.", "ErrorBody"),
	"401": JSONResponse("The request has no valid API key.", "ErrorBody"),
	"403": JSONResponse("The API key has no right for this operation, or a phone asks for data of another user.", "ErrorBody"),
	"404": JSONResponse("The id is unknown, or belongs to another team.", "ErrorBody"),
	"409": JSONResponse("Conflict with another record or request.", "ErrorBody"),
	"413": JSONResponse("The body is too large.", "ErrorBody"),
	"415": JSONResponse("The body has an unknown Content-Encoding: send it plain, or with gzip or deflate.", "ErrorBody"),
	"422": unprocessableResponse("Bad input: a list of problems with place and code. Or a text, if the current state does not allow the request."),
	"429": JSONResponse("Too many requests; see Retry-After.", "ErrorBody"),
	"500": JSONResponse("Internal error; find it in the log by the answer's X-Request-Id.", "ErrorBody"),
	"503": JSONResponse("Try again later; see Retry-After.", "ErrorBody"),
}

// documentErrors adds the error responses to an operation and keeps those that
// the operation describes itself. huma's default would describe its own error
// model.
func documentErrors(op *huma.Operation) {
	own := op.Responses
	op.Responses = maps.Clone(refusals)
	maps.Copy(op.Responses, own)
}

// CodesExtension is the name of the extension of an operation with the codes of its
// refusals, besides those of the statuses.
const CodesExtension = "x-error-codes"

// refusalCodes returns the codes of single refusals that the operation may answer.
func (rt Route) refusalCodes() []string {
	codes := slices.DeleteFunc(slices.Clone(rt.codes), func(code string) bool { return !fault.IsSpecific(code) })
	if rt.create {
		codes = append(codes, "idempotency_answer_lost", "idempotency_key_reused", "idempotency_key_running")
	}
	if rt.op.Method != http.MethodGet {
		codes = append(codes, "outcome_unknown")
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// mayAnswer reports whether a code of the route has the status.
func (rt Route) mayAnswer(status int) bool {
	return slices.ContainsFunc(slices.Concat(rt.codes, rt.refusalCodes()), func(code string) bool {
		c, _ := fault.FindCode(code)
		return slices.Contains(c.Statuses(), status)
	})
}

// removeImpossible removes the error responses that the operation cannot have. Those of
// bodies need a body, and those of input need input. A conflict needs a code.
func (rt Route) removeImpossible(item *huma.PathItem) {
	for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
		if op == nil || op.Method != rt.op.Method {
			continue
		}
		remove := func(status int) {
			if own := rt.op.Responses[strconv.Itoa(status)]; own == nil && !rt.mayAnswer(status) {
				delete(op.Responses, strconv.Itoa(status))
			}
		}
		remove(http.StatusConflict)
		if op.RequestBody == nil {
			remove(http.StatusRequestEntityTooLarge)
			remove(http.StatusUnsupportedMediaType)
			if len(op.Parameters) == 0 {
				remove(http.StatusUnprocessableEntity)
			}
		}
	}
}

// documentLists states that neither the lists of a query nor their members are empty: see
// plainQuery.
func documentLists(item *huma.PathItem) {
	one := 1
	for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
		if op == nil {
			continue
		}
		for _, p := range op.Parameters {
			if p.In != "query" || p.Schema == nil || p.Schema.Type != huma.TypeArray {
				continue
			}
			if p.Schema.MinItems == nil {
				p.Schema.MinItems = &one
			}
			if item := p.Schema.Items; item != nil && item.Type == huma.TypeString && item.Ref == "" && len(item.Enum) == 0 && item.Format == "" && item.Pattern == "" {
				item.Pattern = `^[^,]*[^\s,][^,]*$` // a comma separates members
			}
		}
	}
}

// documentHeaders adds headers to the answer of an operation.
func documentHeaders(op *huma.Operation, headers map[string]*huma.Param) {
	status := strconv.Itoa(op.DefaultStatus)
	answer := huma.Response{Description: http.StatusText(op.DefaultStatus)}
	if known := op.Responses[status]; known != nil {
		answer = *known
	}
	answer.Headers = maps.Clone(answer.Headers)
	if answer.Headers == nil {
		answer.Headers = map[string]*huma.Param{}
	}
	maps.Copy(answer.Headers, headers)
	op.Responses[status] = &answer
}

func JSONResponse(what, schema string) *huma.Response {
	return &huma.Response{Description: what, Content: map[string]*huma.MediaType{
		"application/json": {Schema: &huma.Schema{Ref: SchemaPrefix + schema}},
	}}
}

func unprocessableResponse(what string) *huma.Response {
	either := &huma.Schema{AnyOf: []*huma.Schema{{Ref: SchemaPrefix + "ProblemsBody"}, {Ref: SchemaPrefix + "ErrorBody"}}}
	return &huma.Response{Description: what, Content: map[string]*huma.MediaType{"application/json": {Schema: either}}}
}

// serveOpenAPI serves the description as JSON and YAML.
func (a *API) serveOpenAPI() {
	schemas := a.OpenAPI().Components.Schemas
	schemas.Schema(reflect.TypeFor[errorBody](), true, "")
	schemas.Schema(reflect.TypeFor[problemsBody](), true, "")
	document := sync.OnceValues(func() (*huma.OpenAPI, error) { return withUsedSchemas(a.OpenAPI()) })
	asJSON := sync.OnceValues(func() ([]byte, error) {
		doc, err := document()
		if err != nil {
			return nil, err
		}
		return json.MarshalIndent(doc, "", "  ")
	})
	asYAML := sync.OnceValues(func() ([]byte, error) {
		doc, err := document()
		if err != nil {
			return nil, err
		}
		return doc.YAML()
	})
	a.router.Get("/openapi.json", a.serveBytes("application/json", asJSON))
	a.router.Get("/openapi.yaml", a.serveBytes("application/yaml", asYAML))
}

// usedSchemas is a registry that describes a part of its schemas only.
type usedSchemas struct {
	huma.Registry
	used map[string]*huma.Schema
}

func (s usedSchemas) MarshalJSON() ([]byte, error) { return json.Marshal(s.used) }

var schemaRef = regexp.MustCompile(`"\$ref":"` + SchemaPrefix + `([^"]+)"`)

// withUsedSchemas returns the document without the schemas that only the service uses,
// such as those of a body that it reads in two steps.
func withUsedSchemas(doc *huma.OpenAPI) (*huma.OpenAPI, error) {
	copied, components := *doc, *doc.Components
	all := doc.Components.Schemas
	components.Schemas = usedSchemas{Registry: all}
	copied.Components = &components
	paths, bodies, err := withOptionalNull(withStatedDates(doc.Paths), all.Map())
	if err != nil {
		return nil, err
	}
	copied.Paths = paths
	if all.Map()[EventTypeSchema] != nil {
		stateEventTypes(copied.Paths)
	}
	text, err := json.Marshal(&copied)
	used := map[string]*huma.Schema{}
	for next := [][]byte{text}; len(next) > 0 && err == nil; next = next[1:] {
		for _, ref := range schemaRef.FindAllSubmatch(next[0], -1) {
			name := string(ref[1])
			if used[name] != nil || all.Map()[name] == nil {
				continue
			}
			used[name] = cmp.Or(bodies[name], all.Map()[name])
			if text, err = json.Marshal(used[name]); err != nil {
				break
			}
			next = append(next, text)
		}
	}
	components.Schemas = usedSchemas{Registry: all, used: used}
	return &copied, err
}

// dateParameters are read by ParseSpan. It accepts more than JSON Schema can state in one
// format, and has its own message, so only the document states their formats.
var dateParameters = []string{"start_date", "end_date", "updated_start_date", "updated_end_date", "collection_date", "start", "end", "created_at_start", "created_at_end"}

// withStatedDates returns the paths with the formats of date parameters.
func withStatedDates(paths map[string]*huma.PathItem) map[string]*huma.PathItem {
	stated := maps.Clone(paths)
	for path, item := range paths {
		copied := *item
		for _, op := range []**huma.Operation{&copied.Get, &copied.Post, &copied.Delete} {
			if *op == nil {
				continue
			}
			changed := **op
			changed.Parameters = slices.Clone(changed.Parameters)
			for i, p := range changed.Parameters {
				if p.In != "query" || p.Schema == nil || p.Schema.Type != huma.TypeString || !slices.Contains(dateParameters, p.Name) {
					continue
				}
				q := *p
				q.Schema = &huma.Schema{Description: p.Schema.Description, AnyOf: []*huma.Schema{
					{Type: huma.TypeString, Format: "date"}, {Type: huma.TypeString, Format: "date-time"},
				}}
				if changed.Method == http.MethodPost { // days of appointments
					q.Schema = &huma.Schema{Description: p.Schema.Description, Type: huma.TypeString, Format: "date"}
				}
				changed.Parameters[i] = &q
			}
			*op = &changed
		}
		stated[path] = &copied
	}
	return stated
}

// stateEventTypes states the words of the parameter types, which is a list of event types
// in one text or several.
func stateEventTypes(paths map[string]*huma.PathItem) {
	item := paths["/v2/events"]
	if item == nil || item.Get == nil {
		return
	}
	for i, p := range item.Get.Parameters {
		if p.Name == "types" {
			q, list := *p, *p.Schema
			list.Items = &huma.Schema{Ref: SchemaPrefix + EventTypeSchema}
			q.Schema = &list
			item.Get.Parameters[i] = &q
		}
	}
}

func (a *API) serveBytes(contentType string, text func() ([]byte, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := text()
		if err != nil {
			writeError(w, a.refusal(r.Context(), err))
			return
		}
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(body)
	}
}
