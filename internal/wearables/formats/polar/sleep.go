package polar

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// stages maps Polar's numbers: awake, REM, two kinds of light sleep, deep. Unrecognized
// sleep has no stage.
var stages = map[float64]int8{0: derive.Awake, 1: derive.REM, 2: derive.Light, 3: derive.Light, 4: derive.Deep}

// sleep reads a night with its stages and heart rate.
func (r *reader) sleep(d replies.Document) replies.Verdict {
	start, offset, began := d.Moment("sleep_start_time")
	end, waking, ended := d.Moment("sleep_end_time")
	if !began || !ended || end.Sub(start) > replies.LongestSleep {
		return replies.BadDate
	}
	night := replies.Night{
		Source: watch, Start: start, End: end, Offset: waking,
		Sleep: replies.Sleep{
			Light: d.Whole("light_sleep"), Deep: d.Whole("deep_sleep"), REM: d.Whole("rem_sleep"),
			Awake: d.Whole("total_interruption_duration"), Score: replies.RoundNumber(d.Positive("sleep_score")),
		},
	}
	if day, ok := d.Day("date"); ok {
		night.Date = day
	}
	night.Sleep.Total = replies.Sum(night.Sleep.Light, night.Sleep.Deep, night.Sleep.REM, d.Whole("unrecognized_sleep_stage"))
	night.Stages = r.hypnogram(d, start, end, offset)
	became := r.Night(night)
	if became == replies.Mapped {
		r.clocked(clock(d, "heart_rate_samples"), hearts, start, end, offset, "sleep.heart_rate_samples")
	}
	return became
}

// clockReading is a value at a local time, in minutes of the day. Minutes below zero mean
// that the time was unreadable.
type clockReading struct {
	minute int
	v      float64
}

// clock reads values by local times of a night: {"23:45": 54}.
func clock(d replies.Document, name string) (values []clockReading) {
	var all map[string]json.RawMessage
	if !d.Into(name, &all) {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if v, stated := replies.NumberOf(all[key]); stated {
			values = append(values, clockReading{minuteOf(key), v})
		}
	}
	return values
}

// placedValue is a value at its instant.
type placedValue struct {
	at time.Time
	v  float64
}

// nightMinute returns the values of a night with their instants, in order of time.
// Values outside of the night count as bad dates of the part.
func (r *reader) inNight(all []clockReading, start, end time.Time, offset int32, part string) (values []placedValue) {
	for _, one := range all {
		at, ok := nightMinute(one.minute, start, end, offset)
		if !ok {
			r.Part(part, replies.BadDate)
			continue
		}
		values = append(values, placedValue{at, one.v})
	}
	slices.SortStableFunc(values, func(a, b placedValue) int { return a.at.Compare(b.at) })
	return values
}

// clocked stores the measurements of a night.
func (r *reader) clocked(all []clockReading, key sheet.Key, start, end time.Time, offset int32, part string) {
	for _, one := range r.inNight(all, start, end, offset, part) {
		if one.v <= 0 {
			r.Part(part, replies.BadValue)
			continue
		}
		r.Gather.At(key, one.at.UnixMicro(), offset, one.v)
	}
}

// hypnogram returns the stages of a night. Each lasts until the next one, the last one
// until waking up.
func (r *reader) hypnogram(d replies.Document, start, end time.Time, offset int32) (s replies.Stages) {
	all := r.inNight(clock(d, "hypnogram"), start, end, offset, "sleep.hypnogram")
	length := int64(end.Sub(start) / time.Second)
	for i, one := range all {
		from, to := int64(one.at.Sub(start)/time.Second), length
		if i+1 < len(all) {
			to = min(length, int64(all[i+1].at.Sub(start)/time.Second))
		}
		kind, known := stages[one.v]
		if !known {
			kind = derive.Asleep
		}
		s.Add(max(0, from), to, kind)
	}
	return s
}

// mostWaiting bounds the values that wait for their nights. It is enough for two values
// every five minutes in more than 5000 nights of eight hours.
const mostWaiting = 1 << 20

// waiting returns the values of a document that wait for its night. It returns none if
// too many values already wait. The rest of the document is not kept.
func (r *reader) waiting(d replies.Document, name string) []clockReading {
	all := clock(d, name)
	if r.waits+len(all) > mostWaiting {
		r.Part("nightly recharge."+name, replies.TooMany)
		return nil
	}
	r.waits += len(all)
	return all
}

// recharge reads Polar's Nightly Recharge: means over four hours and a value every five
// minutes. The values have times within the night, so they wait until the night is read.
func (r *reader) recharge(d replies.Document) replies.Verdict {
	day, ok := d.Day("date")
	if !ok {
		return replies.BadDate
	}
	variable, breathed := r.waiting(d, "hrv_samples"), r.waiting(d, "breathing_samples")
	return r.Nightly(replies.NightlyValues{
		Day: day, Source: watch, Name: "nightly recharge",
		Sleep: replies.Sleep{AverageHRV: d.Positive("heart_rate_variability_avg"), Respiratory: d.Positive("breathing_rate_avg")},
		Found: func(start, end time.Time, offset int32) {
			if offset == wearables.NoOffset {
				return
			}
			r.clocked(variable, variety, start, end, offset, "nightly recharge.hrv_samples")
			r.clocked(breathed, breaths, start, end, offset, "nightly recharge.breathing_samples")
		},
	})
}

// storeSkinTemperature stores a night's temperature of the skin.
func (r *reader) storeSkinTemperature(d replies.Document) replies.Verdict {
	day, ok := d.Day("sleep_date")
	celsius := d.Positive("sleep_time_skin_temperature_celsius")
	switch {
	case !ok:
		return replies.BadDate
	case celsius == nil:
		return replies.BadValue
	}
	return r.Nightly(replies.NightlyValues{
		Day: day, Source: watch, Name: "skin temperature",
		Sleep: replies.Sleep{Skin: celsius, Temperature: d.Deviation("deviation_from_baseline_celsius")},
	})
}
