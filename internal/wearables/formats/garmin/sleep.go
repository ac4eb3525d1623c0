package garmin

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/replies"
)

// stage is a stretch of a night.
type stage struct {
	from, to int64 // seconds since 1970
	kind     int8
}

// stagesOf lays stages end to end, in seconds from the start of the night.
func stagesOf(all []stage, start time.Time) (s replies.Stages) {
	slices.SortStableFunc(all, func(a, b stage) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	for _, one := range all {
		s.Add(max(0, one.from-start.Unix()), one.to-start.Unix(), one.kind)
	}
	return s
}

// levels are the names of the lists of pushed stages.
var levels = map[string]int8{"deep": derive.Deep, "light": derive.Light, "rem": derive.REM, "awake": derive.Awake, "unmeasurable": derive.Asleep}

// pushedSleep reads one sleep of the interface for partners. Its duration
// leaves out, on some devices, when the wearer lay awake: the night is as long
// as its stages.
func (r *reader) pushedSleep(d replies.Document) replies.Verdict {
	start, ok := r.start(d)
	length := d.Amount("durationInSeconds")
	if !ok || length == nil {
		return replies.BadDate
	}
	body := replies.Sleep{
		Deep: d.Whole("deepSleepDurationInSeconds"), Light: d.Whole("lightSleepDurationInSeconds"), Awake: d.Whole("awakeDurationInSeconds"),
		REM: cmp.Or(d.Whole("remSleepInSeconds"), d.Whole("remSleepDurationInSeconds")), Score: d.Inner("overallSleepScore").Whole("value"),
	}
	body.Total = replies.Sum(body.Deep, body.Light, body.REM)
	stages := r.pushedStages(d)
	end := *length
	if parts := replies.Sum(body.Total, body.Awake, d.Whole("unmeasurableSleepInSeconds")); parts != nil {
		end = max(end, float64(*parts))
	}
	for _, s := range stages {
		end = max(end, float64(s.to-start.at.Unix()))
	}
	if end > replies.LongestSleep.Seconds() {
		return replies.BadDate
	}
	night := replies.Night{
		Source: watch, Start: start.at, End: start.after(end), Offset: start.offset, Sleep: body, Stages: stagesOf(stages, start.at),
	}
	if day, ok := d.Day("calendarDate"); ok {
		night.Date = day
	}
	switch said := d.Text("validation"); {
	case said == "MANUAL": // typed in
		night.Source, night.Sleep.State = app, "confirmed"
	case strings.HasSuffix(said, "TENTATIVE"):
		night.Sleep.State = "tentative"
	case said != "":
		night.Sleep.State = "confirmed"
	}
	became := r.Night(night)
	if became != replies.Mapped {
		return became
	}
	r.offsets(d, "timeOffsetSleepSpo2", start, oxygen, "sleep.timeOffsetSleepSpo2")
	r.offsets(d, "timeOffsetSleepRespiration", start, breaths, "sleep.timeOffsetSleepRespiration")
	for _, nap := range d.Documents("naps") {
		r.Part("sleep.naps", r.pushedNap(nap))
	}
	return replies.Mapped
}

func (r *reader) pushedStages(d replies.Document) (all []stage) {
	under := d.Inner("sleepLevelsMap")
	for _, name := range []string{"deep", "light", "rem", "awake", "unmeasurable"} {
		for _, one := range under.Documents(name) {
			from, began := one.Unix("startTimeInSeconds")
			to, ended := one.Unix("endTimeInSeconds")
			if !began || !ended || !to.After(from) {
				r.Part("sleep.sleepLevelsMap", replies.BadDate)
				continue
			}
			all = append(all, stage{from.Unix(), to.Unix(), levels[name]})
		}
	}
	return all
}

func (r *reader) pushedNap(d replies.Document) replies.Verdict {
	start, ok := r.epochSeconds(d, "napStartTimeInSeconds", "napOffsetInSeconds")
	length := d.Amount("napDurationInSeconds")
	if !ok || length == nil || *length > replies.LongestSleep.Seconds() {
		return replies.BadDate
	}
	n := replies.Night{Source: watch, Start: start.at, End: start.after(*length), Offset: start.offset, Sleep: replies.Sleep{Type: "acknowledged_nap"}}
	if d.Text("napValidation") == "MANUAL" {
		n.Source = app
	}
	return r.Night(n)
}

// activityLevels are the numbers of the stages on Connect's page.
var activityLevels = map[float64]int8{0: derive.Deep, 1: derive.Light, 2: derive.REM, 3: derive.Awake}

// nightPage reads one of Connect's nights with the values that were measured in it.
func (r *reader) nightPage(d replies.Document) replies.Verdict {
	s := d.Inner("dailySleepDTO")
	start, began := r.both(s, "sleepStartTimestampGMT", "sleepStartTimestampLocal")
	end, ended := r.both(s, "sleepEndTimestampGMT", "sleepEndTimestampLocal")
	if !began || !ended {
		return replies.BadDate
	}
	night := replies.Night{
		Source: watch, Start: start.at, End: end.at, Offset: end.offset,
		Sleep: replies.Sleep{
			Total: s.Whole("sleepTimeSeconds"), Deep: s.Whole("deepSleepSeconds"), Light: s.Whole("lightSleepSeconds"),
			REM: s.Whole("remSleepSeconds"), Awake: s.Whole("awakeSleepSeconds"), Score: s.Inner("sleepScores").Inner("overall").Whole("value"),
			Respiratory: s.Positive("averageRespirationValue"), HRAverage: replies.RoundNumber(s.Positive("avgHeartRate")),
			HRResting: replies.RoundNumber(d.Positive("restingHeartRate")), AverageHRV: d.Positive("avgOvernightHrv"),
		},
	}
	if day, ok := s.Day("calendarDate"); ok {
		night.Date = day
	}
	if r.nights == nil {
		r.nights = map[civil.Date]replies.Sleep{}
	}
	r.nights[night.Date] = night.Sleep
	night.Sleep.Temperature = d.Deviation("avgSkinTempDeviationC")
	if kind := s.Text("sleepWindowConfirmationType"); strings.Contains(kind, "tentative") {
		night.Sleep.State = "tentative"
	} else if kind != "" || s.Flag("sleepWindowConfirmed") {
		night.Sleep.State = "confirmed"
	}
	if !s.States("sleepFromDevice") || s.Flag("sleepFromDevice") {
		night.Stages = r.connectStages(d, start.at)
	} else {
		night.Source = app
	}
	became := r.Night(night)
	if became != replies.Mapped {
		return became
	}
	r.objects(d, "sleepHeartRate", "startGMT", "value", end.offset, hearts)
	r.objects(d, "hrvData", "startGMT", "value", end.offset, variety)
	r.objects(d, "sleepStress", "startGMT", "value", end.offset, stress)
	r.objects(d, "wellnessEpochSPO2DataDTOList", "epochTimestamp", "spo2Reading", end.offset, oxygen)
	r.objects(d, "wellnessEpochRespirationDataDTOList", "startTimeGMT", "respirationValue", end.offset, breaths)
	r.SkipFields("sleep", s, "averageSpO2Value")
	for _, name := range []string{"sleepMovement", "sleepRestlessMoments", "sleepBodyBattery"} {
		if len(d.List(name)) > 0 {
			r.Part("sleep."+name, replies.Skipped)
		}
	}
	for _, nap := range append(d.Documents("dailyNapDTOS"), s.Documents("dailyNapDTOS")...) {
		r.Part("sleep.dailyNapDTOS", r.napPage(nap, end.offset))
	}
	return replies.Mapped
}

func (r *reader) connectStages(d replies.Document, start time.Time) replies.Stages {
	var all []stage
	for _, one := range d.Documents("sleepLevels") {
		from, began := clock(one.Raw("startGMT"))
		to, ended := clock(one.Raw("endGMT"))
		level, stated := one.Number("activityLevel")
		if !began || !ended || !to.After(from) {
			r.Part("sleep.sleepLevels", replies.BadDate)
			continue
		}
		kind, known := activityLevels[level]
		if !stated || !known {
			kind = derive.Asleep
		}
		all = append(all, stage{from.Unix(), to.Unix(), kind})
	}
	return stagesOf(all, start)
}

func (r *reader) napPage(d replies.Document, offset int32) replies.Verdict {
	start, began := clock(d.Raw("napStartTimestampGMT"))
	end, ended := clock(d.Raw("napEndTimestampGMT"))
	if !began || !ended {
		return replies.BadDate
	}
	return r.Night(replies.Night{
		Source: watch, Start: start, End: end, Offset: offset, Sleep: replies.Sleep{Type: "acknowledged_nap", Total: d.Whole("napTimeSec")},
	})
}

// hrvOfNight reads the mean of a night from a document of its own.
func (r *reader) hrvOfNight(d replies.Document) replies.Verdict {
	day, ok := d.Day("calendarDate")
	mean := d.Positive("lastNightAvg")
	switch {
	case !ok:
		return replies.BadDate
	case mean == nil:
		return replies.BadValue
	}
	return r.aboutNight(replies.NightlyValues{Day: day, Source: watch, Sleep: replies.Sleep{AverageHRV: mean}, Name: "hrv of a night"})
}

// sleepScore reads a score from a document of its own.
func (r *reader) sleepScore(d replies.Document) replies.Verdict {
	day, ok := d.Day("calendarDate")
	value := d.Positive("value")
	switch {
	case !ok:
		return replies.BadDate
	case value == nil || *value > 100:
		return replies.BadValue
	}
	return r.aboutNight(replies.NightlyValues{Day: day, Source: watch, Sleep: replies.Sleep{Score: replies.RoundNumber(value)}, Name: "sleep score"})
}

// mostNightly bounds the separate values that wait for their nights.
const mostNightly = 1 << 18

// aboutNight keeps separate values until the file's nights are known.
func (r *reader) aboutNight(n replies.NightlyValues) replies.Verdict {
	if len(r.nightly) == mostNightly {
		return replies.TooMany
	}
	if n.Name != "" {
		n.Nth = r.Nth(n.Name)
	}
	r.nightly = append(r.nightly, n)
	return replies.Waits
}

// endNights stores the values about nights. The night's own page in the same file takes
// precedence, otherwise each import would change it twice.
func (r *reader) endNights() {
	for _, n := range r.nightly {
		said := r.nights[n.Day]
		if said.Score != nil {
			n.Sleep.Score = nil
		}
		if said.AverageHRV != nil {
			n.Sleep.AverageHRV = nil
		}
		r.Nightly(n)
	}
	r.nightly, r.nights = nil, nil
}
