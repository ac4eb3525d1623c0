package critical

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/jobs"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// State is the state of a notice.
type State string

// The states. A notice about a result in review is closed by the decision: an
// accepted result raises a notice of its order.
const (
	Open         State = "open"
	Acknowledged State = "acknowledged"
	Closed       State = "closed"
)

// States lists the states.
var States = []State{Open, Acknowledged, Closed}

// ID identifies a notice.
type ID = ids.ID[Notice]

// Notice is a critical result that a person must learn of. It is about an
// order, a result that waits for review, or a parsed report.
type Notice struct {
	ID     ID
	Team   teams.ID
	User   *users.ID // nil while the result waits for review
	Order  *orders.ID
	Result *uuid.UUID // in the queue of unmatched results
	Report *uuid.UUID // a parsed report
	// Revision is the revision of the order's results; 0 for a result in review.
	Revision int
	State    State
	RaisedAt time.Time
	// DueAt is the time of the escalation.
	DueAt           time.Time
	EscalatedAt     *time.Time
	EndedAt         *time.Time // acknowledged or closed
	Acknowledgement *Acknowledgement
	Mails           []Mail
}

// LogValue names only the notice.
func (n Notice) LogValue() slog.Value { return slog.StringValue(n.ID.String()) }

// Acknowledgement says who was notified of a critical result, and when. Personal.
type Acknowledgement struct {
	Notified   string    `json:"notified_person"`
	NotifiedAt time.Time `json:"notified_at"`
	ReadBack   bool      `json:"read_back"`
	By         string    `json:"by"` // the person or key that acknowledged
	Note       string    `json:"note,omitempty"`
}

// LogValue keeps names out of logs.
func (Acknowledgement) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// Subject is the result that a notice is about.
type Subject struct {
	Order    *orders.Order
	Revision int
	// Result is the id of a result in review, without an order.
	Result uuid.UUID
	// Report is a parsed report, without an order.
	Report *Report
}

// Report is a lab report that was uploaded as a file.
type Report struct {
	ID   uuid.UUID
	User users.ID
}

// Raise stores a notice with its e-mail and its escalation. Call it in the
// transaction that stores the result.
func Raise(ctx context.Context, tx *store.Tx, team teams.ID, about Subject) error {
	settings, err := teams.Get(ctx, tx, team)
	if err != nil {
		return err
	}
	n := Notice{ID: ids.FromUUID[Notice](tx.NewUUID()), Team: team, State: Open, RaisedAt: tx.Now()}
	n.DueAt = n.RaisedAt.Add(settings.Settings.CriticalDelay())
	if settings.Settings.CriticalEmail == "" && settings.Settings.CriticalEscalationEmail != "" {
		n.DueAt = n.RaisedAt // the first e-mail has no recipient
	}
	switch o := about.Order; {
	case o != nil:
		n.User, n.Order, n.Revision = &o.User, &o.ID, about.Revision
	case about.Report != nil:
		n.User, n.Report = &about.Report.User, &about.Report.ID
	default:
		n.Result = &about.Result
	}
	if err := insert(ctx, tx, &n); err != nil {
		return err
	}
	if err := queueMail(ctx, tx, &n, Notification, settings.Settings.CriticalEmail); err != nil {
		return err
	}
	_, err = escalateKind.Enqueue(ctx, tx, noticeArgs{n.ID}, jobs.Options{Team: team.UUID(), Key: n.ID.String(), At: n.DueAt})
	return err
}

// in characters
const (
	maxName = 200
	maxNote = 1000
)

// check refuses an incomplete acknowledgement.
func (a *Acknowledgement) check(tx *store.Tx, raised time.Time) error {
	a.Notified, a.By, a.Note = strings.TrimSpace(a.Notified), strings.TrimSpace(a.By), strings.TrimSpace(a.Note)
	for _, f := range []struct {
		name, text string
		most       int
	}{{"notified_person", a.Notified, maxName}, {"acknowledged_by", a.By, maxName}, {"note", a.Note, maxNote}} {
		if utf8.RuneCountInString(f.text) > f.most {
			return fault.Newf(fault.Invalid, "String should have at most %d characters", f.most).At("body", f.name).WithType("string_too_long")
		}
	}
	if a.Notified == "" {
		return fault.New(fault.Invalid, "Name the person who was notified of the result").At("body", "notified_person").WithType("value_error")
	}
	if a.NotifiedAt.IsZero() {
		a.NotifiedAt = tx.Now()
	}
	if a.NotifiedAt.After(tx.Now().Add(clockSkew)) {
		return fault.New(fault.Invalid, "The time is in the future").At("body", "notified_at").WithType("value_error")
	}
	if a.NotifiedAt.Before(raised.Add(-phoneLead)) {
		return fault.New(fault.Invalid, "The time is more than a day before the result").At("body", "notified_at").WithType("value_error")
	}
	return nil
}

const (
	clockSkew = 5 * time.Minute
	// A laboratory phones before it reports.
	phoneLead = 24 * time.Hour
)

// Acknowledge records who was notified of a critical result. It refuses a notice
// that is no longer open.
func Acknowledge(ctx context.Context, tx *store.Tx, team teams.ID, id ID, a Acknowledgement) (Notice, error) {
	n, err := Get(ctx, tx, team, id)
	if err != nil {
		return Notice{}, err
	}
	if n.State != Open {
		return Notice{}, fault.Newf(fault.Conflict, "This critical result is %s already", n.State)
	}
	if err := a.check(tx, n.RaisedAt); err != nil {
		return Notice{}, err
	}
	now := tx.Now()
	n.State, n.EndedAt, n.Acknowledgement = Acknowledged, &now, &a
	if err := end(ctx, tx, &n); err != nil {
		return Notice{}, err
	}
	return n, announce(ctx, tx, &n, AcknowledgedEvent)
}

// CloseReview ends the open notice of a result in review, because the result
// was accepted or rejected.
func CloseReview(ctx context.Context, tx *store.Tx, team teams.ID, result uuid.UUID) error {
	return closeOpen(ctx, tx, team, openOfResult, result)
}

// CloseReport ends the open notices of a parsed report, because a reviewer
// rejected it or corrected its critical values.
func CloseReport(ctx context.Context, tx *store.Tx, team teams.ID, report uuid.UUID) error {
	return closeOpen(ctx, tx, team, openOfReport, report)
}

func closeOpen(ctx context.Context, tx *store.Tx, team teams.ID, query string, about uuid.UUID) error {
	open, err := openNotices(ctx, tx, query, team, about)
	if err != nil {
		return err
	}
	for _, id := range open {
		n, err := Get(ctx, tx, team, id)
		if err != nil {
			return err
		}
		now := tx.Now()
		n.State, n.EndedAt = Closed, &now
		if err := end(ctx, tx, &n); err != nil {
			return err
		}
		if err := announce(ctx, tx, &n, ClosedEvent); err != nil {
			return err
		}
	}
	return nil
}

// escalate escalates a notice that is still open, once. It does so early when
// the e-mail failed.
func escalate(ctx context.Context, tx *store.Tx, team teams.ID, id ID) error {
	n, err := Get(ctx, tx, team, id)
	if fault.Is(err, fault.NotFound) || err == nil && (n.State != Open || n.EscalatedAt != nil) { // erased, or done
		return nil
	}
	settings, err2 := teams.Get(ctx, tx, team)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	now := tx.Now()
	n.EscalatedAt = &now
	if err := markEscalated(ctx, tx, &n); err != nil {
		return err
	}
	if err := queueMail(ctx, tx, &n, Escalation, settings.Settings.CriticalEscalationEmail); err != nil {
		return err
	}
	return announce(ctx, tx, &n, EscalatedEvent)
}
