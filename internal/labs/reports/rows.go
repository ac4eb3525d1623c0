package reports

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/ids"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// UserRecords returns the rows about users in this package. A report of a deleted user is
// not read until the user is restored.
func UserRecords() []users.Records {
	all := users.RowsOf("parsed_report_files", "parsed_report_revisions", "parsed_reports")
	all[2].OnDelete, all[2].OnReturn = pauseReports, resumeReports
	return all
}

func pauseReports(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) error {
	return moveReports(ctx, tx, team, user, slotPaused)
}

// resumeReports queues the reports of a restored user.
func resumeReports(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) error {
	if err := moveReports(ctx, tx, team, user, slotWaiting); err != nil {
		return err
	}
	_, err := queueKind.Enqueue(ctx, tx, queueArgs{}, jobs.Options{Team: team.UUID(), Key: slotKey(0)})
	return err
}

func moveReports(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, slot int) error {
	_, err := tx.Exec(ctx, `UPDATE parsed_reports SET slot = $3 WHERE team_id = $1 AND user_id = $2 AND status = 'started'`, team, user, slot)
	return err
}

// The places of sealed columns.
const (
	detailsPlace = "parsed_reports.body:"
	filePlace    = "parsed_report_files.body:"
	versionPlace = "parsed_report_revisions.body:"
)

func placeOfFile(id ID, n int) string { return fmt.Sprintf("%s%s/%d", filePlace, id, n) }
func placeOfRevision(id ID, number int) string {
	return fmt.Sprintf("%s%s/%d", versionPlace, id, number)
}

func (j *Job) seal(ctx context.Context, tx *store.Tx, place string, value any) ([]byte, error) {
	doc, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("reports: marshalling: %w", err)
	}
	return tx.Seal(ctx, j.Team.UUID(), j.User.UUID(), place, doc)
}

func (j *Job) unseal(ctx context.Context, tx *store.Tx, place string, sealed []byte, into any) error {
	doc, err := tx.Unseal(ctx, j.Team.UUID(), j.User.UUID(), place, sealed)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(doc, into); err != nil {
		return fmt.Errorf("reports: the stored data of %s: %w", j.ID, err)
	}
	return nil
}

const jobColumns = `team_id, id, user_id, status, review_requested, reviewed, failure, digest, files, size, pages, slot, starts, deaths, revision,
	created_at, updated_at, finished_at, body`

func insertJob(ctx context.Context, tx *store.Tx, j *Job) error {
	body, err := j.seal(ctx, tx, detailsPlace+j.ID.String(), j.details)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO parsed_reports (`+jobColumns+`)
		VALUES ($1, $2, $3, $4, $5, FALSE, '', $6, $7, $8, 0, $9, 0, 0, 0, $10, $10, NULL, $11)`,
		j.Team, j.ID, j.User, string(j.Status), j.Requested, j.digest, j.Files, j.Size, j.slot, store.Micros(j.CreatedAt), body)
	if err != nil {
		return fmt.Errorf("reports: storing a job: %w", err)
	}
	return nil
}

// saveJob writes the changes of a job that has the status from. If it has another
// status, another transaction was faster.
func saveJob(ctx context.Context, tx *store.Tx, j *Job, from Status) error {
	body, err := j.seal(ctx, tx, detailsPlace+j.ID.String(), j.details)
	if err != nil {
		return err
	}
	j.UpdatedAt = tx.Now()
	n, err := tx.Exec(ctx, `UPDATE parsed_reports SET status = $4, review_requested = $5, reviewed = $6, failure = $7, pages = $8, slot = $9,
			deaths = $10, revision = $11, updated_at = $12, finished_at = $13, body = $14
		WHERE team_id = $1 AND id = $2 AND status = $3`,
		j.Team, j.ID, string(from), string(j.Status), j.Requested, j.Reviewed, string(j.Failure), j.Pages, j.slot,
		j.exits, j.Revision, store.Micros(j.UpdatedAt), store.MicrosOrNil(j.FinishedAt), body)
	switch {
	case err != nil:
		return fmt.Errorf("reports: changing %s: %w", j.ID, err)
	case n == 0:
		return store.ErrLostRace
	}
	return nil
}

// sealedJob is a job as stored.
type sealedJob struct {
	Job
	body []byte
}

func scanJob(from interface{ Scan(dest ...any) error }) (s sealedJob, err error) {
	j := &s.Job
	err = from.Scan(&j.Team, &j.ID, &j.User, &j.Status, &j.Requested, &j.Reviewed, &j.Failure, &j.digest, &j.Files, &j.Size, &j.Pages, &j.slot,
		&j.starts, &j.exits, &j.Revision, store.ScanTime(&j.CreatedAt), store.ScanTime(&j.UpdatedAt), store.ScanNullTime(&j.FinishedAt), &s.body)
	return s, err
}

// open unseals the details. No rows may be open.
func (s *sealedJob) open(ctx context.Context, tx *store.Tx) (Job, error) {
	err := s.unseal(ctx, tx, detailsPlace+s.ID.String(), s.body, &s.details)
	return s.Job, err
}

func readJob(ctx context.Context, tx *store.Tx, team teams.ID, id ID) (Job, error) {
	return oneJob(ctx, tx, `SELECT `+jobColumns+` FROM parsed_reports WHERE team_id = $1 AND id = $2`, team, id)
}

// oneJob returns the job of a query, or a NotFound fault.
func oneJob(ctx context.Context, tx *store.Tx, query string, args ...any) (Job, error) {
	s, err := scanJob(tx.QueryRow(ctx, query, args...))
	if errors.Is(err, store.ErrNoRows) {
		return Job{}, notFound()
	}
	if err != nil {
		return Job{}, fmt.Errorf("reports: reading a job: %w", err)
	}
	return s.open(ctx, tx)
}

// sameFile returns the newest job of the same files of a user since a time.
func sameFile(ctx context.Context, tx *store.Tx, user users.User, digest []byte, since time.Time) (Job, error) {
	return oneJob(ctx, tx, `SELECT `+jobColumns+` FROM parsed_reports
		WHERE team_id = $1 AND user_id = $2 AND digest = $3 AND created_at > $4 ORDER BY created_at DESC LIMIT 1`,
		user.Team, user.ID, digest, store.Micros(since))
}

// ofLiveUser leaves out the jobs of deleted users, as reading one does.
const ofLiveUser = ` AND EXISTS (SELECT 1 FROM users u WHERE u.team_id = parsed_reports.team_id AND u.user_id = parsed_reports.user_id AND u.deleted_at IS NULL)`

func listJobs(ctx context.Context, tx *store.Tx, team teams.ID, f Filter) ([]Job, error) {
	statuses := slices.Clone(f.Statuses)
	if f.Compat && slices.Contains(statuses, Started) {
		statuses = append(statuses, PendingReview)
	}
	args := []any{team, f.Before, f.Limit}
	query := `SELECT ` + jobColumns + ` FROM parsed_reports WHERE team_id = $1 AND id < $2` + store.AmongValues(&args, "user_id", f.Users)
	if slices.Equal(statuses, []Status{PendingReview}) { // in the words of the index parsed_reports_in_review
		query += ` AND status = 'pending_review'`
	} else {
		query += store.AmongValues(&args, "status", statuses)
	}
	return someJobs(ctx, tx, query+ofLiveUser+` ORDER BY id DESC LIMIT $3`, args...)
}

func someJobs(ctx context.Context, tx *store.Tx, query string, args ...any) ([]Job, error) {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var sealed []sealedJob
	for rows.Next() {
		s, err := scanJob(rows)
		if err != nil {
			return nil, err
		}
		sealed = append(sealed, s)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	all := make([]Job, len(sealed))
	for i := range sealed {
		if all[i], err = sealed[i].open(ctx, tx); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// insertFiles stores the uploaded files.
func insertFiles(ctx context.Context, tx *store.Tx, j *Job, files []File) error {
	for n, f := range files {
		body, err := tx.Seal(ctx, j.Team.UUID(), j.User.UUID(), placeOfFile(j.ID, n), f.Data)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO parsed_report_files (team_id, report_id, n, user_id, media, body) VALUES ($1, $2, $3, $4, $5, $6)`,
			j.Team, j.ID, n, j.User, f.Type, body)
		if err != nil {
			return fmt.Errorf("reports: storing a file: %w", err)
		}
	}
	return nil
}

// readFiles returns the uploaded files in order.
func readFiles(ctx context.Context, tx *store.Tx, j *Job) ([]File, error) {
	rows, err := tx.Query(ctx, `SELECT media, body FROM parsed_report_files WHERE team_id = $1 AND report_id = $2 ORDER BY n`, j.Team, j.ID)
	if err != nil {
		return nil, fmt.Errorf("reports: reading the files of %s: %w", j.ID, err)
	}
	defer rows.Close()
	var all []File
	for rows.Next() {
		var f File
		if err := rows.Scan(&f.Type, &f.Data); err != nil {
			return nil, fmt.Errorf("reports: reading the files of %s: %w", j.ID, err)
		}
		all = append(all, f)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, fmt.Errorf("reports: reading the files of %s: %w", j.ID, err)
	}
	for n := range all {
		if all[n].Data, err = tx.Unseal(ctx, j.Team.UUID(), j.User.UUID(), placeOfFile(j.ID, n), all[n].Data); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// addRevision stores the next version of a job's results and sets its number in the job.
func addRevision(ctx context.Context, tx *store.Tx, j *Job, v Version) error {
	number := j.Revision + 1
	body, err := j.seal(ctx, tx, placeOfRevision(j.ID, number), v)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO parsed_report_revisions (team_id, report_id, revision, user_id, created_at, body) VALUES ($1, $2, $3, $4, $5, $6)`,
		j.Team, j.ID, number, j.User, store.Micros(tx.Now()), body)
	if store.IsUnique(err) {
		return store.ErrLostRace
	}
	if err != nil {
		return fmt.Errorf("reports: storing results of %s: %w", j.ID, err)
	}
	j.Revision = number
	return nil
}

func readRevision(ctx context.Context, tx *store.Tx, j *Job, number int) (Revision, error) {
	r := Revision{Number: number}
	var body []byte
	err := tx.QueryRow(ctx, `SELECT created_at, body FROM parsed_report_revisions WHERE team_id = $1 AND report_id = $2 AND revision = $3`,
		j.Team, j.ID, number).Scan(store.ScanTime(&r.CreatedAt), &body)
	if err != nil {
		return r, fmt.Errorf("reports: reading results of %s: %w", j.ID, err)
	}
	return r, j.unseal(ctx, tx, placeOfRevision(j.ID, number), body, &r.Version)
}

// The values of the column slot for a report that no slot reads.
const (
	slotWaiting = -1
	slotPaused  = -2 // its user is deleted
)

// takeJob gives the next report to a slot of the team's queue. It is the one that the
// slot has already, because a process died, or the next waiting one. The error is
// NotFound if there is none. A slot runs on one node at a time, so its reports need no
// claim. Without fresh, the slot claims no waiting report.
func takeJob(ctx context.Context, tx *store.Tx, team teams.ID, slot int, fresh bool) (Job, error) {
	j, err := scanID(tx.QueryRow(ctx, `SELECT id FROM parsed_reports WHERE team_id = $1 AND slot = $2 AND status = 'started' LIMIT 1`, team, slot))
	if err == nil && j.IsZero() && fresh {
		j, err = scanID(tx.QueryRow(ctx, `SELECT id FROM parsed_reports
			WHERE team_id = $1 AND slot = $2 AND status = 'started' ORDER BY starts, id LIMIT 1`+tx.ForUpdateSkipLocked(), team, slotWaiting))
	}
	if err != nil {
		return Job{}, fmt.Errorf("reports: taking a job: %w", err)
	}
	if j.IsZero() {
		return Job{}, notFound()
	}
	_, err = tx.Exec(ctx, `UPDATE parsed_reports SET slot = $3, starts = starts + 1 WHERE team_id = $1 AND id = $2`, team, j, slot)
	if err != nil {
		return Job{}, fmt.Errorf("reports: taking a job: %w", err)
	}
	return readJob(ctx, tx, team, j)
}

// scanID returns the id of a row, or a zero id for no row.
func scanID(row store.Row) (id ID, err error) {
	if err = row.Scan(&id); errors.Is(err, store.ErrNoRows) {
		err = nil
	}
	return id, err
}

// returnJob returns an unfinished report to the queue. If counted is false, the attempt
// does not count against the limit of starts.
func returnJob(ctx context.Context, tx *store.Tx, j *Job, counted bool) error {
	back := 1
	if counted {
		back = 0
	}
	_, err := tx.Exec(ctx, `UPDATE parsed_reports SET slot = $3, starts = starts - $4, deaths = $5
		WHERE team_id = $1 AND id = $2 AND status = 'started' AND slot = $6`, j.Team, j.ID, slotWaiting, back, j.exits, j.slot)
	if err != nil {
		return fmt.Errorf("reports: returning a job: %w", err)
	}
	return nil
}

// hasWaiting reports whether the team has a waiting report.
func hasWaiting(ctx context.Context, tx *store.Tx, team teams.ID) (bool, error) {
	id, err := scanID(tx.QueryRow(ctx, `SELECT id FROM parsed_reports WHERE team_id = $1 AND slot = $2 AND status = 'started' LIMIT 1`, team, slotWaiting))
	return !id.IsZero(), err
}

// othersWait reports whether another team has a report to be read. The context must see
// all teams.
func othersWait(ctx context.Context, tx *store.Tx, team teams.ID) (bool, error) {
	for _, query := range []string{
		`SELECT id FROM parsed_reports WHERE team_id < $1 AND status = 'started' ORDER BY team_id LIMIT 1`,
		`SELECT id FROM parsed_reports WHERE team_id > $1 AND status = 'started' ORDER BY team_id LIMIT 1`,
	} {
		id, err := scanID(tx.QueryRow(ctx, query, team))
		if err != nil || !id.IsZero() {
			return !id.IsZero(), err
		}
	}
	return false, nil
}

// Backlog counts the reports that are not read yet.
type Backlog struct {
	Jobs   int
	Oldest time.Time // creation of the oldest; zero for none
}

// readBacklog counts the waiting reports of all teams.
func readBacklog(ctx context.Context, tx *store.Tx) (b Backlog, err error) {
	var oldest *time.Time
	err = tx.QueryRow(ctx, `SELECT COUNT(*), MIN(created_at) FROM parsed_reports WHERE status = 'started'`).Scan(&b.Jobs, store.ScanNullTime(&oldest))
	if oldest != nil {
		b.Oldest = *oldest
	}
	return b, err
}

// completedReports returns the user's reports whose results count, oldest first.
func completedReports(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) ([]Job, error) {
	all, err := someJobs(ctx, tx, `SELECT `+jobColumns+` FROM parsed_reports WHERE team_id = $1 AND user_id = $2 AND status = 'completed' ORDER BY id`, team, user)
	if err != nil {
		return nil, fmt.Errorf("reports: reading the reports of a user: %w", err)
	}
	return all, nil
}

// newID returns the id of a new job.
func newID(tx *store.Tx) ID { return ids.FromUUID[Job](tx.NewUUID()) }
