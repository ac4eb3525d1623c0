package orders_test

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hale/internal/labs/orders"
	"hale/internal/people/messages"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// patientMessages is the table of the reference: testkit, phlebotomy, walk-in
// and on-site; - for no message. Statuses that are not in it send none.
//
// Reference 1.19.
const patientMessages = `
ordered               sms        sms        sms        sms
requisition_created   -          sms+email  sms+email  sms+email
transit_customer      sms        -          -          -
out_for_delivery      sms        -          -          -
delivered_to_lab      sms        -          -          -
draw_completed        -          sms        -          sms
redraw_available      -          -          sms+email  -
completed             sms        sms        sms        sms
cancelled             sms        sms        sms        sms
`

// Every status sends the messages of the table, each with a text. No text in
// messages/templates.txt belongs to a message that is never sent.
func TestPatientMessages(t *testing.T) {
	db := storetest.SQLite(t)
	team := userstest.Team(t, db)
	user := userstest.New(t, db, team.ID, users.NewUser{})
	want := map[string][]string{}
	for line := range strings.Lines(strings.TrimSpace(patientMessages)) {
		cells := strings.Fields(line)
		want[cells[0]] = cells[1:]
	}
	used := map[string]bool{}
	for _, status := range orders.Statuses {
		for i, method := range []orders.Method{"testkit", "at_home_phlebotomy", "walk_in_test", "on_site_collection"} {
			var channels []string
			for _, m := range send(t, db, messages.OrderEvent{Team: team.ID, User: user.ID, Method: string(method), Status: string(status), Message: status.Message(method)}) {
				channels, used[m.Template] = append(channels, string(m.Channel)), true
				if m.Text == "" || (m.Subject != "") != (m.Channel == messages.Email) {
					t.Errorf("%s of %s: subject %q, text %q", status, method, m.Subject, m.Text)
				}
			}
			wanted := ""
			if cells := want[string(status)]; cells != nil {
				wanted = strings.ReplaceAll(cells[i], "-", "")
			}
			if got := strings.Join(channels, "+"); got != wanted {
				t.Errorf("%s of %s: %q, want %q", status, method, got, wanted)
			}
		}
	}
	templates, err := os.ReadFile("../../people/messages/templates.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`define "((\w+)\.[\w.]*(?:sms|email))"`).FindAllStringSubmatch(string(templates), -1) {
		if slices.Contains(orders.Statuses, orders.Status(m[2])) && !strings.HasPrefix(m[2], "appointment_") && !used[m[1]] {
			t.Errorf("no status sends the text %s", m[1])
		}
	}
}

// send moves a new order to a status and returns the messages.
func send(t *testing.T, db *store.DB, e messages.OrderEvent) (sent []messages.OutboxMessage) {
	t.Helper()
	e.SMSEnabled, e.Contact = true, messages.Contact{FirstName: "Ada", Phone: "+15125550132", Email: "ada@example.org"}
	userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) (err error) {
		e.Order = tx.NewUUID()
		if err := messages.OrderMoved(ctx, tx, e); err != nil {
			return err
		}
		sent, err = messages.List(ctx, tx, e.Team, messages.Filter{Orders: []uuid.UUID{e.Order}, Limit: 10})
		slices.Reverse(sent) // oldest first
		return err
	})
	return sent
}
