package derive

import (
	"math"
	"time"

	"github.com/google/uuid"

	"hale/internal/wearables"
)

// sleepBody has the wire fields of a sleep that are derived; seconds where
// nothing else is said.
//
// Reference 7.5.
type sleepBody struct {
	Type        string   `json:"type"`
	Offset      *int32   `json:"timezone_offset"`
	Duration    int64    `json:"duration"`
	Total       int64    `json:"total"`
	Awake       int64    `json:"awake"`
	Light       int64    `json:"light"`
	REM         int64    `json:"rem"`
	Deep        int64    `json:"deep"`
	HRLowest    *int64   `json:"hr_lowest"`
	HRAverage   *int64   `json:"hr_average"`
	Efficiency  *float64 `json:"efficiency"`
	Latency     *int64   `json:"latency"`
	AverageHRV  *float64 `json:"average_hrv"`
	Respiratory *float64 `json:"respiratory_rate"`
}

// cycleBody has the wire fields of a sleep_cycle.
type cycleBody struct {
	SleepID uuid.UUID `json:"sleep_id"`
	Starts  []int64   `json:"stage_start_offset_second"`
	Ends    []int64   `json:"stage_end_offset_second"`
	Types   []int     `json:"stage_type"`
}

// sleepOf writes the sleep of a session, and its sleep_cycle when it has
// stages.
func (d *Deriver) sleepOf(s *session, found tracks) []wearables.Summary {
	key := sessionKey(s.Start, s.source)
	sleep := wearables.Summary{
		Resource: "sleep", Key: key, Source: s.source,
		Date: s.day, Start: instant(s.Start), End: instant(s.End),
	}
	body := s.body()
	if hrv := valuesIn(found["hrv"], s.interval, s.source); len(hrv) > 0 {
		body.AverageHRV = rounded(mean(hrv), 1)
	}
	if rate := valuesIn(found["respiratory_rate"], s.interval, s.source); len(rate) > 0 {
		body.Respiratory = rounded(mean(rate), 1)
	}
	sleep.Body = encode(body)
	if len(s.stages) == 0 {
		return []wearables.Summary{sleep}
	}
	cycle := sleep
	cycle.Resource = "sleep_cycle"
	cycle.Body = encode(s.cycle(wearables.SummaryID(d.User.ID.UUID(), d.Provider, "sleep", key)))
	return []wearables.Summary{sleep, cycle}
}

// body adds up the stages. Time asleep without a stage counts in total; parts
// are not forced to add up. Without a word about being awake, it is the rest
// of the time; a session that knows only the time in bed knows neither.
func (s *session) body() sleepBody {
	length := s.End - s.Start
	b := sleepBody{
		Type: wearables.SleepType(time.Duration(length) * time.Microsecond), Offset: offsetOrNil(s.offset), Duration: length / secondUS,
	}
	by := map[int8]int64{}
	for _, p := range s.stages {
		by[p.Stage] += p.End - p.Start
	}
	b.Deep, b.Light, b.REM, b.Awake = by[Deep]/secondUS, by[Light]/secondUS, by[REM]/secondUS, by[Awake]/secondUS
	b.Total = b.Deep + b.Light + b.REM + by[Asleep]/secondUS
	if len(s.stages) > 0 {
		if b.Awake == 0 {
			b.Awake = b.Duration - b.Total
		}
		b.Efficiency = wearables.SleepEfficiency(b.Total, b.Duration)
	}
	if s.inBed {
		b.Latency = s.latency()
	}
	if len(s.heart) > 0 {
		lowest := math.Inf(1)
		for _, v := range s.heart {
			lowest = min(lowest, v)
		}
		b.HRLowest, b.HRAverage = whole(lowest), whole(mean(s.heart))
	}
	return b
}

// latency is the time from going to bed to the first sleep.
func (s *session) latency() *int64 {
	for _, p := range s.stages {
		if p.Stage != Awake {
			return whole(float64((p.Start - s.Start) / secondUS))
		}
	}
	return nil
}

func (s *session) cycle(sleep uuid.UUID) cycleBody {
	b := cycleBody{SleepID: sleep}
	for _, p := range s.stages {
		start, end := (p.Start-s.Start)/secondUS, (p.End-s.Start)/secondUS
		if end > start {
			b.Starts, b.Ends, b.Types = append(b.Starts, start), append(b.Ends, end), append(b.Types, int(p.Stage))
		}
	}
	return b
}

// valuesIn are the values that one source measured during an interval: the
// session's own source when it did, else the one with the most.
func valuesIn(all []*track, v interval, own wearables.Source) []float64 {
	var best []float64
	for _, t := range all {
		i, j := t.between(v.Start, v.End)
		if i == j {
			continue
		}
		if originOf(t.Source) == originOf(own) {
			return t.Value[i:j]
		}
		if j-i > len(best) {
			best = t.Value[i:j]
		}
	}
	return best
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
