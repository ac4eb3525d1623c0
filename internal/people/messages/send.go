package messages

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

const (
	attempts   = 8 // over about twenty minutes
	timeout    = 30 * time.Second
	atOnce     = 8
	kept       = 90 * 24 * time.Hour
	forgetting = 1000 // rows in one transaction
)

// sendKind is what Queue asks for: the job that sends one message.
var sendKind = jobs.Named[sendArgs]("messages.send").With(jobs.Limits{Concurrency: atOnce, Timeout: 2 * timeout, Attempts: attempts})

// Service sends messages.
type Service struct {
	// SMS and Email carry messages of production teams. Without one, messages
	// of its channel fail with the problem off.
	SMS, Email Sender
	// BaseURL is the address that people know this service by, for links.
	BaseURL func() string
}

// Jobs are the kinds that the service runs.
func (s *Service) Jobs() []jobs.Handler {
	return []jobs.Handler{
		sendKind.Do(s.send),
		jobs.Define("messages.forget", forget).Every(24 * time.Hour),
	}
}

// due is a message as the job finds it.
type due struct {
	Message
	id      ID
	sealed  []byte
	team    teams.Team
	content content
}

// send makes one attempt: it fills the text in, hands the message over outside
// any transaction, and notes what came of it.
func (s *Service) send(ctx context.Context, run *jobs.Run, args sendArgs) error {
	team := teams.ID(run.Team)
	var out *Outgoing
	var channel Channel
	var early time.Duration
	err := run.DB().Write(ctx, func(tx *store.Tx) (err error) {
		out, early = nil, 0
		d, err := find(ctx, tx, team, args.Message)
		if err != nil || d == nil {
			return err
		}
		if early = d.Due.Sub(tx.Now()); early > 0 {
			return nil
		}
		channel = d.Channel
		out, err = s.prepare(ctx, tx, d)
		return err
	})
	switch {
	case err != nil:
		return err
	case early > 0:
		return jobs.Later(early)
	case out == nil:
		return nil
	}
	problem := s.hand(ctx, channel, *out)
	return s.note(ctx, run, team, args.Message, problem)
}

// find reads a message that waits; nil when there is none any more.
func find(ctx context.Context, tx *store.Tx, team teams.ID, id ID) (*due, error) {
	d := due{id: id, Message: Message{Team: team}}
	var expires *time.Time
	err := tx.QueryRow(ctx, `SELECT user_id, order_id, channel, template, topic, content, due_at, expires_at FROM messages
		WHERE team_id = $1 AND id = $2 AND state IN ('scheduled', 'queued')`, team, id).
		Scan(&d.User, &d.Order, &d.Channel, &d.Template, &d.Topic, &d.sealed, store.ScanTime(&d.Due), store.ScanNullTime(&expires))
	if errors.Is(err, store.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("messages: reading: %w", err)
	}
	if expires != nil {
		d.Expires = *expires
	}
	if d.content, err = unseal(ctx, tx, team, d.User, id, d.sealed); err != nil {
		return nil, err
	}
	d.team, err = teams.Get(ctx, tx, team)
	return &d, err
}

// prepare fills a message in and decides what becomes of it: nil when it is
// not to leave the service.
func (s *Service) prepare(ctx context.Context, tx *store.Tx, d *due) (*Outgoing, error) {
	settings, err := SettingsOf(ctx, tx, d.Team)
	if err != nil {
		return nil, err
	}
	err = users.Exists(ctx, tx, d.Team, d.User)
	switch {
	case fault.Is(err, fault.NotFound): // deleted while this was written
		return nil, d.end(ctx, tx, Cleared, "")
	case err != nil:
		return nil, err
	case !d.Expires.IsZero() && !tx.Now().Before(d.Expires):
		return nil, d.end(ctx, tx, Cleared, "late")
	case d.content.Code == "" && !settings.allow(d.Channel, d.Topic != ""):
		return nil, d.end(ctx, tx, Cleared, "switched_off")
	}
	subject, text := d.content.Subject, d.content.Text
	if text == "" {
		link, err := s.link(ctx, tx, d)
		if err != nil {
			return nil, err
		}
		if link == "" && d.Topic != "" {
			return nil, d.end(ctx, tx, Failed, "no_portal") // a reminder leads there
		}
		subject, text = fill(d.Template, filling{Name: d.content.FirstName, Team: d.team.Name, Link: link, Code: d.content.Code})
	}
	if d.content.Code == "" { // a code is never part of the stored text: see hiddenCode
		d.content.Subject, d.content.Text = subject, text
	}
	if d.team.Environment == teams.Sandbox {
		return nil, d.end(ctx, tx, Outbox, "")
	}
	if s.carrier(d.Channel) == nil {
		return nil, d.end(ctx, tx, Failed, "off") // a choice of the operator, so the job does not fail
	}
	out := &Outgoing{ID: d.id, Team: d.team.Name, Recipient: d.content.Recipient, Subject: subject, Text: text}
	return out, d.update(ctx, tx, Queued, "", nil)
}

// link makes a portal link where the text has room for one; empty for a user
// without demographics, whom the portal would not know.
func (s *Service) link(ctx context.Context, tx *store.Tx, d *due) (string, error) {
	if !needsLink(d.Template) {
		return "", nil
	}
	var order *uuid.UUID
	if d.Order != uuid.Nil {
		order = &d.Order
	}
	link, err := users.CreatePortalLink(ctx, tx, d.Team, d.User, users.Communications, order)
	if fault.Is(err, fault.Unprocessable) || fault.Is(err, fault.NotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return strings.TrimRight(s.BaseURL(), "/") + link.Path(), nil
}

func (d *due) end(ctx context.Context, tx *store.Tx, state State, problem string) error {
	now := tx.Now()
	return d.update(ctx, tx, state, problem, &now)
}

// update writes the filled-in content with the new state.
func (d *due) update(ctx context.Context, tx *store.Tx, state State, problem string, ended *time.Time) error {
	sealed, err := seal(ctx, tx, d.Team, d.User, d.id, d.content)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE messages SET state = $3, problem = $4, content = $5, ended_at = $6 WHERE team_id = $1 AND id = $2`,
		d.Team, d.id, string(state), problem, sealed, store.MicrosOrNil(ended))
	if err != nil {
		return fmt.Errorf("messages: updating: %w", err)
	}
	return nil
}

// Carries reports whether messages of a channel reach the people of a team. The
// messages of a sandbox team end in the outbox, which is always there.
func (s *Service) Carries(env teams.Environment, c Channel) bool {
	return env == teams.Sandbox || s.carrier(c) != nil
}

// carrier returns the sender of a channel; nil when the channel is not set up.
func (s *Service) carrier(c Channel) Sender {
	if c == Email {
		return s.Email
	}
	return s.SMS
}

// hand gives a message to its sender. It is not broken off when the process is to
// stop: nobody would know whether the message arrived, and it would be sent again.
func (s *Service) hand(ctx context.Context, channel Channel, out Outgoing) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer stop()
	return s.carrier(channel).Send(ctx, out)
}

// note records an attempt. The job fails with the message, so that both show.
// What was sent is sent, also when it was cleared meanwhile.
func (s *Service) note(ctx context.Context, run *jobs.Run, team teams.ID, id ID, problem error) error {
	state, word, final := Sent, "", false
	if problem != nil {
		word, final = wordOf(problem)
		if state = Queued; final || run.Attempt >= attempts {
			state = Failed
		}
	}
	ctx = context.WithoutCancel(ctx)
	err := run.DB().Write(ctx, func(tx *store.Tx) error {
		var ended *time.Time
		if now := tx.Now(); state != Queued {
			ended = &now
		}
		_, err := tx.Exec(ctx, `UPDATE messages SET state = $3, problem = $4, attempts = attempts + 1, ended_at = $5
			WHERE team_id = $1 AND id = $2 AND (state = 'queued' OR $6)`, team, id, string(state), word, store.MicrosOrNil(ended), state == Sent)
		if err != nil {
			return fmt.Errorf("messages: noting an attempt: %w", err)
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case problem == nil:
		return nil
	case state == Failed:
		return jobs.Permanent(&Problem{Word: word, Final: final})
	}
	return &Problem{Word: word}
}

// forget deletes what ended long ago.
func forget(ctx context.Context, run *jobs.Run, _ struct{}) error {
	for {
		var n int64
		err := run.DB().Write(ctx, func(tx *store.Tx) (err error) {
			n, err = tx.Exec(ctx, `DELETE FROM messages WHERE (team_id, id) IN (
				SELECT team_id, id FROM messages WHERE ended_at IS NOT NULL AND ended_at < $1 ORDER BY ended_at LIMIT $2)`, tx.Now().Add(-kept), forgetting)
			return err
		})
		if err != nil {
			return fmt.Errorf("messages: forgetting: %w", err)
		}
		if n < forgetting {
			return nil
		}
	}
}
