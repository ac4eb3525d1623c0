package storage

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
	"hale/internal/wearables"
)

// Statistics describes the data of one resource of a user from one provider.
//
// Reference 7.10, SingleResourceStatistics.
type Statistics struct {
	AttemptedAt time.Time // time of the last batch with it
	Stored      bool      // some of that batch is valid
	Sent        int64     // data events about it, without the one about its history
	Oldest      *time.Time
	Newest      *time.Time

	historySince, historyUntil *time.Time
}

// StatisticsByUser is by user, provider, and resource by its name in events.
type StatisticsByUser map[uuid.UUID]map[string]map[string]Statistics

// UserRange selects users by two ids, inclusive, and their data by a provider; an
// empty provider means all.
type UserRange struct {
	First, Last uuid.UUID
	Provider    string
}

// StatisticsOf reads the statistics of some users.
func StatisticsOf(ctx context.Context, tx *store.Tx, team uuid.UUID, in UserRange) (StatisticsByUser, error) {
	rows, err := tx.Query(ctx, `SELECT user_id, provider, resource, attempted_at, stored, sent, oldest, newest, history_since, history_until
		FROM resource_statistics
		WHERE team_id = $1 AND user_id BETWEEN $2 AND $3 AND ($4 = '' OR provider = $4)`, team, in.First, in.Last, in.Provider)
	if err != nil {
		return nil, fmt.Errorf("storage: reading statistics: %w", err)
	}
	defer rows.Close()
	found := StatisticsByUser{}
	for rows.Next() {
		var user uuid.UUID
		var provider, resource string
		var s Statistics
		if err := rows.Scan(&user, &provider, &resource, store.ScanTime(&s.AttemptedAt), &s.Stored, &s.Sent,
			store.ScanNullTime(&s.Oldest), store.ScanNullTime(&s.Newest),
			store.ScanNullTime(&s.historySince), store.ScanNullTime(&s.historyUntil)); err != nil {
			return nil, fmt.Errorf("storage: reading statistics: %w", err)
		}
		putValue(found, user, provider, resource, s)
	}
	return found, rows.Err()
}

// CountSent counts a data event about a resource, by its name in events.
func CountSent(ctx context.Context, tx *store.Tx, team, user uuid.UUID, provider, resource string) error {
	_, err := tx.Exec(ctx, `UPDATE resource_statistics SET sent = sent + 1 WHERE team_id = $1 AND user_id = $2 AND provider = $3 AND resource = $4`,
		team, user, provider, resource)
	if err != nil {
		return fmt.Errorf("storage: counting an event: %w", err)
	}
	return nil
}

// NoteStored extends the statistics of a resource by data that Hale has computed.
func NoteStored(ctx context.Context, tx *store.Tx, team, user uuid.UUID, provider, resource string, oldest, newest int64) error {
	_, err := tx.Exec(ctx, `INSERT INTO resource_statistics AS s (team_id, user_id, provider, resource, attempted_at, stored, sent, oldest, newest)
		VALUES ($1, $2, $3, $4, $5, TRUE, 0, $6, $7)
		ON CONFLICT (team_id, user_id, provider, resource) DO UPDATE SET
			oldest = COALESCE(CASE WHEN excluded.oldest < s.oldest THEN excluded.oldest ELSE s.oldest END, excluded.oldest),
			newest = COALESCE(CASE WHEN excluded.newest > s.newest THEN excluded.newest ELSE s.newest END, excluded.newest)`,
		team, user, provider, resource, store.Micros(tx.Now()), oldest, newest)
	if err != nil {
		return fmt.Errorf("storage: noting data: %w", err)
	}
	return nil
}

// Pull describes how the history of one resource is fetched, in the current run of a
// connection. Its range is nil until it is known.
//
// Reference 7.10, SingleHistoricalPullStatistics.
type Pull struct {
	Status     PullStatus
	RangeStart *time.Time
	RangeEnd   *time.Time
	Scheduled  time.Time  // zero if it was not scheduled: see Started
	Started    *time.Time // nil while it is only scheduled
	Ended      *time.Time
	Days       int64  // days of the range with data
	Attempts   int    // started
	Problem    string // why the last attempt failed; empty if it did not
	Trace      string // an id in another table, such as that of an import
}

// PullStatus is the progress of a pull.
type PullStatus string

// A pull is in progress from its first batch to the event about its end. An import
// is scheduled until it starts, and retrying after an attempt failed.
const (
	PullScheduled  PullStatus = "scheduled"
	PullInProgress PullStatus = "in_progress"
	PullRetrying   PullStatus = "retrying"
	PullSuccess    PullStatus = "success"
	PullFailure    PullStatus = "failure"
)

// PullStatuses lists the statuses.
var PullStatuses = []PullStatus{PullSuccess, PullFailure, PullInProgress, PullScheduled, PullRetrying}

// Pulls is by user, provider, and resource by its name in events.
type Pulls map[uuid.UUID]map[string]map[string]Pull

// RunStart returns when the current run of a user's connection to a provider began.
// Earlier pulls do not count.
type RunStart func(user uuid.UUID, provider string) time.Time

// PullsOf reads the pulls of the users in known.
func PullsOf(ctx context.Context, tx *store.Tx, team uuid.UUID, in UserRange, known StatisticsByUser, runStart RunStart) (Pulls, error) {
	found := Pulls{}
	for user, providers := range known {
		for provider, resources := range providers {
			for resource, s := range resources {
				if began := runStart(user, provider); s.historyUntil != nil && !s.historyUntil.Before(began) {
					since := *s.historySince
					if since.Before(began) {
						since = began
					}
					putValue(found, user, provider, resource, Pull{Status: PullInProgress, Started: &since, Attempts: 1})
				}
			}
		}
	}
	if err := addAnnounced(ctx, tx, team, in, runStart, found); err != nil {
		return nil, err
	}
	return found, found.count(ctx, tx, team)
}

// notCounted marks a history that has grown since its days were counted.
const notCounted = -1

// count counts the days that are not counted.
func (all Pulls) count(ctx context.Context, tx *store.Tx, team uuid.UUID) (err error) {
	for user, providers := range all {
		for provider, resources := range providers {
			for resource, p := range resources {
				if p.Days != notCounted {
					continue
				}
				if p.Days, err = DaysWithData(ctx, tx, team, user, provider, resource, wearables.Range{Start: *p.RangeStart, End: *p.RangeEnd}); err != nil {
					return err
				}
				resources[resource] = p
			}
		}
	}
	return nil
}

// addAnnounced adds the pulls that have ended.
func addAnnounced(ctx context.Context, tx *store.Tx, team uuid.UUID, in UserRange, runStart RunStart, found Pulls) error {
	rows, err := tx.Query(ctx, `SELECT user_id, provider, resource, start_at, end_at, announced_at, COALESCE(days, $5) FROM history_announced
		WHERE team_id = $1 AND user_id BETWEEN $2 AND $3 AND ($4 = '' OR provider = $4) ORDER BY announced_at`,
		team, in.First, in.Last, in.Provider, notCounted)
	if err != nil {
		return fmt.Errorf("storage: reading histories: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var user uuid.UUID
		var provider, resource string
		var start, end, announced time.Time
		p := Pull{Status: PullSuccess, RangeStart: &start, RangeEnd: &end, Ended: &announced, Attempts: 1}
		if err := rows.Scan(&user, &provider, &resource, store.ScanTime(&start), store.ScanTime(&end),
			store.ScanTime(&announced), &p.Days); err != nil {
			return fmt.Errorf("storage: reading histories: %w", err)
		}
		if announced.Before(runStart(user, provider)) {
			continue
		}
		p.Started = &announced // a resource without data
		if began, ok := found[user][provider][resource]; ok && began.Started.Before(announced) {
			p.Started = began.Started
		}
		putValue(found, user, provider, resource, p)
	}
	return rows.Err()
}

func putValue[T any](found map[uuid.UUID]map[string]map[string]T, user uuid.UUID, provider, resource string, v T) {
	if found[user] == nil {
		found[user] = map[string]map[string]T{}
	}
	if found[user][provider] == nil {
		found[user][provider] = map[string]T{}
	}
	found[user][provider][resource] = v
}

// FirstStoredBetween names the resources whose first data of a provider was stored
// between two moments.
func FirstStoredBetween(ctx context.Context, tx *store.Tx, team, user uuid.UUID, provider string, began, end time.Time) (all []string, err error) {
	rows, err := tx.Query(ctx, `SELECT resource FROM series WHERE team_id = $1 AND user_id = $2 AND provider = $3 AND created_at >= $4 AND created_at < $5
		UNION SELECT resource FROM summaries WHERE team_id = $1 AND user_id = $2 AND provider = $3 AND created_at >= $4 AND created_at < $5`,
		team, user, provider, store.Micros(began), store.Micros(end))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		if all = append(all, name); name == "workouts" {
			all = append(all, wearables.WorkoutStream)
		}
	}
	return all, rows.Err()
}

// DaysWithData counts the days of a range with data of a provider's resource:
// calendar dates of summaries, UTC days of samples.
//
// Reference 7.10, days_with_data.
func DaysWithData(ctx context.Context, tx *store.Tx, team, user uuid.UUID, provider, resource string, r wearables.Range) (n int64, err error) {
	from, to := r.Start.UTC().Format("2006-01-02"), r.End.UTC().Format("2006-01-02")
	if resource == wearables.WorkoutStream {
		err = tx.QueryRow(ctx, `SELECT COUNT(DISTINCT s.calendar_date) FROM summaries s
			WHERE s.team_id = $1 AND s.user_id = $2 AND s.resource = 'workouts' AND s.provider = $3 AND s.calendar_date BETWEEN $4 AND $5
				AND EXISTS (SELECT 1 FROM workout_streams w WHERE w.user_id = s.user_id AND w.workout_id = s.id)`,
			team, user, provider, from, to).Scan(&n)
		return n, err
	}
	if _, ok := wearables.DocumentNamed(resource); ok {
		err = tx.QueryRow(ctx, `SELECT COUNT(DISTINCT calendar_date) FROM summaries
			WHERE team_id = $1 AND user_id = $2 AND resource = $3 AND provider = $4 AND calendar_date BETWEEN $5 AND $6`,
			team, user, resource, provider, from, to).Scan(&n)
		return n, err
	}
	all, err := SeriesOf(ctx, tx, team, user, resource)
	if err != nil {
		return 0, err
	}
	days := map[int64]bool{}
	for _, s := range all {
		if s.Source.Provider != provider {
			continue
		}
		if err := s.addDays(ctx, tx, r, days); err != nil {
			return 0, err
		}
	}
	return int64(len(days)), nil
}

// addDays adds the UTC days of a range with samples of the series. A block of a day
// or less has some; a longer one is opened.
func (s *Series) addDays(ctx context.Context, tx *store.Tx, r wearables.Range, days map[int64]bool) error {
	from, to := r.Start.UnixMicro(), r.End.UnixMicro()
	if s.Width > 24*time.Hour {
		var found wearables.Samples
		if err := ReadSeries(ctx, tx, *s, from, to+1, &found); err != nil {
			return err
		}
		for _, at := range found.Time {
			days[floorDiv(at, dayUS)] = true
		}
		return nil
	}
	// The series belongs to the team.
	rows, err := tx.Query(ctx, `SELECT bucket FROM sample_blocks
		WHERE user_id = $1 AND series_id = $2 AND bucket BETWEEN $3 AND $4 AND n > 0`,
		s.User, s.ID, s.Bucket(from), to)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var bucket int64
		if err := rows.Scan(&bucket); err != nil {
			return err
		}
		days[floorDiv(bucket, dayUS)] = true
	}
	return rows.Err()
}
