package messages_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hale/internal/people/messages"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// The rows about visits of the table in the reference: phlebotomy and walk-in.
// The rows about statuses are tested in package orders.
//
// Reference 1.19.
func TestVisitMessages(t *testing.T) {
	r := newRig(t, storetest.SQLite(t), teams.Sandbox, nil)
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

// A channel is closed by the team's switch, by the order's, and by an address
// that is not known. E-mail's deputy is SMS; nothing is SMS's deputy.
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
			r := newRig(t, storetest.SQLite(t), teams.Sandbox, nil)
			r.settings(c.settings)
			e := r.event("at_home_phlebotomy", "requisition_created")
			e.Contact, e.SMSEnabled = c.contact, !c.silent
			r.moved(e)
			if got := r.channels(); got != c.both {
				t.Errorf("requisition: %q, want %q", got, c.both)
			}
			r = newRig(t, r.db, teams.Sandbox, nil)
			r.settings(c.settings)
			r.appointment(e)
			if got := r.channels(); got != c.visit {
				t.Errorf("appointment: %q, want %q", got, c.visit)
			}
		})
	}
}

func (r *rig) channels() string { return channelsOf(r.list(messages.Filter{})) }

// channelsOf joins the channels of messages, such as sms+email.
func channelsOf(shown []messages.Shown) string {
	var all []string
	for _, m := range shown {
		all = append(all, string(m.Channel))
	}
	slices.Sort(all)
	slices.Reverse(all)
	return strings.Join(all, "+")
}
