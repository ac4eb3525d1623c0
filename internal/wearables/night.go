package wearables

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// Fields of a sleep that follow from others. Imports store them. If a phone leaves
// them out, they are computed when the sleep is read, so that they follow a revised
// end or stage.
//
// Reference 7.5, sleep.

const longSleep = 3 * time.Hour

// SleepType returns the type of a sleep that is neither a nap nor ongoing.
func SleepType(length time.Duration) string {
	if length >= longSleep {
		return "long_sleep"
	}
	return "short_sleep"
}

// SleepEfficiency returns the part of the time in bed that was slept, in percent. Both
// are in seconds. It is nil without time in bed.
func SleepEfficiency(total, inBed int64) *float64 {
	if inBed <= 0 {
		return nil
	}
	percent := math.Round(1000*float64(total)/float64(inBed)) / 10
	return &percent
}

// SleepFollows returns the fields of a stored sleep that follow from its other
// fields. The bounds of the sleep define its time in bed. Other fields follow only if
// the sleep does not state them. Stages need not add up to a stated total.
func SleepFollows(body []byte) map[string]any {
	var n struct {
		Start      time.Time `json:"bedtime_start"`
		Stop       time.Time `json:"bedtime_stop"`
		Type       string    `json:"type"`
		Total      int64     `json:"total"` // 0: not known
		Awake      *int64    `json:"awake"`
		Light      int64     `json:"light"`
		REM        int64     `json:"rem"`
		Deep       int64     `json:"deep"`
		Efficiency *float64  `json:"efficiency"`
	}
	if json.Unmarshal(body, &n) != nil || n.Start.IsZero() || n.Stop.IsZero() {
		return nil
	}
	length := max(0, n.Stop.Sub(n.Start))
	inBed := int64(length / time.Second)
	follows := map[string]any{"duration": seconds(inBed)}
	if n.Type == "" {
		follows["type"] = SleepType(length)
	}
	if parts := n.Light + n.REM + n.Deep; n.Total == 0 && parts > 0 {
		n.Total, follows["total"] = parts, seconds(parts)
	}
	if n.Total == 0 || n.Total > inBed { // implausible
		return follows
	}
	if n.Awake == nil {
		follows["awake"] = seconds(inBed - n.Total)
	}
	if n.Efficiency == nil {
		follows["efficiency"] = json.Number(strconv.FormatFloat(*SleepEfficiency(n.Total, inBed), 'f', -1, 64))
	}
	return follows
}

func seconds(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }

// IsFragment reports whether a sleep is within another one, in seconds, and has at most
// half of its length. It is no newer version of the night.
func IsFragment(resource string, start, end, wholeStart, wholeEnd int64) bool {
	second := func(us int64) int64 { return time.UnixMicro(us).Unix() }
	return resource != "workouts" && second(start) >= second(wholeStart) && second(end) <= second(wholeEnd) && 2*(end-start) <= wholeEnd-wholeStart
}

// ShareMostTime reports whether the times of two sessions of one recorder make them one
// session. They must share more than half of the shorter sleep, or of the longer
// workout.
func ShareMostTime(resource string, start, end, otherStart, otherEnd int64) bool {
	length := min(end-start, otherEnd-otherStart)
	if resource == "workouts" {
		length = max(end-start, otherEnd-otherStart)
	}
	return 2*(min(end, otherEnd)-max(start, otherStart)) > length
}
