package apitest

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// place is the position of an id in a request. In a body the name is a path, such as
// order_set.lab_test_ids[].
type place struct{ in, name string }

func (p place) String() string { return p.in + " " + p.name }

// leaf returns the name of the field or parameter.
func (p place) leaf() string {
	return strings.TrimRight(p.name[strings.LastIndexByte(p.name, '.')+1:], "[]")
}

// key returns the name of the fixture's value for the place.
func (p place) key() string {
	name := p.leaf()
	if one, several := strings.CutSuffix(name, "_ids"); several {
		name = one + "_id"
	}
	return name
}

// value returns the value for a place: its own, or that of its key.
func (p place) value(values map[string]string) string {
	if value, own := values[p.name]; own {
		return value
	}
	return values[p.key()]
}

// set sets the value at the place in a body, and creates the objects around it.
func (p place) set(object map[string]any, value string) {
	at := object
	steps := strings.Split(p.name, ".")
	for _, step := range steps[:len(steps)-1] {
		name, list := strings.CutSuffix(step, "[]")
		var inner map[string]any
		if list {
			items, _ := at[name].([]any)
			if len(items) == 0 {
				items = []any{map[string]any{}}
			}
			at[name] = items[:1]
			inner, _ = items[0].(map[string]any)
		} else if inner, _ = at[name].(map[string]any); inner == nil {
			inner = map[string]any{}
			at[name] = inner
		}
		at = inner
	}
	name, list := strings.CutSuffix(steps[len(steps)-1], "[]")
	if at[name] = value; list {
		at[name] = []any{value}
	}
}

// minimalRequest returns the minimal valid request of an operation: all required parts, and the
// given optional places. It uses values by name.
func (s *service) minimalRequest(t *testing.T, o operation, values map[string]string, with ...place) request {
	t.Helper()
	r := request{method: o.Method, headers: map[string]string{}}
	path, query := map[string]string{}, url.Values{}
	for _, p := range o.Params {
		value := place{p.In, p.Name}.value(values)
		if value == "" {
			value = fmt.Sprint(s.doc.simplestValue(p.Schema, p.Name, values))
		}
		switch {
		case p.In == "path":
			path[p.Name] = url.PathEscape(value)
		case p.In == "query" && (p.Required || slices.Contains(with, place{"query", p.Name})):
			query.Set(p.Name, value)
		case p.In == "header" && p.Required:
			if value == "plain" { // an idempotency key: each request has its own
				value = fmt.Sprintf("key-%06d", count.Add(1))
			}
			r.headers[strings.ToLower(p.Name)] = value
		}
	}
	r.path = o.fill(path)
	if len(query) > 0 {
		r.path += "?" + query.Encode()
	}
	if r.body = s.minimalBody(t, o, values, with); r.body != nil {
		r.headers["content-type"] = "application/json"
		if o.Body == nil {
			r.headers["content-type"] = withBoundary(o.BodyTypes[0])
		}
	}
	return r
}

func (s *service) minimalBody(t *testing.T, o operation, values map[string]string, with []place) []byte {
	t.Helper()
	text, special := validBodies[o.String()]
	for _, p := range with {
		if other, ok := validBodies[o.String()+" with "+p.name]; ok {
			text = other
		}
	}
	if o.Body == nil {
		if special {
			return []byte(strings.ReplaceAll(text, "$user_id", values["user_id"]))
		}
		return nil
	}
	value := s.doc.simplestValue(o.Body, "body", values)
	if special {
		for name, value := range values { // "$user_id" in a body is replaced by the fixture's value
			text = strings.ReplaceAll(text, `"$`+name+`"`, `"`+value+`"`)
		}
		value = mustDecode(t, text)
	}
	for _, p := range with {
		if name, list := strings.CutPrefix(p.name, "[]."); list && p.in == "body" {
			item, _ := s.doc.simplestValue(s.doc.resolve(o.Body).Items, "body", values).(map[string]any)
			place{p.in, name}.set(item, p.value(values))
			value = []any{item}
		} else if object, ok := value.(map[string]any); ok && p.in == "body" {
			p.set(object, p.value(values))
			delete(object, alternativeFields[p.name])
		}
	}
	whole, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

// formBoundary separates the parts of multipart bodies.
const formBoundary = "form-boundary"

// withBoundary adds the boundary to the content type of a form with files.
func withBoundary(contentType string) string {
	if contentType == "multipart/form-data" {
		return contentType + "; boundary=" + formBoundary
	}
	return contentType
}

// alternativeFields maps a field to the alternative that a body uses.
var alternativeFields = map[string]string{"message_id": "from_seq"}

// validBodies are valid bodies of operations whose rules are stricter than their
// schema. An operation may have another body for a field, under "… with FIELD".
var validBodies = map[string]string{
	"PATCH /v2/user/{user_id}/info":            someInfo,
	"POST /v2/user/{user_id}/insurance":        someInsurance,
	"POST /v3/insurance/search/payor":          `{"insurance_name":"aetna"}`,
	"POST /v3/payor":                           somePayor,
	"POST /v2/user/{user_id}/imports":          someExport,
	"POST /v2/user/{user_id}/data/shifts":      someShift,
	"POST /v2/timeseries/{user_id}/{resource}": somePush,
	"POST /v2/webhooks/{webhook_id}/replay":    `{"from_seq":1}`,
	"POST /v2/user/{user_id}/device":           `{"provider":"apple_health_kit","device_model":"One"}`,
	"PATCH /v2/user/{user_id}":                 `{"fallback_time_zone":"Europe/Berlin"}`,
}

// simplestValue returns the simplest value that a schema allows, or the known value of its
// name.
func (d *document) simplestValue(s *schema, name string, values map[string]string) any {
	s = d.resolve(s)
	if value, ok := values[name]; ok && (s == nil || slices.Contains(s.Type, "string")) {
		return value
	}
	switch {
	case s == nil:
		return nil
	case len(s.Enum) > 0:
		return s.Enum[0]
	case len(s.AllOf) > 0:
		return d.simplestValue(s.AllOf[0], name, values)
	case len(s.AnyOf) > 0:
		return d.simplestValue(s.AnyOf[0], name, values)
	case len(s.OneOf) > 0:
		return d.simplestValue(s.OneOf[0], name, values)
	case len(s.Type) == 0:
		return "x"
	}
	switch s.Type[0] {
	case "object":
		object := map[string]any{}
		for property, of := range s.Properties {
			if slices.Contains(s.Required, property) {
				object[property] = d.simplestValue(of, property, values)
			}
		}
		return object
	case "array":
		if s.MinItems != nil && *s.MinItems > 0 || name == "data" {
			return []any{d.simplestValue(s.Items, name, values)}
		}
		return []any{}
	case "integer", "number":
		if s.Minimum != nil {
			return math.Ceil(*s.Minimum)
		}
		return 1
	case "boolean":
		return true
	}
	return simplestText(s, name)
}

// simplestText returns a text that is valid for a format or a field name.
func simplestText(s *schema, name string) string {
	switch s.Format {
	case "uuid":
		return "3fa85f64-5717-4562-b3fc-2c963f66afa6"
	case "date":
		return "1984-05-17"
	case "date-time":
		return "2026-03-01T12:00:00+00:00"
	case "email":
		return "person@example.com"
	}
	if word, ok := simplestTexts[name]; ok {
		return word
	}
	if s.MaxLength != nil && *s.MaxLength == 2 {
		return "AZ"
	}
	return "plain"
}

var simplestTexts = map[string]string{
	"url": "http://127.0.0.1:9/hook", "email": "person@example.com", "phone_number": "+14155550123",
	"zip": "85004", "zip_code": "85004", "state": "AZ", "country": "US",
	"provider": "apple_health_kit", "resource": "heartrate", "unit": "bpm", "fallback_time_zone": "Europe/Berlin",
	"start_date": "2026-01-01", "end_date": "2026-12-31",
	"consentType": "terms-of-use",
}

// generator draws requests for one operation. Most are valid except for one broken
// part, so that they pass the first checks. known has existing values by parameter
// name, which reach more code. A strict generator draws only what the document allows, in
// everything that it states.
type generator struct {
	*document
	known  map[string]string
	strict bool
}

// request is one drawn request. It prints as a curl command, to which rapid shrinks a
// failure.
type request struct {
	method, path string
	headers      map[string]string
	body         []byte // nil for none
}

func (r request) String() string {
	line := "curl -X " + r.method
	for name, value := range r.headers {
		line += fmt.Sprintf(" -H '%s: %s'", name, value)
	}
	if r.body != nil {
		line += fmt.Sprintf(" -d '%s'", r.body)
	}
	return line + " '" + r.path + "'"
}

func (g generator) request(t *rapid.T, o operation) request {
	r := request{method: o.Method, headers: map[string]string{}}
	path, query := map[string]string{}, url.Values{}
	for _, p := range o.Params {
		switch p.In {
		case "path":
			path[p.Name] = url.PathEscape(g.parameter(t, p))
		case "query":
			if p.Required || rapid.Bool().Draw(t, "has "+p.Name) {
				query.Set(p.Name, g.parameter(t, p))
			}
		case "header": // one in eight is absent
			if g.strict && p.Required {
				r.headers[strings.ToLower(p.Name)] = g.header(t, p)
			} else if p.Required && rapid.IntRange(0, 7).Draw(t, "without "+p.Name) > 0 {
				r.headers[strings.ToLower(p.Name)] = rapid.OneOf(rapid.StringMatching(`[0-9]{1,7}`), rapid.StringMatching(`[!-~]{0,300}`)).Draw(t, p.Name)
			}
		}
	}
	r.path = o.fill(path)
	if len(query) > 0 {
		r.path += "?" + query.Encode()
	}
	switch {
	case o.Body != nil:
		r.body = g.jsonBody(t, o.Body)
		r.headers["content-type"] = "application/json"
	case len(o.BodyTypes) > 0:
		r.body = rapid.SliceOfN(rapid.Byte(), 0, 2000).Draw(t, "body")
		r.headers["content-type"] = withBoundary(o.BodyTypes[0])
	}
	return r
}

// jsonBody returns a body that follows the schema. In one of eight cases the body breaks it.
func (g generator) jsonBody(t *rapid.T, s *schema) []byte {
	if !g.strict && rapid.IntRange(0, 7).Draw(t, "odd body") == 0 {
		return rapid.SampledFrom([][]byte{
			{},
			[]byte("null"), []byte("[]"), []byte("{"), []byte("{}{}"), []byte(`"text"`), []byte("\xff\xfe"),
			[]byte(strings.Repeat("[", 2000)), []byte(`{"\u0000":"\ud800"}`), []byte("-0e99999"),
		}).Draw(t, "body")
	}
	text, err := json.Marshal(g.value(t, s, "body", 0))
	if err != nil {
		t.Fatalf("drew a value that is no JSON: %v", err)
	}
	return text
}

// parameter returns a known value in half of the cases, otherwise one that follows the
// schema.
func (g generator) parameter(t *rapid.T, p parameter) string {
	if p.Name == "wait" { // do not wait for a long poll
		if g.strict {
			return "0"
		}
		return rapid.SampledFrom([]string{"0", "-1", "99", "x"}).Draw(t, p.Name)
	}
	if value, ok := g.known[p.Name]; ok && g.mayUse(p) && (g.strict && p.In == "path" || rapid.Bool().Draw(t, "known "+p.Name)) {
		return value
	}
	value := g.value(t, p.Schema, p.Name, 0)
	if list, ok := value.([]any); ok && g.strict {
		all := make([]string, len(list))
		for i, item := range list {
			all[i] = fmt.Sprint(item)
		}
		return strings.Join(all, ",")
	}
	if text, ok := value.(string); ok {
		if text == "" && p.In == "path" {
			return "-" // an empty segment is another path
		}
		return text
	}
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatalf("drew a value that is no JSON: %v", err)
	}
	return string(text)
}

// value draws a value that follows the schema. In one of twelve cases it draws
// another one: of another type, a huge text, a null.
func (g generator) value(t *rapid.T, s *schema, name string, depth int) any {
	s = g.resolve(s)
	switch {
	case g.strict && s == nil:
		return "x"
	case g.strict && s.Const != nil:
		return s.Const
	case !g.strict && (s == nil || depth > 6 || rapid.IntRange(0, 11).Draw(t, "odd "+name) == 0):
		return oddValue().Draw(t, name)
	}
	if g.strict && isCombined(s) {
		return g.combined(t, s, name, depth)
	}
	if choice := append(slices.Clone(s.AnyOf), s.OneOf...); len(choice) > 0 {
		return g.value(t, rapid.SampledFrom(choice).Draw(t, "choice of "+name), name, depth+1)
	}
	if len(s.AllOf) > 0 {
		return g.value(t, s.AllOf[0], name, depth+1)
	}
	if len(s.Enum) > 0 {
		return rapid.SampledFrom(s.Enum).Draw(t, name)
	}
	if len(s.Type) == 0 {
		return oddValue().Draw(t, name)
	}
	kind := rapid.SampledFrom(s.Type).Draw(t, "type of "+name)
	switch kind {
	case "object":
		return g.object(t, s, depth)
	case "array":
		items := make([]any, g.length(t, s, name))
		for i := range items {
			items[i] = g.value(t, s.Items, name, depth+1)
		}
		return items
	case "boolean":
		return rapid.Bool().Draw(t, name)
	}
	if g.strict {
		return g.strictValue(t, s, kind, name)
	}
	switch kind {
	case "integer":
		return rapid.OneOf(rapid.Int64Range(-2, 1000), rapid.SampledFrom([]int64{math.MaxInt64, math.MinInt64})).Draw(t, name)
	case "number":
		return rapid.OneOf(rapid.Float64Range(-10, 1e6), rapid.SampledFrom([]float64{1e308, -1e308, 5e-324})).Draw(t, name)
	case "string":
		return text(s, name).Draw(t, name)
	}
	return nil
}

func (g generator) object(t *rapid.T, s *schema, depth int) map[string]any {
	object := map[string]any{}
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names) // rapid replays draws in order
	for _, name := range names {
		isRequired := slices.Contains(s.Required, name)
		likely := 1
		if isRequired {
			likely = 15
		}
		if g.strict && isRequired || !(g.strict && depth > 5) && rapid.IntRange(0, likely).Draw(t, "has "+name) > 0 {
			object[name] = g.value(t, s.Properties[name], name, depth+1)
		}
	}
	if s.Names != nil && s.Additional != nil && s.Additional.schema != nil {
		for range g.length(t, &schema{MaxItems: s.MaxNames}, "members") {
			name := g.member(t, s.Names)
			object[name] = g.value(t, s.Additional.schema, "member", depth+1)
		}
	}
	if !g.strict && rapid.IntRange(0, 9).Draw(t, "extra") == 0 {
		object["unheard_of"] = oddValue().Draw(t, "extra")
	}
	return object
}

// member draws the name of a member.
func (g generator) member(t *rapid.T, names *schema) string {
	drawn := rapid.StringMatching(names.Pattern)
	if g.strict {
		drawn = drawn.Filter(func(name string) bool { return g.fits(names, name) })
	}
	return drawn.Draw(t, "name of a member")
}

// text draws texts of a format. URLs stay on this machine, because the service may try
// to reach them.
func text(s *schema, name string) *rapid.Generator[string] {
	switch {
	case strings.Contains(name, "url") || s.Format == "uri":
		return rapid.SampledFrom([]string{"http://127.0.0.1:9/hook", "https://127.0.0.1:9/", "ftp://127.0.0.1", "no address", ""})
	case s.Format == "uuid":
		return rapid.SampledFrom([]string{"3fa85f64-5717-4562-b3fc-2c963f66afa6", "00000000-0000-0000-0000-000000000000", "no-uuid", ""})
	case s.Format == "date":
		return rapid.SampledFrom([]string{"2026-03-01", "1999-12-31", "2026-02-30", "0000-00-00", "9999-12-31", "yesterday"})
	case s.Format == "date-time":
		return rapid.SampledFrom([]string{"2026-03-01T12:00:00+00:00", "2026-03-01T12:00:00Z", "2026-03-01T12:00:00", "2026-13-01T00:00:00Z", "0001-01-01T00:00:00Z", "now"})
	}
	return rapid.OneOf(rapid.StringMatching(`[a-z_]{1,12}`), rapid.String(), rapid.SampledFrom([]string{
		"", " ", "Europe/Berlin", "Mars/Base", "user@example.com", "+4915112345678", "a\u0000b", "ÄÖ\u202e\U0001F600", "' OR 1=1 --", "%00", "../../etc",
	}))
}

// oddValue draws unexpected values.
func oddValue() *rapid.Generator[any] {
	return rapid.SampledFrom([]any{
		nil, true, -1, 1e300, "", strings.Repeat("x", 5000), []any{}, []any{nil}, map[string]any{}, map[string]any{"": map[string]any{}},
	})
}
