package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"hale/internal/harness/proc"
)

// length returns the duration of the runs: HALE_MIRROR_FOR, or 4 seconds if it is not
// set.
func length(t *testing.T) time.Duration {
	text := os.Getenv("HALE_MIRROR_FOR")
	if text == "" {
		return 4 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The short run uses both engines. It does not kill the server, because each kill needs
// seconds. The programs of docs/examples keep copies too, if this machine can run them.
func TestCopiesEqualTheAPI(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the server")
	}
	binary, err := proc.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HALE_BINARY", binary)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			if err := run(t.Context(), &out, settings{
				engines: []string{engine}, programs: []string{"python", "typescript"}, length: length(t), runs: 1, seed: 7, keep: t.TempDir(),
			}); err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
			if strings.Contains(out.String(), "skipped") {
				t.Skip(out.String())
			}
			t.Log(out.String())
		})
	}
}

// The comparison finds differences, and a copy does not depend on the order of events.
func TestDifferencesAreFound(t *testing.T) {
	c := &comparison{}
	c.expectAll("user", map[string]any{"a": object{"n": 1}, "b": object{"n": 1}}, map[string]any{"a": object{"n": 2}, "c": object{"n": 1}})
	if len(c.different) != 3 {
		t.Errorf("%d differences: %v", len(c.different), c.different)
	}
	event := func(words string, value int) object {
		sample := object{"timestamp": "2026-03-01T00:00:00+00:00", "type": nil, "value": value, "sensor_location": nil}
		if words != "" {
			sample["sensor_location"] = words
		}
		return object{"event_type": "daily.data.body_temperature.created", "data": object{
			"user_id": "u", "source_id": 1, "source": object{"provider": "p"}, "data": []any{sample},
		}}
	}
	for _, order := range [][]int64{{1, 2, 3, 3}, {3, 1, 2, 1}, {2, 3, 1}} {
		r := newReplica()
		all := map[int64]object{1: event("ear", 1), 2: event("", 2), 3: event("forehead", 3)}
		for _, seq := range order {
			r.take(seq, all[seq])
		}
		got := r.visible("u", "body_temperature")
		if len(got) != 1 || !strings.Contains(textOf(got), `"forehead"`) {
			t.Errorf("in the order %v: %s", order, textOf(got))
		}
	}
}

// A deletion removes older data only, in any order of events.
func TestDeletionsRemoveOlderData(t *testing.T) {
	sample := func(provider, at string) object {
		return object{"event_type": "daily.data.heartrate.created", "data": object{
			"user_id": "u", "source": object{"provider": provider}, "data": []any{object{"timestamp": at, "value": 60}},
		}}
	}
	summary := object{"event_type": "daily.data.activity.created", "data": object{"user_id": "u", "id": "s", "steps": 10}}
	deleted := func(resource string, ids ...any) object {
		return object{"event_type": "daily.data." + resource + ".deleted", "data": object{
			"user_id": "u", "ids": ids, "providers": []any{"p"}, "start_date": "2026-03-01T00:00:00+00:00", "end_date": "2026-03-01T23:00:00.5+00:00",
		}}
	}
	all := map[int64]object{
		1: sample("p", "2026-03-01T10:00:00+00:00"),
		2: sample("q", "2026-03-01T10:00:00+00:00"), // of another provider
		3: sample("p", "2026-03-02T10:00:00+00:00"), // of another day
		4: summary,
		5: deleted("heartrate"),
		6: deleted("activity", "s"),
		7: sample("p", "2026-03-01T11:00:00+00:00"), // later
	}
	for _, order := range [][]int64{{1, 2, 3, 4, 5, 6, 7}, {7, 6, 5, 4, 3, 2, 1}, {5, 1, 6, 4, 7, 2, 3}} {
		r := newReplica()
		for _, seq := range order {
			r.take(seq, all[seq])
		}
		got := r.visible("u", "heartrate")
		for key := range got {
			if strings.Contains(key, `"provider":"p"`) && strings.HasSuffix(key, " 2026-03-01T10:00:00+00:00") {
				t.Errorf("in the order %v: kept %s", order, key)
			}
		}
		if len(got) != 3 {
			t.Errorf("in the order %v: %s", order, textOf(got))
		}
		if got := r.documents("summary", "activity u "); len(got) != 0 {
			t.Errorf("in the order %v: %s", order, textOf(got))
		}
		if len(r.pulls) != 2 {
			t.Errorf("in the order %v: %v", order, r.pulls)
		}
	}
}
