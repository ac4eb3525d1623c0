package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/resources"
	"hale/internal/wearables/storage"
)

// streamPlan holds the change of one batch to one stream.
type streamPlan struct {
	key     uuid.UUID // SummaryID of the workout's Key
	source  wearables.Source
	workout uuid.UUID // its id: see identify
	n       int
	packed  []byte
	part    int
	span    wearables.Range

	orphan  bool // no such workout
	states  bool // the stored stream, which is of an import
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
			w.n, w.packed, w.part, w.span = len(s.Time), packed, part, s.Span()
			j.repeated[wearables.WorkoutStream]++
		} else {
			w = &streamPlan{key: id, source: s.Source, n: len(s.Time), packed: packed, part: part, span: s.Span()}
			byWorkout[id] = w
			j.streams = append(j.streams, w)
		}
		j.resources = append(j.resources, wearables.WorkoutStream)
	}
}

func (w *streamPlan) plan(ctx context.Context, tx *store.Tx, j *job) error {
	w.verb, w.orphan, w.states = "", false, false
	if known, err := w.findWorkout(ctx, tx, j); err != nil || !known {
		return err
	}
	version, was, err := storage.ReadPackedStream(ctx, tx, j.team, j.user, w.workout)
	if errors.Is(err, store.ErrNoRows) {
		w.verb, w.version = created, 1
		return nil
	}
	if err != nil {
		return err
	}
	if string(was) != string(w.packed) {
		w.verb, w.version = updated, version+1
		return nil
	}
	w.version = version + 1
	return w.planStated(ctx, tx, j)
}

// findWorkout finds the workout of the stream, in the batch or stored. known is false
// without one, and if the workout of another recorder counts.
func (w *streamPlan) findWorkout(ctx context.Context, tx *store.Tx, j *job) (known bool, err error) {
	for _, s := range j.summaries {
		if s.Resource == "workouts" && s.key == w.key && !s.tooLarge {
			w.workout = s.id
			return !s.yields, nil
		}
	}
	source := w.source
	source.Provider = cmp.Or(source.Provider, j.provider)
	w.workout, err = storage.WorkoutOf(ctx, tx, j.team, j.user, source, w.key, w.span)
	if errors.Is(err, store.ErrNoRows) {
		w.orphan = true
		return false, nil
	}
	return err == nil, err
}

func (w *streamPlan) write(ctx context.Context, tx *store.Tx, j *job) ([]events.New, error) {
	if w.verb == "" && !w.states {
		return nil, nil
	}
	workout, err := storage.ReadSummary(ctx, tx, j.team, j.user, w.workout)
	if err != nil {
		return nil, fmt.Errorf("ingest: the workout of a stream: %w", err)
	}
	if err := storage.WriteStream(ctx, tx, &workout, w.version, w.n, w.packed); err != nil {
		return nil, err
	}
	if !j.announces || w.verb == "" {
		return nil, nil
	}
	return []events.New{j.event(resources.DailyEvent(wearables.WorkoutStream, w.verb), storage.AppendStreamNotice(nil, &workout, j.logos()))}, nil
}
