package zones

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/aggregate/continuous"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/providers"
	"hale/internal/wearables/resources"
	"hale/internal/wearables/storage"
)

// longestDays is the length of the longest workout, in days, and one for its zone.
const longestDays = 8

// span is a range of days, inclusive.
type span struct{ first, last civil.Date }

// spansOf joins days that follow each other.
func spansOf(days []civil.Date) (all []span) {
	days = slices.Clone(days)
	slices.SortFunc(days, civil.Date.Compare)
	for _, day := range days {
		if n := len(all); n > 0 && day.DaysSince(all[n-1].last) <= 1 {
			all[n-1].last = day
			continue
		}
		all = append(all, span{day, day})
	}
	return all
}

// farthestZone is the largest distance of a zone from UTC.
const farthestZone = 14 * time.Hour

// meets reports whether a workout may have samples of the days, in any zone.
func (s span) meets(w *storage.StoredSummary) bool {
	start, end := w.Bounds()
	first, last := s.first.In(time.UTC).Add(-farthestZone), s.last.AddDays(1).In(time.UTC).Add(farthestZone)
	return start < store.Micros(last) && end > store.Micros(first)
}

// renewal computes the heart rate of some workouts of a user again.
type renewal struct {
	db         *store.DB
	user       users.User
	query      func(now time.Time) storage.SummaryQuery
	incomplete func(w *storage.StoredSummary) bool // whether it may change
}

// run changes the workouts whose samples give other values than the stored ones. waiting
// reports whether others still wait for heart rate.
func (r *renewal) run(ctx context.Context) (waiting bool, err error) {
	var after *storage.StoredSummary
	for {
		var page page
		err := r.db.Scan(ctx, func(tx *store.Tx) (err error) {
			page, err = r.read(ctx, tx, after)
			return err
		})
		if err != nil {
			return false, err
		}
		waiting = waiting || page.waiting
		for _, id := range page.changed {
			if err := r.change(ctx, id); err != nil {
				return waiting, err
			}
		}
		if page.last == nil {
			return waiting, nil
		}
		after = page.last
	}
}

// page is the outcome for some workouts.
type page struct {
	changed []uuid.UUID
	waiting bool                   // others wait for heart rate
	last    *storage.StoredSummary // the last workout of the page; nil at the end
}

func (r *renewal) read(ctx context.Context, tx *store.Tx, after *storage.StoredSummary) (p page, err error) {
	q := r.query(tx.Now())
	q.Resource, q.Limit, q.After = "workouts", workoutsAtOnce, after
	workouts, err := storage.ListSummaries(ctx, tx, r.user.Team.UUID(), r.user.ID.UUID(), q)
	if err != nil {
		return p, err
	}
	derivers := map[string]*derive.Deriver{}
	for i := range workouts {
		w := &workouts[i]
		if !r.incomplete(w) {
			continue
		}
		provider := w.Source.Provider
		if derivers[provider] == nil {
			if derivers[provider], err = deriver(ctx, tx, r.user, provider); err != nil {
				return p, err
			}
		}
		now, err := renew(ctx, tx, derivers[provider], w)
		if err != nil {
			return p, err
		}
		if now.Changed() {
			p.changed = append(p.changed, w.ID)
		}
		p.waiting = p.waiting || now.Waits && tx.Now().Sub(w.UpdatedAt) < incompleteAfter
	}
	if len(workouts) == workoutsAtOnce {
		p.last = &workouts[workoutsAtOnce-1]
	}
	return p, nil
}

func renew(ctx context.Context, tx *store.Tx, d *derive.Deriver, w *storage.StoredSummary) (derive.RenewedWorkout, error) {
	one, ok := derive.ReadWorkout(w)
	if !ok {
		return derive.RenewedWorkout{}, nil
	}
	return d.Renew(ctx, tx, &one, tx.Now().Sub(w.UpdatedAt) >= incompleteAfter)
}

// change stores the new version of one workout and its stream, with their events.
func (r *renewal) change(ctx context.Context, id uuid.UUID) error {
	return r.db.Write(ctx, func(tx *store.Tx) error {
		if err := tx.Lock(ctx, "wearables:"+r.user.ID.String()); err != nil {
			return err
		}
		w, err := storage.ReadSummary(ctx, tx, r.user.Team.UUID(), r.user.ID.UUID(), id)
		if errors.Is(err, store.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		d, err := deriver(ctx, tx, r.user, w.Source.Provider)
		if err != nil {
			return err
		}
		now, err := renew(ctx, tx, d, &w) // it may have changed since
		if err != nil || !now.Changed() {
			return err
		}
		return write(ctx, tx, r.user, &w, &now)
	})
}

// write stores a new version of a workout and its stream, and sends their events.
func write(ctx context.Context, tx *store.Tx, user users.User, w *storage.StoredSummary, now *derive.RenewedWorkout) error {
	if now.Body != nil {
		if err := writeBody(ctx, tx, w, now.Body); err != nil {
			return err
		}
		payload, err := storage.AppendSummary(nil, w, providers.LogosOf(tx))
		if err != nil {
			return err
		}
		start, end := w.Bounds()
		changed := []wearables.TouchedData{{Resource: w.Resource, Provider: w.Source.Provider, Oldest: start, Newest: end}}
		if err := continuous.MarkStale(ctx, tx, user, changed); err != nil {
			return err
		}
		if err := emit(ctx, tx, user, w, resources.DailyEvent(w.Resource, resources.Updated), payload); err != nil {
			return err
		}
	}
	return writeStream(ctx, tx, user, w, now)
}

// writeBody stores another body of a workout. A version of an import keeps its time, so that
// the import can be undone.
func writeBody(ctx context.Context, tx *store.Tx, w *storage.StoredSummary, body []byte) error {
	was, err := storage.ReadVersion(ctx, tx, w.Team, w.User, w.ID)
	if err != nil {
		return err
	}
	imported, err := storage.IsOfImport(ctx, tx, w.Team, w.User, w.UpdatedAt)
	if err != nil {
		return err
	}
	if was.Body = body; !imported {
		was.Updated = store.Micros(tx.Now())
	}
	if err := w.Restore(ctx, tx, was); err != nil {
		return err
	}
	*w, err = storage.ReadSummary(ctx, tx, w.Team, w.User, w.ID)
	return err
}

// writeStream stores or deletes the stream of a workout.
func writeStream(ctx context.Context, tx *store.Tx, user users.User, w *storage.StoredSummary, now *derive.RenewedWorkout) error {
	if now.NoStream {
		if _, err := storage.DeleteStream(ctx, tx, w); err != nil {
			return err
		}
		gone := storage.DeletedSummary(w)
		gone.Resource = wearables.WorkoutStream
		return emit(ctx, tx, user, w, gone.EventType(), gone.AppendTo(nil, providers.LogosOf(tx)))
	}
	if now.Stream == nil {
		return nil
	}
	packed, err := now.Stream.Pack()
	if err != nil {
		return err
	}
	verb := resources.Updated
	found, err := storage.RewriteStream(ctx, tx, w, len(now.Stream.Time), packed)
	if err == nil && !found {
		verb, err = resources.Created, storage.WriteStream(ctx, tx, w, 1, len(now.Stream.Time), packed)
	}
	if err != nil {
		return err
	}
	err = connections.Extend(ctx, tx, user, w.Source.Provider, []string{wearables.WorkoutStream})
	if err != nil && !errors.Is(err, wearables.ErrPaused) { // the samples are stored already
		return err
	}
	first, last := now.Stream.Time[0], now.Stream.Time[len(now.Stream.Time)-1]
	if err := storage.NoteStored(ctx, tx, w.Team, w.User, w.Source.Provider, wearables.WorkoutStream, first, last); err != nil {
		return err
	}
	payload := storage.AppendStreamNotice(nil, w, providers.LogosOf(tx))
	return emit(ctx, tx, user, w, resources.DailyEvent(wearables.WorkoutStream, verb), payload)
}

// emit sends an event about a workout or its stream, and counts it for introspection.
func emit(ctx context.Context, tx *store.Tx, user users.User, w *storage.StoredSummary, kind string, data []byte) error {
	e := events.New{Team: w.Team, User: w.User, ClientUserID: user.ClientUserID, Type: kind, Data: data}
	if _, err := events.Emit(ctx, tx, e); err != nil {
		return err
	}
	resource, _ := resources.NameInDailyEvent(kind)
	return storage.CountSent(ctx, tx, w.Team, w.User, w.Source.Provider, resource)
}
