package oura

import (
	"strings"
	"time"

	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/replies"
)

// sleep takes one sleep with its stages, and the values that the ring measured during it.
func (r *reader) sleep(d replies.Document) replies.Verdict {
	start, _, began := d.Moment("bedtime_start")
	end, offset, ended := d.Moment("bedtime_end")
	if !began || !ended {
		return replies.BadDate
	}
	night := replies.Night{
		ID: d.Text("id"), Source: ring, Start: start, End: end, Offset: offset, Stages: stages(d, end.Sub(start)),
		Sleep: replies.Sleep{
			Total: d.Whole("total_sleep_duration"), Awake: d.Whole("awake_time"), Light: d.Whole("light_sleep_duration"),
			REM: d.Whole("rem_sleep_duration"), Deep: d.Whole("deep_sleep_duration"), Latency: d.Whole("latency"),
			Readiness: d.Inner("readiness").Whole("score"), Temperature: d.Inner("readiness").Deviation("temperature_deviation"),
			HRLowest: d.Whole("lowest_heart_rate"), HRAverage: d.Whole("average_heart_rate"),
			Efficiency: d.Amount("efficiency"), AverageHRV: d.Amount("average_hrv"), Respiratory: d.Amount("average_breath"),
		},
	}
	if day, ok := d.Day("day"); ok {
		night.Date = day
	}
	switch d.Text("type") {
	case "late_nap":
		night.Sleep.Type = "acknowledged_nap"
	case "long_sleep":
		night.Sleep.Type = "long_sleep"
	}
	became := r.Night(night)
	if became == replies.Mapped {
		r.tracked(d, "heart_rate", heartrates)
		r.tracked(d, "hrv", variability)
		r.Homeless("sleep", d, "movement_30_sec")
	}
	return became
}

// deleted takes a sleep that the wearer deleted.
func (r *reader) deleted(d replies.Document) replies.Verdict {
	start, _, _ := d.Moment("bedtime_start")
	end, _, _ := d.Moment("bedtime_end")
	return r.Deleted(replies.Night{ID: d.Text("id"), Source: ring, Start: start, End: end})
}

// stages reads the hypnogram, or the finer one if there are two. It has a digit
// for each 30 seconds or 5 minutes from bedtime. The digits 1 to 4 are our
// codes of stages. The last stage ends with the night.
func stages(d replies.Document, length time.Duration) (s replies.Stages) {
	digits, step := d.Text("sleep_phase_30_sec"), int64(30)
	if digits == "" {
		digits, step = d.Text("sleep_phase_5_min"), 300
	}
	end := int64(length / time.Second)
	for i := range len(digits) {
		stage := derive.Asleep // and the kind is unknown
		if n := strings.IndexByte("1234", digits[i]); n >= 0 {
			stage = []int8{derive.Deep, derive.Light, derive.REM, derive.Awake}[n]
		}
		from := int64(i) * step
		s.Add(from, min(from+step, end), stage)
	}
	return s
}
