package fitbitweb

import (
	"time"

	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// sleep reads one sleep of either version.
//
// It keeps Fitbit's values: it does not add up the minutes of the stages. The time to
// fall asleep is 0 if a tracker recognized the sleep by itself, which means unknown.
func (r *reader) sleep(d replies.Document) replies.Verdict {
	from, ok := d.Wall("startTime")
	if !ok {
		return replies.BadDate
	}
	clock := sheet.Wall{Zone: r.Zone}
	start, _ := clock.Instant(from)
	to, ok := d.Wall("endTime")
	if !ok {
		length, ok := d.Integer("duration")
		if !ok || length <= 0 || length > replies.LongestSleep.Milliseconds() {
			return replies.BadDate
		}
		to = from.Add(time.Duration(length) * time.Millisecond)
	}
	ending := clock
	end, offset := ending.Instant(to)
	n := replies.Night{
		ID: d.Word("logId"), Source: watch, Start: time.UnixMicro(start).UTC(), End: time.UnixMicro(end).UTC(), Offset: offset,
		Sleep: replies.Sleep{
			Total: minutes(d, "minutesAsleep"), Awake: minutes(d, "minutesAwake"), Efficiency: d.Positive("efficiency"),
			Latency: positiveOrNil(minutes(d, "minutesToFallAsleep")),
		},
	}
	n.Date, _ = d.Day("dateOfSleep") // otherwise the day of waking up
	if d.Text("logType") == "manual" {
		n.Source = app
	}
	levels := d.Inner("levels")
	by := levels.Inner("summary")
	n.Sleep.Deep, n.Sleep.Light, n.Sleep.REM = minutes(by.Inner("deep"), "minutes"), minutes(by.Inner("light"), "minutes"), minutes(by.Inner("rem"), "minutes")
	night := int64(n.End.Sub(n.Start) / time.Second)
	for _, s := range stagesOf(d, levels, clock, start) {
		n.Stages.Add(s.from, min(s.to, night), s.kind)
	}
	return r.Night(n)
}

// minutes converts a field of minutes to seconds. It returns nil if the field is missing.
func minutes(d replies.Document, name string) *int64 {
	return replies.RoundNumber(replies.Times(d.Amount(name), 60))
}

func positiveOrNil(n *int64) *int64 {
	if n == nil || *n == 0 {
		return nil
	}
	return n
}

// stage is a part of the sleep in one stage, in seconds from the start of the sleep.
type stage struct {
	from, to int64
	kind     int8
}

// levelNames maps Fitbit's words to stages. A sleep without stages has asleep, restless
// and awake. Fitbit counts restless and awake as awake.
var levelNames = map[string]int8{
	"deep": derive.Deep, "light": derive.Light, "rem": derive.REM, "wake": derive.Awake,
	"asleep": derive.Asleep, "restless": derive.Awake, "awake": derive.Awake,
}

// stagesOf returns the stages in order. Version 1.2 lists stages, and separately the
// moments of being awake that are too short for that list. Version 1 has a number for
// each minute.
func stagesOf(d, levels replies.Document, clock sheet.Wall, start int64) []stage {
	if levels.Empty() {
		var all []stage
		for i, one := range d.Documents("minuteData") {
			kind, ok := minuteLevels[one.Word("value")]
			if at := int64(i) * 60; ok && i < 24*60 {
				all = append(all, stage{at, at + 60, kind})
			}
		}
		return all
	}
	short := clock
	return overlayStages(stretches(levels.Documents("data"), clock, start), stretches(levels.Documents("shortData"), short, start))
}

// minuteLevels maps the numbers of version 1: asleep, restless and awake.
var minuteLevels = map[string]int8{"1": derive.Asleep, "2": derive.Awake, "3": derive.Awake}

func stretches(all []replies.Document, clock sheet.Wall, start int64) []stage {
	var out []stage
	for _, one := range all {
		wall, ok := one.Wall("dateTime")
		seconds, counted := one.Integer("seconds")
		kind, known := levelNames[one.Text("level")]
		if !ok || !counted || !known || seconds <= 0 || seconds > 24*3600 {
			continue
		}
		at, _ := clock.Instant(wall)
		from := (at - start) / 1e6
		if from < -24*3600 || from > 24*3600 {
			continue
		}
		out = append(out, stage{max(from, 0), from + seconds, kind})
	}
	return out
}

// overlayStages puts short stretches, in order, over long ones, in order. The first of two
// repeated stretches counts.
func overlayStages(long, short []stage) []stage {
	if len(short) == 0 {
		return long
	}
	var out []stage
	next, at := 0, int64(0)
	for _, s := range long {
		at = max(at, s.from)
		for next < len(short) && short[next].to <= at {
			next++
		}
		if at >= s.to {
			continue
		}
		for i := next; i < len(short) && short[i].from < s.to; i++ {
			from, to := max(short[i].from, at), min(short[i].to, s.to)
			if from >= to {
				continue
			}
			out = append(out, stage{at, from, s.kind}, stage{from, to, short[i].kind})
			at = to
		}
		out = append(out, stage{at, s.to, s.kind})
		at = s.to
	}
	return out
}

// nightly keeps the values of a reply about the main sleep of its date.
func (r *reader) nightly(d replies.Document, name string, said replies.Sleep) replies.Verdict {
	day, ok := d.Day("dateTime")
	switch {
	case !ok:
		return replies.BadDate
	case said == replies.Sleep{}:
		return replies.BadValue
	}
	return r.Nightly(replies.NightlyValues{Day: day, Source: watch, Sleep: said, Name: name})
}

// hrv reads the mean variability of a night (RMSSD, ms); that of deep sleep alone has
// no resource.
func (r *reader) hrv(d replies.Document) replies.Verdict {
	v := d.Inner("value")
	verdict := r.nightly(d, "hrv", replies.Sleep{AverageHRV: v.Positive("dailyRmssd")})
	r.SkipFields("hrv", v, "deepRmssd")
	return verdict
}

// hrvIntraday reads the variability every five minutes of a night.
func (r *reader) hrvIntraday(d replies.Document) replies.Verdict {
	key := sheet.Key{Resource: "hrv", Type: "rmssd", Source: watch}
	return r.perMinute(d, key, func(one replies.Document) *float64 { return one.Inner("value").Positive("rmssd") })
}

// oxygen reads the saturation every minute of a night, in percent.
func (r *reader) oxygen(d replies.Document) replies.Verdict {
	key := sheet.Key{Resource: "blood_oxygen", Source: watch}
	return r.perMinute(d, key, func(one replies.Document) *float64 { return one.Positive("value") })
}

// perMinute reads the values of a night, each with its own time.
func (r *reader) perMinute(d replies.Document, key sheet.Key, value func(replies.Document) *float64) replies.Verdict {
	if _, ok := d.Day("dateTime"); !ok {
		return replies.BadDate
	}
	clock := sheet.Wall{Zone: r.Zone}
	kept := false
	for _, one := range d.Documents("minutes") {
		wall, ok := one.Wall("minute")
		v := value(one)
		if !ok || v == nil {
			continue
		}
		at, offset := clock.Instant(wall)
		r.Gather.At(key, at, offset, *v)
		kept = true
	}
	return replies.VerdictOf(kept)
}

// breaths reads the breaths per minute of a whole night, in the summary or among those
// of its stages, which have no resource.
func (r *reader) breaths(d replies.Document) replies.Verdict {
	v := d.Inner("value")
	rate := v.Positive("breathingRate")
	if rate == nil {
		rate = v.Inner("fullSleepSummary").Positive("breathingRate")
	}
	verdict := r.nightly(d, "br", replies.Sleep{Respiratory: rate})
	r.SkipFields("br", v, "deepSleepSummary", "lightSleepSummary", "remSleepSummary")
	return verdict
}

// storeSkinTemperature stores the deviation of a night's skin temperature.
func (r *reader) storeSkinTemperature(d replies.Document) replies.Verdict {
	return r.nightly(d, "tempSkin", replies.Sleep{Temperature: d.Inner("value").Deviation("nightlyRelative")})
}
