package ingest_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"

	"pgregory.net/rapid"
)

// The test cuts days into batches, mixes them and sends them again, also after
// a change of the fallback zone. Each day is stored once and announced once, as
// created. The events and the stored days have the same values as after one batch
// of all days.
func TestOrderSplitAndRepetitionOfSummariesDoNotMatter(t *testing.T) {
	eachRapid(t, func(t *testing.T, db *store.DB, rt *rapid.T) {
		all := drawDays(rt)
		f, g := newFixture(t, db).livesIn("Europe/Berlin"), newFixture(t, db).livesIn("Europe/Berlin")
		if whole := f.ingest(wearables.Batch{Summaries: all}); whole.Created != len(all) {
			rt.Fatalf("%d distinct days gave %+v", len(all), whole.Counts)
		}

		created := 0
		for _, at := range rapid.SliceOfN(rapid.IntRange(0, len(all)-1), 0, 3*len(all)).Draw(rt, "order") {
			n := min(rapid.IntRange(1, 3).Draw(rt, "size"), len(all)-at)
			r := g.store(rt, wearables.Batch{Summaries: all[at : at+n]})
			if created += r.Created; r.Updated+r.Rejected != 0 {
				rt.Fatalf("a batch gave %+v", r.Counts)
			}
		}
		created += g.store(rt, wearables.Batch{Summaries: all}).Created
		g = g.livesIn("Asia/Tokyo")
		again := slices.Clone(all)
		slices.Reverse(again)
		if r := g.store(rt, wearables.Batch{Summaries: again}); r.Unchanged != len(all) || created != len(all) {
			rt.Fatalf("%d were created of %d, and at last %+v", created, len(all), r.Counts)
		}
		if got, want := g.bodies(), f.bodies(); !slices.Equal(got, want) {
			rt.Fatalf("in pieces\n%q\nat once\n%q", got, want)
		}
		if got, want := g.announcedOf(), f.announcedOf(); len(want) != len(all) || !slices.Equal(sortedTexts(got), sortedTexts(want)) {
			rt.Fatalf("announced in pieces\n%v\nat once\n%v", sortedTexts(got), sortedTexts(want))
		}
	})
}

// Days are sent repeatedly with other values. The first event of a day is created, and
// each change causes an updated event. The last event has the stored values. A repeated
// batch emits no event.
func TestRevisionsOfDaysAreAnnouncedAsTheyAreStored(t *testing.T) {
	eachRapid(t, func(t *testing.T, db *store.DB, rt *rapid.T) {
		f := newFixture(t, db).livesIn("Europe/Berlin")
		for range rapid.IntRange(1, 6).Draw(rt, "batches") {
			batch := wearables.Batch{Summaries: slices.Concat(drawDays(rt), drawDays(rt))}
			f.store(rt, batch)
			if rapid.Bool().Draw(rt, "more") { // before the first reader
				continue
			}
			said := len(f.announcedOf())
			if r := f.store(rt, batch); r.Created+r.Updated != 0 || len(f.announcedOf()) != said {
				rt.Fatalf("again it gave %+v and announced %v", r.Counts, f.announcedOf()[said:])
			}
		}
		last := map[string]string{}
		for _, e := range f.announcedOf() {
			was, known := last[e.key]
			if known == (e.verb == "created") || was == e.value {
				rt.Fatalf("%+v after %q", e, was)
			}
			last[e.key] = e.value
		}
		if stored := f.days(); !maps.Equal(stored, last) {
			rt.Fatalf("stored    %v\nannounced %v", stored, last)
		}
	})
}

func drawDays(t *rapid.T) []wearables.Summary {
	n := rapid.IntRange(1, 12).Draw(t, "days")
	all := make([]wearables.Summary, n)
	for i := range all {
		body := fmt.Sprintf(`{"steps":%d,"distance":null}`, rapid.IntRange(0, 50_000).Draw(t, "steps"))
		if rapid.Bool().Draw(t, "stated") {
			body = `{"steps":7,"timezone_offset":-18000}`
		}
		date := civil.DateOf(day).AddDays(i)
		all[i] = wearables.Summary{Resource: "activity", Key: date.String(), Date: date, Body: []byte(body)}
	}
	return all
}

// bodies returns the stored bodies of the days, in order of date.
func (f fixture) bodies() (all []string) {
	f.t.Helper()
	if err := f.db.Read(f.ctx, func(tx *store.Tx) error {
		stored, err := storage.ListSummaries(f.ctx, tx, f.user.Team.UUID(), f.user.ID.UUID(), storage.SummaryQuery{Resource: "activity"})
		all = nil
		for i := range stored {
			all = append(all, string(stored[i].Body))
		}
		return err
	}); err != nil {
		f.t.Fatal(err)
	}
	return all
}
