package messages

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/ids"
	"hale/internal/platform/jobs"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// ID identifies a message.
type ID = ids.ID[Message]

// Message is a message to a person.
type Message struct {
	Team      teams.ID
	User      users.ID
	Order     uuid.UUID
	Channel   Channel
	Template  string // of templates.txt
	Recipient string // telephone number or e-mail address
	FirstName string
	Code      secrets.Text // of a portal code; empty in other messages
	Due       time.Time    // zero: at once
	Expires   time.Time    // not sent later than this; zero for no limit
	Topic     string       // of a reminder; empty for other messages
}

// LogValue keeps personal data out of logs.
func (Message) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// State is the state of a message.
type State string

// A message is scheduled until it is due, and queued until it is sent. Messages of
// sandbox teams end in the outbox.
const (
	Scheduled State = "scheduled"
	Queued    State = "queued"
	Sent      State = "sent"
	Outbox    State = "outbox"
	Failed    State = "failed"
	Cleared   State = "cleared" // not needed any more, or switched off
)

// States lists the states.
var States = []State{Scheduled, Queued, Sent, Outbox, Failed, Cleared}

// content is the sealed part of a row.
type content struct {
	Recipient string `json:"recipient"`
	FirstName string `json:"first_name"`
	Code      string `json:"code,omitempty"`
	Subject   string `json:"subject,omitempty"` // rendered
	Text      string `json:"text,omitempty"`    // rendered
}

func contentPlace(id ID) string { return "messages.content:" + id.String() }

func seal(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, id ID, c content) ([]byte, error) {
	doc, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("messages: marshalling: %w", err)
	}
	return tx.Seal(ctx, team.UUID(), user.UUID(), contentPlace(id), doc)
}

func unseal(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, id ID, sealed []byte) (content, error) {
	var c content
	doc, err := tx.Unseal(ctx, team.UUID(), user.UUID(), contentPlace(id), sealed)
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal(doc, &c)
}

// sendArgs are the arguments of the job that sends a message.
type sendArgs struct {
	Message ID `json:"message"`
}

// Queue writes a message and the job that sends it in the caller's transaction. A
// sandbox team's message that needs no link goes to the outbox at once.
func Queue(ctx context.Context, tx *store.Tx, m Message) (ID, error) {
	id := ids.FromUUID[Message](tx.NewUUID())
	team, err := teams.Get(ctx, tx, m.Team)
	if err != nil {
		return id, err
	}
	if m.Due.IsZero() || m.Due.Before(tx.Now()) {
		m.Due = tx.Now()
	}
	c := content{Recipient: m.Recipient, FirstName: m.FirstName, Code: m.Code.Reveal()}
	state, ended := Queued, (*time.Time)(nil)
	switch {
	case m.Due.After(tx.Now()):
		state = Scheduled
	case team.Environment == teams.Sandbox && !needsLink(m.Template):
		now := tx.Now()
		state, ended = Outbox, &now
		c.Subject, c.Text = renderText(m.Template, templateData{Name: c.FirstName, Team: team.Name, Code: c.Code})
	}
	var job any
	if ended == nil {
		made, err := sendKind.Enqueue(ctx, tx, sendArgs{id}, jobs.Options{Team: m.Team.UUID(), At: m.Due})
		if err != nil {
			return id, err
		}
		job = made.UUID()
	}
	sealed, err := seal(ctx, tx, m.Team, m.User, id, c)
	if err != nil {
		return id, err
	}
	_, err = tx.Exec(ctx, `INSERT INTO messages (team_id, id, user_id, order_id, channel, template, topic, state, problem, attempts,
			content, job_id, due_at, expires_at, created_at, ended_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, '', 0, $9, $10, $11, $12, $13, $14)`,
		m.Team, id, m.User, m.Order, string(m.Channel), m.Template, m.Topic, string(state), sealed, job,
		m.Due, store.MicrosOrNil(&m.Expires), tx.Now(), store.MicrosOrNil(ended))
	if err != nil {
		return id, fmt.Errorf("messages: storing: %w", err)
	}
	return id, nil
}

// UserRecords returns the rows of users in this package.
func UserRecords() []users.Records {
	return []users.Records{{
		Name:  "messages",
		Erase: users.EraseRows("messages"),
		OnDelete: func(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) error {
			if err := clearWhere(ctx, tx, team, `user_id = $2`, user); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, `UPDATE messages SET problem = $3 WHERE team_id = $1 AND user_id = $2 AND state = 'cleared' AND topic <> '' AND ended_at = $4`,
				team, user, userDeleted, tx.Now())
			return err
		},
		OnReturn: restoreReminders,
	}}
}

// PortalCode is a code that opens the portal on a new device.
type PortalCode struct {
	Team      teams.ID
	User      users.ID
	Channel   Channel
	Recipient string
	FirstName string
	Code      secrets.Text
	Expires   time.Time // later than this it is not sent
}

// hiddenCode replaces the code when a production team lists its messages. The
// code is for the patient only.
const hiddenCode = "••••••"

// SendPortalCode queues a code. The team's switches do not apply, because the
// patient asked for the message.
//
// Spec: Users, create_portal_url.
func SendPortalCode(ctx context.Context, tx *store.Tx, c PortalCode) error {
	_, err := Queue(ctx, tx, Message{
		Team: c.Team, User: c.User, Channel: c.Channel, Template: portalCode + "." + string(c.Channel),
		Recipient: c.Recipient, FirstName: c.FirstName, Code: c.Code, Expires: c.Expires,
	})
	return err
}

// portalCode begins the names of the code's texts.
const portalCode = "portal_code"
