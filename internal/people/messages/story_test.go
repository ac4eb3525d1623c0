package messages_test

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"hale/internal/people/messages"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// appointment tells a confirmed appointment of the same order and person.
func (r *rig) appointment(e messages.OrderEvent) {
	r.t.Helper()
	r.write(func(ctx context.Context, tx *store.Tx) error {
		return messages.AppointmentMoved(ctx, tx, messages.AppointmentEvent{
			Team: r.team, User: r.user.ID, Order: r.order, Method: e.Method, Status: "confirmed", SMSEnabled: e.SMSEnabled, Contact: e.Contact,
		})
	})
}

var portalLink = regexp.MustCompile(`https://hale\.example\.org/p/[0-9A-Za-z]{43}`)

func TestSandboxEndsInTheOutbox(t *testing.T) {
	eachRig(t, teams.Sandbox, func(t *testing.T, r *rig) {
		r.moved(r.event("walk_in_test", "ordered"))
		if got := r.states(); got != "ordered.sms outbox" {
			t.Errorf("without a link it is there at once: %s", got)
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

func TestProductionIsSent(t *testing.T) {
	eachRig(t, teams.Production, func(t *testing.T, r *rig) {
		r.moved(r.event("on_site_collection", "requisition_created"))
		if got := r.states(); got != "requisition_created.on_site_collection.sms queued, requisition_created.on_site_collection.email queued" {
			t.Errorf("before the job: %s", got)
		}
		r.work(nil)
		got := r.sent.all()
		if len(got) != 2 {
			t.Fatalf("%d sent", len(got))
		}
		shown := map[messages.ID]messages.Shown{}
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

func TestSenderThatFails(t *testing.T) {
	for name, c := range map[string]struct {
		answer error
		after  string // one attempt
		word   string
	}{
		"for a while":       {&messages.Problem{Word: "deferred"}, "queued", "deferred"},
		"with a text":       {errors.New("nobody@example.org is unknown"), "queued", "unreachable"},
		"for good":          {&messages.Problem{Word: "refused", Final: true}, "failed", "refused"},
		"without an answer": {context.DeadlineExceeded, "queued", "timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			eachRig(t, teams.Production, func(t *testing.T, r *rig) {
				r.sent.answer = func() error { return c.answer }
				r.moved(r.event("testkit", "ordered"))
				r.work(func(all []messages.Shown) bool { return all[0].Attempts == 1 })
				m := r.list(messages.Filter{})[0]
				if string(m.State) != c.after || m.Problem != c.word {
					t.Errorf("after one attempt: %s, %q", m.State, m.Problem)
				}
				if c.after != "queued" {
					return
				}
				r.sent.answer = nil
				r.clock.turn(time.Minute)
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

// A sender that never answers well ends the message after its last attempt.
func TestSenderThatNeverWorks(t *testing.T) {
	eachRig(t, teams.Production, func(t *testing.T, r *rig) {
		r.sent.answer = func() error { return &messages.Problem{Word: "deferred"} }
		r.moved(r.event("testkit", "ordered"))
		for n := 1; n <= 8; n++ {
			r.work(func(all []messages.Shown) bool {
				return all[0].Attempts == n && (n < 8 || all[0].State == messages.Failed)
			})
			r.clock.turn(24 * time.Hour)
		}
		if got := r.states(); got != "ordered.sms failed" {
			t.Error(got)
		}
	})
}

func TestChannelThatNobodySetUp(t *testing.T) {
	eachRig(t, teams.Production, func(t *testing.T, r *rig) {
		r.service.SMS = nil
		r.moved(r.event("testkit", "ordered"))
		r.work(nil)
		if m := r.list(messages.Filter{})[0]; m.State != messages.Failed || m.Problem != "off" {
			t.Errorf("%+v", m)
		}
	})
}

// A change that is taken back takes its messages along.
func TestMessagesBelongToTheTransaction(t *testing.T) {
	eachRig(t, teams.Production, func(t *testing.T, r *rig) {
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
	eachRig(t, teams.Production, func(t *testing.T, r *rig) {
		r.moved(r.event("testkit", "ordered"))
		r.work(nil)
		var stored []byte
		userstest.Read(t, r.db, func(ctx context.Context, tx *store.Tx) error {
			return tx.QueryRow(ctx, `SELECT content FROM messages WHERE user_id = $1`, r.user.ID).Scan(&stored)
		})
		for _, word := range []string{"Ada", "+1512", "order"} {
			if bytes.Contains(stored, []byte(word)) {
				t.Errorf("%q stands in the row", word)
			}
		}
	})
}

func TestListIsScopedAndPaged(t *testing.T) {
	eachRig(t, teams.Sandbox, func(t *testing.T, r *rig) {
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
		other := newRig(t, r.db, teams.Sandbox, r.clock)
		if got := other.states(); got != "" {
			t.Errorf("another team sees %s", got)
		}
		err := r.db.Read(r.ctx, func(tx *store.Tx) error {
			_, err := messages.List(r.ctx, tx, r.team, messages.Filter{User: other.user.ID, Limit: 1})
			return err
		})
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("another team's user: %v", err)
		}
		if got := r.list(messages.Filter{User: r.user.ID, Order: r.order, Channel: messages.SMS, State: messages.Outbox}); len(got) != 5 {
			t.Errorf("%d by every filter", len(got))
		}
		if got := r.list(messages.Filter{State: messages.Sent}); len(got) != 0 {
			t.Errorf("%d of another state", len(got))
		}
	})
}

// A deleted user's reminders are cleared at once and the rest is erased later.
func TestDeletedUser(t *testing.T) {
	eachRig(t, teams.Production, func(t *testing.T, r *rig) {
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

// stored are the states of all rows, also of those whose user is deleted.
func (r *rig) stored() string {
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
