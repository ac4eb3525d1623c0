package derive

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/providers"
	"hale/internal/wearables/storage"
)

// Fields of a workout that follow from its heart rate.
const (
	zonesField   = "hr_zones"
	averageField = "average_hr"
	maxField     = "max_hr"
)

// StoredWorkout is a stored workout, whose average, highest heart rate, zones and stream may
// follow from stored heart rate. A workout has the samples from its start, inclusive, to its
// end, exclusive.
type StoredWorkout struct {
	stored     *storage.StoredSummary
	fields     map[string]any // without the computed ones
	computed   []string
	start, end int64 // UTC microseconds
	day        civil.Date
	fillable   bool // its reader has not seen its heart rate
}

// ReadWorkout reads a stored workout. ok is false if it has no plausible start and end.
func ReadWorkout(s *storage.StoredSummary) (w StoredWorkout, ok bool) {
	fields, err := wearables.ParseDocument(s.Body)
	var body struct {
		Start  time.Time  `json:"time_start"`
		End    time.Time  `json:"time_end"`
		Date   civil.Date `json:"calendar_date"`
		Offset int32      `json:"timezone_offset"`
	}
	if err != nil || json.Unmarshal(s.Body, &body) != nil || body.Start.IsZero() || !body.End.After(body.Start) {
		return w, false
	}
	w = StoredWorkout{
		stored: s, fields: fields, computed: wearables.ComputedFields(fields),
		start: body.Start.UnixMicro(), end: body.End.UnixMicro(), day: body.Date,
	}
	for _, name := range w.computed {
		delete(fields, name)
	}
	wearables.SetComputed(fields, nil)
	if w.day.IsZero() {
		w.day = localDate(w.start, body.Offset)
	}
	key := body.Start.UTC().Format(time.RFC3339Nano) + "|" + s.Source.Type + "|" + s.Source.AppID
	p, _ := providers.Find(s.Source.Provider)
	// A pushed workout that moved keeps the id of its first start. Keys of another form are of
	// a reader that has seen the heart rate of the workout.
	w.fillable = wearables.SummaryID(s.User, s.Source.Provider, s.Resource, key) == s.ID || s.Version > 1 && p.PushedByPhone()
	return w, w.end-w.start <= longestWorkout
}

// IsComplete reports whether the workout has all fields that its heart rate gives, or is of
// a reader that has seen it.
func (w *StoredWorkout) IsComplete() bool {
	zones, computed := w.fields[zonesField] != nil, slices.Contains(w.computed, zonesField)
	mean := w.fields[averageField] != nil || w.fields[maxField] != nil || slices.Contains(w.computed, averageField)
	return zones || computed && mean || !w.fillable && len(w.computed) == 0
}

// IsComputed reports whether the workout has computed fields.
func (w *StoredWorkout) IsComputed() bool { return len(w.computed) > 0 }

// RenewedWorkout is a workout with its heart rate as the samples give it now.
type RenewedWorkout struct {
	Body   []byte            // nil if it has not changed
	Stream *wearables.Stream // the new stream; nil if it has not changed
	// NoStream says that no element of the stream is left.
	NoStream bool
	// Waits says that the workout has no heart rate yet.
	Waits bool
}

// Changed reports whether the workout or its stream has changed.
func (r *RenewedWorkout) Changed() bool { return r.Body != nil || r.Stream != nil || r.NoStream }

// nearEnd is the tolerance at the end of a workout: heart rate that reaches this close
// to the end counts as complete.
const nearEnd = 2 * 60 * secondUS

// Renew computes the fields that follow from the heart rate of the provider's series, or of
// the workout's own stream. Stated values stay. Computed ones are replaced, or removed
// without heart rate. A workout without computed values gets them if its heart rate reaches
// to its end, or if partly is set. It then also gets a stream if it has none.
//
// Reference 7.5, workouts.
func (d *Deriver) Renew(ctx context.Context, tx *store.Tx, w *StoredWorkout, partly bool) (r RenewedWorkout, err error) {
	stream, err := storage.ReadStream(ctx, tx, w.stored)
	if err != nil {
		return r, err
	}
	follows := len(w.computed) > 0 || stream.HeartComputed
	if !follows && (w.IsComplete() || !w.fillable) {
		return r, nil
	}
	series, err := d.seriesNamed(ctx, tx, "heartrate")
	if err != nil {
		return r, err
	}
	found, err := load(ctx, tx, series, w.start, w.end+1)
	if err != nil {
		return r, err
	}
	heart := bestTrack(found["heartrate"], w.stored.Source)
	beats := heart
	if heart == nil && !stream.HeartComputed {
		beats = streamHeart(stream)
	}
	if !follows && (beats == nil || !partly && w.end-beats.Time[beats.Len()-1] > nearEnd) {
		r.Waits = true
		return r, nil
	}
	r.Waits = beats == nil && w.fillable
	if body := w.with(beats, d.maximum(w.day)); !bytes.Equal(body, w.stored.Body) {
		r.Body = body
	}
	return r, r.renewStream(stream, heart, len(w.computed) == 0)
}

// with returns the body of the workout with the fields that follow from heart rate.
func (w *StoredWorkout) with(heart *track, maximum float64) []byte {
	if heart == nil {
		return wearables.AppendCanonical(nil, w.fields)
	}
	var body workoutBody
	if w.fields[averageField] == nil && w.fields[maxField] == nil { // neither without the other: they agree
		body.AverageHR, body.MaxHR = roundToInt(mean(heart.Value)), roundToInt(maxValue(heart.Value))
	}
	if w.fields[zonesField] == nil {
		body.Zones = zones(heart, w.end, maximum)
	}
	computed, err := wearables.ParseDocument(encode(body))
	if err != nil {
		panic("derive: " + err.Error()) // it is encoded here
	}
	whole := maps.Clone(w.fields)
	var names []string
	for _, name := range []string{averageField, maxField, zonesField} {
		if computed[name] != nil {
			whole[name], names = computed[name], append(names, name)
		}
	}
	wearables.SetComputed(whole, names)
	return wearables.AppendCanonical(nil, whole)
}

// renewStream sets the changes of a stored stream. isNew says that the workout has had no
// computed values: without a stream it gets one.
func (r *RenewedWorkout) renewStream(stored *wearables.Stream, heart *track, isNew bool) error {
	var now wearables.Stream
	switch {
	case stored.HeartComputed && stored.HasSensors():
		now = *stored
		now.HeartRate = heartRatesAt(now.Time, heart)
	case stored.HeartComputed || len(stored.Time) == 0 && isNew && heart != nil:
		var ok bool
		if now, ok = streamOf(&Workout{}, heart); !ok {
			r.NoStream = len(stored.Time) > 0
			return nil
		}
	default:
		return nil
	}
	packed, err := now.Pack()
	if err != nil {
		return err
	}
	before, err := stored.Pack()
	if err == nil && !bytes.Equal(packed, before) {
		r.Stream = &now
	}
	return err
}

// streamHeart returns the heart rate of a workout's stream; nil if it has none.
func streamHeart(s *wearables.Stream) *track {
	t := &track{}
	for i, v := range s.HeartRate {
		if v > 0 { // not where it is missing
			t.Time, t.Value = append(t.Time, s.Time[i]), append(t.Value, v)
		}
	}
	if t.Len() == 0 {
		return nil
	}
	return t
}
