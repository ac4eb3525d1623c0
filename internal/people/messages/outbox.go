package messages

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
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
	Users    []users.ID // any when empty, as for the other lists
	Orders   []uuid.UUID
	Channels []Channel
	States   []State
	Before   ID // only messages older than this one
	Limit    int
}

// List returns a team's messages, newest first. An unknown user of the team is a
// NotFound fault.
func List(ctx context.Context, tx *store.Tx, team teams.ID, f Filter) ([]OutboxMessage, error) {
	for _, user := range f.Users {
		if err := users.Exists(ctx, tx, team, user); err != nil {
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
	args := []any{team, f.Before, f.Limit}
	query := `SELECT id, user_id, order_id, channel, template, state, problem, attempts, content, due_at, created_at, ended_at
		FROM messages WHERE team_id = $1 AND id < $2` + store.AmongValues(&args, "channel", f.Channels)
	if slices.Equal(f.States, []State{Failed}) { // in the words of the index messages_failed
		query += ` AND state = 'failed'`
	} else {
		query += store.AmongValues(&args, "state", f.States)
	}
	query += store.AmongValues(&args, "user_id", f.Users) + store.AmongValues(&args, "order_id", f.Orders)
	rows, err := tx.Query(ctx, query+` ORDER BY id DESC LIMIT $3`, args...)
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
