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

// The table of the reference, written once more from its text: testkit,
// phlebotomy, walk-in and on-site, - for nothing.
//
// Reference 1.19.
const table = `
ordered               sms        sms        sms        sms
awaiting_registration -          -          -          -
registered            -          -          -          -
requisition_created   -          sms+email  sms+email  sms+email
requisition_bypassed  -          -          -          -
transit_customer      sms        -          -          -
out_for_delivery      sms        -          -          -
with_customer         -          -          -          -
transit_lab           -          -          -          -
delivered_to_lab      sms        -          -          -
lab_processing_blocked -         -          -          -
draw_completed        -          sms        -          sms
partial_results       -          -          -          -
redraw_available      -          -          sms+email  -
completed             sms        sms        sms        sms
corrected             -          -          -          -
sample_error          -          -          -          -
cancelled             sms        sms        sms        sms
do_not_process        -          -          -          -
lost                  -          -          -          -
appointment_scheduled -          -          -          -
visit:pending         -          email      -          -
visit:confirmed       -          email      sms        -
visit:cancelled       -          email      sms        -
visit:completed       -          -          -          -
visit:in_progress     -          -          -          -
`

var methods = []string{"testkit", "at_home_phlebotomy", "walk_in_test", "on_site_collection"}

func TestMatrix(t *testing.T) {
	r := newRig(t, storetest.SQLite(t), teams.Sandbox, nil)
	for line := range strings.Lines(strings.TrimSpace(table)) {
		cells := strings.Fields(line)
		for i, method := range methods {
			got := r.said(method, cells[0], ada)
			if want := strings.ReplaceAll(cells[1+i], "-", ""); got != want {
				t.Errorf("%s of %s: %q, want %q", cells[0], method, got, want)
			}
		}
	}
}

// said tells an event and names the channels it was told by.
func (r *rig) said(method, event string, contact messages.Contact) string {
	before := len(r.list(messages.Filter{Limit: 1000}))
	if status, ok := strings.CutPrefix(event, "visit:"); ok {
		r.visit(method, status, time.Time{})
	} else {
		e := r.event(method, event)
		e.Contact = contact
		r.moved(e)
	}
	var channels []string
	for _, m := range r.list(messages.Filter{Limit: 1000})[before:] {
		channels = append(channels, string(m.Channel))
		want := contact.Phone
		if m.Channel == messages.Email {
			want = contact.Email
		}
		if m.Recipient != want || m.Text == "" || (m.Subject != "") != (m.Channel == messages.Email) {
			r.t.Errorf("%s of %s: %+v", event, method, m)
		}
	}
	slices.Sort(channels)
	slices.Reverse(channels)
	return strings.Join(channels, "+")
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

func (r *rig) channels() string {
	var all []string
	for _, m := range r.list(messages.Filter{}) {
		all = append(all, string(m.Channel))
	}
	slices.Sort(all)
	slices.Reverse(all)
	return strings.Join(all, "+")
}
