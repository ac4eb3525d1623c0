package ingest

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/audit"
	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/storage"
)

// A push of one phone takes about a dozen statements. Pushes of one team and
// provider that wait at the same moment share a transaction and a few statements
// for all of them.
//
// A push batch handles the common case: a few samples of known series, not
// historical, of a user whose connection is known. Every other push, and every
// push of a batch that failed, is stored in a transaction of its own.
//
// docs/decisions/0012-push-batches.md has the measurements.

// mostInBatch limits the number of pushes that one transaction stores.
const mostInBatch = 256

// Push is the pushed data of one user, with its outcome.
type Push struct {
	User  users.ID
	Batch wearables.Batch

	Result wearables.Result
	Err    error // of this user; pushes of other users are stored
}

// Push stores a phone's data for a user, with its events, in one transaction that it may
// share with others. See Ingest.
func (in *Ingester) Push(ctx context.Context, team teams.ID, id users.ID, b wearables.Batch) (users.User, wearables.Result, error) {
	all := []Push{{User: id, Batch: b}}
	who := in.PushAll(ctx, team, all)
	return who[0], all[0].Result, all[0].Err
}

// PushAll stores data of several users like Push. Each user must occur at most once. It
// stores the push of each user whole or not at all, independently of the others.
func (in *Ingester) PushAll(ctx context.Context, team teams.ID, all []Push) []users.User {
	waitForRivals(ctx, all)
	waiting := make([]*pendingPush, len(all))
	for i := range all {
		audit.NotePerson(ctx, all[i].User.UUID()) // before the first transaction inserts the rows
	}
	for i := range all {
		b := &all[i].Batch
		if all[i].Err = in.checkDevices(ctx, team, all[i].User, b); all[i].Err != nil {
			continue
		}
		if isSmall(b) && b.Stage != wearables.Historical && !in.reprocess && !store.HasExtraWrites(ctx) {
			waiting[i] = &pendingPush{id: all[i].User, batch: b, trail: audit.TrailOf(ctx), done: make(chan struct{})}
		}
	}
	in.queues.add(in, team, waiting)
	ctx = audit.InTransactions(ctx)
	who := make([]users.User, len(all))
	for i, p := range waiting {
		if p == nil {
			continue
		}
		if <-p.done; !p.alone {
			who[i], all[i].Result = p.user, p.job.result()
		}
	}
	// These follow the batches, so that one transaction at a time inserts the rows of the
	// audit log.
	for i, p := range waiting {
		one := &all[i]
		if one.Err != nil || p != nil && !p.alone {
			continue
		}
		who[i], one.Result, one.Err = in.pushAlone(ctx, team, one.User, one.Batch)
	}
	return who
}

// pushAlone reads the user and stores the batch like Ingest. If the batch is small, both
// happen in one transaction.
func (in *Ingester) pushAlone(ctx context.Context, team teams.ID, id users.ID, b wearables.Batch) (user users.User, r wearables.Result, err error) {
	find := func(tx *store.Tx) error {
		user, err = users.Get(ctx, tx, team, id)
		return err
	}
	if !isSmall(&b) {
		if err := in.db.Peek(ctx, find); err != nil {
			return user, wearables.Result{}, err
		}
		r, err = in.Ingest(ctx, user, b)
		return user, r, err
	}
	for range maxPlans {
		var j *job
		err = in.db.Write(ctx, func(tx *store.Tx) error {
			if err := find(tx); err != nil {
				return err
			}
			if in.ended(user) {
				return wearables.ErrPaused
			}
			j = in.newJob(user, &b)
			if err := j.plan(ctx, tx); err != nil || !j.changes() {
				return err
			}
			return j.store(ctx, tx)
		})
		if err == nil {
			return user, j.result(), nil
		}
		if errors.Is(err, wearables.ErrPaused) {
			return user, pausedResult(&b), nil
		}
		if !errors.Is(err, storage.ErrStale) {
			return user, wearables.Result{}, err
		}
	}
	return user, wearables.Result{}, errBusy
}

// pendingPush is a push that waits for its batch.
type pendingPush struct {
	id    users.ID
	batch *wearables.Batch
	trail *audit.Trail // of the request; nil without one

	user  users.User
	job   *job
	alone bool // to be stored by itself
	done  chan struct{}
}

// pushQueues contains the waiting pushes. A key is present while a worker stores its
// pushes.
type pushQueues struct {
	mu      sync.Mutex
	waiting map[queueKey][]*pendingPush
}

type queueKey struct {
	team     teams.ID
	provider string
}

// add queues pushes of a team, and starts a worker for each queue that has none.
// Elements may be nil.
func (q *pushQueues) add(in *Ingester, team teams.ID, all []*pendingPush) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting == nil {
		q.waiting = map[queueKey][]*pendingPush{}
	}
	for _, p := range all {
		if p == nil {
			continue
		}
		key := queueKey{team, p.batch.Provider}
		before, working := q.waiting[key]
		q.waiting[key] = append(before, p)
		if !working {
			go q.work(in, key)
		}
	}
}

// work stores the pushes of a queue until it is empty.
func (q *pushQueues) work(in *Ingester, key queueKey) {
	for {
		batch := q.next(key)
		if len(batch) == 0 {
			return
		}
		in.storeBatch(key, batch)
		for _, p := range batch {
			close(p.done)
		}
	}
}

// next removes a batch of pushes from a queue. Each user occurs once, so that no two
// pushes of a transaction write the same rows. It also removes an empty queue.
func (q *pushQueues) next(key queueKey) []*pendingPush {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := q.waiting[key]
	if len(waiting) == 0 {
		delete(q.waiting, key)
		return nil
	}
	batch, rest := make([]*pendingPush, 0, min(len(waiting), mostInBatch)), []*pendingPush{}
	taken := make(map[users.ID]bool, cap(batch))
	for _, p := range waiting {
		if len(batch) == mostInBatch || taken[p.id] {
			rest = append(rest, p)
			continue
		}
		taken[p.id] = true
		batch = append(batch, p)
	}
	q.waiting[key] = rest
	return batch
}

// storeBatch stores pushes in one transaction. It marks a push as alone if it needs more
// than the common case. If the transaction fails, it marks all of them, and each gets its
// own error.
func (in *Ingester) storeBatch(key queueKey, batch []*pendingPush) {
	ctx := store.WithTeam(context.Background(), key.team.UUID())
	try := func() error {
		return in.db.Write(ctx, func(tx *store.Tx) error {
			plan, err := in.planBatch(ctx, tx, key, batch)
			if err != nil {
				return err
			}
			if err := plan.write(ctx, tx); err != nil {
				return err
			}
			return insertTrails(ctx, tx, batch)
		})
	}
	err := try()
	if errors.Is(err, storage.ErrStale) { // a push alone, or another node, wrote first
		err = try()
	}
	if err != nil {
		for _, p := range batch {
			p.alone = true
		}
	}
}

// insertTrails inserts the rows of the audit log of the pushes that were stored. The
// pushes of one request have the same trail, which has a row for each person.
func insertTrails(ctx context.Context, tx *store.Tx, batch []*pendingPush) error {
	inserted := map[*audit.Trail]bool{nil: true}
	for _, p := range batch {
		if p.alone || inserted[p.trail] {
			continue
		}
		inserted[p.trail] = true
		if err := p.trail.Insert(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

// planBatch reads the users, their connections and their blocks, and merges the
// samples.
func (in *Ingester) planBatch(ctx context.Context, tx *store.Tx, key queueKey, batch []*pendingPush) (*batchPlan, error) {
	ids := make([]users.ID, len(batch))
	for i, p := range batch {
		ids[i], p.alone = p.id, false
	}
	var b store.Batch
	connections.LockConnections(tx, &b, key.team)
	var lookup users.BulkLookup
	lookup.AddTo(tx, &b, key.team, ids)
	var links connections.BulkLookup
	links.AddTo(tx, &b, key.team, ids, key.provider)
	if err := tx.Run(ctx, &b); err != nil {
		return nil, err
	}
	found, err := lookup.Users(ctx, tx)
	if err != nil {
		return nil, err
	}
	exporters, err := exportersOf(ctx, tx, key, ids)
	if err != nil {
		return nil, err
	}
	var keys []storage.BlockKey
	for _, p := range batch {
		user, ok := found[p.id]
		if !ok || in.ended(user) || exporters[p.id.UUID()] {
			p.alone = true
			continue
		}
		p.user, p.job = user, in.newJob(user, p.batch)
		p.job.batched, p.job.confirmed = true, storage.TimeRange{User: user.ID.UUID()}
		if !p.job.isOrdinary() || !links.Brings(p.id, p.job.resources) {
			p.alone = true
			continue
		}
		keys = p.job.appendBlockKeys(keys)
	}
	stored, err := storage.BlocksOf(ctx, tx, key.team, keys)
	if err != nil {
		return nil, err
	}
	for _, p := range batch {
		if p.alone {
			continue
		}
		if err := p.job.mergeInto(ctx, tx, stored); errors.Is(err, errBlockTooLarge) {
			p.alone = true
		} else if err != nil {
			return nil, err
		}
	}
	if err := sendImportedAlone(ctx, tx, key, batch); err != nil {
		return nil, err
	}
	return newBatchPlan(ctx, tx, batch)
}

// exportersOf returns the users with samples of an export that a push may hide.
func exportersOf(ctx context.Context, tx *store.Tx, key queueKey, all []users.ID) (map[uuid.UUID]bool, error) {
	if source := (wearables.Source{Provider: key.provider}); !source.MayBeExported() {
		return nil, nil
	}
	found := make([]uuid.UUID, len(all))
	for i, id := range all {
		found[i] = id.UUID()
	}
	return storage.WithExports(ctx, tx, key.team, found)
}

// isOrdinary reports whether a job consists of a few samples of known series. It
// records those series.
func (j *job) isOrdinary() bool {
	if len(j.summaries)+len(j.deleted)+len(j.streams)+len(j.records) > 0 || len(j.series) == 0 {
		return false
	}
	for _, w := range j.series {
		known, ok := j.in.series.get(j.user, w.key)
		if !ok {
			return false
		}
		w.series = known
	}
	return true
}

// appendBlockKeys appends the blocks that the samples of a job fall into.
func (j *job) appendBlockKeys(keys []storage.BlockKey) []storage.BlockKey {
	for _, w := range j.series {
		for _, bucket := range w.buckets() {
			keys = append(keys, storage.BlockKey{User: j.user, Series: w.series.ID, Bucket: bucket})
		}
	}
	return keys
}

// buckets returns the blocks that the new samples fall into, in time order.
func (w *seriesPlan) buckets() (all []int64) {
	for _, at := range w.add.Time {
		if bucket := w.series.Bucket(at); len(all) == 0 || all[len(all)-1] != bucket {
			all = append(all, bucket)
		}
	}
	return all
}

// mergeInto merges the samples into blocks that were read.
func (j *job) mergeInto(ctx context.Context, tx *store.Tx, stored map[storage.BlockKey]storage.Block) error {
	j.begins(tx)
	for _, w := range j.series {
		var known []storage.Block
		for _, bucket := range w.buckets() {
			if b, ok := stored[storage.BlockKey{User: j.user, Series: w.series.ID, Bucket: bucket}]; ok {
				known = append(known, b)
			}
		}
		if err := w.planBlocks(ctx, tx, j, storage.CursorOver(known)); err != nil {
			return err
		}
	}
	j.noteReceived()
	return nil
}

// batchPlan holds the statements that store a batch.
type batchPlan struct {
	statements store.Batch
	jobs       []*job

	blocks, written int64
}

// newBatchPlan collects the writes of a batch's jobs: blocks, statistics, events and
// bodies for the ledger.
func newBatchPlan(ctx context.Context, tx *store.Tx, batch []*pendingPush) (*batchPlan, error) {
	plan := &batchPlan{}
	var all []events.New
	var statistics []statisticsRow
	for _, p := range batch {
		if p.alone {
			continue
		}
		if p.job.also != nil {
			if err := p.job.also(ctx, tx, &plan.statements, nil); err != nil {
				return nil, err
			}
		}
		var announced []rankedEvent
		for _, w := range p.job.series {
			announced = append(announced, w.events(p.job, &w.series)...)
			for i := range w.blocks {
				if err := w.blocks[i].AddTo(ctx, tx, &w.series, &plan.statements, &plan.written); err != nil {
					return nil, err
				}
				plan.blocks++
			}
		}
		own := inOrderOfRanks(announced)
		statistics = append(statistics, p.job.statistics(tx.Now(), own)...)
		all = append(all, own...)
		plan.jobs = append(plan.jobs, p.job)
	}
	slices.SortFunc(statistics, statisticsRow.compare) // one order in all transactions: no deadlocks
	for i := range statistics {
		plan.statements.Insert(nil, intoStatistics, statistics[i].args(), replaceStatistics)
	}
	drafts, err := events.Draft(ctx, tx, all)
	if err != nil {
		return nil, err
	}
	return plan, drafts.Add(ctx, tx, &plan.statements)
}

// write enqueues the work that follows, and runs the statements. It returns ErrStale if a
// block was written since it was read.
func (plan *batchPlan) write(ctx context.Context, tx *store.Tx) error {
	for _, j := range plan.jobs {
		if err := j.notify(ctx, tx); err != nil {
			return err
		}
	}
	if err := tx.Run(ctx, &plan.statements); err != nil {
		return err
	}
	if plan.written != plan.blocks {
		return storage.ErrStale
	}
	return nil
}
