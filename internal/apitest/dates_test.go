package apitest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hale/internal/platform/store/storetest"
)

// extremeDates are the first and the last representable times. Some of them are in another year
// in another time zone.
var extremeDates = []string{
	"0001-01-01", "9999-12-31", "9999-12-25", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59-12:00",
	"9999-12-31T23:59:59", "0000-01-01T00:00:00Z",
}

// For every date of a request, the answer is not a 5xx. The same holds for later reads
// of the stored data.
func TestExtremeDates(t *testing.T) {
	s := start(t, storetest.NewSQLite(t))
	f := s.fixture(t)
	reads := func(after string) {
		for _, o := range s.doc.operations {
			if o.Method != http.MethodGet {
				continue
			}
			r, dates := s.requestWithDates(t, o, f.valuesFor(o))
			if got := s.send(t, r.withFullRange(dates), s.Key); got.status >= http.StatusInternalServerError {
				t.Errorf("after %s: %v\nwas answered %d: %.300s", after, r, got.status, got.body)
			}
		}
	}
	for _, o := range s.doc.operations {
		if o.Method == http.MethodDelete {
			continue
		}
		stored := 0
		for _, r := range s.requestsWithExtremeDates(t, o, f.valuesFor(o)) {
			got := s.send(t, r, s.Key)
			if got.status >= http.StatusInternalServerError {
				t.Errorf("%v\nwas answered %d: %.300s", r, got.status, got.body)
			}
			if got.status < http.StatusBadRequest && o.Method != http.MethodGet {
				stored++
			}
		}
		if stored > 0 {
			s.settle(t)
			reads(o.String())
		}
	}
}

// requestWithDates returns a valid request of an operation, and the date parameters of its query.
func (s *service) requestWithDates(t *testing.T, o operation, values map[string]string) (whole request, names []string) {
	t.Helper()
	whole = s.minimalRequest(t, o, values)
	if text, special := bodiesWithDates[o.String()]; special {
		whole.body = []byte(text)
	}
	for _, p := range o.Params {
		if p.In == "query" && (s.takesDate(p.Schema, 0) || dateName.MatchString(p.Name)) {
			names = append(names, p.Name)
		}
	}
	return whole, names
}

// withQuery returns the request with other values in its query.
func (r request) withQuery(query map[string]string) request {
	base, text, _ := strings.Cut(r.path, "?")
	given, err := url.ParseQuery(text)
	if err != nil {
		panic(err) // the path is generated here
	}
	for name, value := range query {
		given.Set(name, value)
	}
	r.path = base
	if len(given) > 0 {
		r.path += "?" + given.Encode()
	}
	return r
}

// withFullRange returns the request for the range from the first day to the last.
func (r request) withFullRange(dates []string) request {
	query := map[string]string{}
	for _, name := range dates {
		query[name] = "0001-01-01"
		if strings.Contains(name, "end") {
			query[name] = "9999-12-31"
		}
	}
	return r.withQuery(query)
}

// requestsWithExtremeDates returns requests of an operation with extreme dates. Each date
// in turn has each of the ends. Then all dates of the query have the same end at once.
func (s *service) requestsWithExtremeDates(t *testing.T, o operation, values map[string]string) (all []request) {
	t.Helper()
	whole, dates := s.requestWithDates(t, o, values)
	for _, end := range extremeDates {
		every := map[string]string{}
		for _, name := range dates {
			every[name] = end
			all = append(all, whole.withQuery(map[string]string{name: end}))
		}
		if len(dates) > 1 {
			all = append(all, whole.withQuery(every))
		}
	}
	if o.Body == nil {
		return all
	}
	value := mustDecode(t, string(whole.body))
	s.eachDate(o.Body, value, 0, func(set func(string)) {
		for _, end := range extremeDates {
			set(end)
			body, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			r := whole
			r.body = body
			if _, keyed := whole.headers["idempotency-key"]; keyed {
				r.headers = maps.Clone(whole.headers)
				r.headers["idempotency-key"] = fmt.Sprintf("key-%06d", count.Add(1))
			}
			all = append(all, r)
		}
	})
	return all
}

// bodiesWithDates have dates that the minimal bodies do not have.
var bodiesWithDates = map[string]string{
	"POST /v2/summary/sleep/{user_id}":             `{"stage":"daily","provider":"apple_health_kit","data":[{"bedtime_start":"2026-03-01T22:00:00Z","bedtime_stop":"2026-03-02T06:00:00Z"}]}`,
	"POST /v2/summary/sleep_cycle/{user_id}":       `{"stage":"daily","provider":"apple_health_kit","data":[{"session_start":"2026-03-01T22:00:00Z","session_end":"2026-03-02T06:00:00Z"}]}`,
	"POST /v2/summary/workouts/{user_id}":          `{"stage":"daily","provider":"apple_health_kit","data":[{"time_start":"2026-03-01T10:00:00Z","time_end":"2026-03-01T11:00:00Z"}]}`,
	"POST /v2/summary/electrocardiogram/{user_id}": `{"stage":"daily","provider":"apple_health_kit","data":[{"session_start":"2026-03-01T10:00:00Z","session_end":"2026-03-01T10:00:30Z"}]}`,
	"POST /aggregate/v1/user/{user_id}/query": `{"timeframe":{"type":"relative","anchor":"2026-03-02","past":{"unit":"year","value":1}},
		"queries":[{"select":[{"group_key":"*"},{"func":"max","arg":{"timeseries":"heartrate","field":"value"}}],"group_by":[{"date_trunc":{"unit":"day"},"arg":{"index":"timeseries"}}]}]}`,
}

var dateName = regexp.MustCompile(`(^|_)(date|dob|birth|at|time|start|end|since|until|day|anchor|stop|from|to|by)$`)

func (s *service) takesDate(of *schema, depth int) bool {
	of = s.doc.resolve(of)
	if of == nil || depth > 4 {
		return false
	}
	return of.Format == "date" || of.Format == "date-time" ||
		slices.ContainsFunc(slices.Concat(of.AnyOf, of.OneOf, of.AllOf), func(c *schema) bool { return s.takesDate(c, depth+1) })
}

// eachDate calls try for each date of a value, existing or possible, and for all
// existing ones at once. It restores the value afterwards.
func (s *service) eachDate(of *schema, value any, depth int, try func(set func(string))) {
	of = s.doc.resolve(of)
	if of == nil || depth > 8 {
		return
	}
	if len(of.Type) == 0 { // otherwise the alternatives have the same dates
		for _, choice := range slices.Concat(of.AnyOf, of.OneOf, of.AllOf) {
			s.eachDate(choice, value, depth+1, try)
		}
	}
	if list, ok := value.([]any); ok {
		for _, item := range list {
			s.eachDate(of.Items, item, depth+1, try)
		}
	}
	object, ok := value.(map[string]any)
	if !ok {
		return
	}
	before := maps.Clone(object)
	restore := func() { clear(object); maps.Copy(object, before) }
	var there []string
	for _, name := range slices.Sorted(maps.Keys(of.Properties)) {
		p := of.Properties[name]
		given, has := before[name]
		text, isText := given.(string)
		switch {
		case s.takesDate(p, 0) || dateName.MatchString(name) && (!has || isText):
			if text != "" {
				there = append(there, name)
			}
			try(func(end string) { object[name] = end })
		case given == nil || fmt.Sprint(given) == "[]":
			object[name] = s.sampleValue(p, name)
			s.eachDate(p, object[name], depth+1, try)
		default:
			s.eachDate(p, given, depth+1, try)
		}
		restore()
	}
	if len(there) > 1 {
		try(func(end string) {
			for _, name := range there {
				object[name] = end
			}
		})
		restore()
	}
}

// sampleValue returns an object, or a list of one item, or nil if the schema allows neither.
func (s *service) sampleValue(of *schema, name string) any {
	of = s.doc.resolve(of)
	if of == nil {
		return nil
	}
	for _, choice := range slices.Concat(of.AnyOf, of.OneOf, of.AllOf) {
		if value := s.sampleValue(choice, name); value != nil {
			return value
		}
	}
	switch {
	case slices.Contains(of.Type, "object"):
		return s.doc.simplestValue(of, name, nil)
	case slices.Contains(of.Type, "array"):
		return []any{s.doc.simplestValue(of.Items, name, nil)}
	}
	return nil
}
