package wearables_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hale/internal/civil"
	"hale/internal/store"
	"hale/internal/users"
	"hale/internal/wearables"
)

// zoned is a fixture whose user has a fallback zone.
func (f fixture) zoned(name string) fixture {
	f.user.TimeZone = &users.TimeZone{Name: name}
	return f
}

// bare is beats that say nothing of where the person was.
func bare(from time.Time, values ...float64) wearables.Samples {
	s := beats(from, values...)
	s.Offset = nil
	return s
}

func (f fixture) offsets(resource string) []int32 {
	f.t.Helper()
	groups := f.samples(resource)
	if len(groups) != 1 {
		f.t.Fatalf("%d groups", len(groups))
	}
	return groups[0].Offset
}

func TestTheFallbackZoneFillsInFromThenOn(t *testing.T) {
	each(t, func(f fixture) {
		before := bare(day, 61)
		f.ingest(wearables.Batch{Samples: []wearables.Samples{before}})

		f = f.zoned("Europe/Berlin")
		stated := bare(day.Add(time.Hour), 62)
		stated.Offset = []int32{-18000}
		summer := bare(time.Date(2026, 3, 20, 23, 0, 0, 0, time.UTC), 64) // the zone has no summer time yet
		f.ingest(wearables.Batch{Samples: []wearables.Samples{stated, bare(day.Add(2*time.Hour), 63), summer}})
		want := []int32{wearables.NoOffset, -18000, 3600, 3600}
		if got := f.offsets("heartrate"); !slices.Equal(got, want) {
			t.Errorf("offsets %v, want %v", got, want)
		}
		for _, e := range f.events() {
			if strings.Contains(string(e.Data), "104") || strings.Contains(string(e.Data), "1052") {
				t.Errorf("an event shows how the offset was found: %s", e.Data)
			}
		}
		sent := len(f.events())

		// The same again, with another zone: stored values stay as they are.
		f = f.zoned("Asia/Tokyo")
		r := f.ingest(wearables.Batch{Samples: []wearables.Samples{before, stated, bare(day.Add(2*time.Hour), 63), summer}})
		if got := counts(r); got != "0 created, 0 updated, 4 unchanged, 0 rejected" {
			t.Error(got)
		}
		if got := f.offsets("heartrate"); !slices.Equal(got, want) || len(f.events()) != sent {
			t.Errorf("sent again they are %v, with %d events more", got, len(f.events())-sent)
		}
		f.ingest(wearables.Batch{Samples: []wearables.Samples{bare(day.Add(2*time.Hour), 99)}})
		if got := f.offsets("heartrate"); !slices.Equal(got, want) {
			t.Errorf("a new value moved the offset: %v", got)
		}
	})
}

func TestHowAnOffsetWasFoundIsKept(t *testing.T) {
	each(t, func(f fixture) {
		f.ingest(wearables.Batch{Samples: []wearables.Samples{bare(day, 61)}})
		f = f.zoned("Asia/Kolkata")
		stated := bare(day.Add(time.Hour), 62)
		stated.Offset = []int32{19800}
		f.ingest(wearables.Batch{Samples: []wearables.Samples{stated, bare(day.Add(2*time.Hour), 63)}})
		var got []string
		if err := f.db.Read(f.ctx, func(tx *store.Tx) error {
			all, err := wearables.SeriesOf(f.ctx, tx, f.user.Team.UUID(), f.user.ID.UUID(), "heartrate")
			if err != nil {
				return err
			}
			got = nil
			offsets, ways, err := wearables.OffsetsFound(f.ctx, tx, all[0], day.UnixMicro(), day.AddDate(0, 0, 1).UnixMicro())
			for i := range offsets {
				got = append(got, fmt.Sprint(offsets[i], " ", ways[i]))
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		want := []string{
			fmt.Sprint(wearables.NoOffset, " ", wearables.Unstated), fmt.Sprint(19800, " ", wearables.Stated), fmt.Sprint(19800, " ", wearables.ByFallback),
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestFloatingTimeHasNoFallback(t *testing.T) {
	each(t, func(f fixture) {
		f = f.zoned("Europe/Berlin")
		for _, provider := range []string{"freestyle_libre", "abbott_libreview", "wahoo", "hammerhead", "google_fit"} {
			s := bare(day, 5)
			s.Resource, s.Source.Provider = "glucose", provider
			f.ingest(wearables.Batch{Provider: provider, Samples: []wearables.Samples{s}})
		}
		for _, g := range f.samples("glucose") {
			if len(g.Offset) > 0 && g.Offset[0] != wearables.NoOffset {
				t.Errorf("%s has the offset %v", g.Source.Provider, g.Offset)
			}
		}
	})
}

func TestNewSummariesGetTheFallbackZone(t *testing.T) {
	each(t, func(f fixture) {
		day := civil.DateOf(day)
		activity := wearables.Summary{Resource: "activity", Key: "a", Date: day, Body: []byte(`{"steps":7}`)}
		stated := wearables.Summary{Resource: "activity", Key: "b", Date: day, Body: []byte(`{"steps":7,"timezone_offset":-18000}`)}
		earlier := wearables.Summary{Resource: "activity", Key: "c", Date: day, Body: []byte(`{"steps":7}`)}
		f.ingest(wearables.Batch{Summaries: []wearables.Summary{earlier}})
		f = f.zoned("Europe/Berlin")
		for range 2 {
			f.ingest(wearables.Batch{Summaries: []wearables.Summary{activity, stated, earlier}})
			f = f.zoned("Asia/Tokyo") // changes nothing that is stored
		}
		got := map[string]string{}
		for _, e := range f.events() {
			var d struct {
				Offset json.RawMessage `json:"timezone_offset"`
				Zone   json.RawMessage `json:"time_zone"`
				ID     string
			}
			if err := json.Unmarshal(e.Data, &d); err != nil {
				t.Fatal(err)
			}
			for _, s := range []wearables.Summary{activity, stated, earlier} {
				if d.ID == wearables.SummaryID(f.user.ID.UUID(), "apple_health_kit", "activity", s.Key).String() {
					got[s.Key] += e.Type + " " + string(d.Offset) + " " + string(d.Zone)
				}
			}
		}
		made := "daily.data.activity.created "
		want := map[string]string{"a": made + `3600 "Europe/Berlin"`, "b": made + "-18000 null", "c": made + "null null"}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %v\nwant %v", got, want)
		}
	})
}

// A copy of what is stored, given back, changes nothing: what a fallback gave
// is not taken for stated, and what was stored without one stays so.
func TestWhatWasReadMarkedIsNoNews(t *testing.T) {
	each(t, func(f fixture) {
		f.ingest(wearables.Batch{Samples: []wearables.Samples{bare(day, 61)}})
		f = f.zoned("Europe/Berlin")
		stated := bare(day.Add(time.Hour), 62)
		stated.Offset = []int32{-18000}
		f.ingest(wearables.Batch{Samples: []wearables.Samples{stated, bare(day.Add(2*time.Hour), 63)}})
		want, sent := f.offsets("heartrate"), len(f.events())

		var copied []wearables.Samples
		err := f.db.Read(f.ctx, func(tx *store.Tx) (err error) {
			copied, _, err = wearables.ListSamples(f.ctx, tx, f.user.Team.UUID(), f.user.ID.UUID(),
				wearables.SamplesQuery{Resource: "heartrate", From: 0, To: clock().UnixMicro(), Marked: true})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		// Of the first, a copy that was made with the zone.
		copied[0].Offset = slices.Clone(copied[0].Offset)
		copied[0].Offset[0] = copied[0].Offset[2]
		again := wearables.Batch{Samples: copied, Marked: true}
		if got := counts(f.ingest(again)); got != "0 created, 0 updated, 3 unchanged, 0 rejected" {
			t.Error(got)
		}
		f = f.zoned("Asia/Tokyo")
		f.ingest(again)
		if got := f.offsets("heartrate"); !slices.Equal(got, want) || len(f.events()) != sent {
			t.Errorf("offsets %v, want %v; %d events more", got, want, len(f.events())-sent)
		}

		// What is changed and what is new is announced without the mark.
		copied[0].Value = slices.Clone(copied[0].Value)
		copied[0].Value[2] = 70
		f.ingest(again)
		for _, e := range f.events()[sent:] {
			if !strings.Contains(string(e.Data), `"timezone_offset":3600`) {
				t.Errorf("announced as %s", e.Data)
			}
		}
		if len(f.events()) != sent+1 {
			t.Errorf("%d events more", len(f.events())-sent)
		}
	})
}
