package wearables

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"hale/internal/events"
	"hale/internal/store"
	"hale/internal/wearables/blocks"
)

// NoWorkout is why a stream is refused whose workout is neither stored nor in
// the batch.
const NoWorkout = "stream_without_workout"

// WorkoutStream is the resource name of streams in results and events.
const WorkoutStream = "workout_stream"

// column is one array of a stream on the wire.
type column struct {
	name    string
	integer bool
	values  *[]float64
}

// columns lists the arrays beside time, in the order they are stored: new
// ones go to the end.
//
// Reference 7.8.
func (s *Stream) columns() []column {
	return []column{
		{"cadence", false, &s.Cadence},
		{"heartrate", true, &s.HeartRate},
		{"distance", false, &s.Distance},
		{"altitude", false, &s.Altitude},
		{"velocity_smooth", false, &s.Velocity},
		{"lat", false, &s.Lat},
		{"lng", false, &s.Lng},
		{"power", false, &s.Power},
		{"resistance", false, &s.Resistance},
		{"temperature", false, &s.Temperature},
	}
}

func (s *Stream) check() error {
	n := len(s.Time)
	if n == 0 || n > blocks.MaxSamples || !increasing(s.Time) {
		return errStream
	}
	for _, c := range s.columns() {
		if len(*c.values) != 0 && len(*c.values) != n {
			return errStream
		}
	}
	return nil
}

var errStream = errors.New("wearables: not a stream")

const streamVersion = 1

// How an array of a stream is stored; its first byte.
const (
	arrayAbsent = 0
	arrayFull   = 1
	arrayHoles  = 2 // a bit per element tells which are there
)

// pack writes a stream: version, the times as a block whose values are all 0,
// then each array. See docs/sample-blocks.md.
func (s *Stream) pack() ([]byte, error) {
	times, err := blocks.Append(nil, &blocks.Columns{Time: s.Time, Value: make([]float64, len(s.Time))})
	if err != nil {
		return nil, err
	}
	dst := binary.AppendUvarint([]byte{streamVersion}, uint64(len(times)))
	dst = append(dst, times...)
	for _, c := range s.columns() {
		dst = appendArray(dst, *c.values)
	}
	return dst, nil
}

func appendArray(dst []byte, v []float64) []byte {
	if len(v) == 0 {
		return append(dst, arrayAbsent)
	}
	there := make([]float64, 0, len(v))
	bits := make([]byte, (len(v)+7)/8)
	for i, f := range v {
		if f == f {
			there = append(there, f)
			bits[i/8] |= 1 << (i % 8)
		}
	}
	if len(there) == len(v) {
		return blocks.AppendFloats(append(dst, arrayFull), v)
	}
	dst = append(append(dst, arrayHoles), bits...)
	return blocks.AppendFloats(dst, there)
}

// unpackStream reads what pack wrote. Any input is safe.
func unpackStream(data []byte) (*Stream, error) {
	if len(data) == 0 || data[0] != streamVersion {
		return nil, errStream
	}
	size, n := binary.Uvarint(data[1:])
	data = data[1+max(n, 0):]
	if n <= 0 || size > uint64(len(data)) {
		return nil, errStream
	}
	var times blocks.Columns
	if err := blocks.Decode(&times, data[:size]); err != nil {
		return nil, err
	}
	data = data[size:]
	s := &Stream{Time: times.Time}
	for _, c := range s.columns() {
		var err error
		if *c.values, data, err = array(data, len(s.Time)); err != nil {
			return nil, err
		}
	}
	if len(data) > 0 {
		return nil, errStream
	}
	return s, nil
}

func array(data []byte, n int) (v []float64, rest []byte, err error) {
	if len(data) == 0 {
		return nil, nil, errStream
	}
	how, data := data[0], data[1:]
	switch how {
	case arrayAbsent:
		return nil, data, nil
	case arrayFull:
		return blocks.Floats(nil, data, n)
	case arrayHoles:
		size := (n + 7) / 8
		if len(data) < size {
			return nil, nil, errStream
		}
		return withHoles(data[:size], data[size:], n)
	}
	return nil, nil, errStream
}

func withHoles(bits, data []byte, n int) (v []float64, rest []byte, err error) {
	v = make([]float64, n)
	there := 0
	for i := range v {
		if bits[i/8]>>(i%8)&1 == 1 {
			there++
		}
	}
	values, rest, err := blocks.Floats(nil, data, there)
	if err != nil {
		return nil, nil, err
	}
	for i := range v {
		v[i] = math.NaN()
		if bits[i/8]>>(i%8)&1 == 1 {
			v[i], values = values[0], values[1:]
		}
	}
	return v, rest, nil
}

// AppendStream appends a stream's wire object: parallel arrays, time in unix
// seconds. An array that the workout has not is empty.
//
// Reference 7.8.
func AppendStream(dst []byte, s *Stream) []byte {
	dst = append(dst, `{"time":[`...)
	for i, t := range s.Time {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, floorDiv(t, secondUS), 10)
	}
	dst = append(dst, ']')
	for _, c := range s.columns() {
		dst = append(appendText(append(dst, ','), c.name), ":["...)
		for i, f := range *c.values {
			if i > 0 {
				dst = append(dst, ',')
			}
			if c.integer {
				f = math.Round(f)
			}
			dst = appendNumber(dst, f)
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// streamWrite is what one batch does to one stream.
type streamWrite struct {
	workout uuid.UUID
	n       int
	packed  []byte
	part    int

	orphan  bool // no such workout
	verb    string
	version int64
}

func (j *job) takeStreams(all []Stream) {
	for part := range all {
		s := &all[part]
		packed, err := []byte(nil), s.check()
		if err == nil {
			packed, err = s.pack()
		}
		if err != nil {
			j.refused.add(WorkoutStream, ShortColumns, 1, part, 0)
			continue
		}
		id := SummaryID(j.user, j.provider, "workouts", s.WorkoutKey)
		j.streams = append(j.streams, &streamWrite{workout: id, n: len(s.Time), packed: packed, part: part})
		j.resources = append(j.resources, WorkoutStream)
	}
}

func (w *streamWrite) plan(ctx context.Context, tx *store.Tx, j *job) error {
	var version int64
	var sealed []byte
	err := tx.QueryRow(ctx, `SELECT version, data FROM workout_streams
		WHERE team_id = $1 AND user_id = $2 AND workout_id = $3`, j.team, j.user, w.workout).Scan(&version, &sealed)
	w.verb, w.orphan = "", false
	if errors.Is(err, store.ErrNoRows) {
		w.verb, w.version = created, 1
		return w.findWorkout(ctx, tx, j)
	}
	if err != nil {
		return err
	}
	was, err := tx.Unseal(ctx, j.team, j.user, placeOfStream(w.workout), sealed)
	if err != nil {
		return err
	}
	if string(was) != string(w.packed) {
		w.verb, w.version = updated, version+1
	}
	return nil
}

func (w *streamWrite) findWorkout(ctx context.Context, tx *store.Tx, j *job) error {
	if slices.ContainsFunc(j.summaries, func(s *summaryWrite) bool { return s.id == w.workout }) {
		return nil
	}
	var n int
	err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM summaries WHERE team_id = $1 AND user_id = $2 AND id = $3`,
		j.team, j.user, w.workout).Scan(&n)
	if err == nil && n == 0 {
		w.verb, w.orphan = "", true
	}
	return err
}

func (w *streamWrite) write(ctx context.Context, tx *store.Tx, j *job) ([]events.New, error) {
	if w.verb == "" {
		return nil, nil
	}
	workout, err := readSummary(ctx, tx, j.team, j.user, w.workout)
	if err != nil {
		return nil, fmt.Errorf("wearables: a stream without its workout: %w", err)
	}
	sealed, err := tx.Seal(ctx, j.team, j.user, placeOfStream(w.workout), w.packed)
	if err != nil {
		return nil, err
	}
	now := store.Micros(tx.Now())
	changed, err := tx.Exec(ctx, `INSERT INTO workout_streams (team_id, user_id, workout_id, version, n, created_at, updated_at, data)
		VALUES ($1, $2, $3, $4, $5, $6, $6, $7)
		ON CONFLICT (user_id, workout_id) DO UPDATE
			SET version = excluded.version, n = excluded.n, updated_at = excluded.updated_at, data = excluded.data
			WHERE workout_streams.version = excluded.version - 1`,
		j.team, j.user, w.workout, w.version, w.n, now, sealed)
	if err != nil {
		return nil, err
	}
	if changed == 0 {
		return nil, errRace
	}
	if !j.announces {
		return nil, nil
	}
	return []events.New{j.event("daily.data."+WorkoutStream+"."+w.verb, j.streamPayload(&workout))}, nil
}

func placeOfStream(workout uuid.UUID) string { return "workout_streams.data:" + workout.String() }

const streamMessage = "The stream is too large for an event. Read it at /v2/timeseries/workouts/{workout_id}/stream."

// streamPayload is the shallow event: the stream itself can be read now.
//
// Spec: Events, workout stream events.
func (j *job) streamPayload(workout *StoredSummary) []byte {
	var known struct {
		ProviderID string          `json:"provider_id"`
		Sport      json.RawMessage `json:"sport"`
	}
	_ = json.Unmarshal(workout.Body, &known) // absent fields stay empty
	dst := appendUUID([]byte(`{"user_id":`), j.user)
	dst = appendUUID(append(dst, `,"workout_id":`...), workout.ID)
	dst = appendText(append(dst, `,"provider_id":`...), known.ProviderID)
	dst = appendText(append(dst, `,"message":`...), streamMessage)
	dst = AppendSource(append(dst, `,"source":`...), workout.Source, j.in.Describe)
	dst = append(dst, `,"sport":`...)
	if known.Sport == nil {
		known.Sport = []byte("null")
	}
	return append(append(dst, known.Sport...), '}')
}

// ReadStream returns the stream of a workout; without one, an empty stream.
func ReadStream(ctx context.Context, tx *store.Tx, workout *StoredSummary) (*Stream, error) {
	var sealed []byte
	err := tx.QueryRow(ctx, `SELECT data FROM workout_streams WHERE team_id = $1 AND user_id = $2 AND workout_id = $3`,
		workout.Team, workout.User, workout.ID).Scan(&sealed)
	if errors.Is(err, store.ErrNoRows) {
		return &Stream{}, nil
	}
	if err != nil {
		return nil, err
	}
	packed, err := tx.Unseal(ctx, workout.Team, workout.User, placeOfStream(workout.ID), sealed)
	if err != nil {
		return nil, err
	}
	return unpackStream(packed)
}
