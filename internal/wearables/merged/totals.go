package merged

import (
	"math"
	"math/bits"
	"time"

	"hale/internal/people/users"
	"hale/internal/wearables"
)

// A total of a day is one amount for a whole day. A person typed it without a length, or
// a device counted it over twenty hours or more. Devices count the same movement in finer
// samples. So a total is never added to the finer samples of other sources on the same
// local day. The total counts if its source is better, and otherwise the samples count.
// Of several totals only that of the best source counts.
//
// A counted total that is larger than finer samples of less than leastHours counts
// whatever its source. A watch that was worn for an hour knows less of the day.
//
// Entries of an app do not count if they are more than slipFactor times the count of any
// device on that day. They are typing errors, or goals.

// shortestTotal is the length from which an interval is a total of a day.
const shortestTotal = 20 * hourUS

// slipFactor is the largest accepted ratio of an app's entries to a device's count.
const slipFactor = 10

// isTotal reports whether sample i is a total of a day.
func (t *track) isTotal(i int) bool {
	if len(t.End) > 0 && t.End[i] > t.Time[i] {
		return t.End[i]-t.Time[i] >= shortestTotal
	}
	return t.isTyped()
}

func (t *track) isTyped() bool { return t.Source.Type == "app" || t.Source.Provider == users.Manual }

// leastHours is the number of hours of a day that finer samples must touch to replace a
// larger total.
const leastHours = 2

// dayCount says which sources count on a local day.
type dayCount struct {
	fine, total      int // rank of the best source of finer samples, and of totals
	fineBy, totalsBy int // position of that source

	amounts map[*track]float64 // of the day
	device  float64            // the largest amount of a device

	hours     uint32             // bits of the hours that finer samples touch
	finer     map[*track]float64 // amounts of finer samples
	totalSize float64            // the largest total of the best source; 0 if it was typed
}

// isSparse reports whether the total is larger than finer samples of few hours.
func (d *dayCount) isSparse() bool {
	if d.total == math.MaxInt || bits.OnesCount32(d.hours) >= leastHours {
		return false
	}
	for _, amount := range d.finer {
		if amount >= d.totalSize {
			return false
		}
	}
	return true
}

// isSlip reports whether an app's entries are far beyond the count of every device.
func (d *dayCount) isSlip(t *track) bool {
	return t.Source.Type == "app" && d.device > 0 && d.amounts[t] > slipFactor*d.device
}

// totals decides between totals and finer samples, by local day. It is nil if there are no
// totals and no entries of an app.
type totals struct {
	zone *time.Location
	days map[int64]*dayCount
}

// newTotals looks for totals in tracks of one line, which are sorted, best first.
func newTotals(tracks []*track, zone *time.Location) *totals {
	found := false
	for _, t := range tracks {
		for i := range t.Time {
			if found = t.isTotal(i) || t.Source.Type == "app"; found {
				break
			}
		}
		if found {
			break
		}
	}
	if !found {
		return nil
	}
	all := &totals{zone: zone, days: map[int64]*dayCount{}}
	for _, t := range tracks {
		for i := range t.Time {
			if t.isLost(i) {
				continue
			}
			n := t.day(i, zone)
			d := all.days[n]
			if d == nil {
				d = &dayCount{fine: math.MaxInt, total: math.MaxInt, amounts: map[*track]float64{}, finer: map[*track]float64{}}
				all.days[n] = d
			}
			if d.amounts[t] += t.value(i); t.Source.Type != "app" {
				d.device = max(d.device, d.amounts[t])
			}
			if !t.isTotal(i) {
				d.addFiner(t, i, t.start(i, zone))
				continue
			}
			if t.rank < d.total {
				d.total, d.totalsBy, d.totalSize = t.rank, t.source, 0
			}
			if t.source == d.totalsBy && !t.isTyped() {
				d.totalSize = max(d.totalSize, t.value(i))
			}
		}
	}
	return all
}

// addFiner adds a sample that is no total; start is its local time.
func (d *dayCount) addFiner(t *track, i int, start int64) {
	if t.rank < d.fine {
		d.fine, d.fineBy = t.rank, t.source
	}
	d.finer[t] += t.value(i)
	last := start
	if len(t.End) > 0 && t.End[i] > t.Time[i] {
		last += t.End[i] - t.Time[i] - 1
	}
	first := floorDiv(start, hourUS) % 24
	for h := range min(floorDiv(last, hourUS)-floorDiv(start, hourUS)+1, 24) {
		d.hours |= 1 << ((first + h + 24) % 24)
	}
}

// excludes reports whether sample i does not count, and which source counts in its place.
func (a *totals) excludes(t *track, i int) (by int, excluded bool) {
	if a == nil {
		return -1, false
	}
	d := a.days[t.day(i, a.zone)]
	switch {
	case d.isSlip(t) && d.fine < math.MaxInt:
		return d.fineBy, true
	case d.isSlip(t):
		return d.totalsBy, true
	case d.total >= d.fine && !d.isSparse(): // also without totals
		return d.fineBy, t.isTotal(i)
	case t.isTotal(i):
		return d.totalsBy, t.source != d.totalsBy
	}
	return d.totalsBy, true
}

// day numbers the local day on which sample i starts.
func (t *track) day(i int, zone *time.Location) int64 { return floorDiv(t.start(i, zone), dayUS) }

// start returns the local time at which sample i starts.
func (t *track) start(i int, zone *time.Location) int64 {
	t, i = t.sample(i)
	offset := wearables.NoOffset
	if len(t.Offset) > 0 {
		offset = t.Offset[i]
	}
	if offset == wearables.NoOffset {
		offset = 0
		if zone != nil && !wearables.HasFloatingTimes(t.Source.Provider) {
			_, seconds := time.UnixMicro(t.Time[i]).In(zone).Zone()
			offset = int32(seconds)
		}
	}
	return t.Time[i] + int64(offset)*secondUS
}
