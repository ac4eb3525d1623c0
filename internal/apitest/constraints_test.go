package apitest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

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

// isCombined reports whether a value must fulfil several schemas.
func isCombined(s *schema) bool {
	return len(s.AnyOf)+len(s.OneOf)+len(s.AllOf) > 0 || s.Not != nil
}

// maxTries is the maximum number of values that are drawn for a combined schema.
const maxTries = 50

// combined draws values of one alternative until one fits the whole schema.
func (g generator) combined(t *rapid.T, s *schema, name string, depth int) any {
	choices := append(slices.Clone(s.AnyOf), s.OneOf...)
	if len(choices) == 0 {
		choices = []*schema{s}
	}
	for range maxTries {
		plain := *g.resolve(rapid.SampledFrom(choices).Draw(t, "choice of "+name)) // it has the keywords of s, see inherit
		if inner := slices.Concat(plain.AnyOf, plain.OneOf); len(inner) > 0 {
			plain = *g.resolve(rapid.SampledFrom(inner).Draw(t, "inner choice of "+name))
		}
		plain.AnyOf, plain.OneOf, plain.AllOf, plain.Not = nil, nil, nil, nil
		value := g.value(t, &plain, name, depth+1)
		if g.fits(s, value) {
			return value
		}
	}
	t.Skipf("found no value for %s", name)
	return nil
}

// fits reports whether a drawn value is valid.
func (d *document) fits(s *schema, value any) bool {
	text, err := json.Marshal(value)
	if err != nil {
		return false
	}
	decoded, err := decode(text)
	return err == nil && d.validate(s, decoded, "") == nil
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

// hasLength reports whether a text is as long as a schema demands.
func (s *schema) hasLength(text string) bool {
	n := utf8.RuneCountInString(text)
	return (s.MinLength == nil || n >= *s.MinLength) && (s.MaxLength == nil || n <= *s.MaxLength)
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
		return strings.Map(plainSpace, rapid.StringMatching(s.Pattern).Filter(s.hasLength).Draw(t, name))
	}
	n := drawLength(t, name, s.MinLength, s.MaxLength, 40)
	return rapid.StringOfN(rapid.RuneFrom([]rune("abcXYZ 019-_.,é")), n, n, -1).Draw(t, name)
}

// plainSpace replaces spaces outside of ASCII, which \s of RE2 does not match, and
// characters that JSON or the service does not carry.
func plainSpace(r rune) rune {
	if r > unicode.MaxASCII && unicode.IsSpace(r) || r == '\v' || r == 0 || r == unicode.ReplacementChar || r == '\ufeff' {
		return 'x'
	}
	return r
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

// unstatedBodies are reasons that a JSON Schema of a body cannot state.
var unstatedBodies = []string{
	"must not be before", "must not be less than", "is in the future", "is too long ago", "must be in the future", "at most 60 days apart", "lie before 2000", "before the result", "lie in the future", "lie after", // relations
	"IANA time zone", "unknown time zone", "in the list of ICD-10-CM", "is a category", "is not complete: it has codes below it", "must be a PNG or JPEG", "give a name, or a provider", // data outside of the document
	"needs a webhook that is on", "an order with this sample_id exists", "this provider is listed twice", "this case", "for each role of the case", "a query reads one table", // the state, or several fields
	"must not lead to this machine", "must name a host", // the network
	"is given twice", "has no such row", "has the same row", "takes no corrections", "the lower bound is above", "is older than the sample", "not a LOINC code of the table", // relations, and data outside of the document
}

// isKnown reports whether a reason of a refused body is one that the document does not
// state.
func isKnown(o operation, problem string) bool {
	if o.Body == nil || strings.Contains(o.Path, "continuous_query") { // forms and files; the expressions of queries
		return true
	}
	if strings.HasSuffix(o.Path, "/query") && strings.HasPrefix(problem, "body.queries") { // the types of expressions
		return true
	}
	if countsRejected(o) && (strings.Contains(problem, "body.deleted") || strings.Contains(problem, "body.data") || strings.Contains(problem, "body.users")) {
		return true // elements of a push
	}
	return slices.ContainsFunc(unstatedBodies, func(reason string) bool { return strings.Contains(problem, reason) })
}

// countsRejected reports whether an operation accepts the valid elements of a body, and
// counts the others in its answer.
func countsRejected(o operation) bool {
	return strings.HasPrefix(o.Path, "/v2/timeseries") || strings.HasPrefix(o.Path, "/v2/summary/") || strings.HasSuffix(o.Path, "/entries")
}

// broken returns a body with one change that the document forbids, or nil if a few draws
// find none. The document does not state all fields of a query that may be null, because
// its schema is also that of answers.
func (g generator) broken(t *rapid.T, o operation, body []byte) []byte {
	s, nullIsUnstated := o.Body, strings.Contains(o.Path, "query")
	for range 5 {
		value, err := decode(body)
		if err != nil {
			t.Fatalf("drew a body that is no JSON: %v", err)
		}
		var changes []func()
		eachMember(value, func(set func(any), remove func()) {
			if remove != nil {
				changes = append(changes, remove)
			}
			others := []any{"", "x", strings.Repeat("x", 20_000), json.Number("-1"), json.Number("1000000000"), true, []any{}, map[string]any{}}
			if !nullIsUnstated {
				others = append(others, nil)
			}
			for _, other := range others {
				changes = append(changes, func() { set(other) })
			}
		})
		if len(changes) == 0 {
			return nil
		}
		changes[rapid.IntRange(0, len(changes)-1).Draw(t, "change")]()
		if d := g.document; d.validate(s, value, "body") != nil {
			text, err := json.Marshal(value)
			if err != nil {
				t.Fatalf("drew a value that is no JSON: %v", err)
			}
			return text
		}
	}
	return nil
}

// eachMember calls visit for each member of the objects and lists of a value. remove is
// nil in a list.
func eachMember(value any, visit func(set func(any), remove func())) {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			visit(func(other any) { value[name] = other }, func() { delete(value, name) })
			eachMember(value[name], visit)
		}
	case []any:
		for i := range value {
			visit(func(other any) { value[i] = other }, nil)
			eachMember(value[i], visit)
		}
	}
}

// The OpenAPI document states what the service refuses. A request that it allows may be
// refused only for a reason that it cannot state. A body that it forbids is refused.
func TestTheDocumentStatesEveryRefusal(t *testing.T) {
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
				if o.Body != nil && rapid.IntRange(0, 2).Draw(rt, "broken") == 0 {
					if body := g.broken(rt, o, r.body); body != nil {
						r.body = body
						own.mustRefuse(rt, o, r)
						return
					}
				}
				own.mustNotRefuse(rt, o, r)
			})
		})
	}
}

// The document allows bodies that the guides show and the service accepts.
func TestTheDocumentAllowsWhatTheGuidesShow(t *testing.T) {
	s := start(t, storetest.NewSQLite(t))
	own, f := s.newTeamWithFixture(t)
	const head = `{"stage":"daily","provider":"health_connect"`
	const sample = `[{"timestamp":"2026-03-01T12:00:00Z","value":60,"unit":null,"source_type":null}]`
	for _, c := range []struct{ operation, body string }{
		{"POST /v2/timeseries/{user_id}/{resource}", head + `,"deleted":[{"id":"a"}]}`},
		{"POST /v2/timeseries/{user_id}/{resource}", head + `,"data":null,"deleted":[{"id":"a"}]}`},
		{"POST /v2/timeseries/{user_id}/{resource}", head + `,"time_zone":null,"is_final_chunk":null,"deleted":null,"start_date":null,"data":` + sample + `}`},
		{"POST /v2/timeseries/{user_id}", head + `,"deleted":[{"id":"a"}]}`},
		{"POST /v2/timeseries/{user_id}", head + `,"source":null,"series":{"heartrate":` + sample + `}}`},
		{"POST /v2/summary/sleep/{user_id}", head + `,"deleted":[{"id":"a"}]}`},
		{"POST /v2/user/{user_id}/entries", `{"deleted":[{"id":"a"}]}`},
		{"POST /v2/user/{user_id}/entries", `{"data":[{"resource":"note","id":"n1","timestamp":"2026-03-01T12:00:00Z","value":"übel","tags":["food"]}]}`},
	} {
		i := slices.IndexFunc(s.doc.operations, func(o operation) bool { return o.String() == c.operation })
		if i < 0 {
			t.Fatalf("no operation %s", c.operation)
		}
		o := s.doc.operations[i]
		if err := s.doc.validate(o.Body, mustDecode(t, c.body), "body"); err != nil {
			t.Errorf("%s does not allow %s: %v", o, c.body, err)
		}
		values := f.valuesFor(o)
		values["resource"] = "heartrate"
		r := request{method: o.Method, path: o.fill(values), body: []byte(c.body)}
		if got := own.send(t, r, own.Key); got.status != http.StatusOK {
			t.Errorf("%s with %s: %d %s", o, c.body, got.status, got.body)
		}
	}
}

// mustRefuse sends a request whose body the document forbids. A dry run answers with
// the problems instead.
func (s *service) mustRefuse(t fataler, o operation, r request) {
	t.Helper()
	if strings.Contains(r.path, "dry_run=") {
		r = r.withQuery(map[string]string{"dry_run": "false"})
	}
	got := s.send(t, r, s.Key)
	s.judge(t, o, r, got)
	if got.status < http.StatusMultipleChoices && !countsRejected(o) {
		t.Fatalf("%v\nwas answered %d, and the document forbids the body", r, got.status)
	}
}

// mustNotRefuse sends a request that the document allows.
func (s *service) mustNotRefuse(t fataler, o operation, r request) {
	t.Helper()
	got := s.send(t, r, s.Key)
	s.judge(t, o, r, got)
	for _, problem := range problemsOf(got.body) {
		known := slices.ContainsFunc(unstatedParameters, func(reason string) bool { return strings.Contains(problem, reason) })
		if strings.HasPrefix(problem, "body") {
			known = isKnown(o, problem)
		}
		if !known {
			t.Fatalf("%v\nwas refused, and the document does not say why: %s", r, problem)
		}
	}
}
