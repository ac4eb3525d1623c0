package derive

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// workoutBody has the wire fields of a workout that a provider or its series
// can say.
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
}

type routeMap struct {
	Polyline string `json:"polyline"`
	Summary  string `json:"summary_polyline"`
}

// WorkoutKey is the key of a workout of a source.
func WorkoutKey(start int64, source wearables.Source) string { return sessionKey(start, source) }

// longestWorkout is more than any race.
const longestWorkout = 7 * dayUS

// workoutsAtOnce are in memory with their heart rate: one may have that of a
// week.
const workoutsAtOnce = 16

// Workouts stores workouts with the heart rate that the stored series has for
// them, and their streams.
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
			body.AverageHR, body.MaxHR = whole(mean(heart.Value)), whole(highest(heart.Value))
		}
		body.Zones = zones(heart, w.End, d.maximum(day))
	}
	if body.ProviderID == "" {
		body.ProviderID = key
	}
	*summaries = append(*summaries, wearables.Summary{
		Resource: "workouts", Key: key, Source: w.Source, Date: day,
		Start: instant(w.Start), End: instant(w.End), Body: encode(body),
	})
	if s, ok := streamOf(w, heart); ok {
		s.WorkoutKey = key
		*streams = append(*streams, s)
	}
	return nil
}

// storeStreams stores the streams whose workouts were taken; a workout that
// the user's bounds leave out has no place for one.
func (d *Deriver) storeStreams(ctx context.Context, all []wearables.Stream) error {
	var kept []wearables.Stream
	err := d.DB.Read(ctx, func(tx *store.Tx) error {
		kept = kept[:0]
		for _, s := range all {
			id := wearables.SummaryID(d.User.ID.UUID(), d.Provider, "workouts", s.WorkoutKey)
			_, err := storage.SummaryByID(ctx, tx, d.User.Team.UUID(), id, "workouts")
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

// body writes what the workout itself says.
func (w *Workout) body() workoutBody {
	b := workoutBody{
		Offset: offsetOrNil(w.Offset), Sport: w.Sport, ProviderID: w.ID,
		AverageHR: wholeOf(w.MeanBPM), MaxHR: wholeOf(w.MaxBPM),
		Distance: roundedOf(w.Metres, 2), Calories: roundedOf(w.Kcal, 2), Moving: wholeOf(w.Moving),
		Gain: roundedOf(w.Gain, 2), Watts: roundedOf(w.Watts, 1), MaxWatts: roundedOf(w.MaxW, 1), Steps: wholeOf(w.Steps),
	}
	if w.Title != "" {
		b.Title = &w.Title
	}
	if w.Metres != nil && w.Moving != nil && *w.Moving > 0 {
		b.Speed = rounded(*w.Metres / *w.Moving, 3)
	}
	if len(w.Route) > 1 {
		b.Map = mapOf(w.Route)
		b.route(w.Route)
	}
	return b
}

// route adds what only a route can say.
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
	b.Low, b.High, b.MaxSpeed = rounded(low, 2), rounded(high, 2), rounded(fastest, 3)
}

// bestTrack is the heart rate of the workout's own source, or of the source
// with the most samples.
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

func highest(values []float64) float64 {
	most := math.Inf(-1)
	for _, v := range values {
		most = max(most, v)
	}
	return most
}

// Zones are six shares of the maximum heart rate. The top one takes what is
// above the maximum.
//
// Reference 7.5, workouts.
var zoneBounds = []float64{0.5, 0.6, 0.7, 0.8, 0.9}

// longestBeat is how long one sample speaks for, at most.
const longestBeat = 30 * secondUS

// zones adds up the seconds in each zone: every sample counts until the next
// one, but no longer than half a minute.
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
		micros[zone] += max(0, min(next-at, longestBeat))
	}
	seconds := make([]int64, len(micros))
	for i, us := range micros {
		seconds[i] = (us + secondUS/2) / secondUS
	}
	return seconds
}

// assumedAge stands in where nobody knows the age.
const assumedAge = 30

// maximum is the maximum heart rate on a day: 220 less the age in whole years,
// which comes from the provider, else from the user, else is assumed.
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
