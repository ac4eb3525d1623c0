package oura

import (
	"encoding/json"
	"math"
	"strings"
	"time"

	"hale/internal/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
)

// sleepBody has the wire fields of a sleep that Oura states; seconds where
// nothing else is said.
//
// Reference 7.5.
type sleepBody struct {
	Type        string   `json:"type"`
	Offset      int32    `json:"timezone_offset"`
	Duration    int64    `json:"duration"`
	Total       *int64   `json:"total"`
	Awake       *int64   `json:"awake"`
	Light       *int64   `json:"light"`
	REM         *int64   `json:"rem"`
	Deep        *int64   `json:"deep"`
	Readiness   *int64   `json:"recovery_readiness_score"`
	HRLowest    *int64   `json:"hr_lowest"`
	HRAverage   *int64   `json:"hr_average"`
	Efficiency  *float64 `json:"efficiency"` // %
	Latency     *int64   `json:"latency"`
	Temperature *float64 `json:"temperature_delta"` // °C
	AverageHRV  *float64 `json:"average_hrv"`       // ms
	Respiratory *float64 `json:"respiratory_rate"`
}

const (
	longSleep = 3 * time.Hour
	longest   = 24 * time.Hour
)

// sleep takes one sleep with its stages, and what the ring measured meanwhile.
func (r *reader) sleep(d document) verdict {
	start, _, began := d.moment("bedtime_start")
	end, offset, ended := d.moment("bedtime_end")
	length := end.Sub(start)
	if !began || !ended || length <= 0 || length > longest {
		return badDate
	}
	day, ok := d.day()
	if !ok { // the day of waking up
		day = civil.DateOf(end.Add(time.Duration(offset) * time.Second))
	}
	body := sleepBody{
		Type: "short_sleep", Offset: offset, Duration: int64(length / time.Second),
		Total: d.whole("total_sleep_duration"), Awake: d.whole("awake_time"), Light: d.whole("light_sleep_duration"),
		REM: d.whole("rem_sleep_duration"), Deep: d.whole("deep_sleep_duration"), Latency: d.whole("latency"),
		Readiness: d.inner("readiness").whole("score"),
		HRLowest:  d.whole("lowest_heart_rate"), HRAverage: d.whole("average_heart_rate"),
		Efficiency: d.amount("efficiency"), AverageHRV: d.amount("average_hrv"), Respiratory: d.amount("average_breath"),
	}
	switch kind := d.text("type"); {
	case kind == "late_nap":
		body.Type = "acknowledged_nap"
	case kind == "long_sleep" || length >= longSleep:
		body.Type = "long_sleep"
	}
	if delta, ok := d.inner("readiness").number("temperature_deviation"); ok {
		body.Temperature = &delta
	}
	body.complete()
	night := wearables.Summary{
		Resource: "sleep", Key: keyOf(start), Source: ring, Date: day, Start: start, End: end, Body: encode(body),
	}
	r.summaries = append(r.summaries, night)
	if stages := d.stages(night.End.Sub(start)); len(stages.Types) > 0 {
		night.Resource, night.Body = "sleep_cycle", encode(stages)
		r.summaries = append(r.summaries, night)
	}
	r.tracked(d, "heart_rate", heartrates)
	r.tracked(d, "hrv", variability)
	r.homeless("sleep", d, "movement_30_sec")
	return mapped
}

// complete fills in what follows from the rest where Oura leaves it out.
func (b *sleepBody) complete() {
	if b.Total == nil {
		return
	}
	if rest := b.Duration - *b.Total; b.Awake == nil && rest >= 0 {
		b.Awake = &rest
	}
	if b.Efficiency == nil && b.Duration > 0 {
		percent := math.Round(1000*float64(*b.Total)/float64(b.Duration)) / 10
		b.Efficiency = &percent
	}
}

// keyOf tells the nights apart: by when they began, as everywhere, so that
// what is said of one elsewhere finds it.
func keyOf(start time.Time) string {
	return start.UTC().Format(time.RFC3339Nano) + "|" + ring.Type + "|"
}

// whole is an amount as an integer.
func (d document) whole(name string) *int64 {
	v := d.amount(name)
	if v == nil {
		return nil
	}
	n := int64(math.Round(*v))
	return &n
}

// cycleBody has the wire fields of a sleep_cycle.
type cycleBody struct {
	Starts []int64 `json:"stage_start_offset_second"`
	Ends   []int64 `json:"stage_end_offset_second"`
	Types  []int8  `json:"stage_type"`
}

// stages reads the hypnogram, the finer one where there are two: a digit for
// each 30 seconds or 5 minutes from going to bed, the same numbers as ours.
// The last one ends with the night.
func (d document) stages(length time.Duration) (c cycleBody) {
	digits, step := d.text("sleep_phase_30_sec"), int64(30)
	if digits == "" {
		digits, step = d.text("sleep_phase_5_min"), 300
	}
	end := int64(length / time.Second)
	for i := range len(digits) {
		from := int64(i) * step
		if from >= end {
			break
		}
		to := min(from+step, end)
		stage := derive.Asleep // and nobody knows how
		if n := strings.IndexByte("1234", digits[i]); n >= 0 {
			stage = []int8{derive.Deep, derive.Light, derive.REM, derive.Awake}[n]
		}
		if n := len(c.Types); n > 0 && c.Types[n-1] == stage {
			c.Ends[n-1] = to
			continue
		}
		c.Starts, c.Ends, c.Types = append(c.Starts, from), append(c.Ends, to), append(c.Types, stage)
	}
	return c
}

// encode writes a body. The types of this package hold nothing that JSON can
// not say.
func encode(body any) json.RawMessage {
	raw, err := json.Marshal(body)
	if err != nil {
		panic("oura: " + err.Error())
	}
	return raw
}
