package storage

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/blocks"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/resources"
)

// SleepStream holds the samples of one sleep. A part without samples is empty.
//
// Reference 7.8.
type SleepStream struct{ HRV, HeartRate, Hypnogram, RespiratoryRate []wearables.Samples }

// ReadSleepStream reads the samples of a sleep's provider between its bounds. If the
// sleep's own source has samples, only those count. Otherwise those of all sources count:
// the phone may report the sleep and the watch the heart rate.
func ReadSleepStream(ctx context.Context, tx *store.Tx, sleep *StoredSummary) (s SleepStream, err error) {
	var bounds struct {
		Start time.Time `json:"bedtime_start"`
		Stop  time.Time `json:"bedtime_stop"`
	}
	if err := json.Unmarshal(sleep.Body, &bounds); err != nil {
		return s, err
	}
	for _, part := range []struct {
		resource string
		to       *[]wearables.Samples
	}{{"hrv", &s.HRV}, {"heartrate", &s.HeartRate}, {"respiratory_rate", &s.RespiratoryRate}} {
		*part.to, err = listAll(ctx, tx, sleep.Team, sleep.User, SamplesQuery{
			Resource: part.resource, Provider: sleep.Source.Provider,
			From: bounds.Start.UnixMicro(), To: bounds.Stop.UnixMicro(),
		})
		if err != nil {
			return s, err
		}
		own := slices.DeleteFunc(slices.Clone(*part.to), func(one wearables.Samples) bool { return !one.Source.SameApp(&sleep.Source) })
		if len(own) > 0 {
			*part.to = own
		}
	}
	cycles, err := listCycles(ctx, tx, sleep.Team, sleep.User, sleep.Source.Provider, bounds.Start, bounds.Stop)
	if err != nil {
		return s, err
	}
	for _, c := range cycles {
		if c.sleep == sleep.ID {
			s.Hypnogram = append(s.Hypnogram, c.hypnogram())
		}
	}
	return s, nil
}

// CyclesOf returns the cycles of a sleep: those that name it, and those of its recorder
// with its bounds in seconds.
func CyclesOf(ctx context.Context, tx *store.Tx, sleep *StoredSummary) (all []StoredSummary, err error) {
	start, end := store.FromMicros(sleep.start), store.FromMicros(sleep.end)
	found, err := SessionsBetween(ctx, tx, sleep.Team, sleep.User, "sleep_cycle", sleep.Source.Provider, start, end)
	for i := range found {
		c := &found[i]
		if err := c.Open(ctx, tx); err != nil {
			return nil, err
		}
		var body struct {
			Sleep uuid.UUID `json:"sleep_id"`
		}
		from, to := store.FromMicros(c.start), store.FromMicros(c.end)
		same := from.Unix() == start.Unix() && to.Unix() == end.Unix() && c.Source.SameRecorder(&sleep.Source)
		if same || json.Unmarshal(c.Body, &body) == nil && body.Sleep == sleep.ID {
			all = append(all, *c)
		}
	}
	return all, err
}

// ShareRecord gives cycles without an id the record of their sleep, with which they are
// deleted. So the stages of a sleep with another id can be stored.
func ShareRecord(cycles []StoredSummary, sleep *StoredSummary) {
	for i := range cycles {
		if cycles[i].Record == uuid.Nil {
			cycles[i].Record = sleep.Record
		}
	}
}

// listAll reads all pages of ListSamples, because a sleep lasts at most a day. A series
// that spans two pages is in two groups.
func listAll(ctx context.Context, tx *store.Tx, team, user uuid.UUID, q SamplesQuery) (all []wearables.Samples, err error) {
	for {
		page, next, err := ListSamples(ctx, tx, team, user, q)
		if err != nil {
			return nil, err
		}
		if all = append(all, page...); next == nil {
			return all, nil
		}
		q.After = next
	}
}

// cycle holds the fields of a sleep cycle that a hypnogram needs.
type cycle struct {
	source wearables.Source
	sleep  uuid.UUID
	start  time.Time
	offset int32   // of its sleep, or of its own zone
	from   []int64 // seconds from start
	to     []int64
	stage  []float64
}

// listCycles reads the cycles of the nights between two instants, and of the days around.
// A night has the date of waking up.
func listCycles(ctx context.Context, tx *store.Tx, team, user uuid.UUID, provider string, from, to time.Time) ([]cycle, error) {
	q := SummaryQuery{Resource: "sleep_cycle", Provider: provider, From: from.UTC().AddDate(0, 0, -2).Format(time.DateOnly)}
	if to.Year() < 9999 {
		q.To = to.UTC().AddDate(0, 0, 2).Format(time.DateOnly)
	}
	stored, err := ListSummaries(ctx, tx, team, user, q)
	if err != nil || len(stored) == 0 {
		return nil, err
	}
	offsets, err := sleepOffsets(ctx, tx, team, user, q)
	if err != nil {
		return nil, err
	}
	all := make([]cycle, 0, len(stored))
	for _, s := range stored {
		var body struct {
			Sleep uuid.UUID `json:"sleep_id"`
			Start time.Time `json:"session_start"`
			Zone  string    `json:"time_zone"`
			From  []int64   `json:"stage_start_offset_second"`
			To    []int64   `json:"stage_end_offset_second"`
			Stage []float64 `json:"stage_type"`
		}
		if json.Unmarshal(s.Body, &body) != nil {
			continue // unreadable
		}
		if n := len(body.Stage); len(body.From) != n || len(body.To) != n {
			continue // not parallel
		}
		offset, ok := offsets[body.Sleep]
		if !ok {
			offset = offsetIn(body.Zone, body.Start)
		}
		all = append(all, cycle{s.Source, body.Sleep, body.Start, offset, body.From, body.To, body.Stage})
	}
	return all, nil
}

// sleepOffsets returns the offsets of the sleeps that state one.
func sleepOffsets(ctx context.Context, tx *store.Tx, team, user uuid.UUID, q SummaryQuery) (map[uuid.UUID]int32, error) {
	q.Resource = "sleep"
	stored, err := ListSummaries(ctx, tx, team, user, q)
	found := make(map[uuid.UUID]int32, len(stored))
	for _, s := range stored {
		var body struct {
			Offset *int32 `json:"timezone_offset"`
		}
		if json.Unmarshal(s.Body, &body) == nil && body.Offset != nil {
			found[s.ID] = *body.Offset
		}
	}
	return found, err
}

// offsetIn returns the offset of a zone at an instant, in seconds east of UTC. It returns
// NoOffset for no zone.
func offsetIn(name string, at time.Time) int32 {
	zone, err := civil.Zone(name)
	if name == "" || err != nil {
		return wearables.NoOffset
	}
	_, seconds := at.In(zone).Zone()
	return int32(seconds)
}

// hypnogram returns a cycle as samples of the deprecated series that cycles replaced.
func (c *cycle) hypnogram() wearables.Samples {
	s := wearables.Samples{Resource: resources.Hypnogram, Source: c.source, Value: c.stage}
	start := c.start.UnixMicro()
	for i := range c.stage {
		s.Time = append(s.Time, start+c.from[i]*secondUS)
		s.End = append(s.End, start+c.to[i]*secondUS)
		s.Offset = append(s.Offset, c.offset)
	}
	return s
}

// listHypnograms returns the samples of the hypnogram in the order of ListSamples, on one
// page. A year of nights has about ten thousand stages.
func listHypnograms(ctx context.Context, tx *store.Tx, team, user uuid.UUID, q SamplesQuery) ([]wearables.Samples, error) {
	cycles, err := listCycles(ctx, tx, team, user, q.Provider, store.FromMicros(q.From), store.FromMicros(q.To))
	if err != nil {
		return nil, err
	}
	var groups []wearables.Samples
	for _, c := range cycles {
		night := c.hypnogram()
		at := slices.IndexFunc(groups, func(g wearables.Samples) bool { return g.Source.Same(c.source) })
		for i, start := range night.Time {
			if start < q.From || start >= q.To {
				continue
			}
			if at < 0 {
				at = len(groups)
				groups = append(groups, wearables.Samples{Resource: resources.Hypnogram, Source: c.source})
			}
			g := &groups[at]
			g.Time, g.End = append(g.Time, start), append(g.End, night.End[i])
			g.Offset, g.Value = append(g.Offset, night.Offset[i]), append(g.Value, night.Value[i])
		}
	}
	for i := range groups {
		c, _ := blocks.Sort(groups[i].Columns()) // two sleeps of a day are ordered by id
		groups[i].SetColumns(&c)
	}
	slices.SortFunc(groups, func(a, b wearables.Samples) int {
		return KeyOfSource(a.Source).Compare(KeyOfSource(b.Source))
	})
	return groups, nil
}
