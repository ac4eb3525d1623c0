package applehealth

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"time"

	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/xmlscan"
	"hale/internal/wearables/sports"
	"hale/internal/wearables/units"
)

// onWorkout reads a Workout. Its totals are attributes in older exports and
// WorkoutStatistics children in newer ones; values in both are equal.
func (r *Reader) onWorkout(tag *xmlscan.Tag) error {
	r.endRecord()
	r.endWorkout()
	if tag.Kind == xmlscan.Closing {
		return nil
	}
	r.report.Workouts++
	r.readWorkout(tag)
	if tag.Kind == xmlscan.Empty {
		r.endWorkout()
	}
	if len(r.workouts) >= flushWorkouts || r.points >= flushPoints {
		return r.flush()
	}
	return nil
}

func (r *Reader) readWorkout(tag *xmlscan.Tag) {
	a := attributes(tag)
	start, offset, ok := parseMoment(a["startDate"])
	end, _, endOK := parseMoment(a["endDate"])
	count := r.report.Type("Workout")
	count.Read++
	if !ok || !endOK || end < start || start < earliestInstant || end > latestInstant {
		count.BadDate++
		r.report.Left(count)
		return
	}
	r.workoutSource = r.sources.of(a["sourceName"], a["device"])
	source := r.sources.list[r.workoutSource]
	w := &RoutedWorkout{Workout: derive.Workout{
		Sport: sports.NamedSport(strings.TrimPrefix(string(a["workoutActivityType"]), "HKWorkoutActivityType")), Source: source, Start: start, End: end, Offset: offset,
	}}
	// Older exports write 0 where a sport has no distance or no energy.
	w.Moving = amount(a["duration"], a["durationUnit"], units.Multiply(60), inSeconds)
	w.Metres = positiveOrNil(amount(a["totalDistance"], a["totalDistanceUnit"], units.Multiply(1000), metreUnits))
	w.Kcal = positiveOrNil(amount(a["totalEnergyBurned"], a["totalEnergyBurnedUnit"], unitOne, kilocalorieUnits))
	r.workout = w
}

// endWorkout keeps the workout after its last child.
func (r *Reader) endWorkout() {
	r.segment = 0
	if r.workout == nil {
		return
	}
	r.report.Type("Workout").Mapped++
	r.course.cut(r.workout, r.workoutSource)
	r.workouts = append(r.workouts, *r.workout)
	r.workout = nil
}

// onWorkoutPart reads a child of the workout: a total, or a route. Parts of a
// multisport session have totals of their own, which are not the session's.
func (r *Reader) onWorkoutPart(tag *xmlscan.Tag) {
	if r.workout == nil || r.segment > 0 || tag.Kind == xmlscan.Closing {
		return
	}
	a := attributes(tag)
	switch string(tag.Name) {
	case "WorkoutStatistics":
		r.statistics(a)
	case "FileReference":
		if r.workout.RoutePath == "" {
			r.workout.RoutePath = xmlscan.Unescape(a["path"])
			r.report.Routes++
		}
	case "Location":
		r.location(a)
	}
}

func (r *Reader) statistics(a map[string][]byte) {
	w, unit := r.workout, a["unit"]
	switch kind := shortName(a["type"]); {
	case kind == "ActiveEnergyBurned":
		set(&w.Kcal, amount(a["sum"], unit, unitOne, kilocalorieUnits))
	case strings.HasPrefix(kind, "Distance"):
		set(&w.Metres, amount(a["sum"], unit, unitOne, metreUnits))
	case kind == "StepCount":
		set(&w.Steps, amount(a["sum"], unit, unitOne, countUnits))
	case kind == "HeartRate":
		set(&w.MeanBPM, amount(a["average"], unit, unitOne, heartRateUnits))
		set(&w.MaxBPM, amount(a["maximum"], unit, unitOne, heartRateUnits))
	case kind == "RunningPower", kind == "CyclingPower":
		set(&w.Watts, amount(a["average"], unit, unitOne, wattUnits))
		set(&w.MaxW, amount(a["maximum"], unit, unitOne, wattUnits))
	}
}

// location reads a point of a route inside the document, as exports of one release have
// it.
func (r *Reader) location(a map[string][]byte) {
	at, _, ok := parseMoment(a["date"])
	lat, latOK := xmlscan.Number(a["latitude"])
	lng, lngOK := xmlscan.Number(a["longitude"])
	if !ok || !latOK || !lngOK || math.Abs(lat) > 90 || math.Abs(lng) > 180 {
		return
	}
	p := derive.Point{Time: at, Lat: lat, Lng: lng, Altitude: math.NaN(), Speed: math.NaN()}
	if v, ok := xmlscan.Number(a["altitude"]); ok {
		p.Altitude = v
	}
	if v, ok := xmlscan.Number(a["speed"]); ok && v >= 0 { // -1 means not known
		p.Speed = v
	}
	if len(r.workout.Route) < maxPoints {
		r.workout.Route = append(r.workout.Route, p)
		r.points++
	}
}

func (r *Reader) workoutMetadata(key, value []byte) {
	w := r.workout
	switch string(key) {
	case "HKTimeZone":
		w.Offset = r.zones.offset(value, w.Start, w.Offset)
	case "HKExternalUUID":
		w.ID = clip(xmlscan.Unescape(value))
	case "HKWorkoutBrandName":
		w.Title = clip(xmlscan.Unescape(value))
	case "HKElevationAscended":
		w.Gain = readMeasure(value, metreUnits)
	case "HKWasUserEntered":
		if string(bytes.TrimSpace(value)) == "1" {
			w.Source.Type = "app"
		}
	}
}

var inSeconds = spellings{"s": unitOne, "min": units.Multiply(60), "hr": units.Multiply(3600), "h": units.Multiply(3600)}

// attributes returns the attributes of an element by name. It allocates, so the reader
// uses it only for rare elements.
func attributes(tag *xmlscan.Tag) map[string][]byte {
	all := make(map[string][]byte, len(tag.Attrs))
	for _, a := range tag.Attrs {
		all[string(a.Name)] = a.Value
	}
	return all
}

// amount reads a number with its unit; a missing unit means the given scale.
// It is nil when there is no number or the unit is not known.
func amount(raw, unit []byte, missing units.Scale, known spellings) *float64 {
	v, ok := xmlscan.Number(raw)
	if !ok {
		return nil
	}
	s := missing
	if len(unit) > 0 {
		if s, ok = known[unitName(unit)]; !ok {
			return nil
		}
	}
	v = s.Convert(v)
	return &v
}

// readMeasure reads a number and a unit in one text: "4210 cm".
func readMeasure(raw []byte, known spellings) *float64 {
	number, unit, _ := bytes.Cut(bytes.TrimSpace(raw), []byte(" "))
	return amount(number, unit, unitOne, known)
}

func positiveOrNil(v *float64) *float64 {
	if v != nil && *v <= 0 {
		return nil
	}
	return v
}

func set(field **float64, v *float64) {
	if v != nil {
		*field = v
	}
}

// clip limits the length of a text from the file.
func clip(s string) string {
	s = strings.TrimSpace(s)
	for i := range s {
		if i > 200 {
			return s[:i]
		}
	}
	return s
}

// routeWindow is the window for a route, which is a small file.
const routeWindow = 1 << 17

// maxPoints bounds one route: more than two days at one place a second.
const maxPoints = 200_000

// readGPX reads the points of a route as the Health app writes it: GPX 1.1, times in
// UTC. Points before a cut or damage count. Points without a plausible position or time
// are left out.
func readGPX(in io.Reader) ([]derive.Point, error) {
	var points []derive.Point
	s := xmlscan.NewSize(in, routeWindow)
	var p derive.Point
	inPoint, timed := false, false
	for {
		tag, err := s.Next()
		switch {
		case err == nil && len(points) < maxPoints:
		case err == nil, errors.Is(err, io.EOF), isCut(err):
			return points, nil
		default:
			return nil, err
		}
		switch name := string(tag.Name); name {
		case "trkpt":
			if tag.Kind != xmlscan.Opening {
				if inPoint && timed {
					points = append(points, p)
				}
				inPoint = false
				continue
			}
			p, inPoint = placeOf(tag)
			timed = false
		case "ele", "time", "speed":
			if !inPoint || tag.Kind != xmlscan.Opening {
				continue
			}
			text := bytes.TrimSpace(s.Text()) // the tag is not valid after this
			switch name {
			case "time":
				if at, err := time.Parse(time.RFC3339, string(text)); err == nil {
					p.Time, timed = at.UnixMicro(), true
				}
			case "ele":
				p.Altitude = numberOrNaN(text, -math.MaxFloat64)
			case "speed":
				p.Speed = numberOrNaN(text, 0)
			}
		}
	}
}

func placeOf(tag *xmlscan.Tag) (derive.Point, bool) {
	p := derive.Point{Lat: math.NaN(), Lng: math.NaN(), Altitude: math.NaN(), Speed: math.NaN()}
	for _, a := range tag.Attrs {
		switch string(a.Name) {
		case "lat":
			p.Lat = numberOrNaN(a.Value, -90)
		case "lon":
			p.Lng = numberOrNaN(a.Value, -180)
		}
	}
	return p, math.Abs(p.Lat) <= 90 && math.Abs(p.Lng) <= 180
}

// numberOrNaN reads a number that is at least the given one.
func numberOrNaN(raw []byte, least float64) float64 {
	if v, ok := xmlscan.Number(raw); ok && v >= least {
		return v
	}
	return math.NaN()
}
