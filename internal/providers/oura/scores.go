package oura

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"hale/internal/civil"
	"hale/internal/providers/files"
	"hale/internal/wearables"
)

// score is what Oura says of a night in documents of their own, by day.
//
// Reference 7.5.
type score struct {
	Score       *int64   `json:"score,omitempty"`
	Readiness   *int64   `json:"recovery_readiness_score,omitempty"`
	Temperature *float64 `json:"temperature_delta,omitempty"` // °C

	counts []*files.TypeCount // of its documents
}

// score takes a daily_sleep.
func (r *reader) score(d document) verdict {
	day, ok := d.day()
	value := d.whole("score")
	switch {
	case !ok:
		return badDate
	case value == nil:
		return badValue
	}
	r.about(day, "daily_sleep").Score = value
	return waits
}

// readiness takes a daily_readiness.
func (r *reader) readiness(d document) verdict {
	day, ok := d.day()
	value := d.whole("score")
	delta, warm := d.number("temperature_deviation")
	switch {
	case !ok:
		return badDate
	case value == nil && !warm:
		return badValue
	}
	s := r.about(day, "daily_readiness")
	s.Readiness = value
	if warm {
		s.Temperature = &delta
	}
	return waits
}

func (r *reader) about(day civil.Date, name string) *score {
	s := r.scores[day]
	if s == nil {
		s = &score{}
		if r.scores == nil {
			r.scores = map[civil.Date]*score{}
		}
		r.scores[day] = s
	}
	s.counts = append(s.counts, r.report.Type(name))
	return s
}

// joinedAtOnce is how many days of stored nights are looked at together.
const joinedAtOnce = 60

// join adds the scores to the nights they are about, which this file or one
// before it brought. Those of a day without a night are counted as unpaired.
func (r *reader) join(ctx context.Context) error {
	days := slices.SortedFunc(maps.Keys(r.scores), civil.Date.Compare)
	for len(days) > 0 {
		n := 1
		for n < len(days) && days[n].DaysSince(days[0]) < joinedAtOnce {
			n++
		}
		stored, err := r.nights(ctx, days[0].String(), days[n-1].String())
		if err != nil {
			return err
		}
		if err := r.pair(ctx, days[:n], nightByDay(stored)); err != nil {
			return err
		}
		days = days[n:]
	}
	r.scores = nil
	return nil
}

func (r *reader) pair(ctx context.Context, days []civil.Date, nights map[civil.Date]night) error {
	var all []wearables.Summary
	for _, day := range days {
		s := r.scores[day]
		n, ok := nights[day]
		if ok {
			all = append(all, wearables.Summary{
				Resource: "sleep", Key: keyOf(n.Start), Source: ring, Date: day, Start: n.Start, End: n.Stop, Body: encode(s),
			})
		}
		for _, count := range s.counts {
			if ok {
				count.Mapped++
				r.report.Mapped++
				continue
			}
			count.Unpaired++
			r.report.Left(count)
		}
	}
	if len(all) == 0 {
		return ctx.Err()
	}
	return r.sink.Summaries(ctx, all)
}

// night is the part of a stored sleep that finding it takes.
type night struct {
	Start time.Time  `json:"bedtime_start"`
	Stop  time.Time  `json:"bedtime_stop"`
	Date  civil.Date `json:"calendar_date"`
	Type  string     `json:"type"`
	Total int64      `json:"total"` // seconds asleep
}

// nightByDay is the night that the scores of a day are about: the long sleep,
// and of several the one with the most sleep.
func nightByDay(stored []wearables.StoredSummary) map[civil.Date]night {
	all := map[civil.Date]night{}
	for i := range stored {
		var n night
		if json.Unmarshal(stored[i].Body, &n) != nil || n.Start.IsZero() || stored[i].ID != idOf(&stored[i], n.Start) {
			continue
		}
		known, ok := all[n.Date]
		long, was := n.Type == "long_sleep", known.Type == "long_sleep"
		if !ok || long && !was || long == was && n.Total > known.Total {
			all[n.Date] = n
		}
	}
	return all
}

// idOf is the id that this reader gives a night.
func idOf(s *wearables.StoredSummary, start time.Time) (id [16]byte) {
	return wearables.SummaryID(s.User, Provider, "sleep", keyOf(start))
}
