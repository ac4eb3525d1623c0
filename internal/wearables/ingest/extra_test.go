package ingest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// insulinSamples returns one injection per hour, starting at from.
func insulinSamples(from time.Time, extra string, values ...float64) wearables.Samples {
	s := wearables.Samples{Resource: "insulin_injection", Type: "rapid_acting", Extra: extra, Source: wearables.Source{Type: "insulin_pump"}, Value: values}
	for i := range values {
		s.Time = append(s.Time, from.Add(time.Duration(i)*time.Hour).UnixMicro())
	}
	s.End = s.Time
	return s
}

// describeGroups returns the words, hours and values of samples as text.
func describeGroups(groups []wearables.Samples) string {
	var all []string
	for _, g := range groups {
		for i, at := range g.Time {
			all = append(all, fmt.Sprintf("%s %d %v", g.Extra, (at-day.UnixMicro())/3600e6, g.Value[i]))
		}
	}
	return strings.Join(all, "; ")
}

// The two parts of one bolus begin at the same time. Their words distinguish them in the
// store, in events and in reads.
func TestWordsDistinguishSamples(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		batch := wearables.Batch{Samples: []wearables.Samples{insulinSamples(day, "bolus,standard,meal", 3), insulinSamples(day, "bolus,extended,meal", 2), insulinSamples(day, "basal,,", 1)}}
		for _, want := range []string{"3 created, 0 updated, 0 unchanged, 0 rejected", "0 created, 0 updated, 3 unchanged, 0 rejected"} {
			if got := counts(f.ingest(batch)); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
		if got, want := describeGroups(f.samples("insulin_injection")), "bolus,standard,meal 0 3; bolus,extended,meal 0 2; basal,, 0 1"; got != want {
			t.Errorf("stored %s, want %s", got, want)
		}
		var said []string
		for _, e := range f.events() {
			var payload struct {
				Data []struct {
					Value float64 `json:"value"`
					Mode  *string `json:"delivery_mode"`
					Form  *string `json:"delivery_form"`
				} `json:"data"`
			}
			if err := json.Unmarshal(e.Data, &payload); err != nil || len(payload.Data) != 1 || payload.Data[0].Mode == nil {
				t.Fatalf("%s, %v", e.Data, err)
			}
			one := payload.Data[0]
			if one.Form != nil {
				said = append(said, *one.Form)
			}
			said = append(said, fmt.Sprint(*one.Mode, one.Value))
		}
		slices.Sort(said)
		if got, want := strings.Join(said, " "), "basal1 bolus2 bolus3 extended standard"; got != want {
			t.Errorf("announced %s, want %s", got, want)
		}
	})
}

func TestUnknownWordsOfAField(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		heart := heartRates(day, 61)
		heart.Extra = "ear"
		r := f.ingest(wearables.Batch{Samples: []wearables.Samples{
			insulinSamples(day, "bolus,,dessert", 1, 2), insulinSamples(day, "meal,,", 1), insulinSamples(day, "bolus", 1), insulinSamples(day, ",,", 1), heart, insulinSamples(day, ",,unknown", 1),
		}})
		var got []string
		for _, x := range r.Rejections {
			got = append(got, fmt.Sprintf("%s %s %d at %d", x.Resource, x.Reason, x.Count, x.Part))
		}
		want := []string{
			"insulin_injection unknown_bolus_purpose 2 at 0", "insulin_injection unknown_delivery_mode 1 at 1",
			"insulin_injection unknown_field 2 at 2", "heartrate unknown_field 1 at 4",
		}
		if !slices.Equal(got, want) || r.Created != 1 {
			t.Errorf("%d created, rejected\n%s", r.Created, strings.Join(got, "\n"))
		}
	})
}

// A measurement without words that arrives again with words is one measurement, on
// every page and in either order.
func TestWordsAddedLater(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		other := insulinSamples(day, "", 7)
		other.Source.AppID = "com.example.pen"
		long := insulinSamples(day, "", 8)
		long.Type = "long_acting"
		plain, full := insulinSamples(day, "", 1, 2, 3, 4, 5), insulinSamples(day.Add(time.Hour), "bolus,,meal", 2, 3)
		again := insulinSamples(day.Add(4*time.Hour), "basal,,", 9)
		for _, s := range []wearables.Samples{again, plain, full, other, long} {
			f.ingest(wearables.Batch{Samples: []wearables.Samples{s}})
		}
		want := " 0 8; bolus,,meal 1 2; bolus,,meal 2 3; basal,, 4 9;  0 1;  3 4;  0 7"
		if got := describeGroups(f.samples("insulin_injection")); got != want {
			t.Errorf("stored %s\nwant   %s", got, want)
		}
		var paged []wearables.Samples
		var after *storage.Place
		for {
			groups, next := f.page(storage.SamplesQuery{Resource: "insulin_injection", To: clock().UnixMicro(), After: after, Most: 1})
			paged = append(paged, groups...)
			if after = next; next == nil {
				break
			}
		}
		if got := describeGroups(paged); got != want {
			t.Errorf("pages of %s\nwant     %s", got, want)
		}
	})
}

// The documentation of pushes lists the words of the table.
func TestPageListsTheWords(t *testing.T) {
	page, err := os.ReadFile("../../../docs/pushing-data.md")
	if err != nil {
		t.Fatal(err)
	}
	quoted := func(words []string) string { return "`" + strings.Join(words, "`, `") + "`" }
	rows := map[string][]string{} // resources by the rest of their row
	for _, r := range wearables.Resources() {
		for _, field := range r.Extra {
			if len(field.Words) > 0 {
				rest := " | `" + field.Name + "` | " + quoted(field.Words) + " |\n"
				rows[rest] = append(rows[rest], r.Name)
			}
		}
	}
	if len(rows) != 5 {
		t.Errorf("%d rows", len(rows))
	}
	for rest, resources := range rows {
		if row := "| " + quoted(resources) + rest; !strings.Contains(string(page), row) {
			t.Errorf("the page has no %s", row)
		}
	}
}
