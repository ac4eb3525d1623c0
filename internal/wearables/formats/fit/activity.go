package fit

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/muktihari/fit/profile/basetype"
	"github.com/muktihari/fit/profile/mesgdef"
	"github.com/muktihari/fit/profile/typedef"
	"github.com/muktihari/fit/profile/untyped/fieldnum"
	"github.com/muktihari/fit/proto"

	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/sports"
)

// sport holds the sport of a session.
type sport struct {
	main typedef.Sport
	sub  typedef.SubSport
}

var noSport = sport{typedef.SportInvalid, typedef.SubSportInvalid}

// indoorSports are words for sports on machines that the main sport does not name.
var indoorSports = map[typedef.SubSport]string{
	typedef.SubSportTreadmill: "Running", typedef.SubSportIndoorCycling: "Cycling", typedef.SubSportSpin: "Cycling",
	typedef.SubSportIndoorRowing: "Rowing", typedef.SubSportElliptical: "Elliptical", typedef.SubSportStairClimbing: "StairClimbing",
	typedef.SubSportStrengthTraining: "TraditionalStrengthTraining", typedef.SubSportCardioTraining: "MixedCardio",
	typedef.SubSportYoga: "Yoga", typedef.SubSportPilates: "Pilates", typedef.SubSportFlexibilityTraining: "Flexibility",
}

func (s sport) named() derive.Sport {
	if s.main == typedef.SportFitnessEquipment || s.main == typedef.SportTraining {
		if name, ok := indoorSports[s.sub]; ok {
			return sports.NamedSport(name)
		}
	}
	word := s.main.String()
	if !hasName(word) {
		return sports.OtherSport
	}
	return sports.OfWord(word)
}

// footSports are sports whose cadence counts strides. A stride is two steps.
var footSports = map[typedef.Sport]bool{
	typedef.SportRunning: true, typedef.SportWalking: true, typedef.SportHiking: true,
	typedef.SportMountaineering: true, typedef.SportSnowshoeing: true,
}

func (s sport) onFoot() bool {
	return footSports[s.main] || s.main == typedef.SportFitnessEquipment && s.sub == typedef.SubSportTreadmill
}

// records reports whether the file's records are measurements. Courses, planned workouts
// and segments have planned records.
func (p *part) records() bool {
	t := p.id.Type // the numbers of makers' own types, and that of none, are the highest
	return t == typedef.FileActivity || t == typedef.FileActivitySummary || t >= typedef.FileMfgRangeMin
}

func (p *part) takeSport(s *mesgdef.Sport) {
	p.sport = sport{s.Sport, s.SubSport}
	p.title = files.Text(s.Name)
}

// preferWider returns an enhanced field, which is newer and wider, or otherwise the
// plain field. If the file has only the plain field, the library computes the
// enhanced one from it and may lose the last digit. In that case preferWider prefers
// the plain field.
func preferWider(m interface{ IsExpandedField(num byte) bool }, num byte, enhanced, field float64) float64 {
	if m.IsExpandedField(num) {
		return firstNumber(field, enhanced)
	}
	return firstNumber(enhanced, field)
}

// takeEvent keeps the first start of the timer, at which the session of the file begins.
func (p *part) takeEvent(m *proto.Message) {
	e := mesgdef.NewEvent(m)
	at, ok := instant(e.Timestamp)
	if !ok {
		return
	}
	p.clock = at
	if p.began == 0 && e.Event == typedef.EventTimer && e.EventType == typedef.EventTypeStart {
		p.began = at
	}
}

// takeRecord keeps a record as a moment.
func (p *part) takeRecord(m *proto.Message) messageOutcome {
	if !p.records() {
		return skipped
	}
	r := &p.record
	r.Reset(m)
	at, ok := instant(r.Timestamp)
	if !ok {
		return badDate
	}
	p.clock = at
	if len(p.moments) >= files.MaxMoments {
		return tooMany
	}
	x := files.MomentAt(at)
	x.HeartRate = heartRateOrNaN(r.HeartRate)
	if r.Cadence != basetype.Uint8Invalid {
		x.Cadence = float64(r.Cadence)
		if r.FractionalCadence != basetype.Uint8Invalid {
			x.Cadence += r.FractionalCadenceScaled()
		}
	}
	if r.Power != basetype.Uint16Invalid {
		x.Power = float64(r.Power)
	}
	if r.Temperature != basetype.Sint8Invalid {
		x.Temperature = float64(r.Temperature)
	}
	if r.Resistance != basetype.Uint8Invalid {
		x.Resistance = float64(r.Resistance)
	}
	x.Speed = preferWider(r, fieldnum.RecordEnhancedSpeed, r.EnhancedSpeedScaled(), r.SpeedScaled())
	x.Altitude = preferWider(r, fieldnum.RecordEnhancedAltitude, r.EnhancedAltitudeScaled(), r.AltitudeScaled())
	x.Distance = r.DistanceScaled()
	x.Breaths = r.EnhancedRespirationRateScaled()
	if lat, lng := r.PositionLatDegrees(), r.PositionLongDegrees(); math.Abs(lat) <= 90 && math.Abs(lng) <= 180 {
		x.Lat, x.Lng = lat, lng
	}
	p.moments = append(p.moments, x)
	p.recorded = append(p.recorded, keptRecord{at, p.outcome.Type("record").Read})
	return mapped
}

// maxSessions bounds the workouts of one file.
const maxSessions = 1000

func (p *part) takeSession(m *proto.Message) messageOutcome {
	if !p.records() {
		return skipped
	}
	if len(p.sessions) >= maxSessions {
		return tooMany
	}
	s := mesgdef.NewSession(m)
	begin, end, ok := bounds(s)
	if !ok || end-begin > files.LongestWorkout.Microseconds() {
		return badDate
	}
	p.sessions = append(p.sessions, *s)
	return mapped
}

// bounds returns the start and the end of a session in UTC microseconds, including
// pauses. It returns false if the session states too little.
func bounds(s *mesgdef.Session) (begin, end int64, ok bool) {
	length := firstNumber(s.TotalElapsedTimeScaled(), s.TotalTimerTimeScaled())
	if begin, ok = instant(s.StartTime); ok {
		if math.IsNaN(length) {
			end, ok = instant(s.Timestamp) // when the session was written: at its end
			return begin, max(begin, end), ok
		}
		return begin, begin + int64(length*1e6), true
	}
	if end, ok = instant(s.Timestamp); ok && !math.IsNaN(length) {
		return end - int64(length*1e6), end, true
	}
	return 0, 0, false
}

// recordings returns the workouts of the file. It adds the heart rates that a strap
// transferred after the activity.
func (p *part) recordings() []files.Recording {
	slices.SortStableFunc(p.moments, func(a, b files.Moment) int { return cmp.Compare(a.Time, b.Time) })
	rest := p.afterSessions()
	all := append(p.finished(), p.unfinished(rest)...)
	p.wear(all)
	for i := range all {
		all[i].Own, all[i].Cut = true, p.cut
	}
	return all
}

// afterSessions removes and returns the moments whose session is missing. If the file has
// no session, these are all moments. If the file is cut off between two sessions, these
// are the moments after the last session. Otherwise there are none.
func (p *part) afterSessions() (rest files.Course) {
	last := int64(math.MinInt64)
	for i := range p.sessions {
		_, end, _ := bounds(&p.sessions[i])
		last = max(last, end)
	}
	n := len(p.moments)
	if len(p.sessions) > 0 && (!p.cut || n == 0 || p.moments[n-1].Time <= last+settles) {
		return nil
	}
	i, _ := slices.BinarySearchFunc(p.moments, last+1, func(m files.Moment, at int64) int { return cmp.Compare(m.Time, at) })
	if rest = p.moments[i:]; len(p.sessions) > 0 && !isCourse(rest) {
		return nil
	}
	p.moments = p.moments[:i]
	return rest
}

// isCourse reports whether records may be a workout by themselves.
func isCourse(all files.Course) bool {
	n := len(all)
	return n >= 2 && all[n-1].Time-all[0].Time <= files.LongestWorkout.Microseconds()
}

// settles bounds the time for which a device may continue to write records of an ended
// session.
const settles = int64(time.Minute / time.Microsecond)

// finished makes one workout of each session, with the moments that came after
// its start and before the next one's.
func (p *part) finished() []files.Recording {
	slices.SortStableFunc(p.sessions, func(a, b mesgdef.Session) int { return a.StartTime.Compare(b.StartTime) })
	all := make([]files.Recording, len(p.sessions))
	for i := range p.sessions {
		all[i] = p.workout(&p.sessions[i])
	}
	i, stray := 0, map[int64]bool{}
	for _, m := range p.moments {
		for i+1 < len(all) && m.Time >= all[i+1].Start {
			i++
		}
		if r := &all[i]; m.Time < r.Start-maxClockGap || m.Time > r.End+maxClockGap {
			stray[m.Time] = true
			continue
		}
		all[i].Course = append(all[i].Course, m)
	}
	p.leave(stray)
	for i := range all {
		finish(&all[i], p.sessions[i].Sport, p.sessions[i].SubSport)
	}
	return all
}

// keptRecord is a record that was kept. It has the time, in UTC microseconds, and
// the number of the record within its type.
type keptRecord struct{ at, record int64 }

// leave counts the records whose times are in no session.
func (p *part) leave(stray map[int64]bool) {
	if len(stray) == 0 {
		return
	}
	count := p.outcome.Type("record")
	for _, r := range p.recorded {
		if stray[r.at] {
			p.turn("record", 1, func(c *files.TypeCount) *int64 { return &c.BadDate })
			p.outcome.LeftAt(count, r.record, "bad_date")
		}
	}
}

// maxClockGap bounds the distance of a record from its session: clocks are set while a
// device finds its satellites, and sessions are rounded.
const maxClockGap = int64(time.Hour / time.Microsecond)

// workout converts the fields of a session.
func (p *part) workout(s *mesgdef.Session) files.Recording {
	kind := sport{s.Sport, s.SubSport}
	begin, end, _ := bounds(s)
	r := files.Recording{
		Workout: derive.Workout{
			Sport: kind.named(), Start: begin, End: end, Offset: p.offset,
			Moving: numberOrNil(s.TotalTimerTimeScaled()), Metres: positiveOrNil(s.TotalDistanceScaled()),
			Kcal:    positiveOrNil(whole16(s.TotalCalories)),
			MeanBPM: numberOrNil(heartRateOrNaN(s.AvgHeartRate)), MaxBPM: numberOrNil(heartRateOrNaN(s.MaxHeartRate)),
			Gain: numberOrNil(whole16(s.TotalAscent)), Watts: positiveOrNil(whole16(s.AvgPower)), MaxW: positiveOrNil(whole16(s.MaxPower)),
		},
		Speed:    positiveOrNil(preferWider(s, fieldnum.SessionEnhancedAvgSpeed, s.EnhancedAvgSpeedScaled(), s.AvgSpeedScaled())),
		MaxSpeed: positiveOrNil(preferWider(s, fieldnum.SessionEnhancedMaxSpeed, s.EnhancedMaxSpeedScaled(), s.MaxSpeedScaled())),
		High:     numberOrNil(preferWider(s, fieldnum.SessionEnhancedMaxAltitude, s.EnhancedMaxAltitudeScaled(), s.MaxAltitudeScaled())),
		Low:      numberOrNil(preferWider(s, fieldnum.SessionEnhancedMinAltitude, s.EnhancedMinAltitudeScaled(), s.MinAltitudeScaled())),
	}
	r.Title = files.Text(s.SportProfileName)
	if kind.onFoot() && s.TotalCycles != basetype.Uint32Invalid && s.TotalCycles > 0 {
		steps := 2 * float64(s.TotalCycles)
		r.Steps = &steps
	}
	if machines[s.SubSport] {
		r.Source.Type = "exercise_machine"
	}
	return r
}

// unfinished returns the workout of records without a session, as in a file that is cut
// off. It returns none if the records are too few or last too long. The workout begins
// when the timer was started, if that is known.
func (p *part) unfinished(course files.Course) []files.Recording {
	if !isCourse(course) {
		return nil
	}
	first, last := course[0].Time, course[len(course)-1].Time
	if len(p.sessions) == 0 && p.began != 0 && p.began < first && first-p.began <= maxClockGap {
		first = p.began
	}
	r := files.Recording{
		Workout: derive.Workout{Sport: p.sport.named(), Start: first, End: last, Offset: p.offset},
		Course:  course,
	}
	if machines[p.sport.sub] {
		r.Source.Type = "exercise_machine"
	}
	finish(&r, p.sport.main, p.sport.sub)
	return []files.Recording{r}
}

// finish converts strides to steps: a cadence on foot counts steps.
func finish(r *files.Recording, main typedef.Sport, sub typedef.SubSport) {
	if !(sport{main, sub}).onFoot() {
		return
	}
	for i := range r.Course {
		r.Course[i].Cadence *= 2
	}
}

// intervals collects the R-R intervals of a recording, which give its RMSSD.
// The intervals have no times of their own. Their times follow from the
// messages around them.
//
// FIT, activity files: hrv.
type intervals struct {
	began   int64 // UTC microseconds: of the first one
	before  int64 // ms; 0 when the one before is missing
	windows map[int64]*window
}

// window holds the statistics of five minutes.
type window struct {
	squares float64 // of successive differences, ms²
	n       float64
	length  int64 // ms of the intervals that counted
}

const (
	// windowLength is that of short recordings.
	//
	// Task Force, Heart rate variability: standards of measurement, 1996.
	windowLength = 5 * 60 * second
	// leastLength is the shortest length of intervals in a window whose RMSSD may
	// represent the five minutes of the window, ms.
	//
	// Shaffer and Ginsberg, An overview of heart rate variability metrics and
	// norms, 2017.
	leastLength = 30_000
	// No heart beats with intervals outside of these, ms: 30 to 200 a minute.
	leastInterval, mostInterval = 300, 2000
	// mostChange is the largest accepted change from one interval to the next, as
	// a share. A larger change is an ectopic beat or a missed one.
	//
	// Malik et al., Heart rate variability in relation to prognosis after
	// myocardial infarction, 1989.
	mostChange = 0.2
)

// maxWindows bounds the windows of one file: those of the longest workout.
const maxWindows = int(files.LongestWorkout / (5 * time.Minute))

// missingUint16 is that of a uint16.
const missingUint16 = math.MaxUint16

// takeIntervals adds the intervals of a message to its five minutes.
func (p *part) takeIntervals(m *mesgdef.Hrv) messageOutcome {
	if !p.records() {
		return skipped
	}
	x := &p.intervals
	if p.clock == 0 {
		return badDate
	}
	if x.began == 0 {
		x.began, x.windows = p.clock, map[int64]*window{}
	}
	if p.clock < x.began {
		return badDate
	}
	number := (p.clock - x.began) / windowLength
	w := x.windows[number]
	if w == nil && len(x.windows) >= maxWindows {
		return tooMany
	}
	if w == nil {
		w = &window{}
		x.windows[number] = w
	}
	result := badValue
	for _, ms := range m.Time {
		if ms == missingUint16 {
			continue
		}
		result = mapped
		w.add(x.before, int64(ms))
		x.before = int64(ms)
	}
	return result
}

// add counts the difference between two successive intervals, in ms. It ignores intervals
// that no heart has, and differences of more than mostChange.
func (w *window) add(before, ms int64) {
	if before < leastInterval || before > mostInterval || ms < leastInterval || ms > mostInterval {
		return
	}
	change := float64(ms - before)
	if math.Abs(change) > mostChange*float64(before) {
		return
	}
	w.squares += change * change
	w.n++
	w.length += ms
}

// variability adds the RMSSD of each window of five minutes, at its beginning. In a file
// that is cut off, the last window counts only if it is complete. A complete copy of the
// file has a better value.
func (p *part) variability() {
	x := &p.intervals
	series := wearables.Samples{Resource: "hrv", Type: "rmssd"}
	for _, number := range slices.Sorted(maps.Keys(x.windows)) {
		w, at := x.windows[number], x.began+number*windowLength
		if w.length < leastLength || p.cut && p.clock < at+windowLength {
			continue
		}
		rmssd := math.Round(10*math.Sqrt(w.squares/w.n)) / 10
		series.Time, series.Value = append(series.Time, at), append(series.Value, rmssd)
	}
	if series.Len() > 0 {
		p.aside = append(p.aside, &series)
	}
}
