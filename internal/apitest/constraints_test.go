package apitest

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hale/internal/platform/store/storetest"
)

// validGenerator draws requests that follow the document in everything that it states.
type validGenerator struct {
	*document
	known map[string]string
}

func (g validGenerator) request(t *rapid.T, o operation) request {
	r := request{method: o.Method, headers: map[string]string{}}
	path, query := map[string]string{}, url.Values{}
	for _, p := range o.Params {
		switch {
		case p.In == "path":
			path[p.Name] = url.PathEscape(g.parameter(t, p))
		case p.In == "query" && p.Name != "wait" && (p.Required || rapid.Bool().Draw(t, "has "+p.Name)):
			query.Set(p.Name, g.parameter(t, p))
		case p.In == "header" && p.Required:
			r.headers[strings.ToLower(p.Name)] = rapid.StringMatching(`[0-9a-z]{20}`).Draw(t, p.Name)
			if !slices.Contains(p.Schema.Type, "string") {
				r.headers[strings.ToLower(p.Name)] = g.parameter(t, p)
			}
		}
	}
	r.path = o.fill(path)
	if len(query) > 0 {
		r.path += "?" + query.Encode()
	}
	if o.Body != nil {
		text, err := json.Marshal(g.value(t, o.Body, "body", 0))
		if err != nil {
			t.Fatal(err)
		}
		r.body = text
		r.headers["content-type"] = "application/json"
	}
	return r
}

func (g validGenerator) parameter(t *rapid.T, p parameter) string {
	if value, ok := g.known[p.Name]; ok && (p.In == "path" || len(g.resolve(p.Schema).Enum) == 0 && rapid.Bool().Draw(t, "known "+p.Name)) {
		return value
	}
	switch value := g.value(t, p.Schema, p.Name, 0).(type) {
	case string:
		if value == "" && p.In == "path" {
			return "x"
		}
		return value
	case []any:
		var all []string
		for _, item := range value {
			all = append(all, fmt.Sprint(item))
		}
		return strings.Join(all, ",")
	default:
		text, _ := json.Marshal(value)
		return string(text)
	}
}

func (g validGenerator) value(t *rapid.T, s *schema, name string, depth int) any {
	s = g.resolve(s)
	if s == nil {
		return "x"
	}
	if s.Const != nil {
		return s.Const
	}
	if len(s.Enum) > 0 {
		return rapid.SampledFrom(s.Enum).Draw(t, name)
	}
	if choice := append(slices.Clone(s.AnyOf), s.OneOf...); len(choice) > 0 {
		return g.value(t, rapid.SampledFrom(choice).Draw(t, "choice of "+name), name, depth+1)
	}
	if len(s.AllOf) > 0 {
		return g.value(t, s.AllOf[0], name, depth+1)
	}
	if len(s.Type) == 0 {
		return rapid.SampledFrom([]any{"x", 1, true}).Draw(t, name)
	}
	switch rapid.SampledFrom(s.Type).Draw(t, "type of "+name) {
	case "object":
		object := map[string]any{}
		names := make([]string, 0, len(s.Properties))
		for name := range s.Properties {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			if slices.Contains(s.Required, name) || depth < 5 && rapid.Bool().Draw(t, "has "+name) {
				object[name] = g.value(t, s.Properties[name], name, depth+1)
			}
		}
		return object
	case "array":
		least, most := 0, 3
		if s.MinItems != nil {
			least = *s.MinItems
		}
		if s.MaxItems != nil {
			most = min(most, *s.MaxItems)
		}
		items := make([]any, rapid.IntRange(least, max(least, most)).Draw(t, "items of "+name))
		for i := range items {
			items[i] = g.value(t, s.Items, name, depth+1)
		}
		return items
	case "integer":
		least, most := int64(-1000), int64(100000)
		if s.Minimum != nil {
			least = int64(math.Ceil(*s.Minimum))
			most = max(most, least)
		}
		if s.Maximum != nil {
			most = int64(*s.Maximum)
		}
		return rapid.Int64Range(min(least, most), most).Draw(t, name)
	case "number":
		least, most := -1e4, 1e6
		if s.Minimum != nil {
			least = *s.Minimum
		}
		if s.Maximum != nil {
			most = *s.Maximum
		}
		return rapid.Float64Range(min(least, most), most).Draw(t, name)
	case "boolean":
		return rapid.Bool().Draw(t, name)
	case "null":
		return nil
	}
	return g.text(t, s, name)
}

func (g validGenerator) text(t *rapid.T, s *schema, name string) string {
	if value, ok := g.known[name]; ok && rapid.IntRange(0, 3).Draw(t, "known "+name) > 0 {
		return value
	}
	switch s.Format {
	case "uuid":
		return "3fa85f64-5717-4562-b3fc-2c963f66afa6"
	case "date":
		return rapid.SampledFrom([]string{"2026-03-01", "1999-12-31"}).Draw(t, name)
	case "date-time":
		return rapid.SampledFrom([]string{"2026-03-01T12:00:00+00:00", "2026-03-01T12:00:00Z"}).Draw(t, name)
	case "uri":
		return "https://127.0.0.1:9/hook"
	case "email":
		return "ada@example.invalid"
	}
	if s.Pattern != "" {
		return rapid.StringMatching(s.Pattern).Draw(t, name)
	}
	least, most := 0, 40
	if s.MinLength != nil {
		least = *s.MinLength
	}
	if s.MaxLength != nil {
		most = min(most, *s.MaxLength)
	}
	return rapid.StringOfN(rapid.RuneFrom([]rune("abcXYZ 019-_.,é")), least, max(least, most), -1).Draw(t, name)
}

// problemsOf returns the problems of an answer with bad input, without values.
func problemsOf(body []byte) (all []string) {
	var answer struct {
		Detail []struct {
			Loc []any
			Msg string
		}
	}
	if json.Unmarshal(body, &answer) != nil {
		return nil
	}
	for _, p := range answer.Detail {
		var at []string
		for _, part := range p.Loc {
			if _, number := part.(float64); number {
				part = "#"
			}
			at = append(at, fmt.Sprint(part))
		}
		all = append(all, strings.Join(at, ".")+": "+p.Msg)
	}
	return all
}

// unstated are reasons that a JSON Schema of one parameter cannot state.
var unstated = []string{
	"not a cursor of this list", "belongs to another list", // from an earlier answer
	"must not be before", "ends before it begins", "must be in the future", // relations of times
	"give exactly one", "at least one filter", "takes no other filter", "next_cursor or offset", "a code needs its provider", "a provider needs its code", "give a name, or", // several parameters
	"unknown provider", "unknown resource", "Input should be 'fitbit'", "Input should be 'labcorp'", "event types of the catalogue", // words that another operation lists
	"number of your newest event", "is not the id of your event", "the id of an event", "platform queries are not offered", // the state of the team
	"give a word or", "Input should be 'active'", // upper and lower case
}

// A query, path or header that follows the document is refused only for a reason that
// the document cannot state. Bodies are not judged.
func TestTheDocumentStatesWhyQueriesAreRefused(t *testing.T) {
	s := start(t, storetest.NewSQLite(t))
	read := s.fixture(t)
	for _, o := range s.doc.operations {
		if o.Public {
			continue
		}
		t.Run(o.String(), func(t *testing.T) {
			t.Parallel()
			own, f := s, read
			if o.Method != http.MethodGet {
				own, f = s.newTeamWithFixture(t)
			}
			g := validGenerator{s.doc, f.valuesFor(o)}
			rapid.Check(t, func(rt *rapid.T) {
				r := g.request(rt, o)
				got := own.send(rt, r, own.Key)
				own.judge(rt, o, r, got)
				for _, problem := range problemsOf(got.body) {
					known := slices.ContainsFunc(unstated, func(reason string) bool { return strings.Contains(problem, reason) })
					if !known && !strings.HasPrefix(problem, "body") {
						rt.Fatalf("%v\nwas refused, and the document does not say why: %s", r, problem)
					}
				}
			})
		})
	}
}
