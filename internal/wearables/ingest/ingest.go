package ingest

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/aggregate/continuous"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/storage"
	"hale/internal/wearables/zones"
)

// Ingester stores batches of wearable data and emits events about the changes. A process
// has one Ingester for new data.
type Ingester struct {
	db        *store.DB
	listeners []Listener
	reprocess bool
	devices   *connections.KnownDevices

	series seriesCache
	queues pushQueues
}

// Listener is called with the changes of a batch, in the transaction that stores
// it. Its error undoes the transaction. Package days needs one: it imports
// package deletion, which imports ingest.
type Listener func(ctx context.Context, tx *store.Tx, user users.User, changes []wearables.TouchedData) error

// New returns an ingester of new data. It connects users to the providers whose
// data arrives, and refuses data of other users' devices.
func New(db *store.DB, listeners ...Listener) *Ingester {
	return &Ingester{db: db, listeners: listeners, devices: &connections.KnownDevices{DB: db}}
}

// NewReprocessor returns an ingester for data that is reprocessed. It connects no user,
// and it accepts data of a user whose collection has ended since.
func NewReprocessor(db *store.DB, listeners ...Listener) *Ingester {
	return &Ingester{db: db, listeners: listeners, reprocess: true}
}

// errBlockTooLarge is returned if a block would contain more samples than it can.
var errBlockTooLarge = fault.New(fault.Unprocessable, "too many samples of one series within a short time")

// errBusy is returned if other transactions wrote first in every attempt.
var errBusy = fault.New(fault.Unavailable, "the user's data is being written by too many others; try again")

const (
	maxSnapshotPlans = 3  // plans made on a snapshot, outside the writer
	maxPlans         = 50 // plans in all; the others are made in the transaction, under a lock
)

// Ingest stores a batch in one transaction, with its events, and returns the counts of
// the changes. It leaves out and counts values that break a rule. Values that are stored
// already change nothing and cause no event.
//
// Spec: Events; Versioning 4. Reference 7.4, 7.10.
func (in *Ingester) Ingest(ctx context.Context, user users.User, b wearables.Batch) (wearables.Result, error) {
	if in.ended(user) {
		return pausedResult(&b), nil
	}
	if err := in.checkDevices(ctx, user.Team, user.ID, &b); err != nil {
		return wearables.Result{}, err
	}
	j := in.newJob(user, &b)
	for attempt := range maxPlans {
		err := j.try(ctx, attempt < maxSnapshotPlans && !j.waits())
		if err == nil {
			return j.result(), nil
		}
		if errors.Is(err, wearables.ErrPaused) {
			return pausedResult(&b), nil
		}
		if !errors.Is(err, storage.ErrStale) {
			return wearables.Result{}, err
		}
	}
	return wearables.Result{}, errBusy
}

// IngestIn stores a batch like Ingest, in the transaction of the caller, who holds the
// lock of the user's data. It checks neither devices nor the end of the collection.
func (in *Ingester) IngestIn(ctx context.Context, tx *store.Tx, user users.User, b wearables.Batch) (wearables.Result, error) {
	j := in.newJob(user, &b)
	if err := j.plan(ctx, tx); err != nil {
		return wearables.Result{}, err
	}
	err := j.store(ctx, tx)
	return j.result(), err
}

// ended reports whether the user's data is no longer collected.
func (in *Ingester) ended(user users.User) bool {
	return !in.reprocess && wearables.HasIngestionEnded(in.db.Now(), user.IngestionEnd)
}

// checkDevices marks the sources of a batch whose device is not one of the
// user's.
func (in *Ingester) checkDevices(ctx context.Context, team teams.ID, user users.ID, b *wearables.Batch) error {
	if in.reprocess {
		return nil
	}
	return in.devices.Mark(ctx, team, user, b)
}

// connects reports whether storing a job connects the user to the provider.
func (j *job) connects() bool { return !j.in.reprocess && len(j.resources) > 0 }

// maxSmall is the largest number of samples that are merged inside the writing
// transaction. Planning on a reader keeps the one writer free while whole days are
// packed. For a few samples the second transaction costs more than the merging.
const maxSmall = 256

// isSmall reports whether a batch contains only a few samples.
func isSmall(b *wearables.Batch) bool {
	n := 0
	for i := range b.Samples {
		n += b.Samples[i].Len()
	}
	return n <= maxSmall && len(b.Summaries) == 0 && len(b.Streams) == 0
}

// try plans and commits once. A plan on a snapshot keeps the one writer free
// while samples are merged and packed. A plan inside the transaction, with the
// user's data locked, cannot be stale.
func (j *job) try(ctx context.Context, onSnapshot bool) error {
	j.snapshot = onSnapshot
	if !onSnapshot {
		return j.in.db.Write(ctx, func(tx *store.Tx) error {
			if err := tx.Lock(ctx, "wearables:"+j.user.String()); err != nil {
				return err
			}
			if err := j.plan(ctx, tx); err != nil {
				return err
			}
			return j.store(ctx, tx)
		})
	}
	if err := j.in.db.Read(ctx, func(tx *store.Tx) error { return j.plan(ctx, tx) }); err != nil {
		return err
	}
	if !j.changes() {
		return nil
	}
	if j.waits() { // all of it is planned in the transaction
		return storage.ErrStale
	}
	return j.in.db.Write(ctx, func(tx *store.Tx) error { return j.commit(ctx, tx) })
}

// plan compares the batch with the stored data.
func (j *job) plan(ctx context.Context, tx *store.Tx) (err error) {
	j.begins(tx)
	if source := (wearables.Source{Provider: j.provider}); len(j.series) > 0 && source.MayBeExported() {
		if j.exported, err = storage.ResourcesOfExports(ctx, tx, j.team, j.user); err != nil {
			return err
		}
	}
	for _, w := range j.series {
		if err := w.plan(ctx, tx, j); err != nil {
			return err
		}
	}
	if err := j.planRecords(ctx, tx); err != nil {
		return err
	}
	if err := j.identify(ctx, tx); err != nil {
		return err
	}
	if err := j.planDeleted(ctx, tx); err != nil {
		return err
	}
	for _, w := range j.summaries {
		if err := w.plan(ctx, tx, j); err != nil {
			return err
		}
	}
	if err := j.planFollowed(ctx, tx); err != nil {
		return err
	}
	for _, w := range j.ownStreams() {
		if err := w.plan(ctx, tx, j); err != nil {
			return err
		}
	}
	j.noteReceived()
	return nil
}

// begins records when the plan is made.
func (j *job) begins(tx *store.Tx) {
	if j.importID == uuid.Nil {
		j.planned = tx.Now().UnixMilli()
	}
}

// changes reports whether the plan writes anything. Even a batch without new data shows
// that the connection works.
func (j *job) changes() bool {
	return j.also != nil || j.connects() || len(j.followed) > 0 || j.refusedAll() || len(j.newRecords) > 0 ||
		slices.ContainsFunc(j.series, func(w *seriesPlan) bool { return len(w.blocks) > 0 }) ||
		slices.ContainsFunc(j.summaries, func(w *summaryPlan) bool {
			return w.verb != "" || w.measured || w.refiled || w.remarked || w.states
		}) ||
		slices.ContainsFunc(j.deleted, (*deletedPlan).changes) ||
		j.waits() || slices.ContainsFunc(j.streams, func(w *streamPlan) bool { return w.verb != "" || w.states })
}

// commit writes the plan. It may run several times and does not change the plan.
func (j *job) commit(ctx context.Context, tx *store.Tx) error {
	if err := j.runAlso(ctx, tx); err != nil {
		return err
	}
	if j.connects() {
		connect := connections.Ensure
		if j.derived {
			connect = connections.Extend
		}
		if err := connect(ctx, tx, j.whole, j.provider, j.resources); err != nil {
			return err
		}
	}
	journal, err := j.beforeSummaries(ctx, tx)
	if err != nil {
		return err
	}
	all, err := j.writeDeleted(ctx, tx)
	if err != nil {
		return err
	}
	written, err := j.writeSummaries(ctx, tx)
	if err != nil {
		return err
	}
	replaced, err := j.removeFollowed(ctx, tx)
	if err != nil {
		return err
	}
	all = append(append(all, written...), replaced...)
	for _, w := range j.ownStreams() {
		event, err := w.write(ctx, tx, j)
		if err != nil {
			return err
		}
		all = append(all, event...)
	}
	numbers := make(map[storage.SeriesKey]int64, len(j.series))
	var announced []rankedEvent
	for _, w := range j.series {
		s, err := w.write(ctx, tx, j)
		if err != nil {
			return err
		}
		numbers[w.key] = s.ID
		announced = append(announced, w.events(j, &s)...)
		if j.importID != uuid.Nil && len(w.blocks) > 0 {
			change, err := w.change(s.ID)
			if err != nil {
				return err
			}
			journal.Series = append(journal.Series, change)
		}
	}
	all = append(all, inOrderOfRanks(announced)...)
	if err := j.writeRecords(ctx, tx, numbers); err != nil {
		return err
	}
	if !journal.IsEmpty() {
		if err := journal.Write(ctx, tx, j.team, j.user); err != nil {
			return err
		}
	}
	if err := j.writeStatistics(ctx, tx, all); err != nil {
		return err
	}
	ended, err := j.endHistories(ctx, tx)
	if err != nil {
		return err
	}
	all = append(all, ended...)
	if err := j.notify(ctx, tx); err != nil {
		return err
	}
	_, err = events.EmitMany(ctx, tx, all)
	return err
}

// runAlso stores what the caller stores together with the batch.
func (j *job) runAlso(ctx context.Context, tx *store.Tx) error {
	if j.also == nil {
		return nil
	}
	var b store.Batch
	if err := j.also(ctx, tx, &b, j.storedIDs()); err != nil {
		return err
	}
	return tx.Run(ctx, &b)
}

// notify enqueues the work that follows from the changes of the plan. Reprocessed
// workouts keep the zones that they have.
func (j *job) notify(ctx context.Context, tx *store.Tx) error {
	changes := j.touched()
	if err := continuous.MarkStale(ctx, tx, j.whole, changes); err != nil {
		return err
	}
	if !j.in.reprocess {
		if err := zones.EnqueueZones(ctx, tx, j.whole, changes); err != nil {
			return err
		}
	}
	for _, listener := range j.in.listeners {
		if err := listener(ctx, tx, j.whole, changes); err != nil {
			return err
		}
	}
	return nil
}

// touched lists the changes of the plan. A resource may occur more than once.
func (j *job) touched() (all []wearables.TouchedData) {
	for _, w := range j.series {
		if w.counts.Created+w.counts.Updated > 0 {
			all = append(all, wearables.TouchedData{Resource: w.resource.Event, Provider: w.key.Provider, Pushed: j.pushed, Historical: !j.announces, Oldest: w.add.Time[0], Newest: w.add.Time[len(w.add.Time)-1]})
		}
	}
	for _, w := range j.summaries {
		if w.verb != "" {
			oldest, newest := w.bounds()
			one := wearables.TouchedData{Resource: w.Resource, Provider: w.Source.Provider, Pushed: j.pushed, Historical: !j.announces, Oldest: oldest, Newest: newest}
			all = append(append(all, one), w.formerTimes(one)...)
		}
	}
	for _, d := range j.deleted {
		for i := range d.gone {
			s := &d.gone[i]
			_, end := s.Bounds()
			oldest := s.BeginsOrDay()
			all = append(all, wearables.TouchedData{Resource: s.Resource, Provider: s.Source.Provider, Pushed: j.pushed, Historical: !j.announces, Oldest: oldest, Newest: max(oldest, end)})
		}
	}
	return all
}
