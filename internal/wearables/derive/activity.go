package derive

import (
	"context"
	"math"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/merged"
	"hale/internal/wearables/storage"

	"github.com/google/uuid"
)

// heartRate is the heart_rate object of an activity; bpm.
type heartRate struct {
	Avg     *float64 `json:"avg_bpm"`
	Min     *float64 `json:"min_bpm"`
	Max     *float64 `json:"max_bpm"`
	Resting *float64 `json:"resting_bpm"`
	Walking *float64 `json:"avg_walking_bpm"`
}

// activityBody has the wire fields that are derived. Intensities are not:
// HealthKit and its like do not say them.
//
// Reference 7.5.
type activityBody struct {
	CaloriesTotal  *float64   `json:"calories_total"`
	CaloriesActive *float64   `json:"calories_active"`
	Steps          *int64     `json:"steps"`
	Distance       *float64   `json:"distance"`
	DailyMovement  *float64   `json:"daily_movement"`
	Floors         *int64     `json:"floors_climbed"`
	Offset         *int32     `json:"timezone_offset"`
	HeartRate      *heartRate `json:"heart_rate"`
	WheelchairUse  *bool      `json:"wheelchair_use"`
	WheelchairPush *int64     `json:"wheelchair_push"`
}

// summedResources are the resources that add up over a day.
var summedResources = []string{"steps", "distance", "calories_active", "calories_basal", "floors_climbed", "wheelchair_push"}

// dayParts are the counted intervals of one resource, cut at local midnight:
// by day, by source.
type dayParts map[int64][]contribution

// partsByDay cuts the samples of a resource at local midnights; an interval
// over midnight counts for both days by its share of time. Only the days in
// [first, last] are kept.
func (d *Deriver) partsByDay(all []*track, first, last int64) dayParts {
	days := dayParts{}
	zone := d.zone()
	for _, t := range all {
		if !merged.InLine(t.Resource, t.Source) {
			continue
		}
		for i := range t.Time {
			offset := t.offset(i, zone)
			start, end, value := t.Time[i], t.end(i), t.Value[i]
			for n := dayNumber(start, offset); ; n++ {
				midnight := (n+1)*dayUS - int64(offset)*secondUS
				stop := min(end, midnight)
				share := value
				if end > t.Time[i] {
					share = value * float64(stop-start) / float64(end-t.Time[i])
				}
				if n >= first && n <= last && (stop > start || end == t.Time[i]) {
					days.add(n, t.Source, part{interval{Start: start, End: stop}, share})
				}
				if end <= midnight || n > last {
					break
				}
				start = midnight
			}
		}
	}
	return days
}

func (d dayParts) add(day int64, source wearables.Source, p part) {
	list := d[day]
	if n := len(list); n > 0 && originOf(list[n-1].source) == originOf(source) {
		list[n-1].parts = append(list[n-1].parts, p)
		return
	}
	d[day] = append(list, contribution{source, []part{p}})
}

// statedSources returns the sources of stored activities if the provider states the
// totals of days. Then derived series do not change the source or the place of a day.
func (d *Deriver) statedSources(ctx context.Context, tx *store.Tx, days []civil.Date) (map[civil.Date]wearables.Source, error) {
	if !d.TotalsStated {
		return nil, nil
	}
	stored, err := storage.ListSummaries(ctx, tx, d.User.Team.UUID(), d.User.ID.UUID(), storage.SummaryQuery{
		Resource: "activity", Provider: d.Provider, From: days[0].String(), To: days[len(days)-1].String(),
	})
	if err != nil {
		return nil, err
	}
	known := map[uuid.UUID]wearables.Source{}
	for i := range stored {
		known[stored[i].ID] = stored[i].Source
	}
	sources := map[civil.Date]wearables.Source{}
	for _, day := range days {
		if source, ok := known[wearables.SummaryID(d.User.ID.UUID(), d.Provider, "activity", day.String())]; ok {
			sources[day] = source
		}
	}
	return sources, nil
}

// activities derives the activity of each day that has any.
func (d *Deriver) activities(found tracks, days []civil.Date, known map[civil.Date]wearables.Source) []wearables.Summary {
	first, last := numberOfDate(days[0]), numberOfDate(days[len(days)-1])
	byResource := map[string]dayParts{}
	for _, name := range summedResources {
		if !d.TotalsStated {
			byResource[name] = d.partsByDay(found[name], first, last)
		}
	}
	var hearts map[int64]*heartDay
	if !d.HeartStated {
		hearts = d.heartsByDay(found["heartrate"], first, last)
	}
	offsets := d.firstOffsets(found, first, last)
	var all []wearables.Summary
	for _, day := range days {
		n := numberOfDate(day)
		a := activityOfDay{facts: d.Facts[day]}
		for _, name := range summedResources {
			a.sum(name, byResource[name][n])
		}
		a.heart(hearts[n])
		if first, ok := offsets[n]; ok {
			a.body.Offset = offsetOrNil(first.offset)
		}
		source, told := known[day]
		if told {
			a.body.Offset = nil
		}
		if s, ok := a.summary(d, day); ok {
			if told {
				s.Source = source
			}
			all = append(all, s)
		}
	}
	return all
}

// activityOfDay gathers one day.
type activityOfDay struct {
	facts   DayFacts
	body    activityBody
	basal   *float64
	sources []wearables.Source
	any     bool
}

func (a *activityOfDay) sum(name string, all []contribution) {
	m, ok := merge(all)
	if !ok {
		return
	}
	a.any = true
	a.sources = append(a.sources, m.sources...)
	switch name {
	case "steps":
		a.body.Steps = roundToInt(m.value)
	case "distance":
		a.body.Distance = roundTo(m.value, 2)
	case "calories_active":
		a.body.CaloriesActive = roundTo(m.value, 2)
	case "calories_basal":
		a.basal = &m.value
	case "floors_climbed":
		a.body.Floors = roundToInt(m.value)
	case "wheelchair_push":
		a.body.WheelchairPush = roundToInt(m.value)
		yes := true
		a.body.WheelchairUse = &yes
	}
}

// heart takes the heart rate of the day's richest source.
func (a *activityOfDay) heart(h *heartDay) {
	f := a.facts
	if h == nil && f.RestingBPM == nil && f.WalkingBPM == nil {
		return
	}
	a.any = true
	a.body.HeartRate = &heartRate{Resting: roundToOrNil(f.RestingBPM, 1), Walking: roundToOrNil(f.WalkingBPM, 1)}
	if h != nil {
		a.sources = append(a.sources, h.source)
		a.body.HeartRate.Avg = roundTo(h.sum/float64(h.n), 1)
		a.body.HeartRate.Min, a.body.HeartRate.Max = roundTo(h.min, 1), roundTo(h.max, 1)
	}
}

func (a *activityOfDay) summary(d *Deriver, day civil.Date) (wearables.Summary, bool) {
	if a.facts.ActiveKcal != nil {
		a.any = true
		a.body.CaloriesActive = roundToOrNil(a.facts.ActiveKcal, 2)
	}
	if !a.any {
		return wearables.Summary{}, false
	}
	if a.body.CaloriesActive != nil && a.basal != nil {
		a.body.CaloriesTotal = roundTo(*a.body.CaloriesActive+*a.basal, 2)
	}
	a.body.DailyMovement = a.body.Distance
	return wearables.Summary{
		Resource: "activity", Key: day.String(), Date: day,
		Source: d.sourceOf(a.sources), Body: encode(a.body),
	}, true
}

// heartDay holds the heart rate of one source on one day.
type heartDay struct {
	source        wearables.Source
	n             int
	sum, min, max float64
}

// heartsByDay finds, for each day, the source with the most samples. Sources are not
// mixed: a watch that measures at rest and a strap that measures during sport would
// give an average of neither.
func (d *Deriver) heartsByDay(all []*track, first, last int64) map[int64]*heartDay {
	best := map[int64]*heartDay{}
	zone := d.zone()
	for _, t := range all {
		own := map[int64]*heartDay{}
		for i, at := range t.Time {
			n := dayNumber(at, t.offset(i, zone))
			if n < first || n > last {
				continue
			}
			h := own[n]
			if h == nil {
				h = &heartDay{source: t.Source, min: math.Inf(1), max: math.Inf(-1)}
				own[n] = h
			}
			v := t.Value[i]
			h.n++
			h.sum += v
			h.min, h.max = min(h.min, v), max(h.max, v)
		}
		for n, h := range own {
			if b := best[n]; b == nil || h.n > b.n || h.n == b.n && merged.Rank(h.source.Type) < merged.Rank(b.source.Type) {
				best[n] = h
			}
		}
	}
	return best
}

// firstOffset is the offset that held at the first sample of a day.
type firstOffset struct {
	at     int64
	offset int32
}

// firstOffsets finds the offset at the start of each day, from the day's first sample
// that states one.
func (d *Deriver) firstOffsets(found tracks, first, last int64) map[int64]firstOffset {
	days := map[int64]firstOffset{}
	zone := d.zone()
	for _, name := range append([]string{"heartrate"}, summedResources...) {
		for _, t := range found[name] {
			for i, at := range t.Time {
				if zone == nil && (len(t.Offset) == 0 || t.Offset[i] == wearables.NoOffset) {
					continue
				}
				offset := t.offset(i, zone)
				n := dayNumber(at, offset)
				if n < first || n > last {
					continue
				}
				if seen, ok := days[n]; !ok || at < seen.at {
					days[n] = firstOffset{at, offset}
				}
			}
		}
	}
	return days
}
