package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// streamPlan holds the change of one batch to one stream.
type streamPlan struct {
	workout uuid.UUID
	n       int
	packed  []byte
	part    int
	span    wearables.Range

	orphan  bool // no such workout
	verb    string
	version int64
}

// addStreams adds the last stream of each workout.
func (j *job) addStreams(all []wearables.Stream) {
	byWorkout := map[uuid.UUID]*streamPlan{}
	for part := range all {
		s := &all[part]
		packed, err := []byte(nil), s.Check()
		if err == nil {
			packed, err = s.Pack()
		}
		if err != nil {
			j.refused.add(wearables.WorkoutStream, wearables.ShortColumns, 1, part, 0)
			continue
		}
		id := wearables.SummaryID(j.user, j.provider, "workouts", s.WorkoutKey)
		if w := byWorkout[id]; w != nil {
			w.n, w.packed, w.part, w.span = len(s.Time), packed, part, streamSpan(s)
			j.repeated[wearables.WorkoutStream]++
		} else {
			w = &streamPlan{workout: id, n: len(s.Time), packed: packed, part: part, span: streamSpan(s)}
			byWorkout[id] = w
			j.streams = append(j.streams, w)
		}
		j.resources = append(j.resources, wearables.WorkoutStream)
	}
}

func (w *streamPlan) plan(ctx context.Context, tx *store.Tx, j *job) error {
	version, was, err := storage.ReadPackedStream(ctx, tx, j.team, j.user, w.workout)
	w.verb, w.orphan = "", false
	if errors.Is(err, store.ErrNoRows) {
		w.verb, w.version = created, 1
		return w.findWorkout(ctx, tx, j)
	}
	if err != nil {
		return err
	}
	if string(was) != string(w.packed) {
		w.verb, w.version = updated, version+1
	}
	return nil
}

func (w *streamPlan) findWorkout(ctx context.Context, tx *store.Tx, j *job) error {
	if slices.ContainsFunc(j.summaries, func(s *summaryPlan) bool { return s.id == w.workout && s.verb == created }) {
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

func (w *streamPlan) write(ctx context.Context, tx *store.Tx, j *job) ([]events.New, error) {
	if w.verb == "" {
		return nil, nil
	}
	workout, err := storage.ReadSummary(ctx, tx, j.team, j.user, w.workout)
	if err != nil {
		return nil, fmt.Errorf("ingest: the workout of a stream: %w", err)
	}
	if err := storage.WriteStream(ctx, tx, &workout, w.version, w.n, w.packed); err != nil {
		return nil, err
	}
	if !j.announces {
		return nil, nil
	}
	return []events.New{j.event("daily.data."+wearables.WorkoutStream+"."+w.verb, j.streamPayload(&workout))}, nil
}

const streamMessage = "The stream is too large for an event. Read it at /v2/timeseries/workouts/{workout_id}/stream."

// streamPayload returns the payload of the event, which does not hold the stream.
//
// Spec: Events, workout stream events.
func (j *job) streamPayload(workout *storage.StoredSummary) []byte {
	var known struct {
		ProviderID string          `json:"provider_id"`
		Sport      json.RawMessage `json:"sport"`
	}
	_ = json.Unmarshal(workout.Body, &known) // absent fields stay empty
	dst := wearables.AppendUUID([]byte(`{"user_id":`), j.user)
	dst = wearables.AppendUUID(append(dst, `,"workout_id":`...), workout.ID)
	dst = wearables.AppendText(append(dst, `,"provider_id":`...), known.ProviderID)
	dst = wearables.AppendText(append(dst, `,"message":`...), streamMessage)
	dst = wearables.AppendSource(append(dst, `,"source":`...), workout.Source, j.logos())
	dst = append(dst, `,"sport":`...)
	if known.Sport == nil {
		known.Sport = []byte("null")
	}
	return append(append(dst, known.Sport...), '}')
}
