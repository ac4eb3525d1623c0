package merged

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// Day contains the values of a merged line on one local day.
type Day struct {
	Date civil.Date
	Type string // the samples' type word, mostly empty
	// Total is the sum of values that add up.
	Total float64
	// Level is for resources that are levels. Level2 is for diastolic pressure.
	Level, Level2 Level
	Count         int   // samples of a level
	Sources       []int // positions among the sources, best first

	used map[int]bool
}

// Level contains the minimum, the maximum and the sum of values.
type Level struct{ Min, Max, sum float64 }

func (l *Level) add(v float64, first bool) {
	if first {
		l.Min, l.Max = v, v
	}
	l.Min, l.Max, l.sum = min(l.Min, v), max(l.Max, v), l.sum+v
}

// Mean returns the mean of the day's samples.
func (d *Day) Mean() float64 { return d.Level.sum / float64(d.Count) }

// Mean2 returns the mean of the day's diastolic pressures.
func (d *Day) Mean2() float64 { return d.Level2.sum / float64(d.Count) }

// Days is one page of a line by local day. Days without data are left out.
type Days struct {
	Sources []Source
	Days    []Day
	Next    *civil.Date // first day of the next page; nil at the end
}

// DaysRange selects the days to read.
type DaysRange struct {
	First, Last civil.Date
	// Zone is the user's zone, for samples that state no offset; nil means UTC.
	Zone *time.Location
	Most int // days in a page; 0 means PageDays
}

// PageDays is the number of days in a page: a leap year.
const PageDays = 366

// largestOffset is the largest distance of a local day from the UTC day. Real offsets
// reach from -12 to +14 hours; stated ones are accepted up to 26.
const largestOffset = 26 * hourUS

// ReadDays merges one page of days. A day is local to the person: it follows the offset
// of each sample, or the zone if the sample states none. So it has 23 hours when the
// clocks go forward and 25 when they go back. A piece that crosses midnight counts for
// both days by its share of time.
func ReadDays(ctx context.Context, tx *store.Tx, q Query, in DaysRange) (Days, error) {
	r, err := q.open(ctx, tx, false)
	if err != nil {
		return Days{}, err
	}
	r.zone = in.Zone
	within := r.extent()
	if within.Start > within.End {
		return Days{}, nil
	}
	first := max(numberOf(in.First), floorDiv(within.Start-largestOffset, dayUS))
	last := min(numberOf(in.Last), floorDiv(within.End+largestOffset, dayUS))
	most := int64(in.Most)
	if most == 0 {
		most = PageDays
	}
	var page Days
	for len(page.Days) == 0 && first <= last { // years without data are passed over
		end := min(first+most-1, last)
		d := daily{reader: r, zone: in.Zone, first: first, last: end, days: map[dayKey]*Day{}}
		if err := r.walk(ctx, tx, first*dayUS-largestOffset-longestInterval, (end+1)*dayUS+largestOffset, d.add); err != nil {
			return Days{}, err
		}
		page = d.page()
		first = end + 1
	}
	if first <= last {
		next := dateOf(first)
		page.Next = &next
	}
	return page, nil
}

// LoadedSamples are the samples of one source, and when each was stored in a unit that grows with
// time.
type LoadedSamples struct {
	wearables.Samples
	Written []int64
}

// MergeDays merges loaded samples of one resource like ReadDays. The samples must reach
// from two days before the first day to a day after the last one. The result also
// contains the sources of the days, best first.
func MergeDays(resource *wearables.Resource, all []LoadedSamples, in DaysRange) Days {
	series := make([]storage.Series, 0, len(all))
	for i := range all {
		if IsDistanceSource(resource.Name, all[i].Source) {
			series = append(series, storage.Series{
				ID: int64(i), Resource: resource.Name, Source: all[i].Source, Type: all[i].Type, Extra: all[i].Extra,
			})
		}
	}
	sortBySource(series, nil)
	r := newReader(resource, series, nil)
	r.zone, r.most = in.Zone, math.MaxInt
	d := daily{reader: r, zone: in.Zone, first: numberOf(in.First), last: numberOf(in.Last), days: map[dayKey]*Day{}}
	for _, members := range r.lines {
		l := line{most: r.most}
		tracks := make([]*track, len(members))
		for n, i := range members {
			whole := &all[series[i].ID]
			tracks[n] = &track{source: i, rank: r.ranks[i], Samples: whole.Samples, written: whole.Written}
		}
		_ = r.addTracks(&l, tracks) // as many parts as there are
		l.sort()
		d.add(l)
	}
	return d.page()
}

type dayKey struct {
	number int64 // days since 1970-01-01
	kind   string
}

// daily collects pieces by local day.
type daily struct {
	*reader
	zone        *time.Location
	first, last int64
	days        map[dayKey]*Day
}

func (d *daily) add(l line) bool {
	for _, p := range l.kept {
		if d.sums {
			d.split(p)
			continue
		}
		day := d.day(d.numberOf(p), p)
		if day != nil {
			day.Level.add(p.Value, day.Count == 0)
			day.Level2.add(p.Value2, day.Count == 0)
			day.Count++
		}
	}
	return true
}

// split adds to each day its share of a piece.
func (d *daily) split(p Piece) {
	start := p.Start
	for n := d.numberOf(p); ; n++ {
		stop := min(p.End, max(start, d.begin(n+1, p)))
		share := 1.0
		if p.End > p.Start {
			share = float64(stop-start) / float64(p.length())
		}
		if share > 0 {
			if day := d.day(n, p); day != nil {
				day.Total += p.Value * share
			}
		}
		if start = stop; start >= p.End {
			return
		}
	}
}

// day returns the day that a piece counts for; nil if it is outside the requested days.
func (d *daily) day(n int64, p Piece) *Day {
	if n < d.first || n > d.last {
		return nil
	}
	key := dayKey{n, Quantity(&d.series[p.Source])}
	day := d.days[key]
	if day == nil {
		day = &Day{Date: dateOf(n), Type: key.kind, used: map[int]bool{}}
		d.days[key] = day
	}
	day.used[p.Source] = true
	return day
}

// numberOf returns the number of the local day on which a piece starts, counted from
// 1970-01-01.
func (d *daily) numberOf(p Piece) int64 {
	zone := d.zoneOf(p)
	switch {
	case p.Offset != wearables.NoOffset:
		return floorDiv(p.Start+int64(p.Offset)*secondUS, dayUS)
	case zone == nil:
		return floorDiv(p.Start, dayUS)
	}
	return numberOf(civil.DateOf(time.UnixMicro(p.Start).In(zone)))
}

// begin returns the start of a local day at the place of a piece. A zone may skip a
// day, as Samoa did when it crossed the date line; then it is the start of the next
// day.
func (d *daily) begin(n int64, p Piece) int64 {
	zone := d.zoneOf(p)
	switch {
	case p.Offset != wearables.NoOffset:
		return n*dayUS - int64(p.Offset)*secondUS
	case zone == nil:
		return n * dayUS
	}
	for ; ; n++ {
		if day := dateOf(n).In(zone); civil.DateOf(day) == dateOf(n) {
			return day.UnixMicro()
		}
	}
}

// zoneOf returns the zone for a piece without a stated offset. It returns nil if there is
// no zone, and for providers whose times are wall-clock times.
func (d *daily) zoneOf(p Piece) *time.Location {
	if d.zone == nil || wearables.HasFloatingTimes(d.series[p.Source].Source.Provider) {
		return nil
	}
	return d.zone
}

func (d *daily) page() Days {
	var page Days
	used := map[int]bool{}
	for _, day := range d.days {
		for i := range day.used {
			used[i] = true
		}
	}
	names := newSourceList(used)
	for _, i := range names.order {
		page.Sources = append(page.Sources, d.source(i))
	}
	for _, day := range d.days {
		for i := range day.used {
			day.Sources = append(day.Sources, names.position[i])
		}
		slices.Sort(day.Sources)
		page.Days = append(page.Days, *day)
	}
	slices.SortFunc(page.Days, func(a, b Day) int { return cmp.Or(a.Date.Compare(b.Date), cmp.Compare(a.Type, b.Type)) })
	return page
}

func dateOf(n int64) civil.Date {
	n = max(math.MinInt32, min(n, math.MaxInt32))
	return civil.DateOf(time.Unix(n*86_400, 0).UTC())
}

func numberOf(d civil.Date) int64 { return d.In(time.UTC).Unix() / 86_400 }
