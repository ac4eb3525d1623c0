package replies_test

import (
	"context"
	"testing"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/replies/repliestest"
)

// The last weighing of a day counts, in any order of the documents. Values of one moment
// are joined.
func TestLastBodyOfADayCounts(t *testing.T) {
	scale := wearables.Source{Provider: "oura", Type: "scale"}
	morning, evening := time.Date(2025, 3, 2, 6, 0, 0, 0, time.UTC), time.Date(2025, 3, 2, 22, 30, 0, 0, time.UTC)
	first, last, bone := 50.0, 55.5, 4.2
	m := replies.Maker{Kind: "invented", Title: "invented JSON", Provider: "oura"}
	m.Open = func(r *replies.Reader) replies.Reading {
		return replies.Reading{End: func(context.Context) error {
			r.Body(scale, evening, 0, replies.Body{Water: &last})
			r.Body(scale, morning, 0, replies.Body{Water: &first, Muscle: &first})
			r.Body(scale, evening, 0, replies.Body{Bone: &bone})
			r.Body(scale, evening, 7200, replies.Body{Water: &first}) // past midnight there
			r.Body(scale, evening.AddDate(1, 0, 0), 0, replies.Body{})
			return nil
		}}
	}
	g := repliestest.Gather(t, m, nil, nil)
	g.Check(t)
	if len(g.Summaries) != 2 {
		t.Fatalf("%+v", g.Summaries)
	}
	s := g.Summaries[0]
	if s.Resource != "body" || s.Key != "2025-03-02|scale|" || s.Date != civil.MustParse("2025-03-02") ||
		string(s.Body) != `{"water_percentage":55.5,"bone_mass_percentage":4.2}` {
		t.Errorf("%+v %s", s, s.Body)
	}
	if s := g.Summaries[1]; s.Key != "2025-03-03|scale|" || string(s.Body) != `{"water_percentage":50}` {
		t.Errorf("%+v %s", s, s.Body)
	}
}

// Computed values of a sleep stay within it.
func TestASleepIsNoLongerThanItsNight(t *testing.T) {
	start := time.Date(2025, 3, 1, 23, 0, 0, 0, time.UTC)
	for total, want := range map[int64]string{
		21600: `{"type":"long_sleep","duration":28800,"total":21600,"awake":7200,"efficiency":75}`,
		28801: `{"type":"long_sleep","duration":28800,"total":28801}`,
	} {
		m := replies.Maker{Kind: "invented", Title: "invented JSON", Provider: "oura"}
		m.Open = func(r *replies.Reader) replies.Reading {
			return replies.Reading{End: func(context.Context) error {
				r.Night(replies.Night{
					Source: wearables.Source{Provider: "oura", Type: "ring"}, Start: start, End: start.Add(8 * time.Hour),
					Offset: wearables.NoOffset, Sleep: replies.Sleep{Total: &total},
				})
				return nil
			}}
		}
		if g := repliestest.Gather(t, m, nil, nil); len(g.Summaries) != 1 || string(g.Summaries[0].Body) != want {
			t.Errorf("%d: %+v", total, g.Summaries)
		}
	}
}
