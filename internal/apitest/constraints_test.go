package apitest

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hale/internal/platform/store/storetest"
)

// mayUse reports whether the known value of a parameter's name fits: the words of a strict
// parameter may be others.
func (g generator) mayUse(p parameter) bool {
	return !g.strict || p.In == "path" || len(g.resolve(p.Schema).Enum) == 0
}

// header draws a header of a strict request. Texts are idempotency keys.
func (g generator) header(t *rapid.T, p parameter) string {
	if slices.Contains(p.Schema.Type, "string") {
		return rapid.StringMatching(`[0-9a-z]{20}`).Draw(t, p.Name)
	}
	return g.parameter(t, p)
}

// length draws the length of a list.
func (g generator) length(t *rapid.T, s *schema, name string) int {
	if !g.strict {
		return rapid.IntRange(0, 3).Draw(t, "items of "+name)
	}
	return drawLength(t, name, s.MinItems, s.MaxItems, 3)
}

// strictValue draws a number or a text within all bounds of its schema.
func (g generator) strictValue(t *rapid.T, s *schema, kind, name string) any {
	switch kind {
	case "integer":
		least, most := bounds(s, -1000, 100_000)
		return rapid.Int64Range(int64(math.Ceil(least)), int64(most)).Draw(t, name)
	case "number":
		least, most := bounds(s, -1e4, 1e6)
		return rapid.Float64Range(least, most).Draw(t, name)
	case "string":
		return g.strictText(t, s, name)
	}
	return nil
}

// bounds returns the bounds of a number. The defaults apply where the schema has none.
func bounds(s *schema, least, most float64) (float64, float64) {
	if s.Minimum != nil {
		least, most = *s.Minimum, max(most, *s.Minimum)
	}
	if s.Maximum != nil {
		most = *s.Maximum
	}
	return min(least, most), most
}

// drawLength draws a length between two bounds, at most usual unless the lower one is higher.
func drawLength(t *rapid.T, name string, least, most *int, usual int) int {
	low := 0
	if least != nil {
		low = *least
	}
	if most != nil {
		usual = min(usual, *most)
	}
	return rapid.IntRange(low, max(low, usual)).Draw(t, "length of "+name)
}

func (g generator) strictText(t *rapid.T, s *schema, name string) string {
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
	n := drawLength(t, name, s.MinLength, s.MaxLength, 40)
	return rapid.StringOfN(rapid.RuneFrom([]rune("abcXYZ 019-_.,é")), n, n, -1).Draw(t, name)
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

// unstatedParameters are reasons that a JSON Schema of one parameter cannot state.
var unstatedParameters = []string{
	"not a cursor of this list", "belongs to another list", // from an earlier answer
	"must not be before", "ends before it begins", "must be in the future", // relations of times
	"give exactly one", "at least one filter", "takes no other filter", "next_cursor or offset", "a code needs its provider", "a provider needs its code", "give a name, or", // several parameters
	"Input should be 'fitbit'", "Input should be 'afib_burden'", "Input should be 'labcorp'", "event types of the catalogue", // words that another operation lists
	"number of your newest event", "is not the id of your event", "the id of an event", "platform queries are not offered", // the state of the team
	"give a word or", "Input should be 'active'", // upper and lower case
}

// A query, path or header that conforms to the OpenAPI document may be refused only for a
// reason that the document cannot state. Bodies are not checked.
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
			g := generator{document: s.doc, known: f.valuesFor(o), strict: true}
			rapid.Check(t, func(rt *rapid.T) {
				r := g.request(rt, o)
				got := own.send(rt, r, own.Key)
				own.judge(rt, o, r, got)
				for _, problem := range problemsOf(got.body) {
					known := slices.ContainsFunc(unstatedParameters, func(reason string) bool { return strings.Contains(problem, reason) })
					if !known && !strings.HasPrefix(problem, "body") {
						rt.Fatalf("%v\nwas refused, and the document does not say why: %s", r, problem)
					}
				}
			})
		})
	}
}
