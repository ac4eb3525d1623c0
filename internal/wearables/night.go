package wearables

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// What follows from the rest of a sleep. Imports write it into the sleeps that
// they make; where a phone leaves it out it is made when the sleep is read, so
// that it follows when the end or a stage is revised.
//
// Reference 7.5, sleep.

const longSleep = 3 * time.Hour

// SleepType is the type of a sleep of which nobody says that it was a nap or
// still lasts.
func SleepType(length time.Duration) string {
	if length >= longSleep {
		return "long_sleep"
	}
	return "short_sleep"
}

// SleepEfficiency is how much of the time in bed was slept, in percent; both
// are in seconds. It is nil where no time was spent in bed.
func SleepEfficiency(total, inBed int64) *float64 {
	if inBed <= 0 {
		return nil
	}
	percent := math.Round(1000*float64(total)/float64(inBed)) / 10
	return &percent
}

// SleepFollows are the fields of a stored sleep that follow from others: the
// time in bed, which nobody tells better than its bounds, and what else nobody
// told. Stages are not forced to add up to a total that was.
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
	if n.Total == 0 || n.Total > inBed { // nobody sleeps longer than that
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
