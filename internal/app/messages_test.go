package app_test

import (
	"strings"
	"testing"
	"time"

	"hale/internal/labs/networks/networktest"
	"hale/internal/platform/store/storetest"
)

// A patient gets one message about each change of an order; in a sandbox team it is in
// the outbox.
func TestPatientGetsOneMessagePerChange(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := newClinic(t, d, &networktest.Lab{})
		o := c.order("walk_in_test")
		c.until(o.ID, "received.walk_in_test.requisition_created")
		c.Expect(200, "POST", "/v3/order/"+o.ID+"/cancel", ``, &struct{}{})
		want := "ordered.sms requisition_created.walk_in_test.sms requisition_created.walk_in_test.email cancelled.sms"
		var templates []string
		for deadline := time.Now().Add(90 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			var outbox struct {
				Data []struct{ Template, State, Text string }
			}
			c.Get("/v2/team/outbox?order_id="+o.ID, &outbox)
			templates = nil
			for i := len(outbox.Data) - 1; i >= 0; i-- { // oldest first
				m := outbox.Data[i]
				if m.State == "outbox" && m.Text != "" {
					templates = append(templates, m.Template)
				}
			}
			if strings.Join(templates, " ") == want {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("the outbox has %q of %+v, want %q", templates, outbox.Data, want)
			}
		}
	})
}
