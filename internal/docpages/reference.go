package docpages

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"

	"hale/internal/platform/fault"
)

// operationGroup is a task of the reference and the operations for it.
type operationGroup struct {
	ID, Title  string
	Guides     []*Guide
	Operations []*operation
}

// operationGroups lists the tasks in the order of use. An operation belongs to the group
// with the longest path that begins its own path. A path may end in * for any rest, and
// may name a method.
var operationGroups = []struct{ id, title, guides, paths string }{
	{"users", "Users and demographics", "users", "/v2/user /v2/team/users /v2/user/{user_id}/info"},
	{"sign-in", "Portal links and sign-in of phones", "users pushing-data", "/v2/user/{user_id}/create_portal_url /v2/user/{user_id}/portal_access /v2/user/{user_id}/sign_in_token /v2/link/exchange /v2/link/refresh /v2/link/sign_out"},
	{"connections", "Connections, providers and devices", "users", "/v2/link /v2/providers /v2/user/providers /v2/user/refresh /v2/user/{user_id}/device /v2/user/{user_id}/{provider} /v2/introspect"},
	{"push", "Push wearable data", "pushing-data", "POST/v2/timeseries POST/v2/summary /v2/user/{user_id}/entries"},
	{"import", "Import files", "importing", "/v2/user/{user_id}/imports /v2/user/{user_id}/uploads"},
	{"summaries", "Read summaries", "reading-data resources", "/v2/summary"},
	{"timeseries", "Read time series", "reading-data resources", "/v2/timeseries"},
	{"query", "Query wearable data", "aggregation", "/aggregate /v1/org/{org_id}/team/{team_id}/{environment}/continuous_query /v1/org/{org_id}/team/{team_id}/{environment}/validate_continuous_query"},
	{"export", "Export, delete and reprocess data", "exporting-data deleting-data", "/v2/user/{user_id}/data /v2/team/renormalise /v2/team/source"},
	{"catalogue", "Laboratories, lab tests and markers", "lab-catalogue", "/v3/lab_test /v3/lab_tests /v3/compendium"},
	{"insurance", "Insurance and diagnoses", "insurance", "/v3/insurance /v3/payor /v2/user/{user_id}/insurance"},
	{"orders", "Order lab tests", "ordering order-states", "/v3/order /v3/orders /v3/order_transaction /v3/requisition_form /v2/team/{team_id}/physicians /v2/team/practice"},
	{"documents", "Documents of an order", "ordering", "/v3/order/{order_id}/requisition /v3/order/{order_id}/labels /v3/order/{order_id}/abn_pdf /v3/order/{order_id}/collection_instruction_pdf /v3/requisition_form /v3/order/{order_id}/fhir"},
	{"appointments", "Appointments and service centers", "appointments places", "/v3/order/phlebotomy /v3/order/psc /v3/order/area /v3/order/{order_id}/phlebotomy /v3/order/{order_id}/psc"},
	{"kits", "Kits, visits and fulfilment partners", "fulfilment", "/v3/order/testkit /v3/fulfilment /v3/order/{order_id}/fulfilment /v3/order/{order_id}/draw_completed"},
	{"results", "Lab results", "results unmatched-results", "/v3/order/{order_id}/result /v3/order_transaction/{transaction_id}/result /v3/critical_result /v3/unmatched_result /v2/user/{user_id}/lab_results"},
	{"reports", "Lab reports", "reports", "/lab_report"},
	{"sandbox", "Sandbox laboratory", "sandbox-lab", "/v3/sandbox /v3/unmatched_result_test /v3/order/{order_id}/test"},
	{"webhooks", "Events and webhooks", "events webhooks", "/v2/webhooks /v2/events /v3/order/resend_events"},
	{"org-webhooks", "Webhooks at the paths of an organization", "webhooks", "/v1/org/{org_id}/team/{team_id}/{environment}/webhook"},
	{"team", "Team, messages, jobs and audit", "messages audit api-keys", "/v2/team /v2/audit /v2/jobs"},
}

// operation is one operation as the pages show it.
type operation struct {
	ID, Method, Path string
	Title, Text      string
	Deprecated       bool
	Scope            string
	Personal         bool
	Open             bool
	Group            *operationGroup
	Parameters       []field
	BodyType         string   // JSON if the operation reads it
	BodyTypes        []string // the others
	Body             []field
	BodyRequired     bool
	Answers          []answer
	Refusals         []errorCode // codes of single refusals that it may answer
	Errors           []failure
	Events           []string // types that it may cause
	Example          *exchange
}

// Address returns the path of the operation's page.
func (o *operation) Address() string { return operationsPath + o.ID }

// answer is an answer of success, or one that the record has not changed.
type answer struct {
	Status, Meaning string
	Types           []string
	List            bool
	Fields, Headers []field
}

// failure is an answer of refusal. Remedy is for one without a code.
type failure struct {
	Status, Meaning, Remedy string
	Codes                   []errorCode
}

// remediesOfPages holds the remedies of refusals that are pages for patients, without a
// code, by status.
var remediesOfPages = map[string]string{"410": "give the patient the link of another order"}

// field is a parameter, or a field of a body with its own fields.
type field struct {
	Name, Type, Place, Text string
	Limits                  string
	Required                bool
	Fields                  []field
}

// reference is the description of all operations.
type reference struct {
	Title, Version, Header string
	Groups                 []*operationGroup
	byID                   map[string]*operation
}

func newReference(doc *huma.OpenAPI) *reference {
	r := &reference{Title: doc.Info.Title, Version: doc.Info.Version, Header: doc.Components.SecuritySchemes["apiKey"].Name, byID: map[string]*operation{}}
	groups := map[string]*operationGroup{}
	for _, row := range operationGroups {
		g := &operationGroup{ID: row.id, Title: row.title}
		for name := range strings.FieldsSeq(row.guides) {
			if guide, ok := FindGuide(name); ok {
				g.Guides = append(g.Guides, guide)
			}
		}
		groups[row.id] = g
		r.Groups = append(r.Groups, g)
	}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		item := doc.Paths[path]
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op == nil {
				continue
			}
			o := describe(doc, path, op)
			o.Group = groups[groupOf(op.Method, path)]
			o.Group.Operations = append(o.Group.Operations, o)
			r.byID[o.ID] = o
		}
	}
	for _, g := range r.Groups {
		slices.SortStableFunc(g.Operations, func(a, b *operation) int {
			return cmp.Or(cmp.Compare(strings.Count(a.Path, "/"), strings.Count(b.Path, "/")), cmp.Compare(a.Path, b.Path), cmp.Compare(methodOrder[a.Method], methodOrder[b.Method]))
		})
	}
	return r
}

var methodOrder = map[string]int{"POST": 0, "GET": 1, "PUT": 2, "PATCH": 3, "DELETE": 4}

// groupOf returns the id of the group with the longest path that begins an operation's
// path; the last group holds all others.
func groupOf(method, path string) string {
	best, longest := operationGroups[len(operationGroups)-1].id, -1
	for _, row := range operationGroups {
		for pattern := range strings.FieldsSeq(row.paths) {
			at := strings.IndexByte(pattern, '/')
			prefix := pattern[at:]
			fits := path == prefix || strings.HasPrefix(path, prefix+"/")
			if fits && (at == 0 || pattern[:at] == method) && len(pattern) > longest {
				best, longest = row.id, len(pattern)
			}
		}
	}
	return best
}

func describe(doc *huma.OpenAPI, path string, op *huma.Operation) *operation {
	o := &operation{ID: op.OperationID, Method: op.Method, Path: path, Title: op.Summary, Text: op.Description, Deprecated: op.Deprecated, Open: op.Security != nil && len(op.Security) == 0}
	o.Scope = fmt.Sprint(orEmpty(op.Extensions["x-scope"]))
	o.Personal, _ = op.Extensions["x-personal-data"].(bool)
	for _, p := range op.Parameters {
		f := describeField(doc, p.Name, p.Schema, p.Required, nil)
		f.Place = p.In
		if p.Description != "" {
			f.Text = p.Description
		}
		o.Parameters = append(o.Parameters, f)
	}
	slices.SortStableFunc(o.Parameters, func(a, b field) int { return placeOrder[a.Place] - placeOrder[b.Place] })
	if op.RequestBody != nil {
		o.BodyRequired = op.RequestBody.Required
		var kinds []string
		if kinds, o.Body, _ = describeContent(doc, op.RequestBody.Content); len(kinds) > 0 {
			o.BodyType, o.BodyTypes = kinds[0], kinds[1:]
		}
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		response := op.Responses[status]
		if code, err := strconv.Atoi(status); err == nil && code < 400 {
			o.Answers = append(o.Answers, describeAnswer(doc, status, response))
			continue
		}
		codes := codesOf(status)
		o.Errors = append(o.Errors, failure{Status: status, Meaning: response.Description, Codes: codes, Remedy: remediesOfPages[status]})
	}
	o.Events, _ = op.Extensions["x-events"].([]string)
	declared, _ := op.Extensions["x-error-codes"].([]string)
	for _, c := range errorCodes() {
		if slices.Contains(declared, c.Code) {
			o.Refusals = append(o.Refusals, c)
		}
	}
	slices.SortStableFunc(o.Refusals, func(a, b errorCode) int { return cmp.Compare(a.Status, b.Status) })
	o.Example = exampleOf(op.Method + " " + path)
	return o
}

var placeOrder = map[string]int{"path": 0, "query": 1, "header": 2}

func orEmpty(value any) any {
	if value == nil {
		return ""
	}
	return value
}

func describeAnswer(doc *huma.OpenAPI, status string, response *huma.Response) answer {
	a := answer{Status: status, Meaning: response.Description}
	a.Types, a.Fields, a.List = describeContent(doc, response.Content)
	for _, name := range slices.Sorted(maps.Keys(response.Headers)) {
		f := describeField(doc, name, response.Headers[name].Schema, false, nil)
		f.Text = response.Headers[name].Description
		a.Headers = append(a.Headers, f)
	}
	return a
}

const jsonType = "application/json"

// describeContent returns the content types of a body, JSON first, and the fields of the
// first type that has any. list reports whether they are the fields of a list's items.
func describeContent(doc *huma.OpenAPI, content map[string]*huma.MediaType) (kinds []string, fields []field, list bool) {
	kinds = slices.Sorted(maps.Keys(content))
	slices.SortStableFunc(kinds, func(a, b string) int {
		switch {
		case a == jsonType:
			return -1
		case b == jsonType:
			return 1
		}
		return 0
	})
	for _, kind := range kinds {
		if media := content[kind]; media != nil && len(fields) == 0 {
			fields, list = fieldsOf(doc, media.Schema, nil)
		}
	}
	return kinds, fields, list
}

// mostDepth limits how deep the fields of a page go. Deeper ones name their type only.
const mostDepth = 8

// fieldsOf returns the fields of an object, of the items of a list, or of the choices.
// above holds the types around it, which may refer to themselves.
func fieldsOf(doc *huma.OpenAPI, s *huma.Schema, above []string) (fields []field, list bool) {
	if s == nil || len(above) > mostDepth {
		return nil, false
	}
	if s.Ref != "" {
		if slices.Contains(above, s.Ref) {
			return nil, false
		}
		return fieldsOf(doc, doc.Components.Schemas.SchemaFromRef(s.Ref), append(slices.Clip(above), s.Ref))
	}
	above = append(slices.Clip(above), "")
	if s.Items != nil {
		fields, _ = fieldsOf(doc, s.Items, above)
		return fields, true
	}
	choices := slices.Concat(s.AnyOf, s.OneOf)
	withFields := 0
	for _, choice := range choices {
		if inner, _ := fieldsOf(doc, choice, above); len(inner) > 0 {
			withFields++
			fields = inner
		}
	}
	if withFields > 1 { // each choice has a row of its own
		fields = nil
		for _, choice := range choices {
			fields = append(fields, describeField(doc, "either", choice, false, above))
		}
		return fields, false
	}
	for _, part := range s.AllOf {
		inner, _ := fieldsOf(doc, part, above)
		fields = append(fields, inner...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		fields = append(fields, describeField(doc, name, s.Properties[name], slices.Contains(s.Required, name), above))
	}
	if values, ok := s.AdditionalProperties.(*huma.Schema); ok {
		fields = append(fields, describeField(doc, "{any name}", values, false, above))
	}
	slices.SortStableFunc(fields, func(a, b field) int {
		switch {
		case a.Required == b.Required:
			return 0
		case a.Required:
			return -1
		}
		return 1
	})
	return fields, false
}

func describeField(doc *huma.OpenAPI, name string, s *huma.Schema, required bool, above []string) field {
	f := field{Name: name, Type: typeName(doc, s), Required: required, Limits: limitsOf(doc, s)}
	if s != nil {
		f.Text = s.Description
		if r := resolve(doc, s); f.Text == "" && r != nil {
			f.Text = r.Description
		}
	}
	f.Fields, _ = fieldsOf(doc, s, above)
	return f
}

func resolve(doc *huma.OpenAPI, s *huma.Schema) *huma.Schema {
	if s != nil && s.Ref != "" {
		return doc.Components.Schemas.SchemaFromRef(s.Ref)
	}
	return s
}

func typeName(doc *huma.OpenAPI, s *huma.Schema) string {
	if s == nil {
		return "any"
	}
	if choices := slices.Concat(s.AnyOf, s.OneOf); len(choices) > 0 {
		var names []string
		for _, one := range choices {
			if name := typeName(doc, one); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		return strings.Join(names, " or ")
	}
	if s.Ref != "" {
		if r := resolve(doc, s); r != nil && r.Type != "" && r.Type != huma.TypeObject {
			return typeName(doc, r)
		}
		return "object"
	}
	name := s.Type
	switch {
	case s.Items != nil:
		name = "list of " + pluralOf(typeName(doc, s.Items))
	case s.Format != "" && s.Type == huma.TypeString:
		name = s.Format
	case name == "":
		name = "any"
	}
	if s.Nullable {
		name += " or null"
	}
	return name
}

func pluralOf(name string) string {
	if strings.Contains(name, " ") || strings.HasSuffix(name, "s") || name == "any" {
		return name
	}
	return name + "s"
}

// limitsOf returns what a value must fulfil besides its type.
func limitsOf(doc *huma.OpenAPI, s *huma.Schema) string {
	s = resolve(doc, s)
	if s == nil {
		return ""
	}
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if len(s.Enum) > 0 {
		var words []string
		for _, e := range s.Enum {
			words = append(words, fmt.Sprint(e))
		}
		add("one of: %s", strings.Join(words, ", "))
	}
	for _, r := range []struct {
		format string
		value  *float64
	}{{"at least %v", s.Minimum}, {"more than %v", s.ExclusiveMinimum}, {"at most %v", s.Maximum}, {"less than %v", s.ExclusiveMaximum}} {
		if r.value != nil {
			add(r.format, strconv.FormatFloat(*r.value, 'f', -1, 64))
		}
	}
	for _, r := range []struct {
		format string
		value  *int
	}{{"at least %d characters", s.MinLength}, {"at most %d characters", s.MaxLength}, {"at least %d items", s.MinItems}, {"at most %d items", s.MaxItems}} {
		switch {
		case r.value == nil:
		case *r.value == 1:
			add(strings.TrimSuffix(r.format, "s"), 1)
		default:
			add(r.format, *r.value)
		}
	}
	if s.Pattern != "" {
		add("pattern: %s", s.Pattern)
	}
	if text, err := json.Marshal(s.Default); err == nil && s.Default != nil { // it may be a pointer
		add("default: %s", text)
	}
	if len(all) == 0 && s.Items != nil {
		return limitsOf(doc, s.Items)
	}
	return strings.Join(all, "; ")
}

// errorCode is a row of the tables of codes in docs/errors.md.
type errorCode struct{ Code, Status, Cause, Remedy string }

// errorCodes reads the codes from the guide about errors, so that the guide and the
// reference say the same. A test compares the guide with package fault.
var errorCodes = sync.OnceValue(func() []errorCode {
	guide, ok := FindGuide("errors")
	if !ok {
		return nil
	}
	var all []errorCode
	for n := guide.tree.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() != extast.KindTable {
			continue
		}
		for row := n.FirstChild(); row != nil; row = row.NextSibling() {
			if cells := cellsOf(row, guide.source); len(cells) == 4 && row.Kind() == extast.KindTableRow {
				all = append(all, errorCode{cells[0], cells[1], cells[2], cells[3]})
			}
		}
	}
	return all
})

func cellsOf(row ast.Node, source []byte) (cells []string) {
	for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
		cells = append(cells, strings.TrimSpace(plainText(cell, source)))
	}
	return cells
}

// codesOf returns the codes of a status, without those of single refusals.
func codesOf(status string) (codes []errorCode) {
	for _, c := range errorCodes() {
		if c.Status == status && !fault.IsSpecific(c.Code) {
			codes = append(codes, c)
		}
	}
	return codes
}
