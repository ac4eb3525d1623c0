package messages

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/ids"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// OutboxMessage is a message as its team sees it.
type OutboxMessage struct {
	ID        ID
	User      users.ID
	Order     uuid.UUID
	Channel   Channel
	Template  string
	State     State
	Problem   string
	Attempts  int
	Recipient string
	Subject   string
	Text      string // without its link until it is sent
	Due       time.Time
	CreatedAt time.Time
	EndedAt   *time.Time
}

// LogValue keeps personal data out of logs.
func (OutboxMessage) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// Filter restricts a list. A zero field does not restrict it.
type Filter struct {
	User    users.ID
	Order   uuid.UUID
	Channel Channel
	State   State
	Before  ID // only messages older than this one
	Limit   int
}

// List returns a team's messages, newest first. An unknown user of the team is a
// NotFound fault.
func List(ctx context.Context, tx *store.Tx, team teams.ID, f Filter) ([]OutboxMessage, error) {
	if !f.User.IsZero() {
		if err := users.Exists(ctx, tx, team, f.User); err != nil {
			return nil, err
		}
	}
	t, err := teams.Get(ctx, tx, team)
	if err != nil {
		return nil, err
	}
	all, sealed, err := listRows(ctx, tx, team, f)
	if err != nil {
		return nil, err
	}
	for i := range all {
		m := &all[i]
		c, err := unseal(ctx, tx, team, m.User, m.ID, sealed[i])
		if err != nil {
			return nil, err
		}
		if c.Text == "" {
			if c.Code != "" {
				c.Code = hiddenCode
			}
			c.Subject, c.Text = renderText(m.Template, templateData{Name: c.FirstName, Team: t.Name, Code: c.Code})
		}
		m.Recipient, m.Subject, m.Text = c.Recipient, c.Subject, c.Text
	}
	return all, nil
}

func listRows(ctx context.Context, tx *store.Tx, team teams.ID, f Filter) (all []OutboxMessage, sealed [][]byte, err error) {
	if f.Before.IsZero() {
		f.Before = ids.FromUUID[Message](uuid.Max)
	}
	query, args := `SELECT id, user_id, order_id, channel, template, state, problem, attempts, content, due_at, created_at, ended_at
		FROM messages WHERE team_id = $1 AND id < $2 AND ($3 = '' OR channel = $3)`,
		[]any{team, f.Before, string(f.Channel)}
	narrow := func(column string, value any) {
		args = append(args, value)
		query += fmt.Sprintf(" AND %s = $%d", column, len(args))
	}
	if f.State == Failed { // in the words of the index messages_failed
		query += ` AND state = 'failed'`
	} else {
		args = append(args, string(f.State))
		query += ` AND ($4 = '' OR state = $4)`
	}
	if !f.User.IsZero() {
		narrow("user_id", f.User)
	}
	if f.Order != uuid.Nil {
		narrow("order_id", f.Order)
	}
	args = append(args, f.Limit)
	rows, err := tx.Query(ctx, query+fmt.Sprintf(" ORDER BY id DESC LIMIT $%d", len(args)), args...)
	if err != nil {
		return nil, nil, fmt.Errorf("messages: listing: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var m OutboxMessage
		var body []byte
		if err := rows.Scan(&m.ID, &m.User, &m.Order, &m.Channel, &m.Template, &m.State, &m.Problem, &m.Attempts, &body,
			store.ScanTime(&m.Due), store.ScanTime(&m.CreatedAt), store.ScanNullTime(&m.EndedAt)); err != nil {
			return nil, nil, err
		}
		all, sealed = append(all, m), append(sealed, body)
	}
	return all, sealed, rows.Err()
}
