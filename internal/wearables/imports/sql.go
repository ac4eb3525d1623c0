package imports

import (
	"context"
	"encoding/json"
	"errors"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
)

const columns = `team_id, user_id, id, kind, size, sha256, history_only,
	CASE WHEN undone_at IS NULL THEN status ELSE 'undone' END, stage, spool, step, done, total, records, skipped, report, error, attempts, created_at, started_at, finished_at, zone`

func insert(ctx context.Context, tx *store.Tx, i *Import) error {
	_, err := tx.Exec(ctx, `INSERT INTO imports (team_id, user_id, id, kind, size, sha256, history_only, status, stage, spool,
			step, done, total, records, skipped, error, attempts, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, '', $9, '', 0, 0, 0, 0, '', 0, $10)`,
		i.Team, i.User, i.ID, i.Kind, i.Size, i.SHA256, i.HistoryOnly, string(i.Status), i.spool, store.Micros(i.CreatedAt))
	return err
}

// row is a scanned row whose report is sealed.
type row struct {
	Import
	sealed []byte
}

func scan(from interface{ Scan(dest ...any) error }) (r row, err error) {
	i := &r.Import
	err = from.Scan(&i.Team, &i.User, &i.ID, &i.Kind, &i.Size, &i.SHA256, &i.HistoryOnly, &i.Status, &i.stage, &i.spool,
		&i.Progress.Step, &i.Progress.Done, &i.Progress.Total, &i.Progress.Records, &i.Progress.Skipped, &r.sealed,
		&i.Error, &i.Attempts, store.ScanTime(&i.CreatedAt), store.ScanNullTime(&i.StartedAt), store.ScanNullTime(&i.FinishedAt), &i.zone)
	return r, err
}

// open unseals the report.
func (r *row) open(ctx context.Context, tx *store.Tx) (Import, error) {
	if r.sealed == nil {
		return r.Import, nil
	}
	plain, err := tx.Unseal(ctx, r.Team.UUID(), r.User.UUID(), placeOfReport(r.ID), r.sealed)
	if err != nil {
		return r.Import, err
	}
	r.Report, err = openReport(plain)
	return r.Import, err
}

func placeOfReport(id ID) string { return "imports.report:" + id.String() }

func read(ctx context.Context, tx *store.Tx, team teams.ID, id ID) (Import, error) {
	r, err := scan(tx.QueryRow(ctx, `SELECT `+columns+` FROM imports WHERE team_id = $1 AND id = $2`, team, id))
	if err != nil {
		return r.Import, err
	}
	return r.open(ctx, tx)
}

// hasActiveStatus selects the imports that have not ended.
const hasActiveStatus = `status IN ('queued', 'running')`

// bySpool finds the queued or running import of a file.
func bySpool(ctx context.Context, tx *store.Tx, name string) (Import, error) {
	r, err := scan(tx.QueryRow(ctx, `SELECT `+columns+` FROM imports WHERE spool = $1 AND `+hasActiveStatus, name))
	return r.Import, err
}

// maxListed bounds the list of a user.
const maxListed = 1000

func list(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) ([]Import, error) {
	return query(ctx, tx, `SELECT `+columns+` FROM imports WHERE team_id = $1 AND user_id = $2 ORDER BY id DESC LIMIT $3`,
		team, user, maxListed)
}

// sameFile lists the queued and running imports of one file.
func sameFile(ctx context.Context, tx *store.Tx, user users.User, sha256 []byte, historyOnly bool) ([]Import, error) {
	return query(ctx, tx, `SELECT `+columns+` FROM imports
		WHERE team_id = $1 AND user_id = $2 AND sha256 = $3 AND history_only = $4 AND `+hasActiveStatus+`
		ORDER BY id`, user.Team, user.ID, sha256, historyOnly)
}

func query(ctx context.Context, tx *store.Tx, sql string, args ...any) ([]Import, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var sealed []row
	for rows.Next() {
		r, err := scan(rows)
		if err != nil {
			return nil, err
		}
		sealed = append(sealed, r)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	all := make([]Import, len(sealed))
	for i := range sealed {
		if all[i], err = sealed[i].open(ctx, tx); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// setStarted marks an attempt by a zone, unless the import was canceled.
func setStarted(ctx context.Context, tx *store.Tx, i *Import, zone string) error {
	now := tx.Now()
	n, err := tx.Exec(ctx, `UPDATE imports SET status = 'running', attempts = attempts + 1, error = '', started_at = $3, zone = $4
		WHERE team_id = $1 AND id = $2 AND `+hasActiveStatus, i.Team, i.ID, store.Micros(now), zone)
	if err == nil && n == 0 {
		err = errEnded
	}
	i.Status, i.StartedAt = Running, &now
	return err
}

// setStage stores the stage for later attempts.
func setStage(ctx context.Context, tx *store.Tx, i *Import, stage wearables.Stage) error {
	_, err := tx.Exec(ctx, `UPDATE imports SET stage = $3 WHERE team_id = $1 AND id = $2`, i.Team, i.ID, string(stage))
	return err
}

func noteProgress(ctx context.Context, tx *store.Tx, i *Import) error {
	p := i.Progress
	_, err := tx.Exec(ctx, `UPDATE imports SET step = $3, done = $4, total = $5, records = $6, skipped = $7
		WHERE team_id = $1 AND id = $2`, i.Team, i.ID, p.Step, p.Done, p.Total, p.Records, p.Skipped)
	return err
}

// setQueued queues an import between two attempts.
func setQueued(ctx context.Context, tx *store.Tx, i *Import) error {
	_, err := tx.Exec(ctx, `UPDATE imports SET status = 'queued', error = $3
		WHERE team_id = $1 AND id = $2 AND `+hasActiveStatus, i.Team, i.ID, i.Error)
	return err
}

// finish ends a queued or running import. A canceled one stays canceled and gets its
// report.
func finish(ctx context.Context, tx *store.Tx, i *Import) error {
	var sealed []byte
	if i.Report != nil {
		plain, err := json.Marshal(i.Report)
		if err != nil {
			return err
		}
		if sealed, err = tx.Seal(ctx, i.Team.UUID(), i.User.UUID(), placeOfReport(i.ID), plain); err != nil {
			return err
		}
	}
	p := i.Progress
	_, err := tx.Exec(ctx, `UPDATE imports SET
			status = CASE WHEN `+hasActiveStatus+` THEN $3 ELSE status END,
			error = $4, report = $5, step = $6, done = $7, total = $8, records = $9, skipped = $10, finished_at = $11
		WHERE team_id = $1 AND id = $2 AND status IN ('queued', 'running', 'canceled')`,
		i.Team, i.ID, string(i.Status), i.Error, sealed, p.Step, p.Done, p.Total, p.Records, p.Skipped, store.MicrosOrNil(i.FinishedAt))
	return err
}

// Undo marks an ended import as undone, when its data is deleted.
func Undo(ctx context.Context, tx *store.Tx, team teams.ID, id ID) error {
	_, err := tx.Exec(ctx, `UPDATE imports SET undone_at = $3 WHERE team_id = $1 AND id = $2`, team, id, store.Micros(tx.Now()))
	return err
}

// UndoneFile returns the kind and the digest of the file of an undone import. It
// returns no digest if another import of the user has the same file.
func UndoneFile(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, id ID) (kind string, sha256 []byte, err error) {
	i, err := Get(ctx, tx, team, user, id)
	if err != nil || i.Status != Undone {
		return "", nil, err
	}
	all, err := query(ctx, tx, `SELECT `+columns+` FROM imports WHERE team_id = $1 AND user_id = $2 AND sha256 = $3 AND undone_at IS NULL ORDER BY id`,
		team, user, i.SHA256)
	if err != nil || len(all) > 0 {
		return "", nil, err
	}
	return i.Kind, i.SHA256, nil
}
