package messages_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hale/internal/people/messages"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// The rows about visits of the table in the reference: phlebotomy and walk-in.
// The rows about statuses are tested in package orders.
//
// Reference 1.19.
func TestVisitMessages(t *testing.T) {
	r := newFixture(t, storetest.SQLite(t), teams.Sandbox, nil)
	for status, want := range map[string][4]string{
		"pending":     {"", "email", "", ""},
		"confirmed":   {"", "email", "sms", ""},
		"cancelled":   {"", "email", "sms", ""},
		"completed":   {},
		"in_progress": {},
	} {
		for i, method := range []string{"testkit", "at_home_phlebotomy", "walk_in_test", "on_site_collection"} {
			before := len(r.list(messages.Filter{Limit: 1000}))
			r.visit(method, status, time.Time{})
			if got := channelsOf(r.list(messages.Filter{Limit: 1000})[before:]); got != want[i] {
				t.Errorf("%s of %s: %q, want %q", status, method, got, want[i])
			}
		}
	}
}

// The team's switch, the order's switch or a missing address closes a channel. SMS
// replaces e-mail, but e-mail does not replace SMS.
func TestSwitches(t *testing.T) {
	on := messages.Settings{SMS: true, Email: true}
	noPhone, noEmail := ada, ada
	noPhone.Phone, noEmail.Email = "", ""
	for _, c := range []struct {
		name     string
		settings messages.Settings
		contact  messages.Contact
		silent   bool // the order's switch is off
		both     string
		visit    string
	}{
		{"all on", on, ada, false, "sms+email", "email"},
		{"team without SMS", messages.Settings{Email: true}, ada, false, "email", "email"},
		{"team without e-mail", messages.Settings{SMS: true}, ada, false, "sms", "sms"},
		{"team with nothing", messages.Settings{}, ada, false, "", ""},
		{"order without SMS", on, ada, true, "email", "email"},
		{"no telephone", on, noPhone, false, "email", "email"},
		{"no e-mail address", on, noEmail, false, "sms", "sms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newFixture(t, storetest.SQLite(t), teams.Sandbox, nil)
			r.settings(c.settings)
			e := r.event("at_home_phlebotomy", "requisition_created")
			e.Contact, e.SMSEnabled = c.contact, !c.silent
			r.moved(e)
			if got := r.channels(); got != c.both {
				t.Errorf("requisition: %q, want %q", got, c.both)
			}
			r = newFixture(t, r.db, teams.Sandbox, nil)
			r.settings(c.settings)
			r.appointment(e)
			if got := r.channels(); got != c.visit {
				t.Errorf("appointment: %q, want %q", got, c.visit)
			}
		})
	}
}

func (r *fixture) channels() string { return channelsOf(r.list(messages.Filter{})) }

// channelsOf joins the channels of messages, such as sms+email.
func channelsOf(shown []messages.OutboxMessage) string {
	var all []string
	for _, m := range shown {
		all = append(all, string(m.Channel))
	}
	slices.Sort(all)
	slices.Reverse(all)
	return strings.Join(all, "+")
}

// Simultaneous changes of different switches all apply.
func TestSimultaneousChangesOfSwitches(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, teams.Production, nil)
		for range 20 {
			r.settings(messages.Settings{SMS: true, Email: true})
			var both sync.WaitGroup
			for _, turn := range []func(s *messages.Settings){
				func(s *messages.Settings) { s.SMS = false }, func(s *messages.Settings) { s.Email = false },
			} {
				both.Go(func() {
					r.write(func(ctx context.Context, tx *store.Tx) error {
						_, err := messages.ChangeSettings(ctx, tx, r.team, turn)
						return err
					})
				})
			}
			both.Wait()
			r.write(func(ctx context.Context, tx *store.Tx) error {
				s, err := messages.SettingsOf(ctx, tx, r.team)
				if s.SMS || s.Email {
					t.Errorf("%+v", s)
				}
				return err
			})
		}
	})
}
