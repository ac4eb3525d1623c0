package ingest_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/wearables"
	"hale/internal/wearables/resources"
)

// The documented example of an event equals the event that such a sample causes, byte by
// byte. One table of units, words and shapes is the source of both.
func TestExamplesOfEventsMatchSentEvents(t *testing.T) {
	examples := map[string]json.RawMessage{}
	for _, kind := range resources.EventTypes() {
		examples[kind.Name] = kind.Example(uuid.Nil)
	}
	for _, r := range wearables.Resources() {
		if r.Name == "hypnogram" || r.Name == "note" { // no event; no number
			continue
		}
		for _, suffix := range []string{".created", ".updated"} {
			example := string(examples["daily.data."+r.Event+suffix])
			sent := exampleOf(&r)
			want := `"data":` + string(wearables.AppendAll(nil, []wearables.Samples{sent})) + "}"
			if !strings.HasSuffix(example, want) {
				t.Errorf("the example of %s%s is %s\nsent is %s", r.Name, suffix, example, want)
			}
		}
	}
}

// exampleOf returns the example of a resource in the table as a sample.
func exampleOf(r *wearables.Resource) wearables.Samples {
	at := time.Date(2026, 3, 1, 7, 30, 0, 0, time.UTC)
	s := wearables.Samples{
		Resource: r.Name, Type: r.Example.Type, Source: wearables.Source{Provider: "apple_health_kit", Type: "watch"},
		Time: []int64{at.UnixMicro()}, Offset: []int32{3600}, Value: []float64{r.Example.Value},
	}
	if r.Interval {
		s.End = []int64{at.Add(15 * time.Minute).UnixMicro()}
	}
	if r.Pair {
		s.Value2 = []float64{r.Example.Low}
	}
	words := make([]string, len(r.Extra))
	for i, field := range r.Extra {
		words[i] = field.Example
	}
	s.Extra = wearables.ExtraText(words...)
	return s
}

// The examples are samples that ingest accepts as plausible.
func TestExamplesArePlausible(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		for _, r := range wearables.Resources() {
			if !r.Push {
				continue
			}
			if got := counts(f.ingest(wearables.Batch{Samples: []wearables.Samples{exampleOf(&r)}})); !strings.HasPrefix(got, "1 created") {
				t.Errorf("%s: %s", r.Name, got)
			}
		}
	})
}
