package wearables_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hale/internal/civil"
	"hale/internal/store"
	"hale/internal/store/storetest"
	"hale/internal/users"
	"hale/internal/users/userstest"
	"hale/internal/wearables"
)

// However days are cut into batches, mixed and sent again, also after the
// fallback zone was moved: each is stored once, announced once as created, and
// says in the end what it says when all come at once.
func TestOrderSplitAndRepetitionOfSummariesDoNotMatter(t *testing.T) {
	db := storetest.NewSQLite(t).Open(t, clock)
	team := userstest.Team(t, db)
	ctx := store.WithTeam(context.Background(), team.ID.UUID())
	rapid.Check(t, func(rt *rapid.T) {
		all := drawDays(rt)
		person := func() fixture {
			user := userstest.New(t, db, team.ID, users.NewUser{})
			return fixture{t: t, db: db, in: &wearables.Ingester{DB: db}, ctx: ctx, user: user}.zoned("Europe/Berlin")
		}
		f, g := person(), person()
		if whole := f.ingest(wearables.Batch{Summaries: all}); whole.Created != len(all) {
			rt.Fatalf("%d distinct days gave %+v", len(all), whole.Counts)
		}

		created := 0
		for _, at := range rapid.SliceOfN(rapid.IntRange(0, len(all)-1), 0, 3*len(all)).Draw(rt, "order") {
			n := min(rapid.IntRange(1, 3).Draw(rt, "size"), len(all)-at)
			r := g.ingest(wearables.Batch{Summaries: all[at : at+n]})
			if created += r.Created; r.Updated+r.Rejected != 0 {
				rt.Fatalf("a batch gave %+v", r.Counts)
			}
		}
		created += g.ingest(wearables.Batch{Summaries: all}).Created
		g = g.zoned("Asia/Tokyo")
		again := slices.Clone(all)
		slices.Reverse(again)
		if r := g.ingest(wearables.Batch{Summaries: again}); r.Unchanged != len(all) || created != len(all) {
			rt.Fatalf("%d were created of %d, and at last %+v", created, len(all), r.Counts)
		}
		if got, want := g.bodies(), f.bodies(); !slices.Equal(got, want) {
			rt.Fatalf("in pieces\n%q\nat once\n%q", got, want)
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
		stored, err := wearables.ListSummaries(f.ctx, tx, f.user.Team.UUID(), f.user.ID.UUID(), wearables.SummaryQuery{Resource: "activity"})
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
