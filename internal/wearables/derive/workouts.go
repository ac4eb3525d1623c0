package derive

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"

	"github.com/twpayne/go-polyline"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// workoutBody contains the wire fields of a workout that come from the provider or from
// its series.
//
// Reference 7.5.
type workoutBody struct {
	Title      *string   `json:"title"`
	Offset     *int32    `json:"timezone_offset"`
	AverageHR  *int64    `json:"average_hr"`
	MaxHR      *int64    `json:"max_hr"`
	Distance   *float64  `json:"distance"`
	Calories   *float64  `json:"calories"`
	Sport      Sport     `json:"sport"`
	Zones      []int64   `json:"hr_zones"`
	Moving     *int64    `json:"moving_time"`
	Gain       *float64  `json:"total_elevation_gain"`
	High       *float64  `json:"elev_high"`
	Low        *float64  `json:"elev_low"`
	Speed      *float64  `json:"average_speed"`
	MaxSpeed   *float64  `json:"max_speed"`
	Watts      *float64  `json:"average_watts"`
	MaxWatts   *float64  `json:"max_watts"`
	Steps      *int64    `json:"steps"`
	Map        *routeMap `json:"map"`
	ProviderID string    `json:"provider_id"`
	Computed   []string  `json:"computed,omitempty"` // see wearables.ComputedMember
}

type routeMap struct {
	Polyline string `json:"polyline"`
	Summary  string `json:"summary_polyline"`
}

// WorkoutKey returns the key of a workout that starts at an instant, in UTC microseconds,
// and comes from a source.
func WorkoutKey(start int64, source wearables.Source) string { return sessionKey(start, source) }

// longestWorkout is the limit for the length of a workout. No race takes longer.
const longestWorkout = 7 * dayUS

// workoutsAtOnce limits the workouts that are in memory with their heart rate. A workout
// may have the heart rate of a week.
const workoutsAtOnce = 16

// Workouts stores workouts and their streams. The stored series of the provider give the
// heart rate.
func (d *Deriver) Workouts(ctx context.Context, all []Workout) error {
	for some := range slices.Chunk(all, workoutsAtOnce) {
		if err := d.workouts(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

func (d *Deriver) workouts(ctx context.Context, all []Workout) error {
	summaries := make([]wearables.Summary, 0, len(all))
	var streams []wearables.Stream
	err := d.DB.Scan(ctx, func(tx *store.Tx) error {
		summaries, streams = summaries[:0], streams[:0]
		hearts, err := d.seriesNamed(ctx, tx, "heartrate")
		if err != nil {
			return err
		}
		for i := range all {
			if err := d.workout(ctx, tx, &all[i], hearts, &summaries, &streams); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := d.store(ctx, summaries); err != nil {
		return err
	}
	return d.storeStreams(ctx, streams)
}

// workout adds one workout and its stream.
func (d *Deriver) workout(ctx context.Context, tx *store.Tx, w *Workout, hearts []storage.Series,
	summaries *[]wearables.Summary, streams *[]wearables.Stream,
) error {
	if w.End-w.Start > longestWorkout {
		return nil
	}
	found, err := load(ctx, tx, hearts, w.Start, w.End+1)
	if err != nil {
		return err
	}
	heart := bestTrack(found["heartrate"], w.Source)
	key := cmp.Or(w.Key, WorkoutKey(w.Start, w.Source))
	day, err := d.dayOf(ctx, tx, "workouts", key, w.Start, w.Offset)
	if err != nil {
		return err
	}
	body := w.body()
	if heart != nil {
		if body.AverageHR == nil { // the app's own figures saw every beat
			body.AverageHR, body.MaxHR = roundToInt(mean(heart.Value)), roundToInt(maxValue(heart.Value))
			body.Computed = []string{averageField, maxField}
		}
		body.Zones = zones(heart, w.End, d.maximum(day))
		body.Computed = append(body.Computed, zonesField)
	}
	if body.ProviderID == "" {
		body.ProviderID = key
	}
	*summaries = append(*summaries, wearables.Summary{
		Resource: "workouts", Key: key, Record: w.ID, Source: w.Source, Date: day,
		Start: instant(w.Start), End: instant(w.End), Body: encode(body),
	})
	if s, ok := streamOf(w, heart); ok {
		s.WorkoutKey, s.Source = key, w.Source
		*streams = append(*streams, s)
	}
	return nil
}

// storeStreams stores the streams of the stored workouts. A workout outside the user's
// bounds is not stored, and neither is its stream.
func (d *Deriver) storeStreams(ctx context.Context, all []wearables.Stream) error {
	var kept []wearables.Stream
	err := d.DB.Read(ctx, func(tx *store.Tx) error {
		kept = kept[:0]
		for _, s := range all {
			key := wearables.SummaryID(d.User.ID.UUID(), d.Provider, "workouts", s.WorkoutKey)
			source := s.Source
			source.Provider = d.Provider
			_, err := storage.WorkoutOf(ctx, tx, d.User.Team.UUID(), d.User.ID.UUID(), source, key, s.Span())
			switch {
			case err == nil:
				kept = append(kept, s)
			case !errors.Is(err, store.ErrNoRows):
				return err
			}
		}
		return nil
	})
	if err != nil || len(kept) == 0 {
		return err
	}
	return d.ingest(ctx, wearables.Batch{Streams: kept})
}

// body returns the fields of the workout itself, without heart rate.
func (w *Workout) body() workoutBody {
	b := workoutBody{
		Offset: offsetOrNil(w.Offset), Sport: w.Sport, ProviderID: w.ID,
		AverageHR: roundToIntOrNil(w.MeanBPM), MaxHR: roundToIntOrNil(w.MaxBPM),
		Distance: roundToOrNil(w.Metres, 2), Calories: roundToOrNil(w.Kcal, 2), Moving: roundToIntOrNil(w.Moving),
		Gain: roundToOrNil(w.Gain, 2), Watts: roundToOrNil(w.Watts, 1), MaxWatts: roundToOrNil(w.MaxW, 1), Steps: roundToIntOrNil(w.Steps),
	}
	if w.Title != "" {
		b.Title = &w.Title
	}
	if w.Metres != nil && w.Moving != nil && *w.Moving > 0 {
		b.Speed = roundTo(*w.Metres / *w.Moving, 3)
	}
	if len(w.Route) > 1 {
		b.Map = mapOf(w.Route)
		b.route(w.Route)
	}
	return b
}

// route adds the fields that only a route gives: altitudes and the maximum speed.
func (b *workoutBody) route(points []Point) {
	low, high, fastest := math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, p := range points {
		if !math.IsNaN(p.Altitude) {
			low, high = min(low, p.Altitude), max(high, p.Altitude)
		}
		if !math.IsNaN(p.Speed) {
			fastest = max(fastest, p.Speed)
		}
	}
	b.Low, b.High, b.MaxSpeed = roundTo(low, 2), roundTo(high, 2), roundTo(fastest, 3)
}

// bestTrack returns the heart rate of the workout's own source, or else of the source
// with the most samples. It returns nil if there is none.
func bestTrack(all []*track, own wearables.Source) *track {
	var best *track
	for _, t := range all {
		if originOf(t.Source) == originOf(own) {
			return t
		}
		if best == nil || t.Len() > best.Len() {
			best = t
		}
	}
	return best
}

func maxValue(values []float64) float64 {
	most := math.Inf(-1)
	for _, v := range values {
		most = max(most, v)
	}
	return most
}

// zoneBounds separate six zones, as shares of the maximum heart rate. The top zone also
// has the values above the maximum.
//
// Reference 7.5, workouts.
var zoneBounds = []float64{0.5, 0.6, 0.7, 0.8, 0.9}

// longestSample limits the time that one heart-rate sample covers.
const longestSample = 30 * secondUS

// zones returns the seconds in each zone. Every sample counts until the next one, but at
// most for longestSample.
func zones(t *track, end int64, maximum float64) []int64 {
	var micros [6]int64
	for i, at := range t.Time {
		next := end
		if i+1 < t.Len() {
			next = t.Time[i+1]
		}
		zone := 0
		for zone < len(zoneBounds) && t.Value[i] >= zoneBounds[zone]*maximum {
			zone++
		}
		micros[zone] += max(0, min(next-at, longestSample))
	}
	seconds := make([]int64, len(micros))
	for i, us := range micros {
		seconds[i] = (us + secondUS/2) / secondUS
	}
	return seconds
}

// assumedAge is used when the age is unknown.
const assumedAge = 30

// maximum returns the maximum heart rate on a day: 220 minus the age in whole years.
// The age comes from the provider, otherwise from the user, otherwise it is assumed.
func (d *Deriver) maximum(day civil.Date) float64 {
	var birth civil.Date
	switch {
	case d.Person != nil && !d.Person.Birth.IsZero():
		birth = d.Person.Birth
	case d.User.BirthDate != nil:
		birth = d.User.BirthDate.Value
	default:
		return 220 - assumedAge
	}
	age := day.Year - birth.Year
	if day.Month < birth.Month || day.Month == birth.Month && day.Day < birth.Day {
		age--
	}
	if age < 0 || age > 120 {
		return 220 - assumedAge
	}
	return 220 - float64(age)
}

// Course is one quantity over a workout, in order of time.
type Course struct {
	Time  []int64 // UTC microseconds
	Value []float64
}

// near returns the value at each time. It is NaN if no value was measured within
// nearSample. The result is nil if there are no values at all.
func (c Course) near(times []int64) []float64 {
	return heartRatesAt(times, &track{Samples: wearables.Samples{Time: c.Time, Value: c.Value}})
}

// clock returns the times of a stream without a route: those of the heart rate,
// otherwise of the quantity with the most readings.
func (w *Workout) clock(heart *track) []int64 {
	if heart != nil && heart.Len() > 0 {
		return heart.Time
	}
	var most []int64
	for _, c := range []Course{w.Speeds, w.Powers, w.Cadences} {
		if len(c.Time) > len(most) {
			most = c.Time
		}
	}
	return most
}

// courses adds the readings of the workout's own sensors to its stream. The speed of a
// place has precedence over that of a sensor.
func (w *Workout) courses(s *wearables.Stream) {
	s.Power, s.Cadence = w.Powers.near(s.Time), w.Cadences.near(s.Time)
	speeds := w.Speeds.near(s.Time)
	if s.Velocity == nil {
		s.Velocity = speeds
		return
	}
	s.Velocity = slices.Clone(s.Velocity)
	for i := range speeds {
		if math.IsNaN(s.Velocity[i]) {
			s.Velocity[i] = speeds[i]
		}
	}
}

// Limits of the places in a polyline. A full one of ten thousand places is some fifty
// kilobytes and fits into an event.
const (
	mostPlaces    = 10_000
	mostInSummary = 250
)

// mapOf returns a route as two Google polylines, a detailed and a rough one.
func mapOf(points []Point) *routeMap {
	return &routeMap{Polyline: encodePoints(thinPoints(points, mostPlaces)), Summary: encodePoints(thinPoints(points, mostInSummary))}
}

func encodePoints(points []Point) string {
	coords := make([][]float64, len(points))
	for i, p := range points {
		coords[i] = []float64{p.Lat, p.Lng}
	}
	return string(polyline.EncodeCoords(coords))
}

// thinPoints drops places near the last kept one. It doubles the distance until few
// enough places are left. The first and the last place always stay.
func thinPoints(points []Point, most int) []Point {
	if len(points) <= most {
		return points
	}
	points = slices.Clone(points)
	for least := 1.0; len(points) > most; least *= 2 {
		kept, last := points[:1], points[len(points)-1]
		for _, p := range points[1 : len(points)-1] {
			if areApart(kept[len(kept)-1], p, least) {
				kept = append(kept, p) // never past the place that is looked at
			}
		}
		points = append(kept, last)
	}
	return points
}

// radius of the Earth, m, and one degree in radians.
const (
	radius = 6371008.8
	degree = math.Pi / 180
)

// areApart reports whether two places are at least a number of meters apart, on a flat
// map. It runs for many places and need not be exact.
func areApart(a, b Point, least float64) bool {
	y := (b.Lat - a.Lat) * degree * radius
	if y >= least || y <= -least {
		return true
	}
	x := (b.Lng - a.Lng) * degree * radius * math.Cos(a.Lat*degree)
	return x*x+y*y >= least*least
}

// metres returns the distance between two places on a sphere, in meters.
func metres(a, b Point) float64 {
	dLat, dLng := (b.Lat-a.Lat)*degree, (b.Lng-a.Lng)*degree
	h := math.Pow(math.Sin(dLat/2), 2) + math.Cos(a.Lat*degree)*math.Cos(b.Lat*degree)*math.Pow(math.Sin(dLng/2), 2)
	return 2 * radius * math.Asin(math.Min(1, math.Sqrt(h)))
}

// mostInStream limits the rows of a stream: a day with one row a second.
const mostInStream = 86_400

// nearSample is the largest distance in time between a heart-rate sample and the place
// of a route that it belongs to.
const nearSample = 10 * secondUS

// streamOf builds the stream of a workout from its stored heart rate. With a route it has one row per place and
// the nearest heart rate. Without a route it has one row per heart-rate sample, or per
// reading of the sensor with the most readings. Other readings fill the remaining
// columns.
func streamOf(w *Workout, heart *track) (wearables.Stream, bool) {
	places := dropEarlier(w.Route)
	if len(places) == 0 {
		times := w.clock(heart)
		if len(times) == 0 || len(times) > mostInStream {
			return wearables.Stream{}, false
		}
		s := wearables.Stream{Time: slices.Clone(times), HeartRate: heartRatesAt(times, heart), HeartComputed: heart != nil}
		w.courses(&s)
		return s, true
	}
	if len(places) > mostInStream {
		places = places[:mostInStream]
	}
	n := len(places)
	s := wearables.Stream{
		Time: make([]int64, n), Lat: make([]float64, n), Lng: make([]float64, n), Distance: make([]float64, n),
		Altitude: make([]float64, n), Velocity: make([]float64, n),
	}
	along := 0.0
	for i, p := range places {
		if i > 0 {
			along += metres(places[i-1], p)
		}
		s.Time[i], s.Lat[i], s.Lng[i] = p.Time, p.Lat, p.Lng
		s.Altitude[i], s.Velocity[i] = p.Altitude, p.Speed
		s.Distance[i] = math.Round(along*100) / 100
	}
	s.HeartRate, s.HeartComputed = heartRatesAt(s.Time, heart), heart != nil
	w.courses(&s)
	return s, true
}

// dropEarlier drops places that are not later than the previous place: some phones write
// two in one second.
func dropEarlier(points []Point) []Point {
	sorted := slices.Clone(points)
	slices.SortStableFunc(sorted, func(a, b Point) int { return cmp.Compare(a.Time, b.Time) })
	return slices.CompactFunc(sorted, func(a, b Point) bool { return a.Time == b.Time })
}

// heartRatesAt returns the heart rate at each time. It is NaN if no sample is within
// nearSample. The result is nil without any samples.
func heartRatesAt(times []int64, heart *track) []float64 {
	if heart == nil || heart.Len() == 0 {
		return nil
	}
	beats := make([]float64, len(times))
	for i, at := range times {
		beats[i] = math.NaN()
		k := search(heart.Time, at)
		if k == heart.Len() || k > 0 && at-heart.Time[k-1] < heart.Time[k]-at {
			k--
		}
		if d := heart.Time[k] - at; -nearSample <= d && d <= nearSample {
			beats[i] = heart.Value[k]
		}
	}
	return beats
}

// BirthFrom reads the birth date of a stored profile.
func BirthFrom(s *storage.StoredSummary) *Person {
	var body struct {
		Birth civil.Date `json:"birth_date"`
	}
	if json.Unmarshal(s.Body, &body) != nil || body.Birth.IsZero() {
		return nil
	}
	return &Person{Birth: body.Birth}
}
