package fit

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/muktihari/fit/profile/mesgdef"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
)

// intervals are the R-R intervals of a recording, as they become RMSSD. They
// have no times of their own: they stand among the messages that have.
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
	// leastLength is the shortest recording whose RMSSD is held to stand for that
	// of five minutes, ms.
	//
	// Shaffer and Ginsberg, An overview of heart rate variability metrics and
	// norms, 2017.
	leastLength = 30_000
	// No heart beats with intervals outside of these, ms: 30 to 200 a minute.
	leastInterval, mostInterval = 300, 2000
	// mostChange is by what share an interval may differ from the one before. More
	// is an ectopic beat, or one that was missed.
	//
	// Malik et al., Heart rate variability in relation to prognosis after
	// myocardial infarction, 1989.
	mostChange = 0.2
)

// maxWindows bounds the windows of one file: those of the longest workout.
const maxWindows = int(files.LongestWorkout / (5 * time.Minute))

// missing is that of a uint16.
const missing = math.MaxUint16

// takeIntervals adds the intervals of a message to its five minutes.
func (p *part) takeIntervals(m *mesgdef.Hrv) fate {
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
		if ms == missing {
			continue
		}
		result = mapped
		w.add(x.before, int64(ms))
		x.before = int64(ms)
	}
	return result
}

// add counts the difference between two successive intervals, unless one of
// them is none.
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

// variability is the RMSSD of each five minutes, at their beginning. Of a file
// that broke off the last ones are left out where they are not whole: another
// copy of it knows better.
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
