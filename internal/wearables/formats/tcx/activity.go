package tcx

import (
	"math"

	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/xmltrack"
	"hale/internal/wearables/sports"
)

// activity is the open activity.
type activity struct {
	sport   string
	laps    []lap
	course  files.Course
	offset  int32
	creator creator
}

type creator struct{ name, unit, version string }

// lap holds one lap's fields; absent fields are NaN.
type lap struct {
	start                           int64 // UTC microseconds; 0 when not known
	seconds, metres, kcal           float64
	meanBPM, maxBPM, maxSpeed       float64
	meanWatts, maxWatts, totalSteps float64
}

// maxLaps bounds the laps of an activity.
const maxLaps = 10_000

// field reads a total of the lap.
func (l *lap) field(name, parent, text string) {
	v := xmltrack.Number(text)
	switch name {
	case "TotalTimeSeconds":
		l.seconds = v
	case "DistanceMeters":
		l.metres = v
	case "Calories":
		l.kcal = v
	case "MaximumSpeed":
		l.maxSpeed = v
	case "Value":
		switch parent {
		case "AverageHeartRateBpm":
			l.meanBPM = xmltrack.Beats(text)
		case "MaximumHeartRateBpm":
			l.maxBPM = xmltrack.Beats(text)
		}
	case "AvgWatts":
		l.meanWatts = v
	case "MaxWatts":
		l.maxWatts = v
	case "Steps":
		l.totalSteps = v
	}
}

func (c *creator) field(name, text string) {
	switch name {
	case "Name":
		c.name = files.Text(text)
	case "UnitId":
		c.unit = files.Text(text)
	case "VersionMajor":
		c.version = files.Text(text)
	case "VersionMinor":
		c.version += "." + files.Text(text)
	}
}

// device returns the hardware that wrote the file, or nil if the file has no serial
// number.
func (c *creator) device() *files.Device {
	if c.unit == "" || c.unit == "0" {
		return nil
	}
	return &files.Device{Model: c.name, ExternalID: c.unit, Version: c.version}
}

// recording returns the whole activity. It lasts from the start of the first lap or
// moment to the end of the last one. recording returns false if the activity has no time
// or is too long.
func (a *activity) recording() (files.Recording, bool) {
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for _, l := range a.laps {
		if l.start != 0 {
			first, last = min(first, l.start), max(last, l.start)
			if length := l.seconds * 1e6; length > 0 && length < float64(files.LongestWorkout.Microseconds()) {
				last = max(last, l.start+int64(length))
			}
		}
	}
	for _, p := range a.course {
		first, last = min(first, p.Time), max(last, p.Time)
	}
	if first > last || last-first > files.LongestWorkout.Microseconds() {
		return files.Recording{}, false
	}
	source := wearables.Source{Type: files.Recorder(files.Maker(a.creator.name))}
	if source.Type == "unknown" && a.creator.device() != nil {
		source.Type = "watch" // worn or mounted
	}
	return files.Recording{
		Workout: derive.Workout{
			Sport: sports.OfWord(a.sport), Source: source, Start: first, End: last, Offset: a.offset,
			Moving:  a.sum(func(l *lap) float64 { return l.seconds }),
			Metres:  a.sum(func(l *lap) float64 { return l.metres }),
			Kcal:    a.sum(func(l *lap) float64 { return l.kcal }),
			Steps:   a.sum(func(l *lap) float64 { return l.totalSteps }),
			MeanBPM: a.mean(func(l *lap) float64 { return l.meanBPM }),
			MaxBPM:  a.greatest(func(l *lap) float64 { return l.maxBPM }),
			Watts:   a.mean(func(l *lap) float64 { return l.meanWatts }),
			MaxW:    a.greatest(func(l *lap) float64 { return l.maxWatts }),
		},
		Course:   a.course,
		MaxSpeed: a.greatest(func(l *lap) float64 { return l.maxSpeed }),
	}, true
}

// sum adds up a total of the laps. It returns nil if the total is zero or unknown.
func (a *activity) sum(of func(*lap) float64) *float64 {
	sum := 0.0
	for i := range a.laps {
		if v := of(&a.laps[i]); v > 0 {
			sum += v
		}
	}
	if sum == 0 {
		return nil
	}
	return &sum
}

func (a *activity) greatest(of func(*lap) float64) *float64 {
	most := 0.0
	for i := range a.laps {
		if v := of(&a.laps[i]); v > most {
			most = v
		}
	}
	if most == 0 {
		return nil
	}
	return &most
}

// mean returns the mean of the laps, weighted by their time. If a lap does not have the
// value, mean returns nil, and the mean is computed from the course.
func (a *activity) mean(of func(*lap) float64) *float64 {
	sum, time := 0.0, 0.0
	for i := range a.laps {
		l := &a.laps[i]
		if !(l.seconds > 0) {
			continue
		}
		v := of(l)
		if !(v > 0) {
			return nil
		}
		sum, time = sum+v*l.seconds, time+l.seconds
	}
	if time == 0 {
		return nil
	}
	mean := sum / time
	return &mean
}
