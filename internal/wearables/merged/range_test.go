package merged_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/merged"
)

// A range to an instant has the samples of that instant. It has nothing of an
// interval that begins at the instant. Adjacent ranges together have all of an
// interval.
func TestARangeToAnInstant(t *testing.T) {
	eachPerson(t, func(t *testing.T, p person) {
		glass := wearables.Samples{Resource: "water", Source: phone, Value: []float64{200, 300}}
		beats := wearables.Samples{Resource: "heartrate", Source: watch, Value: []float64{60, 61}}
		for _, minute := range []time.Duration{0, 10} {
			at := march.Add(minute * time.Minute).UnixMicro()
			glass.Time, beats.Time = append(glass.Time, at), append(beats.Time, at)
		}
		p.ingest(steps(watch, march, 20, 10), steps(ring, march, 20, 4), glass, beats)
		at := func(minutes int64) int64 { return day(0).Start + minutes*60e6 }
		to := func(from, end int64) merged.Range {
			return merged.Range{Span: merged.Span{Start: at(from), End: at(end)}, Through: true, Explain: true}
		}
		for name, c := range map[string]struct {
			resource          string
			in                merged.Range
			pieces            int
			total, asideTotal float64
		}{
			"intervals to a boundary":       {"steps", to(0, 10), 1, 10, 10},
			"intervals from a boundary":     {"steps", to(10, 20), 1, 10, 10},
			"intervals to within":           {"steps", to(0, 13), 2, 13, 13},
			"the instant itself":            {"steps", to(10, 10), 0, 0, 0},
			"an instant within an interval": {"steps", to(13, 13), 0, 0, 0},
			"a moment at the instant":       {"water", to(0, 10), 2, 500, 0},
			"a moment alone":                {"water", to(10, 10), 1, 300, 0},
			"a level at the instant":        {"heartrate", to(0, 10), 2, 121, 0},
			"a level behind the instant":    {"heartrate", to(0, 9), 1, 60, 0},
		} {
			page := p.read(p.query(c.resource), c.in)
			if len(page.Pieces) != c.pieces || total(page.Pieces) != c.total || math.Abs(total(page.Aside)-c.asideTotal) > 1e-9 {
				t.Errorf("%s: %+v, aside %v", name, page.Pieces, total(page.Aside))
			}
		}
	})
}

// If a zone skips a day, the amounts around that day count on the days that
// exist.
func TestASkippedDay(t *testing.T) {
	apia, err := civil.Zone("Pacific/Apia")
	if err != nil {
		t.Fatal(err)
	}
	eachPerson(t, func(t *testing.T, p person) {
		p.ingest(steps(watch, time.Date(2011, 12, 29, 22, 0, 0, 0, apia), 240, 60)) // to 02:00 on the 31st
		page := p.days(p.query("steps"), merged.DaysRange{First: civil.MustParse("2011-12-28"), Last: civil.MustParse("2012-01-01"), Zone: apia})
		got := ""
		for _, d := range page.Days {
			got += fmt.Sprint(d.Date, " ", d.Total, ";")
		}
		if got != "2011-12-29 120;2011-12-31 120;" {
			t.Errorf("days %s", got)
		}
	})
}
