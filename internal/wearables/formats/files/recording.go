package files

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/storage"
)

// Recording is a workout with its course, as one device recorded it.
type Recording struct {
	derive.Workout
	Course Course
	// These fields hold the values that the file states; nil ones are computed from the
	// course.
	Speed, MaxSpeed *float64 // m/s
	High, Low       *float64 // m
	// Polyline and Outline are the route as Google polylines, a true and a rough
	// one.
	Polyline, Outline string
	// These values cannot be computed from a course: the average power that a meter
	// measured, and the average that weights harder parts more; W.
	Metered, Weighted *float64
	// Own means that the file is the device's own, which records one workout at a time.
	// Cut means that it is incomplete, so that another copy may have more.
	Own, Cut bool
}

// MaxRecordings bounds the recordings of one file: more than the workouts of a life. Each
// costs several transactions, even if it has little data.
const MaxRecordings = 10_000

// Recordings stores workouts whose courses are known: the heart rate and the
// breathing as series, the workout, and the course as its stream. Those that a
// file has too many are counted.
func (s *Store) Recordings(ctx context.Context, all []Recording) error {
	for i := range all {
		if s.outcome.Full() {
			count := s.outcome.Type("recordings")
			count.Read++
			count.TooMany++
			s.outcome.Left(count)
			continue
		}
		s.outcome.recorded++
		if err := s.recording(ctx, &all[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) recording(ctx context.Context, r *Recording) error {
	if err := s.same(ctx, &r.Workout); err != nil {
		return err
	}
	r.Course = r.Course.tidy()
	r.Course.measure()
	if _, far := r.Course.extent(func(m *Moment) *float64 { return &m.Distance }); r.Metres == nil && far != nil && *far > 0 {
		r.Metres = far
	}
	r.Route = r.Course.route()
	known, err := s.copyOf(ctx, r)
	if err != nil {
		return err
	}
	hearts := r.Course.samples("heartrate", func(m *Moment) *float64 { return &m.HeartRate }, r.Source, r.Offset)
	breaths := r.Course.samples("respiratory_rate", func(m *Moment) *float64 { return &m.Breaths }, r.Source, r.Offset)
	var some []wearables.Samples
	for _, series := range []wearables.Samples{hearts, breaths} {
		if series.Len() > 0 {
			some = append(some, series)
		}
	}
	if err := s.ingest(ctx, wearables.Batch{Samples: some}); err != nil {
		return err
	}
	if r.yields(known) {
		return s.touch(ctx, some)
	}
	d := s.deriver
	with := &withCourse{Sink: s.in.Sink, recording: r}
	if r.Cut && known != nil && known.Moving != nil && r.Moving == nil {
		with.workout = known
		r.Start, r.End = known.Start.UnixMicro(), max(r.End, known.End.UnixMicro())
	}
	d.Ingester = with
	if err := d.Workouts(ctx, []derive.Workout{r.Workout}); err != nil {
		return err
	}
	return s.touch(ctx, some)
}

// Aside stores samples of an activity that are outside of its workouts. Like the samples
// of a recording, they do not create an activity of the day.
func (s *Store) Aside(ctx context.Context, some []wearables.Samples) error {
	if err := s.ingest(ctx, wearables.Batch{Samples: some}); err != nil {
		return err
	}
	return s.touch(ctx, some)
}

// touch marks the days of samples that have an activity already, so that it includes
// the samples. A workout alone makes no activity of a day: that day would only have the
// steps and heart rate of an hour.
func (s *Store) touch(ctx context.Context, some []wearables.Samples) error {
	days := map[civil.Date]bool{}
	for i := range some {
		derive.DaysOf(days, &some[i], s.zone)
	}
	return s.in.DB.Read(ctx, func(tx *store.Tx) error {
		for day := range days {
			known, err := storage.ListSummaries(ctx, tx, s.in.User.Team.UUID(), s.in.User.ID.UUID(), storage.SummaryQuery{
				Resource: "activity", From: day.String(), To: day.String(), Provider: s.deriver.Provider,
			})
			if err != nil {
				return err
			}
			if len(known) > 0 {
				s.days[day] = true
			}
		}
		return nil
	})
}

// withCourse stores a derived workout together with the recording's own data. The whole
// course replaces a stream that has only heart rate and places. The recording also adds
// the device's values of speed and height.
type withCourse struct {
	Sink
	recording *Recording
	workout   *storedWorkout // the stored workout whose values stay; nil replaces it
}

// Ingest stores the derived values.
func (w *withCourse) Ingest(ctx context.Context, user users.User, b wearables.Batch) (wearables.Result, error) {
	b.Streams = nil
	for i := range b.Summaries {
		one := &b.Summaries[i]
		var err error
		if one.Body, err = w.recording.complete(one.Body); err != nil {
			return wearables.Result{}, err
		}
		if w.workout != nil {
			if one.Body, err = w.workout.add(one.Body); err != nil {
				return wearables.Result{}, fmt.Errorf("files: adding to a workout: %w", err)
			}
		}
		if len(w.recording.Course) > 0 {
			course := w.recording.Course.stream(one.Key)
			course.Source = one.Source
			b.Streams = append(b.Streams, course)
		}
	}
	if len(b.Summaries) == 0 {
		return wearables.Result{}, nil
	}
	return w.Sink.Ingest(ctx, user, b)
}

// complete adds to the body of a workout.
//
// Reference 7.5.
func (r *Recording) complete(body json.RawMessage) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, fmt.Errorf("files: completing a workout: %w", err)
	}
	low, high := r.Course.extent(func(m *Moment) *float64 { return &m.Altitude })
	_, fastest := r.Course.extent(func(m *Moment) *float64 { return &m.Speed })
	for _, f := range []struct {
		name     string
		decimals float64
		choices  []*float64
	}{
		{"average_speed", 1000, []*float64{r.Speed}},
		{"max_speed", 1000, []*float64{r.MaxSpeed, fastest}},
		{"elev_high", 100, []*float64{r.High, high}},
		{"elev_low", 100, []*float64{r.Low, low}},
		{"device_watts", 10, []*float64{r.Metered}},
		{"weighted_average_watts", 10, []*float64{r.Weighted}},
	} {
		for _, v := range f.choices {
			if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
				continue
			}
			raw, err := json.Marshal(math.Round(*v*f.decimals) / f.decimals)
			if err != nil {
				return nil, fmt.Errorf("files: completing a workout: %w", err)
			}
			fields[f.name] = raw
			break
		}
	}
	if r.Polyline+r.Outline != "" {
		var route routeMap
		if raw := fields["map"]; len(raw) > 0 {
			if err := json.Unmarshal(raw, &route); err != nil {
				return nil, fmt.Errorf("files: completing a workout: %w", err)
			}
		}
		raw, err := json.Marshal(routeMap{cmp.Or(r.Polyline, route.Polyline), cmp.Or(r.Outline, route.Outline)})
		if err != nil {
			return nil, fmt.Errorf("files: completing a workout: %w", err)
		}
		fields["map"] = raw
	}
	return json.Marshal(fields)
}

// routeMap is a workout's map on the wire.
type routeMap struct {
	Polyline string `json:"polyline,omitempty"`
	Outline  string `json:"summary_polyline,omitempty"`
}

// LongestWorkout is longer than any race. A longer one comes from a wrong clock.
const LongestWorkout = 7 * 24 * time.Hour
