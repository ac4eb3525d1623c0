package critical

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/platform/audit"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// The place of the sealed column.
const acknowledgementPlace = "critical_notices.body:"

func insert(ctx context.Context, tx *store.Tx, n *Notice) error {
	_, err := tx.Exec(ctx, `INSERT INTO critical_notices (team_id, id, user_id, order_id, result_id, report_id, revision, state, raised_at, due_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		n.Team, n.ID, nullableID(n.User), nullableID(n.Order), nullableID(n.Result), nullableID(n.Report), n.Revision, string(n.State), n.RaisedAt, n.DueAt)
	if err != nil {
		return fmt.Errorf("critical: storing a notice: %w", err)
	}
	return nil
}

func nullableID[T any](id *T) any {
	if id == nil {
		return nil
	}
	return *id
}

// subject returns the user whose key seals the acknowledgement. Without a user it returns
// uuid.Nil, which means the key of the team.
func (n *Notice) subject() uuid.UUID {
	if n.User != nil {
		return n.User.UUID()
	}
	return uuid.Nil
}

// end stores the end of an open notice, and clears e-mails that wait.
func end(ctx context.Context, tx *store.Tx, n *Notice) error {
	var body []byte
	if n.Acknowledgement != nil {
		doc, err := json.Marshal(n.Acknowledgement)
		if err != nil {
			return fmt.Errorf("critical: marshalling an acknowledgement: %w", err)
		}
		if body, err = tx.Seal(ctx, n.Team.UUID(), n.subject(), acknowledgementPlace+n.ID.String(), doc); err != nil {
			return err
		}
	}
	changed, err := tx.Exec(ctx, `UPDATE critical_notices SET state = $3, ended_at = $4, body = $5 WHERE team_id = $1 AND id = $2 AND state = 'open'`,
		n.Team, n.ID, string(n.State), store.MicrosOrNil(n.EndedAt), body)
	switch {
	case err != nil:
		return fmt.Errorf("critical: ending a notice: %w", err)
	case changed == 0:
		return store.ErrLostRace
	}
	return nil
}

func markEscalated(ctx context.Context, tx *store.Tx, n *Notice) error {
	_, err := tx.Exec(ctx, `UPDATE critical_notices SET escalated_at = $3 WHERE team_id = $1 AND id = $2`, n.Team, n.ID, store.MicrosOrNil(n.EscalatedAt))
	if err != nil {
		return fmt.Errorf("critical: escalating a notice: %w", err)
	}
	return nil
}

func insertMail(ctx context.Context, tx *store.Tx, n *Notice, m Mail) error {
	_, err := tx.Exec(ctx, `INSERT INTO critical_mails (team_id, notice_id, kind, id, user_id, recipient, state, problem, attempts, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, '', 0, $8)`,
		n.Team, n.ID, string(m.Kind), m.ID, nullableID(n.User), m.Recipient, string(m.State), m.CreatedAt)
	if err != nil {
		return fmt.Errorf("critical: storing an e-mail: %w", err)
	}
	return nil
}

// endMail sets the last state of an e-mail. Only a failure and a success count
// as an attempt.
func endMail(ctx context.Context, tx *store.Tx, n *Notice, kind MailKind, state MailState, problem string) error {
	attempts := 0
	if state == MailSent || state == MailFailed {
		attempts = 1
	}
	_, err := tx.Exec(ctx, `UPDATE critical_mails SET state = $4, problem = $5, attempts = attempts + $6, ended_at = $7
		WHERE team_id = $1 AND notice_id = $2 AND kind = $3`, n.Team, n.ID, string(kind), string(state), problem, attempts, tx.Now())
	if err != nil {
		return fmt.Errorf("critical: ending an e-mail: %w", err)
	}
	return nil
}

// noteAttempt records an attempt that will be repeated.
func noteAttempt(ctx context.Context, tx *store.Tx, n *Notice, kind MailKind, problem string) error {
	_, err := tx.Exec(ctx, `UPDATE critical_mails SET problem = $4, attempts = attempts + 1 WHERE team_id = $1 AND notice_id = $2 AND kind = $3`,
		n.Team, n.ID, string(kind), problem)
	if err != nil {
		return fmt.Errorf("critical: recording an attempt: %w", err)
	}
	return nil
}

const columns = `id, user_id, order_id, result_id, report_id, revision, state, raised_at, due_at, escalated_at, ended_at, body`

// sealedNotice is a notice as stored.
type sealedNotice struct {
	Notice
	body []byte
}

func scan(row interface{ Scan(dest ...any) error }, team teams.ID) (sealedNotice, error) {
	s := sealedNotice{Notice: Notice{Team: team}}
	var user users.ID
	var order orders.ID
	var result, report uuid.NullUUID
	err := row.Scan(&s.ID, &user, &order, &result, &report, &s.Revision, &s.State, store.ScanTime(&s.RaisedAt), store.ScanTime(&s.DueAt),
		store.ScanNullTime(&s.EscalatedAt), store.ScanNullTime(&s.EndedAt), &s.body)
	if !user.IsZero() {
		s.User = &user
	}
	if !order.IsZero() {
		s.Order = &order
	}
	if result.Valid {
		s.Result = &result.UUID
	}
	if report.Valid {
		s.Report = &report.UUID
	}
	return s, err
}

// open unseals the acknowledgement and reads the e-mails. No rows may be open.
func (s *sealedNotice) open(ctx context.Context, tx *store.Tx) (Notice, error) {
	n := s.Notice
	if s.body != nil {
		doc, err := tx.Unseal(ctx, n.Team.UUID(), n.subject(), acknowledgementPlace+n.ID.String(), s.body)
		if err != nil {
			return Notice{}, err
		}
		n.Acknowledgement = &Acknowledgement{}
		if err := json.Unmarshal(doc, n.Acknowledgement); err != nil {
			return Notice{}, fmt.Errorf("critical: a stored acknowledgement: %w", err)
		}
	}
	var err error
	n.Mails, err = readMails(ctx, tx, &n)
	return n, err
}

func readMails(ctx context.Context, tx *store.Tx, n *Notice) ([]Mail, error) {
	rows, err := tx.Query(ctx, `SELECT kind, id, recipient, state, problem, attempts, created_at, ended_at FROM critical_mails
		WHERE team_id = $1 AND notice_id = $2 ORDER BY created_at, kind DESC`, n.Team, n.ID)
	if err != nil {
		return nil, fmt.Errorf("critical: reading e-mails: %w", err)
	}
	defer rows.Close()
	var all []Mail
	for rows.Next() {
		var m Mail
		err := rows.Scan(&m.Kind, &m.ID, &m.Recipient, &m.State, &m.Problem, &m.Attempts, store.ScanTime(&m.CreatedAt), store.ScanNullTime(&m.EndedAt))
		if err != nil {
			return nil, fmt.Errorf("critical: reading e-mails: %w", err)
		}
		all = append(all, m)
	}
	return all, rows.Err()
}

// Get returns a notice, or a NotFound fault.
func Get(ctx context.Context, tx *store.Tx, team teams.ID, id ID) (Notice, error) {
	s, err := scan(tx.QueryRow(ctx, `SELECT `+columns+` FROM critical_notices WHERE team_id = $1 AND id = $2`, team, id), team)
	if errors.Is(err, store.ErrNoRows) {
		return Notice{}, fault.New(fault.NotFound, "Critical result not found")
	}
	if err != nil {
		return Notice{}, fmt.Errorf("critical: reading a notice: %w", err)
	}
	n, err := s.open(ctx, tx)
	if n.User != nil {
		audit.NotePeople(ctx, *n.User)
	}
	return n, err
}

// Filter narrows a list; empty fields do not.
type Filter struct {
	States []State // any when empty
	Before ID      // only notices older than this one
	Limit  int
}

// List returns a team's notices, newest first.
func List(ctx context.Context, tx *store.Tx, team teams.ID, f Filter) ([]Notice, error) {
	if f.Before.IsZero() {
		f.Before = ids.FromUUID[Notice](uuid.Max)
	}
	args := []any{team, f.Before, f.Limit}
	query := `SELECT ` + columns + ` FROM critical_notices WHERE team_id = $1 AND id < $2` + store.AmongValues(&args, "state", f.States)
	rows, err := tx.Query(ctx, query+` ORDER BY id DESC LIMIT $3`, args...)
	if err != nil {
		return nil, fmt.Errorf("critical: listing: %w", err)
	}
	defer rows.Close()
	var sealed []sealedNotice
	for rows.Next() {
		s, err := scan(rows, team)
		if err != nil {
			return nil, fmt.Errorf("critical: listing: %w", err)
		}
		sealed = append(sealed, s)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, fmt.Errorf("critical: listing: %w", err)
	}
	all := make([]Notice, len(sealed))
	for i := range sealed {
		if all[i], err = sealed[i].open(ctx, tx); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Queries of the open notices about a result in review or a parsed report.
const (
	openOfResult = `SELECT id FROM critical_notices WHERE team_id = $1 AND result_id = $2 AND state = 'open'`
	openOfReport = `SELECT id FROM critical_notices WHERE team_id = $1 AND report_id = $2 AND state = 'open'`
)

func openNotices(ctx context.Context, tx *store.Tx, query string, team teams.ID, about uuid.UUID) ([]ID, error) {
	rows, err := tx.Query(ctx, query, team, about)
	if err != nil {
		return nil, fmt.Errorf("critical: reading the notices of a result: %w", err)
	}
	defer rows.Close()
	var all []ID
	for rows.Next() {
		var id ID
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("critical: reading the notices of a result: %w", err)
		}
		all = append(all, id)
	}
	return all, rows.Err()
}

// WaitingNotices holds the open notices of production teams.
type WaitingNotices struct {
	Open, Escalated int
	Oldest          time.Time // zero when there is none
}

// CountWaiting counts the open notices of all production teams.
func CountWaiting(ctx context.Context, tx *store.Tx) (WaitingNotices, error) {
	var w WaitingNotices
	var escalated sql.NullInt64
	var oldest *time.Time
	err := tx.QueryRow(ctx, `SELECT COUNT(*), SUM(CASE WHEN n.escalated_at IS NULL THEN 0 ELSE 1 END), MIN(n.raised_at) FROM critical_notices n
		JOIN teams t ON t.id = n.team_id WHERE n.state = 'open' AND t.environment = 'production'`).
		Scan(&w.Open, &escalated, store.ScanNullTime(&oldest))
	if err != nil {
		return w, fmt.Errorf("critical: counting: %w", err)
	}
	if oldest != nil {
		w.Oldest = *oldest
	}
	w.Escalated = int(escalated.Int64)
	return w, nil
}

// Forget deletes the notices of a result in review that is forgotten.
func Forget(ctx context.Context, tx *store.Tx, team teams.ID, result uuid.UUID) error {
	for _, query := range []string{
		`DELETE FROM critical_mails WHERE team_id = $1 AND notice_id IN (SELECT n.id FROM critical_notices n WHERE n.team_id = $1 AND n.result_id = $2)`,
		`DELETE FROM critical_notices WHERE team_id = $1 AND result_id = $2`,
	} {
		if _, err := tx.Exec(ctx, query, team, result); err != nil {
			return fmt.Errorf("critical: forgetting: %w", err)
		}
	}
	return nil
}

// UserRecords returns the rows of users in this package.
func UserRecords() []users.Records { return users.RowsOf("critical_mails", "critical_notices") }
