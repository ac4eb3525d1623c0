package ingest_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hale/internal/platform/store"
	"hale/internal/wearables"
)

// TestOrderSplitAndRepetitionDoNotMatter cuts samples of distinct keys into
// batches, mixes them and sends them again. The same rows are stored, and the
// results add up. Each sample is announced once, as created and as it is
// stored.
func TestOrderSplitAndRepetitionDoNotMatter(t *testing.T) {
	eachRapid(t, func(t *testing.T, db *store.DB, rt *rapid.T) {
		f, g := newFixture(t, db), newFixture(t, db)
		all := drawSamples(rt)
		announced := drawAnnounced(rt)
		once := announced
		once.Samples = all
		whole := f.ingest(once)
		if whole.Updated+whole.Unchanged+whole.Rejected != 0 {
			rt.Fatalf("distinct samples gave %+v", whole.Counts)
		}

		created, sent := 0, 0
		for _, batch := range drawBatches(rt, all, announced) {
			r := g.store(rt, batch)
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
		want, got := f.announcedOf(), g.announcedOf()
		if len(want) != whole.Created || !slices.Equal(sortedTexts(got), sortedTexts(want)) {
			rt.Fatalf("announced of %d:\ngot  %v\nwant %v", whole.Created, sortedTexts(got), sortedTexts(want))
		}
		for _, e := range slices.Concat(want, got) {
			if e.verb != "created" {
				rt.Fatalf("announced as %+v", e)
			}
		}
	})
}

// TestRevisionsAreAnnouncedAsTheyAreStored sends keys again with other values,
// in any batches. The first event of a key announces it as created, and no other
// event does. An update announces only new values. The last event of a key has
// the stored value. The same batch again emits no event.
func TestRevisionsAreAnnouncedAsTheyAreStored(t *testing.T) {
	eachRapid(t, func(t *testing.T, db *store.DB, rt *rapid.T) {
		f := newFixture(t, db)
		announced := drawAnnounced(rt)
		for range rapid.IntRange(1, 12).Draw(rt, "batches") {
			batch := announced
			for range rapid.IntRange(1, 4).Draw(rt, "pieces") {
				batch.Samples = append(batch.Samples, drawRevision(rt))
			}
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
		stored := f.stored("heartrate", "steps", "blood_pressure")
		if !maps.Equal(stored, last) {
			rt.Fatalf("stored    %v\nannounced %v", stored, last)
		}
	})
}

// drawAnnounced draws an empty batch, daily or historical, whose values each have an
// event.
func drawAnnounced(t *rapid.T) wearables.Batch {
	return rapid.SampledFrom([]wearables.Batch{{Stage: wearables.Daily}, {Stage: wearables.Historical, Push: true}}).Draw(t, "stage")
}

// drawRevision draws up to 30 samples at the five-minute marks of two hours, so that many
// have the same key.
func drawRevision(t *rapid.T) wearables.Samples {
	s := wearables.Samples{
		Resource: rapid.SampledFrom([]string{"heartrate", "steps", "blood_pressure"}).Draw(t, "resource"),
		Source:   wearables.Source{Type: rapid.SampledFrom([]string{"watch", "phone"}).Draw(t, "source")},
	}
	for range rapid.IntRange(1, 30).Draw(t, "samples") {
		at := day.UnixMicro() + rapid.Int64Range(0, 24).Draw(t, "at")*5*60_000_000
		s.Time = append(s.Time, at)
		s.Value = append(s.Value, float64(rapid.IntRange(90, 95).Draw(t, "value")))
		s.Offset = append(s.Offset, int32(rapid.IntRange(0, 1).Draw(t, "offset"))*3600)
		switch s.Resource {
		case "steps":
			s.End = append(s.End, at+int64(rapid.IntRange(1, 2).Draw(t, "minutes"))*60_000_000)
		case "blood_pressure":
			s.Value2 = append(s.Value2, float64(rapid.IntRange(60, 62).Draw(t, "diastolic")))
		}
	}
	return s
}

// describe returns the stored values, without the pointers of sources.
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
		"watch": rapid.SampledFrom([]string{"basal,,", "bolus,standard,meal"}).Draw(t, "words"),
		"phone": rapid.SampledFrom([]string{"bolus,extended,meal", ",,unknown"}).Draw(t, "words"),
	}
	for _, resource := range []string{"heartrate", "steps", "body_weight", "insulin_injection"} {
		for _, kind := range []string{"watch", "phone"} {
			s := wearables.Samples{Resource: resource, Source: wearables.Source{Type: kind}}
			if resource == "insulin_injection" { // of one source, with different words
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

// drawBatches splits samples into single ones, repeats some, shuffles them and
// distributes them over batches.
func drawBatches(t *rapid.T, all []wearables.Samples, like wearables.Batch) []wearables.Batch {
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
		b.Stage, b.Push = like.Stage, like.Push
		b.Samples = append(b.Samples, piece)
	}
	return slices.DeleteFunc(batches, func(b wearables.Batch) bool { return len(b.Samples) == 0 })
}
