package reports_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"hale/internal/labs/critical"
	"hale/internal/labs/reports"
	"hale/internal/labs/reports/extract"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// notices returns the team's critical notices, newest first.
func (b *fixture) notices() (all []critical.Notice) {
	b.t.Helper()
	userstest.Read(b.t, b.db, func(ctx context.Context, tx *store.Tx) (err error) {
		all, err = critical.List(ctx, tx, b.team.ID, critical.Filter{Limit: 10})
		return err
	})
	return all
}

// setGlucose returns a change of the report of function glucose.
func setGlucose(text string, number float64, collected string) func(r *extract.Result) {
	return func(r *extract.Result) {
		r.Rows[0].Value, r.Rows[0].Number = text, &number
		r.Metadata.CollectedDate, r.Metadata.CollectedText = collected, collected
	}
}

// A critical value of a report that waits for review raises a notice too, and the
// decision closes it. Values of past years raise none.
func TestCriticalValueRaisesANotice(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		today := time.Now().UTC().Format(time.DateOnly)
		for first, change := range map[byte]func(r *extract.Result){
			'c': setGlucose("512", 512, today), 'f': setGlucose("93", 93, today), 'o': setGlucose("512", 512, "2020-03-04"),
		} {
			b.reader.outcomes[first] = func() (extract.Result, error) { return glucose("", change), nil }
		}
		b.start()
		old := b.wait(b.upload(b.team.ID, b.user, 'o', false))
		if old.Worst != "critical" || len(b.notices()) != 0 {
			t.Errorf("an old report is %q with %d notices", old.Worst, len(b.notices()))
		}
		j := b.wait(b.upload(b.team.ID, b.user, 'c', true))
		raised := b.notices()
		if j.Status != reports.PendingReview || len(raised) != 1 || raised[0].Report == nil || *raised[0].Report != j.ID.UUID() || *raised[0].User != b.user.ID || raised[0].State != critical.Open {
			t.Fatalf("%s with %+v", j.Status, raised)
		}
		if _, err := b.decide(j, reports.Review{Decision: reports.Accept, Reviewer: "Jo"}); err != nil {
			t.Fatal(err)
		}
		if now := b.notices(); len(now) != 1 || now[0].State != critical.Open {
			t.Errorf("after the same value was accepted: %+v", now)
		}
		row, value, higher := 0, "52.0", "513"
		now, err := b.decide(j, reports.Review{Decision: reports.Accept, Reviewer: "Jo", Revision: 2, Corrections: []reports.Correction{{Row: &row, Value: &value}}})
		if err != nil || now.Worst != "abnormal" {
			t.Fatal(now.Worst, err)
		}
		if now := b.notices(); len(now) != 1 || now[0].State != critical.Closed {
			t.Errorf("after the correction: %+v", now)
		}
		if _, err := b.decide(j, reports.Review{Decision: reports.Accept, Reviewer: "Jo", Revision: 3, Corrections: []reports.Correction{{Row: &row, Value: &higher}}}); err != nil {
			t.Fatal(err)
		}
		if now := b.notices(); len(now) != 2 || now[0].State != critical.Open {
			t.Errorf("after a new critical value: %+v", now)
		}
		if _, err := b.decide(j, reports.Review{Decision: reports.Reject, Reviewer: "Jo", Revision: 4}); err != nil {
			t.Fatal(err)
		}
		if now := b.notices(); now[0].State != critical.Closed {
			t.Errorf("after the rejection: %+v", now)
		}
	})
}

// Reports of one collection that differ wait, without a specimen number too. Other
// times and other numbers are other samples.
func TestContradictionWithoutANumberWaits(t *testing.T) {
	b := newFixture(t, storetest.SQLite(t))
	at := func(specimen, clock, text string, number float64) func() (extract.Result, error) {
		return func() (extract.Result, error) {
			return glucose(specimen, setGlucose(text, number, "2026-03-04"), func(r *extract.Result) { r.Metadata.CollectedText = "03/04/2026 " + clock }), nil
		}
	}
	b.reader.outcomes['a'] = at("", "08:15", "91", 91)
	b.reader.outcomes['b'] = at("", "11:40", "120", 120)
	b.reader.outcomes['c'] = at("", "08:15", "191", 191)
	b.reader.outcomes['d'] = at("S-2", "", "88", 88)
	b.start()
	for _, one := range []struct {
		first byte
		want  reports.Status
	}{{'a', reports.Completed}, {'b', reports.Completed}, {'c', reports.PendingReview}, {'d', reports.PendingReview}} {
		if now := b.wait(b.upload(b.team.ID, b.user, one.first, false)); now.Status != one.want {
			t.Errorf("%c: %s %v", one.first, now.Status, now.Reasons)
		}
	}
}

// A sample of the future, or a report older than its sample, is misread.
func TestImpossibleDatesWait(t *testing.T) {
	b := newFixture(t, storetest.SQLite(t))
	for first, dates := range map[byte][2]string{'a': {"2026-03-04", "2026-03-03"}, 'b': {"2126-03-04", ""}, 'c': {"", "2126-03-04"}} {
		b.reader.outcomes[first] = func() (extract.Result, error) {
			return glucose("", func(r *extract.Result) { r.Metadata.CollectedDate, r.Metadata.ReportedDate = dates[0], dates[1] }), nil
		}
	}
	b.start()
	for _, first := range []byte("abc") {
		if now := b.wait(b.upload(b.team.ID, b.user, first, false)); now.Status != reports.PendingReview || !slices.Contains(now.Reasons, reports.DatesImplausible) {
			t.Errorf("%c: %s %v", first, now.Status, now.Reasons)
		}
	}
}

// The list has numbers without separators, and no day of collection that the report does
// not state.
func TestNumbersOfAllResults(t *testing.T) {
	b := newFixture(t, storetest.SQLite(t))
	b.reader.outcomes['a'] = func() (extract.Result, error) {
		return glucose("", setGlucose("1,148", 1148, ""), func(r *extract.Result) { r.Metadata.ReportedDate = "2026-03-05" }), nil
	}
	b.start()
	b.wait(b.upload(b.team.ID, b.user, 'a', false))
	h := b.history()
	docs := h.Documents()
	if len(docs) != 1 || docs[0].Result != "1,148" || docs[0].Number == nil || *docs[0].Number != 1148 || docs[0].Comparator != nil || docs[0].CollectedOn != nil {
		t.Errorf("the list is %+v", docs)
	}
}

// Limits of the catalogue apply in the unit of the report.
func TestCriticalInOtherUnits(t *testing.T) {
	b := newFixture(t, storetest.SQLite(t))
	today := time.Now().UTC().Format(time.DateOnly)
	of := func(code, unit, text string, number float64) func() (extract.Result, error) {
		return func() (extract.Result, error) {
			return glucose("", setGlucose(text, number, today), func(r *extract.Result) {
				r.Rows[0].Unit, r.Rows[0].UCUM, r.Rows[0].Range = unit, unit, extract.Range{}
				r.Rows[0].Matches = []extract.Match{{Code: code, Confidence: 1}}
			}), nil
		}
	}
	b.reader.outcomes['a'] = of("14749-6", "mmol/L", "38.2", 38.2)
	b.reader.outcomes['b'] = of("718-7", "g/L", "49", 49)
	b.reader.outcomes['c'] = of("14749-6", "mmol/L", "5.1", 5.1)
	b.reader.outcomes['d'] = of("718-7", "g/L", "139", 139)
	b.reader.outcomes['e'] = of("2000-8", "meq/L", "4.6", 4.6) // 9.2 mg/dL of calcium
	b.reader.outcomes['f'] = of("2951-2", "meq/L", "112", 112)
	b.start()
	for first, isCritical := range map[byte]bool{'a': true, 'b': true, 'c': false, 'd': false, 'e': false, 'f': true} {
		if j := b.wait(b.upload(b.team.ID, b.user, first, false)); (j.Worst == "critical") != isCritical {
			t.Errorf("%c is %s", first, j.Worst)
		}
	}
}

// A second critical sample of a day raises its own notice: other numbers or times are
// another sample.
func TestASecondCriticalSampleOfADay(t *testing.T) {
	b := newFixture(t, storetest.SQLite(t))
	today := time.Now().UTC().Format(time.DateOnly)
	at := func(specimen, clock string) func() (extract.Result, error) {
		return func() (extract.Result, error) {
			return glucose(specimen, setGlucose("512", 512, today), func(r *extract.Result) { r.Metadata.CollectedText = today + " " + clock }), nil
		}
	}
	b.reader.outcomes['a'] = at("YY-1", "08:00")
	b.reader.outcomes['b'] = at("YY-2", "20:00")
	b.reader.outcomes['c'] = at("", "14:00")
	b.reader.outcomes['d'] = at("YY-2", "20:00")
	b.start()
	for i, first := range []byte("abcd") {
		j := b.wait(b.upload(b.team.ID, b.user, first, false))
		if again := first == 'd'; (j.Repeats != nil) != again || len(b.notices()) != min(i+1, 3) {
			t.Errorf("%c repeats %+v; %d notices", first, j.Repeats, len(b.notices()))
		}
	}
}

// The correction of a unit does not change the interpretation of the printed flag.
func TestACorrectedUnitKeepsACriticalFlag(t *testing.T) {
	b := newFixture(t, storetest.SQLite(t))
	b.reader.outcomes['a'] = func() (extract.Result, error) {
		return glucose("", setGlucose("512", 512, time.Now().UTC().Format(time.DateOnly)), func(r *extract.Result) {
			r.Rows[0].Flag, r.Rows[0].Interpretation = "HH", "critical"
		}), nil
	}
	b.start()
	j := b.wait(b.upload(b.team.ID, b.user, 'a', false))
	row, unit, value := 0, "U/L", "5.12"
	now, err := b.decide(j, reports.Review{Decision: reports.Accept, Reviewer: "Jo", Corrections: []reports.Correction{{Row: &row, Units: &unit}}})
	if err != nil || now.Worst != "critical" || b.notices()[0].State != critical.Open {
		t.Errorf("after the unit: %s %v %+v", now.Worst, err, b.notices())
	}
	if now, err = b.decide(j, reports.Review{Decision: reports.Accept, Reviewer: "Jo", Revision: 2, Corrections: []reports.Correction{{Row: &row, Value: &value}}}); err != nil || now.Worst == "critical" {
		t.Errorf("after the value: %s %v", now.Worst, err)
	}
}
