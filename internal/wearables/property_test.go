package wearables_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hale/internal/store"
	"hale/internal/store/storetest"
	"hale/internal/users"
	"hale/internal/users/userstest"
	"hale/internal/wearables"
)

// TestOrderSplitAndRepetitionDoNotMatter: however samples of distinct keys are
// cut into batches, mixed and sent again, the same rows are stored, the results
// add up, and each sample is announced as created exactly once.
func TestOrderSplitAndRepetitionDoNotMatter(t *testing.T) {
	db := storetest.NewSQLite(t).Open(t, clock)
	team := userstest.Team(t, db)
	ctx := store.WithTeam(context.Background(), team.ID.UUID())
	rapid.Check(t, func(rt *rapid.T) {
		f := fixture{t: t, db: db, in: &wearables.Ingester{DB: db}, ctx: ctx, user: userstest.New(t, db, team.ID, users.NewUser{})}
		g := f
		g.user = userstest.New(t, db, team.ID, users.NewUser{})

		all := drawSamples(rt)
		whole := f.ingest(wearables.Batch{Stage: wearables.Historical, Samples: all})
		if whole.Updated+whole.Unchanged+whole.Rejected != 0 {
			rt.Fatalf("distinct samples gave %+v", whole.Counts)
		}

		created, sent := 0, 0
		for _, batch := range drawBatches(rt, all) {
			r := g.ingest(batch)
			created += r.Created
			sent += r.Created + r.Unchanged
			if r.Updated+r.Rejected != 0 {
				rt.Fatalf("a part gave %+v", r.Counts)
			}
		}
		if created != whole.Created {
			rt.Fatalf("%d created in parts, %d at once", created, whole.Created)
		}
		if sent < created {
			rt.Fatalf("%d of %d samples are accounted for", sent, created)
		}
		for _, resource := range []string{"heartrate", "steps", "body_weight", "insulin_injection"} {
			want, got := f.samples(resource), g.samples(resource)
			if fmt.Sprint(describe(got)) != fmt.Sprint(describe(want)) {
				rt.Fatalf("%s:\ngot  %v\nwant %v", resource, describe(got), describe(want))
			}
		}
	})
}

// describe is what was stored, without the pointers of sources.
func describe(groups []wearables.Samples) []string {
	var all []string
	for _, g := range groups {
		all = append(all, fmt.Sprint(g.Source.Type, g.Source.AppID, g.Extra, g.Time, g.End, g.Offset, g.Value))
	}
	return all
}

func drawSamples(t *rapid.T) []wearables.Samples {
	var all []wearables.Samples
	words := map[string]string{
		"watch": rapid.SampledFrom([]string{"", "bolus,standard,meal"}).Draw(t, "words"),
		"phone": rapid.SampledFrom([]string{"bolus,extended,meal", ",,unknown"}).Draw(t, "words"),
	}
	for _, resource := range []string{"heartrate", "steps", "body_weight", "insulin_injection"} {
		for _, kind := range []string{"watch", "phone"} {
			s := wearables.Samples{Resource: resource, Source: wearables.Source{Type: kind}}
			if resource == "insulin_injection" { // of one source, told apart by their words
				s.Source.Type, s.Extra = "insulin_pump", words[kind]
			}
			// Four days, so that blocks of a day have neighbours.
			minutes := rapid.SliceOfNDistinct(rapid.Int64Range(0, 4*1440), 1, 60, rapid.ID[int64]).Draw(t, "minutes")
			for _, m := range minutes {
				at := day.UnixMicro() + m*60_000_000
				s.Time = append(s.Time, at)
				s.Value = append(s.Value, float64(40+m%60))
				s.Offset = append(s.Offset, int32(m%3)*3600)
				if resource == "steps" || resource == "insulin_injection" {
					s.End = append(s.End, at+60_000_000)
				}
			}
			all = append(all, s)
		}
	}
	return all
}

// drawBatches cuts samples into single pieces, repeats some, shuffles them and
// deals them out to batches.
func drawBatches(t *rapid.T, all []wearables.Samples) []wearables.Batch {
	var pieces []wearables.Samples
	for _, s := range all {
		for i := 0; i < s.Len(); {
			n := min(rapid.IntRange(1, 20).Draw(t, "piece"), s.Len()-i)
			piece := s
			piece.Time, piece.Value, piece.Offset = s.Time[i:i+n], s.Value[i:i+n], s.Offset[i:i+n]
			if s.End != nil {
				piece.End = s.End[i : i+n]
			}
			i += n
			pieces = append(pieces, piece)
			if rapid.Bool().Draw(t, "twice") {
				pieces = append(pieces, piece)
			}
		}
	}
	pieces = rapid.Permutation(pieces).Draw(t, "order")
	batches := make([]wearables.Batch, rapid.IntRange(1, 8).Draw(t, "batches"))
	for i, piece := range pieces {
		b := &batches[i%len(batches)]
		b.Stage = wearables.Historical
		b.Samples = append(b.Samples, piece)
	}
	return slices.DeleteFunc(batches, func(b wearables.Batch) bool { return len(b.Samples) == 0 })
}
