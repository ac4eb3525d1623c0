package ingest_test

import (
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
)

// Versions of a sample differ in their type or words. The last one that was sent counts, in
// reads and in the last event. It does not matter whether they come in one body. A body
// that repeats the stored state changes nothing.
func TestTheLastVersionCounts(t *testing.T) {
	var pushes atomic.Int64
	later := func() time.Time { return clock().Add(time.Duration(pushes.Load()) * time.Second) }
	storetest.EachAt(t, later, func(t *testing.T, db *store.DB) {
		rapid.Check(t, func(rt *rapid.T) { checkVersions(t, db, rt, func() { pushes.Add(1) }) })
	})
}

// A body with several samples of one key counts after a push that was answered just before.
func TestVersionsOfABodySoonAfterAnother(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		at := []int64{day.UnixMicro()}
		hrv := func(app, kind string, value float64) wearables.Samples {
			return wearables.Samples{Resource: "hrv", Type: kind, Source: wearables.Source{Type: "watch", AppID: app}, Time: at, Value: []float64{value}}
		}
		for range 20 {
			f := newFixture(t, db)
			f.push(wearables.Batch{Pushed: true, Samples: []wearables.Samples{hrv("b", "", 20)}})
			time.Sleep(time.Millisecond) // times of storage have milliseconds
			f.push(wearables.Batch{Pushed: true, Samples: []wearables.Samples{hrv("b", "sdnn", 30), hrv("a", "sdnn", 40), hrv("a", "", 41), hrv("a", "rmssd", 42)}})
			var read []string
			for _, g := range f.samples("hrv") {
				read = append(read, fmt.Sprint(g.Source.AppID, g.Type, g.Value))
			}
			if slices.Sort(read); !slices.Equal(read, []string{"armssd[42]", "bsdnn[30]"}) {
				t.Fatalf("read %v", read)
			}
		}
	})
}

// checkVersions pushes versions of a few samples. tick moves the clock.
func checkVersions(t *testing.T, db *store.DB, rt *rapid.T, tick func()) {
	kinds := []struct{ resource, kind, extra string }{
		{"glucose", "", ""},
		{"glucose", "manual_scan", ""},
		{"glucose", "automatic", ""},
		{"body_temperature", "", ""},
		{"body_temperature", "", "ear"},
		{"stand_hour", "idle", ""},
		{"stand_hour", "stood", ""},
	}
	f := newFixture(t, db)
	want := map[string]string{}
	for range rapid.IntRange(1, 8).Draw(rt, "pushes") {
		body := wearables.Batch{Pushed: true}
		for range rapid.IntRange(1, 5).Draw(rt, "samples") {
			k := rapid.SampledFrom(kinds).Draw(rt, "kind")
			minute, value := rapid.Int64Range(0, 2).Draw(rt, "minute"), float64(rapid.IntRange(36, 37).Draw(rt, "value"))
			at := day.UnixMicro() + minute*60_000_000
			app := rapid.SampledFrom([]string{"", "com.example"}).Draw(rt, "app")
			body.Samples = append(body.Samples, wearables.Samples{
				Resource: k.resource, Type: k.kind, Extra: k.extra, Source: wearables.Source{Type: "watch", AppID: app},
				Time: []int64{at}, End: []int64{at}, Value: []float64{value},
			})
			want[f.text([]any{k.resource, app, at})] = f.text([]any{k.kind, k.extra, value})
		}
		tick()
		f.push(body)
		tick()
		said := len(f.announcedOf())
		if r := f.push(onlyLast(body)); r.Created+r.Updated != 0 || len(f.announcedOf()) != said {
			rt.Fatalf("again it gave %+v", r.Counts)
		}
	}
	read := map[string]string{}
	for _, resource := range []string{"glucose", "body_temperature", "stand_hour"} {
		for _, g := range f.samples(resource) {
			for i, at := range g.Time {
				key := f.text([]any{resource, g.Source.AppID, at})
				if read[key] != "" {
					rt.Fatalf("%s is read twice", key)
				}
				read[key] = f.text([]any{g.Type, g.Extra, g.Value[i]})
			}
		}
	}
	if !maps.Equal(read, want) {
		rt.Fatalf("read %v\nsent %v", read, want)
	}
	last := map[string]string{}
	for _, e := range f.announcedOf() {
		last[e.key] = e.value
	}
	if stored := f.stored("glucose", "body_temperature", "stand_hour"); !maps.Equal(stored, last) {
		rt.Fatalf("stored    %v\nannounced %v", stored, last)
	}
}

// onlyLast returns a body with the last sample of each key.
func onlyLast(b wearables.Batch) wearables.Batch {
	type key struct {
		resource, app string
		at            int64
	}
	last := map[key]int{}
	for i, s := range b.Samples {
		last[key{s.Resource, s.Source.AppID, s.Time[0]}] = i
	}
	var kept []wearables.Samples
	for i, s := range b.Samples {
		if last[key{s.Resource, s.Source.AppID, s.Time[0]}] == i {
			kept = append(kept, s)
		}
	}
	b.Samples = kept
	return b
}
