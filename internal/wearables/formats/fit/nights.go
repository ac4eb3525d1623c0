package fit

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/muktihari/fit/profile/mesgdef"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
)

// nightly is the mean RMSSD of the night before an instant, ms.
type nightly struct {
	at      int64
	average float64
	record  int64 // number of the message within its type
}

// nightStatus is the message that states it, by its name in the Profile.
const nightStatus = "hrv_status_summary"

// takeHRV keeps the five-minute rmssd, in ms.
func (p *part) takeHRV(m *mesgdef.HrvValue) messageOutcome {
	return p.add("hrv", "rmssd", m.Timestamp, m.ValueScaled())
}

// takeNight keeps the mean of the last night. The mean of a week and the baseline are no
// measurements.
func (p *part) takeNight(m *mesgdef.HrvStatusSummary) messageOutcome {
	at, ok := instant(m.Timestamp)
	switch {
	case !ok:
		return badDate
	case math.IsNaN(m.LastNightAverageScaled()):
		return badValue
	case len(p.nights) >= maxLevels:
		return tooMany
	}
	p.nights = append(p.nights, nightly{at, m.LastNightAverageScaled(), p.outcome.Type(nightStatus).Read})
	return mapped
}

// statesNights reports whether the file has the variability of nights.
func (f *fileContent) statesNights() bool { return len(f.nights) > 0 || f.variability() != nil }

func (f *fileContent) variability() *wearables.Samples {
	for i := range f.series {
		if f.series[i].Resource == "hrv" {
			return &f.series[i]
		}
	}
	return nil
}

// joinNights adds the mean RMSSD to the stored sleeps of the same device. It
// stores the mean of the values in the night, as for a sleep that is imported
// after the values. Without values it stores the mean that the device states. A
// stated mean without a sleep is unpaired.
func (f *fileContent) joinNights(ctx context.Context, s *files.Store, outcome *files.Outcome) error {
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	around := func(at int64) { first, last = min(first, at), max(last, at) }
	for _, n := range f.nights {
		around(n.at)
	}
	values := f.variability()
	if values != nil {
		for _, at := range values.Time {
			around(at)
		}
	}
	known, err := f.stored(ctx, s, first, last)
	if err != nil {
		return err
	}
	stated := f.stated(known, outcome)
	var some []wearables.Summary
	for i, sleep := range known {
		average := meanBetween(values, sleep.Start.UnixMicro(), sleep.Stop.UnixMicro())
		if said, ok := stated[i]; ok && math.IsNaN(average) {
			measured, err := s.Measured(ctx, "hrv", sleep.Start, sleep.Stop)
			if err != nil {
				return err
			}
			if !measured {
				average = said
			}
		}
		if !math.IsNaN(average) {
			some = append(some, sleep.with(f.source, average))
		}
	}
	return s.Summaries(ctx, some)
}

// longestAwake bounds the time from the end of a night to its status. latestWord
// bounds the time from the status to the end, because a watch may report the night
// too early.
const (
	longestAwake = 12 * time.Hour
	latestWord   = time.Hour
)

// stated returns the means that the device states, by the index of their sleep
// in known. Each mean belongs to the long sleep that ended last. A nap never
// gets a mean, even if the night is not stored: a later file may bring it. Means
// without a night count as unpaired.
func (f *fileContent) stated(known []night, outcome *files.Outcome) map[int]float64 {
	slices.SortFunc(known, func(a, b night) int { return a.Stop.Compare(b.Stop) })
	of := map[int]float64{}
	for _, n := range f.nights {
		if i := nightBefore(known, time.UnixMicro(n.at)); i >= 0 {
			of[i] = n.average
			continue
		}
		count := outcome.Type(nightStatus)
		count.Mapped--
		count.Unpaired++
		outcome.Mapped--
		outcome.LeftAt(count, n.record, "unpaired")
	}
	return of
}

// nightBefore returns the index of the night of a status, among sleeps in the
// order of their ends. It returns -1 if the night is not among them.
func nightBefore(known []night, status time.Time) int {
	i, _ := slices.BinarySearchFunc(known, status.Add(latestWord), func(n night, at time.Time) int {
		if n.Stop.After(at) {
			return 1
		}
		return -1
	})
	for i--; i >= 0 && status.Sub(known[i].Stop) <= longestAwake; i-- {
		if known[i].Type == "long_sleep" && known[i].Start.Before(status) {
			return i
		}
	}
	return -1
}

// meanBetween returns the mean of the values from start until stop; NaN without values.
func meanBetween(s *wearables.Samples, start, stop int64) float64 {
	sum, n := 0.0, 0.0
	if s != nil {
		for i, at := range s.Time {
			if at >= start && at < stop {
				sum, n = sum+s.Value[i], n+1
			}
		}
	}
	return sum / n
}

// day returns the local day of an instant in UTC microseconds.
func (f *fileContent) day(at int64) civil.Date {
	return civil.DateOf(time.UnixMicro(at).UTC().Add(time.Duration(f.east()) * time.Second))
}

// night holds the fields of a stored sleep that are needed to match it.
type night struct {
	Start time.Time  `json:"bedtime_start"`
	Stop  time.Time  `json:"bedtime_stop"`
	Date  civil.Date `json:"calendar_date"`
	Type  string     `json:"type"`
}

// with returns a summary that adds the mean, in ms, to the stored sleep.
func (n *night) with(source wearables.Source, average float64) wearables.Summary {
	body, _ := json.Marshal(map[string]float64{"average_hrv": math.Round(average*10) / 10}) // of a finite number
	return wearables.Summary{
		Resource: "sleep", Key: derive.WorkoutKey(n.Start.UnixMicro(), source), Source: source, Date: n.Date,
		Start: n.Start, End: n.Stop, Body: body,
	}
}

// stored returns the stored sleeps of the file's source, from two days before first to
// two days after last.
func (f *fileContent) stored(ctx context.Context, s *files.Store, first, last int64) (some []night, err error) {
	all, err := s.Stored(ctx, "sleep", f.day(first).AddDays(-2), f.day(last).AddDays(2))
	for i := range all {
		var n night
		if json.Unmarshal(all[i].Body, &n) != nil || n.Start.IsZero() {
			continue
		}
		key := derive.WorkoutKey(n.Start.UnixMicro(), f.source)
		if wearables.SummaryID(all[i].User, f.source.Provider, "sleep", key) == all[i].ID {
			some = append(some, n)
		}
	}
	return some, err
}
