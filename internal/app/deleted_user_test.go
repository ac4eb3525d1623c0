package app_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hale/internal/platform/store/storetest"
)

// A lab still works on the orders of a deleted user. During the grace period the
// team gets every order, result and appointment event, and the patient gets no
// message. The events stay in the feed when the deletion is undone.
func TestEventsOfADeletedUser(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := newClinic(t, d, nil)
		receiver := c.newReceiver()
		walkIn, visit := c.order("walk_in_test"), c.order("at_home_phlebotomy")
		for _, o := range []orderView{walkIn, visit} {
			simulateStatus("received.*.requisition_created")(c, o.ID)
			c.until(o.ID, withMethod(c.methodOf(o.ID), "received.requisition_created")[0])
		}
		bookVisit(c, visit.ID)
		before := c.messages()

		c.Expect(200, "DELETE", "/v2/user/"+c.user, "", nil)
		c.script(walkIn.ID, "critical")
		cancelOrder(c, visit.ID)
		c.advance(20)
		wantWalkIn := []string{"new received.ordered", "received.requisition_created", "labtest.result.critical", "labtest.result.critical", "completed.completed"}
		wantVisit := []string{
			"new received.ordered", "received.requisition_created", "new visit pending", "collecting_sample.appointment_scheduled", "visit scheduled",
			"cancelled.cancelled", "visit cancelled",
		}
		c.expectEvents(receiver, walkIn.ID, "walk_in_test", wantWalkIn)
		c.expectEvents(receiver, visit.ID, "at_home_phlebotomy", wantVisit)
		if after := c.messages(); !slices.Equal(after, before) {
			t.Errorf("messages to a deleted user: %q, before the deletion %q", after, before)
		}
		for _, name := range c.clientIDs(walkIn.ID, visit.ID) {
			if name != "patient-1" {
				t.Errorf("an event of the deleted user has the client_user_id %q", name)
			}
		}

		c.Expect(200, "POST", "/v2/user/undo_delete?user_id="+c.user, "", nil)
		simulateStatus("completed.*.corrected")(c, walkIn.ID)
		wantWalkIn = append(wantWalkIn, "completed.corrected")
		c.expectEvents(receiver, walkIn.ID, "walk_in_test", wantWalkIn)
		whole := slices.Insert(slices.Clone(wantWalkIn), 3, "sample_with_lab.partial_results") // webhooks leave it out
		if got := c.feedEvents(walkIn.ID, "walk_in_test"); !slices.Equal(got, whole) {
			t.Errorf("the feed has %q\nwant %q", got, whole)
		}
		if got := c.feedEvents(visit.ID, "at_home_phlebotomy"); !slices.Equal(got, wantVisit) {
			t.Errorf("the feed has %q\nwant %q", got, wantVisit)
		}
		c.order("walk_in_test")
		c.eventually(func() bool { return len(c.messages()) > len(before) }, "a user who is back gets no messages")
	})
}

// messages lists the team's messages to patients, oldest first. It waits until
// none is queued.
func (c *clinic) messages() (all []string) {
	c.t.Helper()
	for deadline := time.Now().Add(90 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		var outbox struct {
			Data []struct{ Template, State string }
		}
		c.Get("/v2/team/outbox?limit=100", &outbox)
		all = nil
		queued := false
		for _, m := range outbox.Data {
			all = append(all, m.Template+" "+m.State)
			queued = queued || m.State == "queued"
		}
		if !queued {
			slices.Reverse(all)
			return all
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("messages stay queued: %q", strings.Join(all, ", "))
		}
	}
}

// clientIDs lists the client_user_id of each event about some orders.
func (c *clinic) clientIDs(orders ...string) (names []string) {
	c.t.Helper()
	var page struct {
		Events []struct{ Event json.RawMessage }
	}
	c.Get("/v2/events?limit=1000", &page)
	for _, e := range page.Events {
		var head struct {
			ClientUserID string `json:"client_user_id"`
		}
		if order, _ := summarise(c.t, e.Event); !slices.Contains(orders, order) {
			continue
		}
		if err := json.Unmarshal(e.Event, &head); err != nil {
			c.t.Fatal(err)
		}
		names = append(names, head.ClientUserID)
	}
	return names
}

// Orders that no laboratory has, and kits that are still to ship, wait while their user is
// deleted, also when the clock advances. They continue after the deletion is undone.
func TestOrdersOfADeletedUserWait(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := newClinic(t, d, nil)
		receiver := c.newReceiver()
		later := fmt.Sprintf(`{"activate_by":%q,`, time.Now().AddDate(0, 0, 3).Format(time.DateOnly))
		var scheduled struct{ Order orderView }
		c.Expect(200, "POST", "/v3/order", strings.Replace(c.body("walk_in_test"), "{", later, 1), &scheduled)
		kit, shipping, visit := c.order("testkit"), c.order("testkit"), c.order("at_home_phlebotomy")
		simulateStatus("received.*.requisition_created")(c, shipping.ID)
		c.until(shipping.ID, "received.testkit.requisition_created")
		var registrable struct{ Order orderView }
		c.Expect(200, "POST", "/v3/order/testkit", fmt.Sprintf(`{"user_id":%q,"lab_test_id":%q,"shipping_details":%s}`, c.user, c.tests["testkit"], anAddress), &registrable)
		unregistered := registrable.Order.ID
		want := map[string]string{
			scheduled.Order.ID: "received.walk_in_test.ordered", kit.ID: "received.testkit.ordered",
			shipping.ID: "received.testkit.requisition_created", visit.ID: "received.at_home_phlebotomy.ordered",
			unregistered: "received.testkit.awaiting_registration",
		}
		before := c.messages()

		c.Expect(200, "DELETE", "/v2/user/"+c.user, "", nil)
		c.advance(6)
		c.advance(6)
		for id, status := range want {
			if got := c.last(id); got != status {
				t.Errorf("an order of a deleted user went from %s to %s", status, got)
			}
		}
		if after := c.messages(); !slices.Equal(after, before) {
			t.Errorf("messages to a deleted user: %q, before the deletion %q", after, before)
		}
		for _, path := range []string{"/v3/order/" + kit.ID + "/test", "/v3/sandbox/order/" + scheduled.Order.ID + "/run"} {
			body := `{"script":"success"}`
			if strings.HasSuffix(path, "/test") {
				body = `{}`
			}
			if status, body := c.Call("POST", path, body); status != 400 || !strings.Contains(string(body), "order_held") {
				t.Errorf("%s: %d %s", path, status, body)
			}
		}

		c.Expect(200, "POST", "/v2/user/undo_delete?user_id="+c.user, "", nil)
		var lab clockView
		c.Expect(200, "POST", "/v3/sandbox/advance", `{"seconds":0}`, &lab)
		restored := lab.Now
		c.Expect(200, "POST", "/v3/sandbox/advance", `{"seconds":1728000}`, &lab) // 20 days
		for _, m := range lab.Moved {
			if m.CreatedAt.Before(restored) {
				t.Errorf("%s is %s at %s, before the deletion was undone at %s", m.OrderID, m.Status, m.CreatedAt, restored)
			}
		}
		want[scheduled.Order.ID], want[kit.ID], want[shipping.ID] = "completed.walk_in_test.completed", "completed.testkit.completed", "completed.testkit.completed"
		want[visit.ID], want[unregistered] = "received.at_home_phlebotomy.requisition_created", "collecting_sample.testkit.with_customer"
		for id, status := range want {
			if got := c.last(id); got != status {
				t.Errorf("an order of a restored user is %s, want %s", got, status)
			}
		}
		c.expectEvents(receiver, scheduled.Order.ID, "walk_in_test", []string{"new received.ordered", "received.requisition_created", "completed.completed"})
	})
}
