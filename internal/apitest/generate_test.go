package apitest

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// generator draws requests for one operation: mostly whole, with something
// broken in them now and then, so that they get past the door before they
// hurt. known holds real values by parameter name, which lead deeper.
type generator struct {
	*document
	known map[string]string
}

// request is one drawn request. It prints as a curl line, which is what rapid
// shrinks a failure to.
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
		case "header": // one in eight is not given
			if p.Required && rapid.IntRange(0, 7).Draw(t, "without "+p.Name) > 0 {
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
		r.headers["content-type"] = o.BodyTypes[0]
	}
	return r
}

// jsonBody is a body by the schema, or one time in eight something else.
func (g generator) jsonBody(t *rapid.T, s *schema) []byte {
	if rapid.IntRange(0, 7).Draw(t, "odd body") == 0 {
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

// parameter is a known value half of the time, or one by its schema.
func (g generator) parameter(t *rapid.T, p parameter) string {
	if p.Name == "wait" { // a long poll's time is not ours to spend
		return rapid.SampledFrom([]string{"0", "-1", "99", "x"}).Draw(t, p.Name)
	}
	if value, ok := g.known[p.Name]; ok && rapid.Bool().Draw(t, "known "+p.Name) {
		return value
	}
	value := g.value(t, p.Schema, p.Name, 0)
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

// value draws by the schema. One time in twelve it draws something else
// altogether: another type, a huge text, a null.
func (g generator) value(t *rapid.T, s *schema, name string, depth int) any {
	s = g.resolve(s)
	if s == nil || depth > 6 || rapid.IntRange(0, 11).Draw(t, "odd "+name) == 0 {
		return odd().Draw(t, name)
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
		return odd().Draw(t, name)
	}
	switch rapid.SampledFrom(s.Type).Draw(t, "type of "+name) {
	case "object":
		return g.object(t, s, depth)
	case "array":
		n := rapid.IntRange(0, 3).Draw(t, "items of "+name)
		items := make([]any, n)
		for i := range items {
			items[i] = g.value(t, s.Items, name, depth+1)
		}
		return items
	case "integer":
		return rapid.OneOf(rapid.Int64Range(-2, 1000), rapid.SampledFrom([]int64{math.MaxInt64, math.MinInt64})).Draw(t, name)
	case "number":
		return rapid.OneOf(rapid.Float64Range(-10, 1e6), rapid.SampledFrom([]float64{1e308, -1e308, 5e-324})).Draw(t, name)
	case "boolean":
		return rapid.Bool().Draw(t, name)
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
		likely := 1
		if slices.Contains(s.Required, name) {
			likely = 15
		}
		if rapid.IntRange(0, likely).Draw(t, "has "+name) > 0 {
			object[name] = g.value(t, s.Properties[name], name, depth+1)
		}
	}
	if rapid.IntRange(0, 9).Draw(t, "extra") == 0 {
		object["unheard_of"] = odd().Draw(t, "extra")
	}
	return object
}

// text draws words of a format. Addresses stay on this machine: the service
// under test may try to reach them.
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

// odd draws what nobody asked for.
func odd() *rapid.Generator[any] {
	return rapid.SampledFrom([]any{
		nil, true, -1, 1e300, "", strings.Repeat("x", 5000), []any{}, []any{nil}, map[string]any{}, map[string]any{"": map[string]any{}},
	})
}
