package wearables

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
)

// streamWrite is what one batch does to one stream.
type streamWrite struct {
	workout uuid.UUID
	n       int
	packed  []byte
	part    int
	span    Range

	orphan  bool // no such workout
	verb    string
	version int64
}

// takeStreams takes the last stream of each workout, as for samples and
// summaries: two versions of one row in a batch would race with each other.
func (j *job) takeStreams(all []Stream) {
	byWorkout := map[uuid.UUID]*streamWrite{}
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
		if w := byWorkout[id]; w != nil {
			w.n, w.packed, w.part, w.span = len(s.Time), packed, part, s.span()
			j.repeated[WorkoutStream]++
		} else {
			w = &streamWrite{workout: id, n: len(s.Time), packed: packed, part: part, span: s.span()}
			byWorkout[id] = w
			j.streams = append(j.streams, w)
		}
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
	if slices.ContainsFunc(j.summaries, func(s *summaryWrite) bool { return s.id == w.workout && s.verb == created }) {
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
