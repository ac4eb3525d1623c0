package messages_test

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/messages"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/fault"
	"hale/internal/platform/jobs"
	"hale/internal/platform/jobs/jobstest"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// appointment reports a confirmed appointment of an order.
func (r *fixture) appointment(e messages.OrderEvent) {
	r.t.Helper()
	r.write(func(ctx context.Context, tx *store.Tx) error {
		return messages.AppointmentMoved(ctx, tx, messages.AppointmentEvent{
			Team: r.team, User: r.user.ID, Order: r.order, Method: e.Method, Status: "confirmed", SMSEnabled: e.SMSEnabled, Contact: e.Contact,
		})
	})
}

var portalLink = regexp.MustCompile(`https://hale\.example\.org/p/[0-9A-Za-z]{43}`)

func TestSandboxMessagesEndInTheOutbox(t *testing.T) {
	eachFixture(t, teams.Sandbox, func(t *testing.T, r *fixture) {
		r.moved(r.event("walk_in_test", "ordered"))
		if got := r.states(); got != "ordered.sms outbox" {
			t.Errorf("a message without a link: %s", got)
		}
		r.moved(r.event("walk_in_test", "requisition_created"))
		r.work(nil)
		all := r.list(messages.Filter{})
		if len(all) != 3 {
			t.Fatalf("%s", r.states())
		}
		for _, m := range all {
			linked := portalLink.MatchString(m.Text)
			if m.State != messages.Outbox || m.EndedAt == nil || linked == (m.Template == "ordered.sms") || !strings.Contains(m.Text, "Example Clinic") {
				t.Errorf("%+v", m)
			}
		}
		if got := r.sent.all(); len(got) > 0 {
			t.Errorf("%d messages left a sandbox team", len(got))
		}
	})
}

func TestProductionMessagesAreSent(t *testing.T) {
	eachFixture(t, teams.Production, func(t *testing.T, r *fixture) {
		r.moved(r.event("on_site_collection", "requisition_created"))
		if got := r.states(); got != "requisition_created.on_site_collection.sms queued, requisition_created.on_site_collection.email queued" {
			t.Errorf("before the job: %s", got)
		}
		r.work(nil)
		got := r.sent.all()
		if len(got) != 2 {
			t.Fatalf("%d sent", len(got))
		}
		shown := map[messages.ID]messages.OutboxMessage{}
		for _, m := range r.list(messages.Filter{}) {
			shown[m.ID] = m
		}
		for _, out := range got {
			m := shown[out.ID]
			if m.State != messages.Sent || m.Attempts != 1 || m.Text != out.Text || m.Recipient != out.Recipient || out.Team != "Example Clinic" {
				t.Errorf("sent %+v, shown %+v", out, m)
			}
			if !portalLink.MatchString(out.Text) {
				t.Errorf("no link in %q", out.Text)
			}
		}
	})
}

func TestRetriesAndFinalProblems(t *testing.T) {
	for name, c := range map[string]struct {
		answer error
		after  string // one attempt
		word   string
	}{
		"for a while":       {&messages.Problem{Word: "deferred"}, "queued", "deferred"},
		"with a text":       {errors.New("unknown address ada@example.org"), "queued", "unreachable"},
		"for good":          {&messages.Problem{Word: "refused", Final: true}, "failed", "refused"},
		"without an answer": {context.DeadlineExceeded, "queued", "timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			eachFixture(t, teams.Production, func(t *testing.T, r *fixture) {
				r.sent.answer = func() error { return c.answer }
				r.moved(r.event("testkit", "ordered"))
				r.work(func(all []messages.OutboxMessage) bool { return all[0].Attempts == 1 })
				m := r.list(messages.Filter{})[0]
				if string(m.State) != c.after || m.Problem != c.word {
					t.Errorf("after one attempt: %s, %q", m.State, m.Problem)
				}
				if c.after != "queued" {
					return
				}
				r.sent.answer = nil
				r.clock.Advance(time.Minute)
				r.work(nil)
				m = r.list(messages.Filter{})[0]
				got := r.sent.all()
				if m.State != messages.Sent || m.Attempts != 2 || len(got) != 2 || got[0] != got[1] {
					t.Errorf("after another: %+v, %d sent", m, len(got))
				}
			})
		})
	}
}

// The message fails after its last attempt.
func TestSenderThatAlwaysFails(t *testing.T) {
	eachFixture(t, teams.Production, func(t *testing.T, r *fixture) {
		r.sent.answer = func() error { return &messages.Problem{Word: "deferred"} }
		r.moved(r.event("testkit", "ordered"))
		for n := 1; n <= 8; n++ {
			r.work(func(all []messages.OutboxMessage) bool {
				return all[0].Attempts == n && (n < 8 || all[0].State == messages.Failed)
			})
			r.clock.Advance(24 * time.Hour)
		}
		if got := r.states(); got != "ordered.sms failed" {
			t.Error(got)
		}
	})
}

func TestChannelWithoutSender(t *testing.T) {
	eachFixture(t, teams.Production, func(t *testing.T, r *fixture) {
		r.service.SMS = nil
		r.moved(r.event("testkit", "ordered"))
		r.work(nil)
		if m := r.list(messages.Filter{})[0]; m.State != messages.Failed || m.Problem != "off" {
			t.Errorf("%+v", m)
		}
	})
}

// A transaction that is rolled back leaves no messages.
func TestRollbackRemovesMessages(t *testing.T) {
	eachFixture(t, teams.Production, func(t *testing.T, r *fixture) {
		undone := errors.New("undone")
		err := r.db.Write(r.ctx, func(tx *store.Tx) error {
			if err := messages.OrderMoved(r.ctx, tx, r.event("testkit", "ordered")); err != nil {
				return err
			}
			return undone
		})
		if !errors.Is(err, undone) || r.states() != "" {
			t.Errorf("%v: %s", err, r.states())
		}
		r.work(nil)
		if got := r.sent.all(); len(got) != 0 {
			t.Errorf("%d sent", len(got))
		}
	})
}

func TestRowsAreSealed(t *testing.T) {
	eachFixture(t, teams.Production, func(t *testing.T, r *fixture) {
		r.moved(r.event("testkit", "ordered"))
		r.work(nil)
		var stored []byte
		userstest.Read(t, r.db, func(ctx context.Context, tx *store.Tx) error {
			return tx.QueryRow(ctx, `SELECT content FROM messages WHERE user_id = $1`, r.user.ID).Scan(&stored)
		})
		for _, word := range []string{"Ada, ", "+1512", "order"} {
			if bytes.Contains(stored, []byte(word)) {
				t.Errorf("the row contains %q", word)
			}
		}
	})
}

func TestListIsScopedAndPaged(t *testing.T) {
	eachFixture(t, teams.Sandbox, func(t *testing.T, r *fixture) {
		for range 5 {
			r.moved(r.event("testkit", "ordered"))
		}
		var seen []messages.ID
		f := messages.Filter{Limit: 2}
		for {
			page := r.list(f)
			if len(page) == 0 {
				break
			}
			seen = append(seen, page[len(page)-1].ID)
			if len(page) > 1 {
				seen = append(seen, page[0].ID)
			}
			f.Before = page[0].ID
		}
		if len(seen) != 5 {
			t.Errorf("%d messages on all pages", len(seen))
		}
		other := newFixture(t, r.db, teams.Sandbox, r.clock)
		if got := other.states(); got != "" {
			t.Errorf("another team sees %s", got)
		}
		err := r.db.Read(r.ctx, func(tx *store.Tx) error {
			_, err := messages.List(r.ctx, tx, r.team, messages.Filter{Users: []users.ID{other.user.ID}, Limit: 1})
			return err
		})
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("another team's user: %v", err)
		}
		if got := r.list(messages.Filter{Users: []users.ID{r.user.ID}, Orders: []uuid.UUID{r.order}, Channels: []messages.Channel{messages.SMS}, States: []messages.State{messages.Outbox}}); len(got) != 5 {
			t.Errorf("%d by every filter", len(got))
		}
		if got := r.list(messages.Filter{States: []messages.State{messages.Sent}}); len(got) != 0 {
			t.Errorf("%d of another state", len(got))
		}
		several := messages.Filter{
			Users: []users.ID{r.user.ID, r.user.ID}, Orders: []uuid.UUID{r.order, uuid.New(), uuid.New()},
			Channels: []messages.Channel{messages.SMS, messages.Email}, States: []messages.State{messages.Outbox, messages.Sent},
		}
		if got := r.list(several); len(got) != 5 {
			t.Errorf("%d by several values of every filter", len(got))
		}
	})
}

// Deleting a user clears the reminders at once. Erasure removes the rows later.
func TestDeletionClearsReminders(t *testing.T) {
	eachFixture(t, teams.Production, func(t *testing.T, r *fixture) {
		r.settings(messages.Settings{SMS: true, Email: true, Reminders: true})
		r.moved(r.event("testkit", "with_customer"))
		r.write(func(ctx context.Context, tx *store.Tx) error {
			return users.Delete(ctx, tx, r.team, r.user.ID)
		})
		if got := r.stored(); got != "cleared cleared" {
			t.Error(got)
		}
	})
}

// stored returns the states of all rows, including those of deleted users.
func (r *fixture) stored() string {
	var all []string
	userstest.Read(r.t, r.db, func(ctx context.Context, tx *store.Tx) error {
		rows, err := tx.Query(ctx, `SELECT state FROM messages WHERE team_id = $1 ORDER BY id`, r.team)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var state string
			if err := rows.Scan(&state); err != nil {
				return err
			}
			all = append(all, state)
		}
		return rows.Err()
	})
	return strings.Join(all, " ")
}

// A deleted user gets no messages, although the order continues, until the deletion
// is undone.
func TestDeletedUserGetsNoMessages(t *testing.T) {
	eachFixture(t, teams.Production, func(t *testing.T, r *fixture) {
		r.settings(messages.Settings{SMS: true, Email: true, Reminders: true})
		r.write(func(ctx context.Context, tx *store.Tx) error { return users.Delete(ctx, tx, r.team, r.user.ID) })
		r.moved(r.event("walk_in_test", "requisition_created"))
		r.visit("at_home_phlebotomy", "confirmed", r.clock.Now().Add(72*time.Hour))
		r.moved(r.event("walk_in_test", "completed"))
		if got := r.stored(); got != "" {
			t.Errorf("queued: %s", got)
		}
		r.write(func(ctx context.Context, tx *store.Tx) error {
			return users.UndoDelete(ctx, tx, r.team, users.Ref{ID: &r.user.ID})
		})
		r.moved(r.event("walk_in_test", "completed"))
		if got := r.stored(); got != "queued" {
			t.Errorf("after the undo: %s", got)
		}
	})
}

// A message that waits for a retry is cleared when the person is deleted or a switch
// is turned off.
func TestRetryIsCleared(t *testing.T) {
	for name, c := range map[string]struct {
		event  string
		change func(r *fixture)
	}{
		"the person is deleted": {"ordered", func(r *fixture) {
			r.write(func(ctx context.Context, tx *store.Tx) error { return users.Delete(ctx, tx, r.team, r.user.ID) })
		}},
		"the order's switch is turned": {"ordered", func(r *fixture) {
			r.write(func(ctx context.Context, tx *store.Tx) error { return messages.SilenceSMS(ctx, tx, r.team, r.order) })
		}},
		"the team's switch is turned": {"ordered", func(r *fixture) { r.settings(messages.Settings{Email: true}) }},
		"a reminder's reason is gone": {"with_customer", func(r *fixture) {
			r.moved(r.event("testkit", "transit_lab"))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			eachFixture(t, teams.Production, func(t *testing.T, r *fixture) {
				r.settings(messages.Settings{SMS: true, Email: true, Reminders: true})
				r.sent.answer = func() error { return &messages.Problem{Word: "deferred"} }
				r.moved(r.event("testkit", c.event))
				r.clock.Advance(48 * time.Hour) // a reminder is due
				r.work(func(all []messages.OutboxMessage) bool { return all[0].Attempts == 1 })
				c.change(r)
				r.clock.Advance(time.Minute)
				r.work(func([]messages.OutboxMessage) bool { return !strings.Contains(r.stored(), "queued") })
				if sent := r.sent.all(); len(sent) != 1 || !strings.HasPrefix(r.stored(), "cleared") {
					t.Errorf("%s, after %d attempts", r.stored(), len(sent))
				}
			})
		})
	}
}

// A process that stops lets a started attempt finish: otherwise the outcome would be
// unknown.
func TestStopWaitsForAnAttempt(t *testing.T) {
	eachFixture(t, teams.Production, func(t *testing.T, r *fixture) {
		begun := make(chan struct{})
		r.service.SMS = senderFunc(func(ctx context.Context) error {
			close(begun)
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(200 * time.Millisecond):
				return nil
			}
		})
		r.moved(r.event("testkit", "ordered"))
		system := store.AsSystem(context.Background())
		node, err := jobs.Join(system, r.db, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		loop := jobstest.NewLoop(jobs.NewRunner(r.db, jobs.Config{Node: node, Kinds: r.service.Jobs()}).Run)
		loop.Start(system)
		<-begun
		if err := errors.Join(loop.Stop(system), node.Stop(system)); err != nil {
			t.Fatal(err)
		}
		if got := r.states(); got != "ordered.sms sent" {
			t.Error(got)
		}
	})
}

// senderFunc is a Sender that uses only its context.
type senderFunc func(ctx context.Context) error

func (f senderFunc) Send(ctx context.Context, _ messages.Outgoing) error { return f(ctx) }

// A message that is queued during the user's deletion is not sent.
func TestMessageQueuedDuringDeletion(t *testing.T) {
	eachFixture(t, teams.Production, func(t *testing.T, r *fixture) {
		r.write(func(ctx context.Context, tx *store.Tx) error { return users.Delete(ctx, tx, r.team, r.user.ID) })
		r.write(func(ctx context.Context, tx *store.Tx) error {
			_, err := messages.Queue(ctx, tx, messages.Message{
				Team: r.team, User: r.user.ID, Order: r.order, Channel: messages.SMS, Template: "ordered.sms", Recipient: ada.Phone, FirstName: ada.FirstName,
			})
			return err
		})
		r.work(func([]messages.OutboxMessage) bool { return r.stored() != "queued" })
		if sent := r.sent.all(); len(sent) != 0 || r.stored() != "cleared" {
			t.Errorf("%s, %d sent", r.stored(), len(sent))
		}
	})
}

// A message that is cleared while it is sent is sent.
func TestMessageClearedWhileItIsSent(t *testing.T) {
	eachFixture(t, teams.Production, func(t *testing.T, r *fixture) {
		r.service.SMS = senderFunc(func(context.Context) error {
			r.write(func(ctx context.Context, tx *store.Tx) error { return messages.SilenceSMS(ctx, tx, r.team, r.order) })
			return nil
		})
		r.moved(r.event("testkit", "ordered"))
		r.work(func([]messages.OutboxMessage) bool { return r.stored() == "sent" })
	})
}
