package aggregate

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"hale/internal/wearables/aggregate/query"
)

// appendMacro appends a value that is computed from a sleep.
//
// Reference 7.12, macros. The formula of sleep_score is ours to name, since
// the reference keeps its own; see docs/aggregation.md.
func (s *summary) appendMacro(dst *Vector, name string) {
	start, okStart := s.time(&bedtimeStart)
	end, okEnd := s.time(&bedtimeStop)
	switch name {
	case "sleep_score":
		if score, ok := sleepScore(s); ok {
			dst.appendNumber(float64(score))
			return
		}
	case "chronotype":
		if okStart && okEnd {
			dst.appendText(chronotype(start + (end-start)/2))
			return
		}
	case "asleep_at":
		if latency, ok := number(s.fields["latency"]); ok && okStart {
			dst.appendTime(start + int64(latency)*1e6)
			return
		}
	case "awake_at":
		if s.night != nil && s.night.lastAsleep != nil {
			dst.appendTime(s.wall.at(*s.night.lastAsleep, s.offset))
			return
		}
	case "awakenings":
		if s.night != nil {
			dst.appendNumber(float64(s.night.awakenings))
			return
		}
	}
	dst.appendNull()
}

var (
	bedtimeStart = query.Column{Kind: query.Moment, From: "bedtime_start"}
	bedtimeStop  = query.Column{Kind: query.Moment, From: "bedtime_stop"}
)

// chronotype is by the middle of the sleep on the wall's clock.
//
// Reference 7.12: lark from 17:00 to 03:30, third to 06:00, owl else.
func chronotype(middle int64) string {
	day := int64(24 * time.Hour / time.Microsecond)
	at := ((middle % day) + day) % day
	clock := func(h, m int64) int64 { return (h*60 + m) * 60 * 1e6 }
	switch {
	case at >= clock(17, 0) || at <= clock(3, 30):
		return "lark"
	case at <= clock(6, 0):
		return "third"
	}
	return "owl"
}

// sleepScore rates a sleep from 0 to 100 by the three components of the
// Pittsburgh Sleep Quality Index that a device can measure: how long it was,
// how efficient, and how long falling asleep took. Each costs 0 to 3 points.
// Without a latency the other two count alone.
//
// Buysse et al. 1989, components 2 (its first part), 3 and 4.
func sleepScore(s *summary) (score int, ok bool) {
	asleep, okAsleep := number(s.fields["total"])
	efficiency, okEfficiency := number(s.fields["efficiency"])
	if !okAsleep || !okEfficiency {
		return 0, false
	}
	points := shortOf(asleep/3600, 7, 6, 5) + shortOf(efficiency, 85, 75, 65)
	most := 6
	if latency, ok := number(s.fields["latency"]); ok {
		points += shortOf(-latency/60, -15, -30, -60) // the shorter the better
		most = 9
	}
	return (100*(most-points) + most/2) / most, true
}

// shortOf counts the bounds that a value does not reach.
func shortOf(v float64, bounds ...float64) (n int) {
	for _, bound := range bounds {
		if v < bound {
			n++
		}
	}
	return n
}

// stages is what the stages of a night tell.
type stages struct {
	lastAsleep *int64 // end of the last stage that is not awake, UTC microseconds
	awakenings int
}

// Stages of a sleep cycle. Reference 7.5, sleep_cycle.
const stageAwake = 4

// parseStages reads a sleep cycle. It has none when its lists are not parallel,
// or hold what are no seconds.
func parseStages(body []byte) (sleep uuid.UUID, s *stages) {
	var doc struct {
		Sleep uuid.UUID `json:"sleep_id"`
		Start time.Time `json:"session_start"`
		To    []int64   `json:"stage_end_offset_second"`
		Stage []float64 `json:"stage_type"`
	}
	if json.Unmarshal(body, &doc) != nil || len(doc.To) != len(doc.Stage) {
		return sleep, nil
	}
	s = &stages{}
	for i, stage := range doc.Stage {
		if stage == stageAwake {
			if i > 0 && doc.Stage[i-1] != stageAwake {
				s.awakenings++
			}
			continue
		}
		if end := doc.Start.UnixMicro() + doc.To[i]*1e6; s.lastAsleep == nil || end > *s.lastAsleep {
			s.lastAsleep = &end
		}
	}
	return doc.Sleep, s
}
