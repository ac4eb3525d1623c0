package critical

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/messages"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// MailKind is the reason of an e-mail.
type MailKind string

// The kinds. A notice has at most one e-mail of each.
const (
	Notification MailKind = "notification"
	Escalation   MailKind = "escalation"
)

// MailKinds lists the kinds.
var MailKinds = []MailKind{Notification, Escalation}

// MailState is the state of an e-mail.
type MailState string

// The states. The e-mails of a sandbox team are never sent. They end in outbox.
const (
	MailQueued  MailState = "queued"
	MailSent    MailState = "sent"
	MailOutbox  MailState = "outbox"
	MailFailed  MailState = "failed"
	MailCleared MailState = "cleared" // the notice ended before
)

// MailStates lists the states.
var MailStates = []MailState{MailQueued, MailSent, MailOutbox, MailFailed, MailCleared}

// Mail is an e-mail about a notice.
type Mail struct {
	Kind      MailKind
	ID        uuid.UUID
	Recipient string
	State     MailState
	Problem   string // why it could not be sent
	Attempts  int
	CreatedAt time.Time
	EndedAt   *time.Time
}

type noticeArgs struct {
	Notice ID `json:"notice"`
}

type mailArgs struct {
	Notice ID       `json:"notice"`
	Kind   MailKind `json:"kind"`
}

const (
	maxAttempts = 8 // in about twenty minutes
	sendTimeout = 30 * time.Second
)

var (
	mailKind     = jobs.NewKind[mailArgs]("critical.mail").With(jobs.Limits{Concurrency: 4, Timeout: 2 * sendTimeout, Attempts: maxAttempts})
	escalateKind = jobs.NewKind[noticeArgs]("critical.escalate").With(jobs.Limits{Concurrency: 4, Timeout: time.Minute, Attempts: 100})
)

// Service sends the e-mails and escalates.
type Service struct {
	// Email sends e-mails; nil when no server is set up.
	Email messages.Sender
	// BaseURL returns the service's public address, for links.
	BaseURL func() string
	// Operators is the address for critical results without a team; empty for
	// none.
	Operators string
}

// Jobs returns the job kinds of the service.
func (s *Service) Jobs() []jobs.Handler {
	return []jobs.Handler{
		mailKind.Do(s.send).Sends(),
		operatorKind.Do(s.sendToOperators).Sends(),
		escalateKind.Do(func(ctx context.Context, run *jobs.Run, args noticeArgs) error {
			return run.DB().Write(ctx, func(tx *store.Tx) error { return escalate(ctx, tx, teams.ID(run.Team), args.Notice) })
		}),
	}
}

// queueMail stores an e-mail and its job. Without an address there is none.
func queueMail(ctx context.Context, tx *store.Tx, n *Notice, kind MailKind, address string) error {
	if address == "" {
		return nil
	}
	m := Mail{Kind: kind, ID: tx.NewUUID(), Recipient: address, State: MailQueued, CreatedAt: tx.Now()}
	if err := insertMail(ctx, tx, n, m); err != nil {
		return err
	}
	_, err := mailKind.Enqueue(ctx, tx, mailArgs{n.ID, kind}, jobs.Options{Team: n.Team.UUID(), Key: string(kind) + ":" + n.ID.String()})
	return err
}

// send makes one attempt to send an e-mail, outside any transaction.
func (s *Service) send(ctx context.Context, run *jobs.Run, args mailArgs) error {
	team := teams.ID(run.Team)
	var out *messages.Outgoing
	err := run.DB().Write(ctx, func(tx *store.Tx) (err error) {
		out, err = s.prepare(ctx, tx, team, args)
		return err
	})
	if err != nil || out == nil {
		return err
	}
	sending, stop := context.WithTimeout(context.WithoutCancel(ctx), sendTimeout)
	defer stop()
	problem := s.Email.Send(sending, *out)
	return s.recordAttempt(context.WithoutCancel(ctx), run, team, args, problem)
}

// prepare renders an e-mail. It returns nil, and ends the e-mail, if it must
// not be sent.
func (s *Service) prepare(ctx context.Context, tx *store.Tx, team teams.ID, args mailArgs) (*messages.Outgoing, error) {
	n, err := Get(ctx, tx, team, args.Notice)
	if fault.Is(err, fault.NotFound) { // erased
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m, ok := n.mail(args.Kind)
	if !ok || m.State != MailQueued {
		return nil, nil
	}
	of, err := teams.Get(ctx, tx, team)
	if err != nil {
		return nil, err
	}
	switch {
	case n.State != Open:
		return nil, endMail(ctx, tx, &n, m.Kind, MailCleared, "")
	case of.Environment == teams.Sandbox:
		return nil, endMail(ctx, tx, &n, m.Kind, MailOutbox, "")
	case s.Email == nil:
		return nil, s.fail(ctx, tx, &n, m.Kind, "off")
	}
	subject, text := s.Text(&n, m.Kind, of)
	return &messages.Outgoing{ID: ids.FromUUID[messages.Message](m.ID), Team: of.Name, Recipient: m.Recipient, Subject: subject, Text: text}, nil
}

// fail ends an e-mail that cannot be sent. When it is the first one, the notice
// escalates at once.
func (s *Service) fail(ctx context.Context, tx *store.Tx, n *Notice, kind MailKind, problem string) error {
	if err := endMail(ctx, tx, n, kind, MailFailed, problem); err != nil || kind != Notification {
		return err
	}
	return escalate(ctx, tx, n.Team, n.ID)
}

// recordAttempt writes the outcome of an attempt.
func (s *Service) recordAttempt(ctx context.Context, run *jobs.Run, team teams.ID, args mailArgs, problem error) error {
	word, final := "", false
	if problem != nil {
		word = "unreachable"
		var p *messages.Problem
		if errors.As(problem, &p) {
			word, final = p.Word, p.Final
		} else if errors.Is(problem, context.DeadlineExceeded) {
			word = "timeout"
		}
		final = final || run.Attempt >= maxAttempts
	}
	err := run.DB().Write(ctx, func(tx *store.Tx) error {
		n, err := Get(ctx, tx, team, args.Notice)
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		switch {
		case err != nil:
			return err
		case problem == nil:
			return endMail(ctx, tx, &n, args.Kind, MailSent, "")
		case final:
			return s.fail(ctx, tx, &n, args.Kind, word)
		}
		return noteAttempt(ctx, tx, &n, args.Kind, word)
	})
	switch {
	case err != nil:
		return err
	case problem == nil:
		return nil
	case final:
		return jobs.Permanent(&messages.Problem{Word: word, Final: true})
	}
	return &messages.Problem{Word: word}
}

func (n *Notice) mail(kind MailKind) (Mail, bool) {
	for _, m := range n.Mails {
		if m.Kind == kind {
			return m, true
		}
	}
	return Mail{}, false
}

// Text returns the subject and the text of an e-mail. They name no patient and
// no value.
func (s *Service) Text(n *Notice, kind MailKind, team teams.Team) (subject, text string) {
	base := strings.TrimRight(s.BaseURL(), "/")
	var about, id, read string
	switch {
	case n.Order != nil:
		about, id = "order", n.Order.String()
		read = "GET " + base + "/v3/order/" + id + "/result"
	case n.Report != nil:
		about, id = "parsed report", n.Report.String()
		read = "GET " + base + "/lab_report/v1/parser/job/" + id + "/review"
	case n.Result != nil:
		about, id = "result in review", n.Result.String()
		if read = "GET " + base + "/v3/unmatched_result/" + id; !team.ReviewsResults() {
			read = "an operator of the service can: hale results review show " + id + " -o json"
		}
	}
	subject = fmt.Sprintf("Critical laboratory result: %s %s", about, id)
	first := "A laboratory reported a critical result."
	if kind == Escalation {
		subject = "NOT ACKNOWLEDGED: " + subject
		first = "A laboratory reported a critical result, and it was not acknowledged in time."
	}
	lines := []string{
		first, "",
		"Team:     " + team.Name,
		strings.ToUpper(about[:1]) + about[1:] + ": " + id,
		"Received: " + n.RaisedAt.UTC().Format("2006-01-02 15:04") + " UTC",
		"Read it:  " + read,
		"",
		"Notify the responsible physician, then acknowledge with the name of the person who was notified:",
		"  hale results critical acknowledge " + n.ID.String() + " --notified NAME --read-back",
	}
	if kind == Notification {
		lines = append(lines, "", "Without an acknowledgement until "+n.DueAt.UTC().Format("2006-01-02 15:04")+" UTC this result escalates.")
	}
	return subject, strings.Join(lines, "\n") + "\n"
}

// operatorArgs names a result without a team.
type operatorArgs struct {
	Result uuid.UUID `json:"result"`
}

var operatorKind = jobs.NewKind[operatorArgs]("critical.operators").With(jobs.Limits{Concurrency: 4, Timeout: 2 * sendTimeout, Attempts: 20})

// NotifyOperators queues an e-mail to the operators about a critical result
// whose team is not known. Call it in the transaction that stores the result.
func NotifyOperators(ctx context.Context, tx *store.Tx, result uuid.UUID) error {
	_, err := operatorKind.Enqueue(ctx, tx, operatorArgs{result}, jobs.Options{Key: result.String()})
	return err
}

// sendToOperators makes one attempt. Without an address there is no e-mail; the
// metrics and hale doctor name the result.
func (s *Service) sendToOperators(ctx context.Context, run *jobs.Run, args operatorArgs) error {
	if s.Operators == "" {
		return nil
	}
	if s.Email == nil {
		return jobs.Permanent(errors.New("critical: an e-mail to the operators needs smtp-url"))
	}
	id := args.Result.String()
	text := strings.Join([]string{
		"A laboratory reported a critical result, and Hale does not know its team.", "",
		"Result: " + id,
		"Read it:  hale results inbox show " + id + " -o json",
		"Assign it: hale results inbox assign " + id + " --order ORDER",
	}, "\n") + "\n"
	sending, stop := context.WithTimeout(ctx, sendTimeout)
	defer stop()
	err := s.Email.Send(sending, messages.Outgoing{
		ID: ids.FromUUID[messages.Message](args.Result), Recipient: s.Operators, Subject: "Critical laboratory result without a team: " + id, Text: text,
	})
	var p *messages.Problem
	if errors.As(err, &p) && p.Final {
		return jobs.Permanent(err)
	}
	return err
}
