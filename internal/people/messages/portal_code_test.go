package messages_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"hale/internal/people/messages"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

func (r *fixture) sendCode(channel messages.Channel) {
	r.t.Helper()
	r.write(func(ctx context.Context, tx *store.Tx) error {
		return messages.SendPortalCode(ctx, tx, messages.PortalCode{
			Team: r.team, User: r.user.ID, Channel: channel, Recipient: map[messages.Channel]string{messages.SMS: ada.Phone, messages.Email: ada.Email}[channel],
			FirstName: "Ada", Code: "012345", Expires: tx.Now().Add(10 * time.Minute),
		})
	})
}

func TestSandboxTeamsSeeTheCode(t *testing.T) {
	eachFixture(t, teams.Sandbox, func(t *testing.T, r *fixture) {
		r.sendCode(messages.SMS)
		m := r.list(messages.Filter{})[0]
		if m.State != messages.Outbox || m.Recipient != ada.Phone || m.Template != "portal_code.sms" ||
			!strings.Contains(m.Text, "012345") || !strings.Contains(m.Text, "Example Clinic") {
			t.Errorf("%+v", m)
		}
	})
}

// The code reaches the patient. The team sees that it was sent, and the row has
// no code in clear.
func TestProductionTeamsDoNotSeeTheCode(t *testing.T) {
	eachFixture(t, teams.Production, func(t *testing.T, r *fixture) {
		r.sent.answer = func() error { return &messages.Problem{Word: "deferred"} }
		r.sendCode(messages.Email)
		r.work(func(all []messages.OutboxMessage) bool { return all[0].Attempts == 1 })
		r.sent.answer = nil
		r.clock.Advance(time.Minute)
		r.work(nil)
		got := r.sent.all()
		if len(got) != 2 || got[0] != got[1] || !strings.Contains(got[1].Text, "012345") || got[1].Subject == "" || strings.Contains(got[1].Subject, "012345") {
			t.Errorf("%d sent: %q", len(got), got[1].Text)
		}
		m := r.list(messages.Filter{})[0]
		if m.State != messages.Sent || strings.Contains(m.Text, "012345") || !strings.Contains(m.Text, "••••••") {
			t.Errorf("%s: %q", m.State, m.Text)
		}
		var stored []byte
		userstest.Read(t, r.db, func(ctx context.Context, tx *store.Tx) error {
			return tx.QueryRow(ctx, `SELECT content FROM messages WHERE user_id = $1`, r.user.ID).Scan(&stored)
		})
		if bytes.Contains(stored, []byte("012345")) {
			t.Error("the row has the code in clear")
		}
	})
}

// The switches are about orders. A code was asked for by the patient.
func TestSwitchesDoNotStopCodes(t *testing.T) {
	eachFixture(t, teams.Production, func(t *testing.T, r *fixture) {
		r.settings(messages.Settings{})
		r.sendCode(messages.SMS)
		r.work(nil)
		if got := r.states(); got != "portal_code.sms sent" {
			t.Error(got)
		}
	})
}

func TestLateCodesAreNotSent(t *testing.T) {
	eachFixture(t, teams.Production, func(t *testing.T, r *fixture) {
		r.sendCode(messages.SMS)
		r.clock.Advance(10 * time.Minute)
		r.work(nil)
		if m := r.list(messages.Filter{})[0]; m.State != messages.Cleared || m.Problem != "late" || len(r.sent.all()) != 0 {
			t.Errorf("%s, %s", m.State, m.Problem)
		}
	})
}

func TestChannelsThatCarry(t *testing.T) {
	s := &messages.Service{SMS: &fakeSender{}}
	for _, c := range []struct {
		env     teams.Environment
		channel messages.Channel
		want    bool
	}{
		{teams.Production, messages.SMS, true},
		{teams.Production, messages.Email, false},
		{teams.Sandbox, messages.SMS, true},
		{teams.Sandbox, messages.Email, true},
	} {
		if got := s.Carries(c.env, c.channel); got != c.want {
			t.Errorf("%s, %s: %v", c.env, c.channel, got)
		}
	}
}
