package query

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func parseTime(t *testing.T, text string) int64 {
	t.Helper()
	us, ok := parseFloating(text)
	if !ok {
		t.Fatalf("no time: %s", text)
	}
	return us
}

func TestPeriodsOfTheCalendar(t *testing.T) {
	for _, c := range []struct {
		p               Period
		at, begin, next string
	}{
		{Period{1, Month}, "2024-02-29T12:00:00", "2024-02-01", "2024-03-29T12:00:00"},
		{Period{1, Month}, "2026-01-31T08:30:00", "2026-01-01", "2026-02-28T08:30:00"},
		{Period{5, Month}, "2026-03-31", "2025-11-01", "2026-08-31"},
		{Period{4, Year}, "2027-06-01", "2024-01-01", "2031-06-01"},
		{Period{2, Week}, "1969-12-31", "1969-12-29", "1970-01-14"},
		{Period{90, Minute}, "1969-12-31T23:59:00", "1969-12-31T22:30:00", "1970-01-01T01:29:00"},
	} {
		if got := c.p.Truncate(parseTime(t, c.at)); got != parseTime(t, c.begin) {
			t.Errorf("%v of %s begins %v", c.p, c.at, time.UnixMicro(got).UTC())
		}
		if got := c.p.Add(parseTime(t, c.at), 1); got != parseTime(t, c.next) {
			t.Errorf("%v after %s is %v", c.p, c.at, time.UnixMicro(got).UTC())
		}
	}
}

// The bucket of a moment contains the moment. Truncating its start gives the start again,
// and the next bucket begins at its end.
func TestBucketsAreAdjacent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Period{rapid.IntRange(1, 40).Draw(t, "value"), Unit(rapid.SampledFrom(Units()).Draw(t, "unit"))}
		us := rapid.Int64Range(FirstMoment+40*400*dayUS, EndOfTime-40*400*dayUS).Draw(t, "moment")
		begin := p.Truncate(us)
		end := p.Add(begin, 1)
		if us < begin || us >= end || p.Truncate(begin) != begin || p.Truncate(end-1) != begin || p.Truncate(end) != end {
			t.Fatalf("%v of %d is from %d to %d", p, us, begin, end)
		}
	})
}

func TestTimeframesEndWithTheirAnchor(t *testing.T) {
	for _, c := range []struct {
		past     Period
		from, to string
	}{
		{Period{1, Day}, "2026-03-31", "2026-04-01"},
		{Period{7, Day}, "2026-03-25", "2026-04-01"},
		{Period{1, Month}, "2026-03-01", "2026-04-01"},
		{Period{6, Hour}, "2026-03-31T18:00:00", "2026-04-01"},
		{Period{9999, Year}, "0001-01-01", "2026-04-01"},
	} {
		d := Timeframe{Past: c.past}
		if err := d.Anchor.UnmarshalText([]byte("2026-03-31")); err != nil {
			t.Fatal(err)
		}
		if from, to := d.Bounds(); from != parseTime(t, c.from) || to != parseTime(t, c.to) {
			t.Errorf("%v is from %v to %v", c.past, time.UnixMicro(from).UTC(), time.UnixMicro(to).UTC())
		}
	}
}
