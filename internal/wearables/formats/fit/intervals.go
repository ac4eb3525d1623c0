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
