package messages

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"text/template"
	"text/template/parse"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/jobs"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Outgoing is a message for a Sender.
type Outgoing struct {
	ID        ID     // the same in every attempt
	Team      string // name
	Recipient string
	Subject   string // of e-mails
	Text      string
}

// LogValue keeps personal data out of logs.
func (Outgoing) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// Sender sends the messages of one channel. It gets a message twice if the process
// dies between sending and recording it. Its errors are Problems, or contain no
// personal data.
type Sender interface {
	Send(ctx context.Context, m Outgoing) error
}

// Problem is the reason why a message could not be sent. Its word contains no
// personal data, so it can be stored and shown.
type Problem struct {
	Word string // such as refused, unreachable or timeout
	// Final means that a retry will not help.
	Final bool
}

func (p *Problem) Error() string { return "messages: " + p.Word }

// problemOf classifies the error of a sender.
func problemOf(err error) (word string, final bool) {
	var p *Problem
	if errors.As(err, &p) {
		return p.Word, p.Final
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "timeout", false
	}
	return "unreachable", false
}

const (
	maxAttempts = 8 // in about twenty minutes
	sendTimeout = 30 * time.Second
	concurrency = 8
	retention   = 90 * 24 * time.Hour
	forgetBatch = 1000 // rows in one transaction
)

// sendKind is the job that sends one message.
var sendKind = jobs.NewKind[sendArgs]("messages.send").With(jobs.Limits{Concurrency: concurrency, Timeout: 2 * sendTimeout, Attempts: maxAttempts})

// Service sends messages.
type Service struct {
	// SMS and Email send the messages of production teams. If one is nil, the
	// messages of its channel fail with the problem off.
	SMS, Email Sender
	// BaseURL returns the service's public address, for links.
	BaseURL func() string
}

// Jobs returns the job kinds of the service.
func (s *Service) Jobs() []jobs.Handler {
	return []jobs.Handler{
		sendKind.Do(s.send).Sends(),
		jobs.Define("messages.forget", forget).Every(24 * time.Hour).Deletes(),
	}
}

// dueMessage is a message that the job read.
type dueMessage struct {
	Message
	id      ID
	sealed  []byte
	team    teams.Team
	content content
}

// send makes one attempt: it renders the text, sends the message outside any
// transaction, and records the outcome.
func (s *Service) send(ctx context.Context, run *jobs.Run, args sendArgs) error {
	team := teams.ID(run.Team)
	var out *Outgoing
	var channel Channel
	var early time.Duration
	err := run.DB().Write(ctx, func(tx *store.Tx) (err error) {
		out, early = nil, 0
		d, err := findDue(ctx, tx, team, args.Message)
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
		return jobs.RetryLater(early)
	case out == nil:
		return nil
	}
	problem := s.deliver(ctx, channel, *out)
	return s.recordAttempt(ctx, run, team, args.Message, problem)
}

// findDue reads a message that waits to be sent; nil if it was cleared or sent.
func findDue(ctx context.Context, tx *store.Tx, team teams.ID, id ID) (*dueMessage, error) {
	d := dueMessage{id: id, Message: Message{Team: team}}
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

// prepare renders a message. It returns nil, and ends the message, if the message
// must not be sent.
func (s *Service) prepare(ctx context.Context, tx *store.Tx, d *dueMessage) (*Outgoing, error) {
	settings, err := SettingsOf(ctx, tx, d.Team)
	if err != nil {
		return nil, err
	}
	err = users.Exists(ctx, tx, d.Team, d.User)
	switch {
	case fault.Is(err, fault.NotFound): // deleted after the message was queued
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
			return nil, d.end(ctx, tx, Failed, "no_portal") // a reminder without a link is useless
		}
		subject, text = renderText(d.Template, templateData{Name: d.content.FirstName, Team: d.team.Name, Link: link, Code: d.content.Code})
	}
	if d.content.Code == "" { // a code is never part of the stored text: see hiddenCode
		d.content.Subject, d.content.Text = subject, text
	}
	if d.team.Environment == teams.Sandbox {
		return nil, d.end(ctx, tx, Outbox, "")
	}
	if s.senderOf(d.Channel) == nil {
		return nil, d.end(ctx, tx, Failed, "off") // a choice of the operator, so the job does not fail
	}
	out := &Outgoing{ID: d.id, Team: d.team.Name, Recipient: d.content.Recipient, Subject: subject, Text: text}
	return out, d.update(ctx, tx, Queued, "", nil)
}

// link creates a portal link for a template that has one. It is empty for a user
// without demographics, who cannot use the portal.
func (s *Service) link(ctx context.Context, tx *store.Tx, d *dueMessage) (string, error) {
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

func (d *dueMessage) end(ctx context.Context, tx *store.Tx, state State, problem string) error {
	now := tx.Now()
	return d.update(ctx, tx, state, problem, &now)
}

// update writes the content and the new state.
func (d *dueMessage) update(ctx context.Context, tx *store.Tx, state State, problem string, ended *time.Time) error {
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
	return env == teams.Sandbox || s.senderOf(c) != nil
}

// senderOf returns the sender of a channel; nil when the channel is not set up.
func (s *Service) senderOf(c Channel) Sender {
	if c == Email {
		return s.Email
	}
	return s.SMS
}

// deliver passes a message to its sender. A process that stops does not interrupt
// it: the outcome would be unknown, and the message would be sent again.
func (s *Service) deliver(ctx context.Context, channel Channel, out Outgoing) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), sendTimeout)
	defer stop()
	return s.senderOf(channel).Send(ctx, out)
}

// recordAttempt writes the outcome of an attempt. The job fails with the message, so
// that both lists show it. A message that was cleared while it was sent is sent.
func (s *Service) recordAttempt(ctx context.Context, run *jobs.Run, team teams.ID, id ID, problem error) error {
	state, word, final := Sent, "", false
	if problem != nil {
		word, final = problemOf(problem)
		if state = Queued; final || run.Attempt >= maxAttempts {
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
			return fmt.Errorf("messages: recording an attempt: %w", err)
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

// forget deletes messages that ended before the retention.
func forget(ctx context.Context, run *jobs.Run, _ struct{}) error {
	for {
		var n int64
		err := run.DB().Write(ctx, func(tx *store.Tx) (err error) {
			n, err = tx.Exec(ctx, `DELETE FROM messages WHERE (team_id, id) IN (
				SELECT team_id, id FROM messages WHERE ended_at IS NOT NULL AND ended_at < $1 ORDER BY ended_at LIMIT $2)`, tx.Now().Add(-retention), forgetBatch)
			return err
		})
		if err != nil {
			return fmt.Errorf("messages: deleting old messages: %w", err)
		}
		if n < forgetBatch {
			return nil
		}
	}
}

//go:embed templates.txt
var templatesFile string

// texts are the parsed templates.
var texts = template.Must(template.New("").Parse(templatesFile))

// templateData has the fields of the templates.
type templateData struct{ Name, Team, Link, Code string }

// templateFor returns the name of an event's template.
func templateFor(event, method string, channel Channel) string {
	if name := event + "." + method + "." + string(channel); texts.Lookup(name) != nil {
		return name
	}
	return event + "." + string(channel)
}

// renderText returns the text of a message, and for e-mails the subject.
func renderText(name string, f templateData) (subject, text string) {
	if texts.Lookup(name+".subject") != nil {
		subject = renderTemplate(name+".subject", f)
	}
	return subject, renderTemplate(name, f)
}

func renderTemplate(name string, f templateData) string {
	var b strings.Builder
	if err := texts.ExecuteTemplate(&b, name, f); err != nil {
		panic(fmt.Sprintf("messages: %v", err)) // a test renders every template
	}
	return strings.TrimSpace(b.String()) // the template of an e-mail ends with a line break
}

// needsLink reports whether a template has a link into the portal. Such a template begins
// its sentence about the portal with {{if .Link}}.
func needsLink(name string) bool {
	t := texts.Lookup(name)
	if t == nil {
		return false
	}
	for _, node := range t.Root.Nodes {
		if branch, ok := node.(*parse.IfNode); ok && branch.Pipe.String() == ".Link" {
			return true
		}
	}
	return false
}
