package merged_test

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/ingest"
	"hale/internal/wearables/merged"
)

var testTime = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// person has wearable data.
type person struct {
	t    testing.TB
	db   *store.DB
	ctx  context.Context
	team teams.Team
	user users.User
}

func newPerson(t testing.TB, db *store.DB) person {
	p := person{t: t, db: db, team: userstest.Team(t, db)}
	p.ctx = store.WithTeam(context.Background(), p.team.ID.UUID())
	p.user = userstest.New(t, db, p.team.ID, users.NewUser{})
	return p
}

func eachPerson(t *testing.T, fn func(t *testing.T, p person)) {
	storetest.EachAt(t, func() time.Time { return testTime }, func(t *testing.T, db *store.DB) { fn(t, newPerson(t, db)) })
}

func (p person) ingest(samples ...wearables.Samples) {
	p.t.Helper()
	in := ingest.New(p.db)
	result, err := in.Ingest(p.ctx, p.user, wearables.Batch{Provider: "apple_health_kit", Stage: wearables.Historical, Samples: samples})
	if err != nil || result.Rejected > 0 {
		p.t.Fatalf("%+v, %v", result, err)
	}
}

func (p person) prefer(provider string, priority *int64) {
	p.t.Helper()
	err := p.db.Write(p.ctx, func(tx *store.Tx) error {
		return merged.SetPriorities(p.ctx, tx, p.team.ID.UUID(), []merged.Change{{DataType: "timeseries", Provider: provider, Priority: priority}})
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p person) query(resource string) merged.Query {
	r, _ := wearables.ResourceNamed(resource)
	return merged.Query{Team: p.team.ID.UUID(), User: p.user.ID.UUID(), Resource: r}
}

func (p person) read(q merged.Query, in merged.Range) (page merged.Page) {
	p.t.Helper()
	err := p.db.Read(p.ctx, func(tx *store.Tx) (err error) {
		page, err = merged.Read(p.ctx, tx, q, in)
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return page
}

func (p person) days(q merged.Query, in merged.DaysRange) (page merged.Days) {
	p.t.Helper()
	err := p.db.Read(p.ctx, func(tx *store.Tx) (err error) {
		page, err = merged.ReadDays(p.ctx, tx, q, in)
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return page
}

// steps counts one a minute, in intervals of so many minutes.
func steps(source wearables.Source, from time.Time, minutes, every int) wearables.Samples {
	s := wearables.Samples{Resource: "steps", Source: source}
	for m := 0; m < minutes; m += every {
		s.Time = append(s.Time, from.Add(time.Duration(m)*time.Minute).UnixMicro())
		s.End = append(s.End, from.Add(time.Duration(m+every)*time.Minute).UnixMicro())
		s.Value = append(s.Value, float64(every))
	}
	return s
}

func total(pieces []merged.Piece) (sum float64) {
	for _, p := range pieces {
		sum += p.Value
	}
	return sum
}

var (
	phone = wearables.Source{Type: "phone"}
	watch = wearables.Source{Type: "watch"}
	ring  = wearables.Source{Provider: "oura", Type: "ring"}
	march = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
)

func day(n int) merged.Span {
	return merged.Span{Start: march.AddDate(0, 0, n).UnixMicro(), End: march.AddDate(0, 0, n+1).UnixMicro()}
}

// A phone all day, a watch in the morning, a ring that mirrors both: the
// naive sum is 1440 + 720 + 1440.
func TestSingleNumber(t *testing.T) {
	eachPerson(t, func(t *testing.T, p person) {
		p.ingest(steps(phone, march, 1440, 60), steps(watch, march, 720, 1), steps(ring, march, 1440, 15))
		page := p.read(p.query("steps"), merged.Range{Span: day(0), Explain: true})
		if sum := total(page.Pieces); sum != 1440 || total(page.Aside) != 1440+720 {
			t.Errorf("%v steps, %v set aside", sum, total(page.Aside))
		}
		var order []string
		for _, s := range page.Sources {
			order = append(order, s.Source.Type)
		}
		if fmt.Sprint(order) != "[watch ring phone]" || len(page.Pieces) != 720+48 {
			t.Errorf("sources %v, %d pieces", order, len(page.Pieces))
		}
		if a := page.Aside[0]; order[a.Source] != "ring" || order[a.By] != "watch" {
			t.Errorf("set aside %+v", a)
		}
		if page := p.read(p.query("steps"), merged.Range{Span: day(0)}); page.Aside != nil {
			t.Error("an explanation without a request")
		}

		best := int64(3)
		p.prefer("oura", &best)
		page = p.read(p.query("steps"), merged.Range{Span: day(0)})
		if len(page.Pieces) != 96 || page.Sources[0].Provider != "oura" || len(page.Sources) != 1 || total(page.Pieces) != 1440 {
			t.Errorf("preferred: %d pieces of %v", len(page.Pieces), page.Sources)
		}
		p.prefer("oura", nil)
		q := p.query("steps")
		if again := p.read(q, merged.Range{Span: day(0)}); len(again.Pieces) != 768 {
			t.Errorf("no longer preferred: %d pieces", len(again.Pieces))
		}
		if q.Provider = "oura"; total(p.read(q, merged.Range{Span: day(0)}).Pieces) != 1440 {
			t.Error("one provider alone is not whole")
		}
		half := merged.Span{Start: day(0).Start + 90*60e6, End: day(0).Start + 100*60e6}
		if page := p.read(q, merged.Range{Span: half}); total(page.Pieces) != 10 || page.Pieces[0].Start != half.Start || len(page.Pieces) != 1 {
			t.Errorf("ten minutes of an interval of fifteen: %+v", page.Pieces)
		}
		if page := p.read(p.query("distance"), merged.Range{Span: day(0)}); len(page.Pieces)+len(page.Sources) != 0 {
			t.Errorf("nothing was measured: %+v", page)
		}
	})
}

// Types of one resource are different quantities, those of glucose are not; a
// ride is no walk.
func TestMergeableResources(t *testing.T) {
	eachPerson(t, func(t *testing.T, p person) {
		one := func(resource, kind string, source wearables.Source, minute int, value float64) wearables.Samples {
			at := march.Add(time.Duration(minute) * time.Minute).UnixMicro()
			return wearables.Samples{Resource: resource, Type: kind, Source: source, Time: []int64{at}, End: []int64{at + 60e6}, Value: []float64{value}}
		}
		ride, wheels, pushes := watch, watch, watch
		ride.Sport, wheels.Sport, pushes.Sport = "cycling", "wheelchair_pushing", "wheelchair_push"
		p.ingest(
			one("cholesterol", "cholesterol/ldl", phone, 0, 2), one("cholesterol", "cholesterol/hdl", phone, 0, 1),
			one("glucose", "manual_scan", phone, 1, 5), one("glucose", "automatic", phone, 2, 6),
			one("distance", "", ride, 0, 900), one("distance", "", phone, 0, 50),
			one("distance", "", wheels, 10, 30), one("distance", "", pushes, 20, 7),
		)
		for resource, want := range map[string]int{"cholesterol": 2, "glucose": 1, "distance": 3} {
			page := p.read(p.query(resource), merged.Range{Span: day(0)})
			if len(page.Pieces) != want {
				t.Errorf("%s: %+v", resource, page.Pieces)
			}
		}
		page := p.read(p.query("distance"), merged.Range{Span: day(0), Explain: true})
		if len(page.Pieces) != 3 || len(page.Aside) != 1 || page.Aside[0].Value != 900 || page.Sources[page.Aside[0].Source].Sport != "cycling" {
			t.Errorf("explained: %+v, aside %+v", page.Pieces, page.Aside)
		}
		body := string(merged.AppendPage(nil, p.query("distance").Resource, &page, "", true))
		if !strings.Contains(body, `"set_aside":[{`) || strings.Count(body, `"covered_by":null`) != 1 {
			t.Errorf("on the wire: %s", body)
		}
		days := p.days(p.query("cholesterol"), merged.DaysRange{First: civil.DateOf(march), Last: civil.DateOf(march)})
		if len(days.Days) != 2 || days.Days[0].Type != "cholesterol/hdl" || days.Days[1].Level.Max != 2 {
			t.Errorf("days %+v", days.Days)
		}
		if days := p.days(p.query("distance"), merged.DaysRange{First: civil.DateOf(march), Last: civil.DateOf(march)}); days.Days[0].Total != 87 {
			t.Errorf("distance %+v", days.Days)
		}
	})
}

// Samples of one source with different words do not cover each other: a bolus is no
// part of the basal rate that it interrupts. A better source covers all words of a
// worse one. A sample that first arrived without words does not count twice.
func TestWordsOfOneSourceAreMergedTogether(t *testing.T) {
	eachPerson(t, func(t *testing.T, p person) {
		pump, pen := wearables.Source{Type: "insulin_pump"}, wearables.Source{Type: "app"}
		best := int64(9)
		p.prefer("apple_health_kit", &best)
		dose := func(source wearables.Source, extra string, minute, length int, value float64) wearables.Samples {
			at := march.Add(time.Duration(minute) * time.Minute).UnixMicro()
			return wearables.Samples{
				Resource: "insulin_injection", Extra: extra, Source: source,
				Time: []int64{at}, End: []int64{at + int64(length)*60e6}, Value: []float64{value},
			}
		}
		pen.Provider = "nightscout"
		p.ingest(
			dose(pump, "", 30, 10, 3), dose(pump, "bolus,standard,meal", 30, 10, 3), dose(pump, "bolus,extended,meal", 30, 10, 2),
			dose(pump, "basal,,", 0, 60, 1), dose(pump, "", 90, 0, 4), dose(pen, "", 30, 10, 7), dose(pen, "bolus,,", 120, 0, 6),
		)
		page := p.read(p.query("insulin_injection"), merged.Range{Span: day(0), Explain: true})
		if total(page.Pieces) != 3+2+1+4+6 || total(page.Aside) != 7 {
			t.Errorf("%v units, %v set aside: %+v", total(page.Pieces), total(page.Aside), page)
		}
		r, _ := wearables.ResourceNamed("insulin_injection")
		text := string(merged.AppendPage(nil, r, &page, "", false))
		if want := `"type":null,"value":6,"delivery_mode":"bolus","delivery_form":null,"bolus_purpose":null,"source":`; !strings.Contains(text, want) {
			t.Errorf("%s has no %s", text, want)
		}

		heat := func(extra string, values ...float64) wearables.Samples {
			s := wearables.Samples{Resource: "body_temperature", Extra: extra, Source: watch, Value: values}
			for i := range values {
				s.Time = append(s.Time, march.Add(time.Duration(i)*time.Minute).UnixMicro())
			}
			return s
		}
		p.ingest(heat("ear", 37, 37.1), heat("wrist", 33, 33.1))
		if page := p.read(p.query("body_temperature"), merged.Range{Span: day(0)}); len(page.Pieces) != 4 {
			t.Errorf("temperatures %+v", page.Pieces)
		}
	})
}

// One step a minute gives 1380 on the day when the clocks go forward, and 1500
// when they go back. The user's zone and the samples' own offsets give the same
// result.
func TestDaysOf23And25Hours(t *testing.T) {
	berlin, err := civil.Zone("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	eachPerson(t, func(t *testing.T, p person) {
		for _, c := range []struct {
			first string
			want  [3]float64
		}{{"2026-03-28", [3]float64{1440, 1380, 1440}}, {"2026-10-24", [3]float64{1440, 1500, 1440}}} {
			first := civil.MustParse(c.first)
			from, to := first.In(berlin), first.AddDays(3).In(berlin)
			s := steps(phone, from, int(to.Sub(from)/time.Minute), 30)
			for i, at := range s.Time {
				if i%2 == 0 { // the others state no offset
					_, offset := time.UnixMicro(at).In(berlin).Zone()
					s.Offset = append(s.Offset, int32(offset))
				} else {
					s.Offset = append(s.Offset, wearables.NoOffset)
				}
			}
			p.ingest(s)
			page := p.days(p.query("steps"), merged.DaysRange{First: first, Last: first.AddDays(2), Zone: berlin})
			var got [3]float64
			for i, d := range page.Days {
				got[i%3] = d.Total
			}
			if len(page.Days) != 3 || got != c.want {
				t.Errorf("%s: %v, want %v", c.first, got, c.want)
			}
		}
	})
}

func TestLevelsByDay(t *testing.T) {
	eachPerson(t, func(t *testing.T, p person) {
		pressure := wearables.Samples{Resource: "blood_pressure", Source: wearables.Source{Type: "cuff"}}
		for i, v := range []float64{120, 130, 140} {
			pressure.Time = append(pressure.Time, march.Add(time.Duration(i)*12*time.Hour).UnixMicro())
			pressure.Value, pressure.Value2 = append(pressure.Value, v), append(pressure.Value2, v-50)
			pressure.Offset = append(pressure.Offset, -3600)
		}
		p.ingest(pressure)
		page := p.days(p.query("blood_pressure"), merged.DaysRange{First: civil.DateOf(march).AddDays(-1), Last: civil.DateOf(march)})
		if len(page.Days) != 2 || page.Days[0].Date.String() != "2026-02-28" {
			t.Fatalf("%+v", page.Days)
		}
		if d := page.Days[1]; d.Count != 2 || d.Level.Min != 130 || d.Mean() != 135 || d.Level2.Max != 90 || d.Mean2() != 85 {
			t.Errorf("%+v", d)
		}
	})
}

// Seconds of one source beside days of another, each from the next second on:
// that is a piece for each pair of them. Such a line is refused, on each way to
// it.
func TestTooManyPiecesAreRefused(t *testing.T) {
	eachPerson(t, func(t *testing.T, p person) {
		seconds, days := wearables.Samples{Resource: "steps", Source: watch}, wearables.Samples{Resource: "steps", Source: phone}
		for i := range int64(2500) {
			at := march.UnixMicro() + i*2e6
			for s, length := range map[*wearables.Samples]int64{&seconds: 1e6, &days: 68_400e6} {
				s.Time, s.End, s.Value = append(s.Time, at), append(s.End, at+length), append(s.Value, 1)
			}
		}
		p.ingest(seconds, days)
		for _, explain := range []bool{false, true} {
			err := p.db.Read(p.ctx, func(tx *store.Tx) error {
				page, err := merged.Read(p.ctx, tx, p.query("steps"), merged.Range{Span: day(0), Explain: explain})
				if err == nil {
					t.Errorf("%d pieces", len(page.Pieces)+len(page.Aside))
				}
				return err
			})
			if !fault.Is(err, fault.Unprocessable) {
				t.Errorf("explain %v: %v", explain, err)
			}
		}
		err := p.db.Read(p.ctx, func(tx *store.Tx) error {
			_, err := merged.ReadDays(p.ctx, tx, p.query("steps"), merged.DaysRange{First: civil.DateOf(march), Last: civil.DateOf(march)})
			return err
		})
		if !fault.Is(err, fault.Unprocessable) {
			t.Errorf("by day: %v", err)
		}
		if q := p.query("steps"); len(p.read(q, merged.Range{Span: day(-3)}).Pieces) != 0 {
			t.Error("pieces of days before")
		}
	})
}

// The day of a sample is found for any stated offset.
func TestDaysOfFarOffsets(t *testing.T) {
	eachPerson(t, func(t *testing.T, p person) {
		for _, hours := range []int{-26, 26} {
			s := steps(phone, march.AddDate(0, 0, hours).Add(time.Hour), 60, 60)
			s.Offset = []int32{int32(hours * 3600)}
			p.ingest(s)
			on := civil.DateOf(time.UnixMicro(s.Time[0]).UTC().Add(time.Duration(hours) * time.Hour))
			if page := p.days(p.query("steps"), merged.DaysRange{First: on, Last: on}); len(page.Days) != 1 || page.Days[0].Total != 60 {
				t.Errorf("%d hours east: %+v", hours, page.Days)
			}
		}
	})
}

// Years without data are skipped, and a page of days continues after them.
func TestPagesOfDays(t *testing.T) {
	eachPerson(t, func(t *testing.T, p person) {
		for _, year := range []int{2005, 2025, 2026} {
			p.ingest(steps(phone, time.Date(year, 3, 1, 12, 0, 0, 0, time.UTC), 60, 60))
		}
		in := merged.DaysRange{First: civil.MustParse("0001-01-01"), Last: civil.MustParse("9999-12-31")}
		var got []string
		for range 10 {
			page := p.days(p.query("steps"), in)
			for _, d := range page.Days {
				got = append(got, fmt.Sprint(d.Date, " ", d.Total))
			}
			if page.Next == nil {
				break
			}
			in.First = *page.Next
		}
		if fmt.Sprint(got) != "[2005-03-01 60 2025-03-01 60 2026-03-01 60]" {
			t.Errorf("%v", got)
		}
	})
}

// The test stores the samples of several sources in several orders of batches.
// The merged line is always the same, and its pages join to the same line. Days
// that are aligned with a range have its sum.
func TestLineHasNoOverlap(t *testing.T) {
	db := storetest.NewSQLite(t).Open(t, func() time.Time { return testTime })
	rapid.Check(t, func(rt *rapid.T) {
		p := newPerson(t, db)
		resource := rapid.SampledFrom([]string{"steps", "heartrate"}).Draw(rt, "resource")
		parts := drawSamples(rt, resource)
		p.ingest(parts...)
		other := newPerson(t, db)
		for _, part := range rapid.Permutation(parts).Draw(rt, "order") {
			other.ingest(part)
		}
		q, days := p.query(resource), 5
		in := merged.Range{Span: merged.Span{Start: day(0).Start, End: day(days - 1).End}, Explain: true}
		whole, again := p.read(q, in), other.read(other.query(resource), in)
		if !reflect.DeepEqual(whole, again) {
			rt.Fatalf("one order\n%v\nthe other\n%v", whole, again)
		}
		paged := in
		paged.Most = rapid.IntRange(1, 6).Draw(rt, "page")
		var pieces, aside []string
		for {
			page := p.read(q, paged)
			pieces, aside = append(pieces, describePieces(page, page.Pieces)...), append(aside, describePieces(page, page.Aside)...)
			if paged.After = page.Next; page.Next == nil {
				break
			}
		}
		if fmt.Sprint(pieces, aside) != fmt.Sprint(describePieces(whole, whole.Pieces), describePieces(whole, whole.Aside)) {
			rt.Fatalf("pages\n%v\n%v\nwhole\n%v\n%v", pieces, aside, whole.Pieces, whole.Aside)
		}
		first := civil.DateOf(march)
		sum, count := 0.0, 0
		for _, d := range p.days(q, merged.DaysRange{First: first, Last: first.AddDays(days - 1), Most: rapid.IntRange(5, 9).Draw(rt, "days")}).Days {
			sum, count = sum+d.Total, count+d.Count
		}
		if resource == "steps" && math.Abs(sum-total(whole.Pieces)) > 1e-6 || resource == "heartrate" && count != len(whole.Pieces) {
			rt.Fatalf("days %v (%d), range %v (%d)", sum, count, total(whole.Pieces), len(whole.Pieces))
		}
	})
}

// describePieces gives pieces the type of their source in place of its position,
// which differs from page to page.
func describePieces(page merged.Page, pieces []merged.Piece) (all []string) {
	for _, p := range pieces {
		by := ""
		if p.By >= 0 {
			by = page.Sources[p.By].Source.Type
		}
		all = append(all, fmt.Sprint(p.Span, p.Value, p.Offset, page.Sources[p.Source].Source.Type, by))
	}
	return all
}

// drawSamples draws small batches of three sources over some days, from before
// the range to behind it.
func drawSamples(t *rapid.T, resource string) []wearables.Samples {
	var all []wearables.Samples
	for _, source := range []wearables.Source{phone, watch, ring} {
		at := march.Add(-30 * time.Hour).UnixMicro()
		for range rapid.IntRange(1, 6).Draw(t, "batches") {
			s := wearables.Samples{Resource: resource, Source: source}
			at += rapid.Int64Range(0, 30*3600).Draw(t, "pause") * 1e6
			if rapid.Bool().Draw(t, "late") { // most mistakes happen around midnight
				at = max(at, (at/86_400e6+1)*86_400e6-rapid.Int64Range(0, 3*3600).Draw(t, "before midnight")*1e6)
			}
			step := rapid.SampledFrom([]int64{60, 300, 7200}).Draw(t, "step") * 1e6
			for range rapid.IntRange(1, 12).Draw(t, "samples") {
				at += rapid.Int64Range(1, 2*step).Draw(t, "gap")
				s.Time = append(s.Time, at)
				if resource == "steps" {
					s.End = append(s.End, at+rapid.SampledFrom([]int64{0, step, 3 * step}).Draw(t, "length"))
				}
				s.Value = append(s.Value, float64(rapid.IntRange(30, 99).Draw(t, "value")))
			}
			all = append(all, s)
		}
	}
	return all
}

// Times that a clock showed stay on the day that they name, wherever the
// person is said to live.
func TestFloatingTimesStayOnTheirDay(t *testing.T) {
	eachPerson(t, func(t *testing.T, p person) {
		zone, err := civil.Zone("America/New_York")
		if err != nil {
			t.Fatal(err)
		}
		at := march.Add(2 * time.Hour).UnixMicro()
		for provider, want := range map[string]string{"abbott_libreview": "2026-03-01", "freestyle_libre": "2026-03-01", "dexcom_v3": "2026-02-28"} {
			p.ingest(wearables.Samples{Resource: "glucose", Source: wearables.Source{Provider: provider}, Time: []int64{at}, Value: []float64{5}})
			q := p.query("glucose")
			q.Provider = provider
			page := p.days(q, merged.DaysRange{First: civil.MustParse("2026-02-01"), Last: civil.MustParse("2026-03-31"), Zone: zone})
			if len(page.Days) != 1 || page.Days[0].Date.String() != want {
				t.Errorf("%s: %+v, want %s", provider, page.Days, want)
			}
		}
	})
}
