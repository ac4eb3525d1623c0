package derive

import (
	"context"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/merged"
	"hale/internal/wearables/providers"
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

// mergedDays merges the samples of a resource by local day, with the rules of merged
// reads. A line has one day for each type; the summed resources and the heart rate have
// no types.
func (d *Deriver) mergedDays(found tracks, name string, days []civil.Date) map[civil.Date]*mergedDay {
	r, _ := wearables.ResourceNamed(name)
	all := make([]merged.LoadedSamples, len(found[name]))
	for i, t := range found[name] {
		all[i] = merged.LoadedSamples{Samples: t.Samples, Written: t.written}
	}
	page := merged.MergeDays(r, all, merged.DaysRange{First: days[0], Last: days[len(days)-1], Zone: d.zone()})
	byDay := map[civil.Date]*mergedDay{}
	for i := range page.Days {
		day := &mergedDay{Day: page.Days[i]}
		for _, at := range day.Day.Sources {
			day.sources = append(day.sources, page.Sources[at].Source)
		}
		byDay[day.Date] = day
	}
	return byDay
}

// mergedDay is one day of a merged line with its sources.
type mergedDay struct {
	merged.Day
	sources []wearables.Source
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

// pushedActivities returns the days for which phones pushed an activity. The phone merges
// its sources itself, so a day with one gets no derived one.
func (d *Deriver) pushedActivities(ctx context.Context, tx *store.Tx, days []civil.Date) (map[civil.Date]bool, error) {
	if p, ok := providers.Find(d.Provider); !ok || !p.PushedByPhone() && !d.Pushed {
		return nil, nil
	}
	stored, err := storage.ListSummaries(ctx, tx, d.User.Team.UUID(), d.User.ID.UUID(), storage.SummaryQuery{
		Resource: "activity", Provider: d.Provider, From: days[0].String(), To: days[len(days)-1].String(),
	})
	if err != nil {
		return nil, err
	}
	pushed := map[civil.Date]bool{}
	for i := range stored {
		if day, err := civil.ParseDate(stored[i].Day); err == nil && !IsDerived(&stored[i], day) {
			pushed[day] = true
		}
	}
	return pushed, nil
}

// activities derives the activity of each day that has any.
func (d *Deriver) activities(found tracks, days []civil.Date, known map[civil.Date]wearables.Source) []wearables.Summary {
	first, last := numberOfDate(days[0]), numberOfDate(days[len(days)-1])
	byResource := map[string]map[civil.Date]*mergedDay{}
	for _, name := range summedResources {
		if !d.TotalsStated {
			byResource[name] = d.mergedDays(found, name, days)
		}
	}
	if !d.HeartStated {
		byResource["heartrate"] = d.mergedDays(found, "heartrate", days)
	}
	offsets := d.firstOffsets(found, first, last)
	var all []wearables.Summary
	for _, day := range days {
		n := numberOfDate(day)
		a := activityOfDay{facts: d.Facts[day]}
		for _, name := range summedResources {
			a.sum(name, byResource[name][day])
		}
		a.heart(byResource["heartrate"][day])
		if first, ok := offsets[n]; ok {
			a.body.Offset = offsetOrNil(first.offset)
		}
		source, stated := known[day]
		if stated {
			a.body.Offset = nil
		}
		if s, ok := a.summary(d, day); ok {
			if stated {
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

func (a *activityOfDay) sum(name string, m *mergedDay) {
	if m == nil {
		return
	}
	a.any = true
	a.sources = append(a.sources, m.sources...)
	switch name {
	case "steps":
		a.body.Steps = roundToInt(m.Total)
	case "distance":
		a.body.Distance = roundTo(m.Total, 2)
	case "calories_active":
		a.body.CaloriesActive = roundTo(m.Total, 2)
	case "calories_basal":
		a.basal = &m.Total
	case "floors_climbed":
		a.body.Floors = roundToInt(m.Total)
	case "wheelchair_push":
		a.body.WheelchairPush = roundToInt(m.Total)
		yes := true
		a.body.WheelchairUse = &yes
	}
}

// heart reads the heart rate of the day's merged series.
func (a *activityOfDay) heart(h *mergedDay) {
	f := a.facts
	if h == nil && f.RestingBPM == nil && f.WalkingBPM == nil {
		return
	}
	a.any = true
	a.body.HeartRate = &heartRate{Resting: roundToOrNil(f.RestingBPM, 1), Walking: roundToOrNil(f.WalkingBPM, 1)}
	if h != nil {
		a.sources = append(a.sources, h.sources...)
		a.body.HeartRate.Avg = roundTo(h.Mean(), 1)
		a.body.HeartRate.Min, a.body.HeartRate.Max = roundTo(h.Level.Min, 1), roundTo(h.Level.Max, 1)
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
	s := wearables.Summary{
		Resource: "activity", Key: day.String(), Date: day,
		Source: d.sourceOf(a.sources), Body: encode(a.body),
	}
	if a.facts == (DayFacts{}) && !d.TotalsStated {
		s.Record = recordPrefix + s.Key
	}
	return s, true
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
