package deletion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/aggregate/continuous"
	"hale/internal/wearables/ingest"
	"hale/internal/wearables/ledger"
	"hale/internal/wearables/providers"
	"hale/internal/wearables/resources"
	"hale/internal/wearables/storage"
)

// ID identifies a deletion, and its job.
type ID = ids.ID[Deletion]

// Status is the state of a deletion.
type Status string

// A large deletion is running until its job ends.
const (
	Running   Status = "running"
	Succeeded Status = "succeeded"
	Failed    Status = "failed"
)

// Deletion is a deletion of data of one user.
type Deletion struct {
	ID         ID // zero of a dry run
	Team       teams.ID
	User       users.ID
	Filter     Filter
	DryRun     bool
	Status     Status
	Report     Report
	CreatedAt  time.Time
	FinishedAt *time.Time

	at position
}

// Report counts the deleted data by resource. The names of resources are those in event
// types.
type Report struct {
	Resources map[string]*Count `json:"resources"`
}

// Count counts the deleted data of one resource.
type Count struct {
	Deleted  int64 `json:"deleted"`
	Restored int64 `json:"restored,omitempty"` // by undoing an import
	Moved    int64 `json:"moved,omitempty"`    // by a shift; samples also count as deleted
	Replaced int64 `json:"replaced,omitempty"` // by moved samples; they do not count as deleted
	// Oldest and Newest bound the starts of the data, UTC microseconds; 0 for a profile.
	Oldest int64 `json:"oldest,omitempty"`
	Newest int64 `json:"newest,omitempty"`
	// Providers contains the range of each provider.
	Providers map[string]*Bounds `json:"providers"`
	// IDs of summaries, at most maxIDs.
	IDs []uuid.UUID `json:"ids,omitempty"`
}

// Bounds is a range of time in UTC microseconds, inclusive.
type Bounds struct {
	First int64 `json:"first"`
	Last  int64 `json:"last"`
}

// maxIDs limits the ids in the report and in an event.
const maxIDs = 1000

// Total returns how many samples, summaries and streams were deleted.
func (r *Report) Total() (n int64) {
	for _, c := range r.Resources {
		n += c.Deleted
	}
	return n
}

func (r *Report) count(resource, provider string, n, first, last int64) *Count {
	name := wearables.EventName(resource)
	c := r.Resources[name]
	if c == nil {
		c = &Count{Oldest: first, Newest: last, Providers: map[string]*Bounds{}}
		r.Resources[name] = c
	}
	c.Deleted += n
	c.Oldest, c.Newest = min(c.Oldest, first), max(c.Newest, last)
	if b := c.Providers[provider]; b != nil {
		b.First, b.Last = min(b.First, first), max(b.Last, last)
	} else {
		c.Providers[provider] = &Bounds{first, last}
	}
	return c
}

// Service deletes data.
type Service struct {
	DB *store.DB
	// Ingester stores the summaries that are derived again.
	Ingester *ingest.Ingester
	// Ledger contains the files of imports; nil means that there are none.
	Ledger *ledger.Ledger
}

type args struct {
	User users.ID `json:"user"`
}

// Job returns the handler that continues large deletions.
func (s *Service) Job() jobs.Handler { return s.kind() }

func (s *Service) kind() jobs.Kind[args] {
	return jobs.Define("wearables.delete", s.run).With(jobs.Limits{Attempts: 1000, Timeout: 12 * time.Hour})
}

// maxSteps limits the steps of a deletion in the transaction of its request.
const maxSteps = 2

// Delete deletes what a filter selects, in the transaction of the caller. A large deletion
// continues in a job: its status is Running. The job also derives summaries again. If a push
// or a job writes the same data meanwhile, the transaction runs again.
func (s *Service) Delete(ctx context.Context, tx *store.Tx, user users.User, f Filter) (Deletion, error) {
	d := Deletion{Team: user.Team, User: user.ID, Filter: f, Status: Running, CreatedAt: tx.Now()}
	d.Report.Resources = map[string]*Count{}
	d.at.Summaries = f.Samples
	if err := d.prepare(ctx, tx); err != nil {
		return d, err
	}
	job, err := s.kind().Enqueue(ctx, tx, args{user.ID}, jobs.Options{Team: user.Team.UUID()})
	if err != nil {
		return d, err
	}
	d.ID = ids.FromUUID[Deletion](job.UUID())
	if err := d.report(ctx, tx); err != nil {
		return d, err
	}
	for range maxSteps {
		more, err := s.step(ctx, tx, user, &d)
		if errors.Is(err, storage.ErrStale) {
			return d, errors.Join(fault.New(fault.Unavailable, "the user's data is being written; try again"), store.ErrLostRace)
		}
		if err != nil {
			return d, err
		}
		if !more {
			break
		}
	}
	return d, d.insert(ctx, tx)
}

// Preview returns the counts of a Delete without deleting anything.
func (s *Service) Preview(ctx context.Context, tx *store.Tx, user users.User, f Filter) (Deletion, error) {
	d := Deletion{Team: user.Team, User: user.ID, Filter: f, DryRun: true, Status: Succeeded, CreatedAt: tx.Now()}
	d.Report.Resources = map[string]*Count{}
	if err := d.prepare(ctx, tx); err != nil {
		return d, err
	}
	for more := true; more; {
		var err error
		if more, err = s.step(ctx, tx, user, &d); err != nil {
			return d, err
		}
	}
	return d, nil
}

// run continues a deletion to its end.
func (s *Service) run(ctx context.Context, run *jobs.Run, a args) error {
	team, id := ids.FromUUID[teams.Team](run.Team), ids.FromUUID[Deletion](run.ID.UUID())
	var d Deletion
	var user users.User
	for more := true; more; {
		err := s.DB.Write(ctx, func(tx *store.Tx) (err error) {
			if d, err = Get(ctx, tx, team, a.User, id); err != nil {
				return jobs.Permanent(err)
			}
			if user, err = users.Get(ctx, tx, team, a.User); err != nil {
				return err
			}
			if more = d.Status == Running; !more {
				return nil
			}
			if more, err = s.step(ctx, tx, user, &d); err != nil {
				return err
			}
			return d.update(ctx, tx)
		})
		switch {
		case fault.Is(err, fault.NotFound): // the user was deleted, and may return
			return jobs.RetryLater(time.Minute)
		case errors.Is(err, storage.ErrStale):
			more = true
		case err != nil:
			return err
		}
	}
	return errors.Join(s.removeFile(ctx, &d), s.follow(ctx, user, &d))
}

// finish emits the events and marks continuous queries stale, in the transaction of the
// last step.
func (s *Service) finish(ctx context.Context, tx *store.Tx, user users.User, d *Deletion) error {
	now := tx.Now()
	d.Status, d.FinishedAt = Succeeded, &now
	if d.DryRun {
		return nil
	}
	var changes []wearables.TouchedData
	var all []events.New
	for _, name := range slices.Sorted(maps.Keys(d.Report.Resources)) {
		c := d.Report.Resources[name]
		changes = append(changes, wearables.TouchedData{Resource: name, Oldest: c.Oldest, Newest: c.Newest})
		for provider := range c.Providers {
			if err := storage.RefreshStatistics(ctx, tx, user.Team.UUID(), user.ID.UUID(), provider, name); err != nil {
				return err
			}
		}
		if c.Deleted == 0 { // sessions that moved have events of their own
			continue
		}
		announced, err := d.withHidden(ctx, tx, name, c)
		if err != nil {
			return err
		}
		e := events.New{
			Team: user.Team.UUID(), User: user.ID.UUID(), ClientUserID: user.ClientUserID,
			Type: resources.DailyEvent(name, resources.Deleted), Data: d.payload(tx, name, announced),
		}
		for provider := range announced.Providers {
			if err := countSent(ctx, tx, provider, &e); err != nil {
				return err
			}
		}
		all = append(all, e)
	}
	if err := d.unlink(ctx, tx); err != nil {
		return err
	}
	if err := continuous.MarkStale(ctx, tx, user, changes); err != nil {
		return err
	}
	_, err := events.EmitMany(ctx, tx, all)
	return err
}

// withHidden widens the range of deleted samples by those of an export that they have
// hidden, and that reads show now.
func (d *Deletion) withHidden(ctx context.Context, tx *store.Tx, resource string, c *Count) (*Count, error) {
	series, isSeries := wearables.ResourceNamed(resource)
	exported := func(provider string) bool { return (&wearables.Source{Provider: provider}).MayBeExported() }
	if !isSeries || !slices.ContainsFunc(slices.Collect(maps.Keys(c.Providers)), exported) {
		return c, nil
	}
	exports, err := storage.ResourcesOfExports(ctx, tx, d.Team.UUID(), d.User.UUID())
	if err != nil || !slices.Contains(exports, series.Name) {
		return c, err
	}
	wide := *c
	wide.Oldest, wide.Newest = storage.AroundHidden(c.Oldest, c.Newest)
	return &wide, nil
}

// payload returns the payload of the event about one resource.
func (d *Deletion) payload(owner store.Owner, resource string, c *Count) []byte {
	data := storage.DeletedData{
		Deletion: d.ID.UUID(), User: d.User.UUID(), Resource: resource, Deleted: c.Deleted, Restored: c.Restored,
		Oldest: c.Oldest, Newest: c.Newest, IDs: c.IDs, Providers: slices.Sorted(maps.Keys(c.Providers)),
	}
	return data.AppendTo(nil, providers.LogosOf(owner))
}

// insert stores a deletion.
func (d *Deletion) insert(ctx context.Context, tx *store.Tx) error {
	plain, err := json.Marshal(d.Filter)
	if err != nil {
		return err
	}
	sealed, err := tx.Seal(ctx, d.Team.UUID(), d.User.UUID(), placeOfFilter(d.ID), plain)
	if err != nil {
		return err
	}
	report, err := json.Marshal(d.Report)
	if err != nil {
		return err
	}
	at, err := json.Marshal(d.at)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO data_deletions (team_id, user_id, id, filter, status, report, position, created_at, finished_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		d.Team, d.User, d.ID, sealed, string(d.Status), string(report), string(at), store.Micros(d.CreatedAt), store.MicrosOrNil(d.FinishedAt))
	if err != nil {
		return fmt.Errorf("deletion: storing: %w", err)
	}
	return nil
}

func (d *Deletion) update(ctx context.Context, tx *store.Tx) error {
	report, err := json.Marshal(d.Report)
	if err != nil {
		return err
	}
	at, err := json.Marshal(d.at)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE data_deletions SET status = $4, report = $5, position = $6, finished_at = $7 WHERE team_id = $1 AND user_id = $2 AND id = $3`,
		d.Team, d.User, d.ID, string(d.Status), string(report), string(at), store.MicrosOrNil(d.FinishedAt))
	if err != nil {
		return fmt.Errorf("deletion: storing: %w", err)
	}
	return nil
}

func placeOfFilter(id ID) string { return "data_deletions.filter:" + id.String() }

// Get returns a deletion of the user; an unknown one is NotFound.
func Get(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, id ID) (d Deletion, err error) {
	d.ID, d.Team, d.User = id, team, user
	var sealed []byte
	var report, at string
	err = tx.QueryRow(ctx, `SELECT filter, status, report, position, created_at, finished_at FROM data_deletions
		WHERE team_id = $1 AND user_id = $2 AND id = $3`, team, user, id).Scan(&sealed, &d.Status, &report, &at,
		store.ScanTime(&d.CreatedAt), store.ScanNullTime(&d.FinishedAt))
	if errors.Is(err, store.ErrNoRows) {
		return d, fault.New(fault.NotFound, "Deletion not found")
	}
	if err != nil {
		return d, fmt.Errorf("deletion: reading: %w", err)
	}
	plain, err := tx.Unseal(ctx, team.UUID(), user.UUID(), placeOfFilter(id), sealed)
	if err != nil {
		return d, err
	}
	return d, errors.Join(json.Unmarshal(plain, &d.Filter), json.Unmarshal([]byte(report), &d.Report), json.Unmarshal([]byte(at), &d.at))
}

// UserRecords returns the rows of users in this package.
func UserRecords() []users.Records { return users.RowsOf("data_deletions") }
