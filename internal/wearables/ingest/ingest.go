package ingest

import (
	"context"
	"errors"
	"slices"

	"hale/internal/people/users"
	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"

	"github.com/google/uuid"
)

// Ingester stores batches of wearable data and announces what they changed.
// One per process; its fields are set before first use.
type Ingester struct {
	DB *store.DB
	// Describe names a provider for the deprecated fields of a source. Optional.
	Describe wearables.Describe
	// Devices, when set, marks the sources of a batch that name a device that is
	// none of the user's.
	Devices func(ctx context.Context, team teams.ID, user users.ID, b *wearables.Batch) error
	// Connect, when set, makes sure that the user is connected to the provider
	// with the resources. It runs inside the transaction that stores the data,
	// and refuses with ErrPaused when the connection takes none.
	Connect func(ctx context.Context, tx *store.Tx, user users.User, provider string, resources []string) error
	// Run names the present run of the user's connection to a provider: a new
	// link is a new run, whose history is announced anew. Without it there is
	// one run for ever.
	Run func(ctx context.Context, tx *store.Tx, user users.User, provider string) (string, error)
	// Linked, when set, tells how to see in the query for a user that Connect would
	// find nothing to do: a text expression over the table users, and whether what
	// it gave says that the connection brings the resources.
	Linked func(provider string) (column string, brings func(column string, resources []string) bool)
	// Hold adds what keeps that so until the transaction ends. It is set with Linked.
	Hold func(tx *store.Tx, b *store.Batch, team teams.ID)
	// Changed, when set, hears of what changed, in the same transaction.
	Changed OnChange
	// Again says that what is stored came in before and is read again: it is taken
	// also when collection has ended since.
	Again bool

	cache seriesCache
	crowd crowd
}

// errCrowded says that one block would hold more than it can.
var errCrowded = fault.New(fault.Unprocessable, "too many samples of one series within a short time")

const (
	optimistic = 3  // plans made on a snapshot, outside the writer
	persistent = 50 // plans in all; those after the first few are made under a lock
)

// Ingest stores a batch in one transaction, with its events, and tells what
// changed. Values that break a rule are left out and counted; values that are
// already there change nothing and are announced to nobody.
//
// Spec: Events; Versioning 4. Reference 7.4, 7.10.
func (in *Ingester) Ingest(ctx context.Context, user users.User, b wearables.Batch) (wearables.Result, error) {
	if in.ended(user) {
		return pausedResult(&b), nil
	}
	if err := in.mark(ctx, user.Team, user.ID, &b); err != nil {
		return wearables.Result{}, err
	}
	j := in.intake(user, &b)
	for attempt := range persistent {
		err := j.try(ctx, attempt < optimistic)
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

// mark looks whose devices a batch names, where anybody can tell.
func (in *Ingester) mark(ctx context.Context, team teams.ID, user users.ID, b *wearables.Batch) error {
	if in.Devices == nil {
		return nil
	}
	return in.Devices(ctx, team, user, b)
}

// errBusy is the end of a race that never was won.
var errBusy = fault.New(fault.Unavailable, "the user's data is being written by too many others; try again")

// fewSamples is how many samples are merged inside the writing transaction.
// Looking first and writing later keeps the one writer free while whole days
// are packed; for a few samples the second transaction would cost more than
// the merging.
const fewSamples = 256

func small(b *wearables.Batch) bool {
	n := 0
	for i := range b.Samples {
		n += b.Samples[i].Len()
	}
	return n <= fewSamples && len(b.Summaries) == 0 && len(b.Streams) == 0
}

// job is one call of Ingest.
type job struct {
	in           *Ingester
	whole        users.User
	team, user   uuid.UUID
	clientUserID string
	provider     string
	announces    bool // whether values are announced one by one
	snapshot     bool // the plan is made on committed data
	resources    []string
	stage        wearables.Stage
	heard        []heard // for introspection
	also         wearables.Also

	series    []*seriesPlan // by identity, so that two jobs lock in one order
	summaries []*summaryPlan
	streams   []*streamPlan
	refused   refusals
	repeated  map[string]int // samples given twice, by resource
}

// try plans and commits once. An optimistic plan keeps the one writer free
// while samples are merged and packed; a later one is made inside the
// transaction, alone with the user's data, and cannot lose again.
func (j *job) try(ctx context.Context, optimistic bool) error {
	j.snapshot = optimistic
	if !optimistic {
		return j.in.DB.Write(ctx, func(tx *store.Tx) error {
			if err := tx.Lock(ctx, "wearables:"+j.user.String()); err != nil {
				return err
			}
			if err := j.plan(ctx, tx); err != nil {
				return err
			}
			return j.commit(ctx, tx)
		})
	}
	if err := j.in.DB.Read(ctx, func(tx *store.Tx) error { return j.plan(ctx, tx) }); err != nil {
		return err
	}
	if !j.changes() {
		return nil
	}
	return j.in.DB.Write(ctx, func(tx *store.Tx) error { return j.commit(ctx, tx) })
}

func (j *job) plan(ctx context.Context, tx *store.Tx) error {
	for _, w := range j.series {
		if err := w.plan(ctx, tx, j); err != nil {
			return err
		}
	}
	for _, w := range j.summaries {
		if err := w.plan(ctx, tx, j); err != nil {
			return err
		}
	}
	for _, w := range j.streams {
		if err := w.plan(ctx, tx, j); err != nil {
			return err
		}
	}
	j.listen()
	return nil
}

// changes says whether there is anything to write. A batch that brings
// nothing new still proves that the connection lives.
func (j *job) changes() bool {
	return j.also != nil || j.in.Connect != nil && len(j.resources) > 0 || j.failed() ||
		slices.ContainsFunc(j.series, func(w *seriesPlan) bool { return len(w.blocks) > 0 }) ||
		slices.ContainsFunc(j.summaries, func(w *summaryPlan) bool { return w.verb != "" || w.measured || w.refiled }) ||
		slices.ContainsFunc(j.streams, func(w *streamPlan) bool { return w.verb != "" })
}

// commit writes the plan. It may run several times and leaves the plan as it
// is.
func (j *job) commit(ctx context.Context, tx *store.Tx) error {
	if j.also != nil {
		var b store.Batch
		if err := j.also(ctx, tx, &b); err != nil {
			return err
		}
		if err := tx.Run(ctx, &b); err != nil {
			return err
		}
	}
	if j.in.Connect != nil && len(j.resources) > 0 {
		if err := j.in.Connect(ctx, tx, j.whole, j.provider, j.resources); err != nil {
			return err
		}
	}
	all, err := j.writeSummaries(ctx, tx)
	if err != nil {
		return err
	}
	for _, w := range j.streams {
		event, err := w.write(ctx, tx, j)
		if err != nil {
			return err
		}
		all = append(all, event...)
	}
	for _, w := range j.series {
		s, err := w.write(ctx, tx, j)
		if err != nil {
			return err
		}
		all = append(all, w.events(j, &s)...)
	}
	if err := j.note(ctx, tx, all); err != nil {
		return err
	}
	if err := j.tell(ctx, tx); err != nil {
		return err
	}
	_, err = events.EmitMany(ctx, tx, all)
	return err
}

func (j *job) sortResources() {
	slices.Sort(j.resources)
	j.resources = slices.Compact(j.resources)
	slices.SortFunc(j.series, func(a, b *seriesPlan) int { return a.id.Compare(b.id) })
}
