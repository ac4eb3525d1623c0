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

// However days are cut into batches, mixed and sent again, also after the
// fallback zone was moved: each is stored once, announced once, as created, and
// says there and in the end what it says when all come at once.
func TestOrderSplitAndRepetitionOfSummariesDoNotMatter(t *testing.T) {
	eachRapid(t, func(t *testing.T, db *store.DB, rt *rapid.T) {
		all := drawDays(rt)
		f, g := person(t, db).livesIn("Europe/Berlin"), person(t, db).livesIn("Europe/Berlin")
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

// Days that come again with other values are announced as created once and
// first, as updated with each change, and last as they are stored. The same
// again says nothing.
func TestRevisionsOfDaysAreAnnouncedAsTheyAreStored(t *testing.T) {
	eachRapid(t, func(t *testing.T, db *store.DB, rt *rapid.T) {
		f := person(t, db).livesIn("Europe/Berlin")
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

// bodies are the stored days, by date.
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
