package push

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"hale/internal/platform/fault"
	"hale/internal/wearables"
)

// A body lists deleted records by their ids, with or without data.
func TestDeletedRecords(t *testing.T) {
	steps, _ := wearables.ResourceNamed("steps")
	sleep, _ := wearables.DocumentNamed("sleep")
	for _, c := range []struct{ deleted, want, fault string }{
		{`["a","b"]`, "a b", ""},
		{`[{"id":"a"},{"uuid":"b"},{"metadata":{"id":"c"}},{"external_id":"d","id":"e"}]`, "a b c d", ""},
		{`null`, "", "Field required"},
		{`[]`, "", "Field required"},
		{`"a"`, "", "valid list"},
		{`[""]`, "", "id of a record"},
		{`[null]`, "", "id of a record"},
		{`[7]`, "", "id of a record"},
		{`[{"name":"a"}]`, "", "id of a record"},
		{`["` + strings.Repeat("x", 300) + `"]`, "", "at most 256"},
		{`[` + strings.Repeat(`"a",`, MostDeleted) + `"a"]`, "", "at most 10000 deleted"},
	} {
		body := []byte(`{"stage":"daily","provider":"health_connect","deleted":` + c.deleted + `}`)
		samples, first := Parse(body, steps)
		series, second := ParseSeries(body)
		summaries, third := ParseSummaries(body, sleep)
		for i, err := range []error{first, second, third} {
			switch {
			case c.fault == "" && err != nil, c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)):
				t.Errorf("%.60s, form %d: %v", c.deleted, i, err)
			case err == nil:
				if got := strings.Join([][]string{samples.Deleted, series.Deleted, summaries.Deleted}[i], " "); got != c.want {
					t.Errorf("%s, form %d: %s", c.deleted, i, got)
				}
			}
		}
	}
	const head = `{"stage":"daily","provider":"health_connect"`
	user := func(deleted string) string {
		return head + `,"users":[{"user_id":"` + firstUser + `","series":{},"deleted":` + deleted + `}]}`
	}
	for _, c := range []struct{ body, loc, fault string }{
		{head + `,"deleted":["a"],"users":[]}`, "body.deleted", "one user at a time"},
		{user(`[{"id":"a"}]`), "body.users.0.deleted", "one user at a time"},
		{user(`[7]`), "body.users.0.deleted.0", "id of a record"},
		{user(`"a"`), "body.users.0.deleted", "valid list"},
		{user(`[]`), "", ""},
		{user(`null`), "", ""},
	} {
		_, err := ParseUsers([]byte(c.body))
		var one *fault.Error
		if c.fault == "" && err != nil || c.fault != "" && (!errors.As(err, &one) || !strings.Contains(err.Error(), c.fault) || strings.Join(one.Loc(), ".") != c.loc) {
			t.Errorf("%s: %v", c.body, err)
		}
	}
}

// A sample has the id of its record. If several fields have an id, the field that is
// most certainly the id of the record counts: metadata.id counts before id.
func TestRecordsOfSamples(t *testing.T) {
	steps, _ := wearables.ResourceNamed("steps")
	body, err := Parse([]byte(`{"stage":"daily","provider":"health_connect","data":[
		{"timestamp":"2026-03-01T08:00:00Z","value":1},
		{"timestamp":"2026-03-01T08:01:00Z","value":1,"metadata":{"id":"a","other":{}},"id":"b"},
		{"timestamp":"2026-03-01T08:02:00Z","value":1,"id":7},
		{"timestamp":"2026-03-01T08:03:00Z","value":1,"uuid":"c"}]}`), steps)
	if err != nil {
		t.Fatal(err)
	}
	if got := body.Groups[0].Record; !slices.Equal(got, []string{"", "a", "", "c"}) {
		t.Errorf("%q", got)
	}
}

// A list of values may be null, like the other optional fields of a body.
func TestNullIsTheSameAsNoData(t *testing.T) {
	for _, deleted := range []string{``, `,"deleted":["a"]`} {
		head := `{"stage":"daily","provider":"health_connect"` + deleted
		document, _ := wearables.DocumentNamed("body")
		_, err1 := Parse([]byte(head+`,"data":null}`), insulin)
		_, err2 := ParseSeries([]byte(head + `,"series":null}`))
		_, _, err3 := ParseSummaryPart([]byte(head+`,"data":null}`), document)
		for _, err := range []error{err1, err2, err3} {
			var list fault.List
			var one *fault.Error
			if errors.As(err, &list) {
				one = list[0]
			} else {
				errors.As(err, &one)
			}
			if (one == nil) != (deleted != "") || one != nil && one.Code() != "missing" {
				t.Errorf("deleted %q: %v", deleted, err)
			}
		}
	}
}
