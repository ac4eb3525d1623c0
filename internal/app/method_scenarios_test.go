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

// The scenarios of this file run one order of each collection method to each end. A
// scenario lists the actions on the order and the team's webhooks about it, in
// order. It also lists the state that a caller can read in between.

// scenario holds the steps of an order from its creation to its end.
type scenario struct {
	method, end string
	steps       []step
}

// step is an action and its expected effects.
type step struct {
	action action
	events string // the new events, without the method; commas between them
	tx     string // status of the transaction
	reads  string // interpretation of the results; "" when there are none
	visit  string // status of the appointment; "" when there is none
}

// action is an action of the team, a patient or the lab.
type action func(c *clinic, order string)

// simulateStatus brings an order to a status; * in the status means its method.
func simulateStatus(status string) action {
	return func(c *clinic, order string) {
		status := strings.Replace(status, "*", c.methodOf(order), 1)
		c.Expect(200, "POST", "/v3/order/"+order+"/test?final_status="+status, "", nil)
	}
}

// runScript gives an order a script and moves the lab's clock by some days.
func runScript(script string, days int) action {
	return func(c *clinic, order string) { c.script(order, script); c.advance(days) }
}

// advanceClock moves the lab's clock by some days.
func advanceClock(days int) action { return func(c *clinic, _ string) { c.advance(days) } }

func doNothing(*clinic, string) {}

func cancelOrder(c *clinic, order string) {
	c.Expect(200, "POST", "/v3/order/"+order+"/cancel", "", nil)
}

func completeDraw(c *clinic, order string) {
	c.Expect(200, "PATCH", "/v3/order/"+order+"/draw_completed", "", nil)
}

func bookVisit(c *clinic, order string) {
	var free freeTimes
	c.Expect(200, "POST", "/v3/order/phlebotomy/appointment/availability", `{"first_line":"1 West Lincoln Street","city":"Phoenix","state":"AZ","zip_code":"85004"}`, &free)
	c.Expect(200, "POST", "/v3/order/"+order+"/phlebotomy/appointment/book", `{"booking_key":"`+free.key(9)+`"}`, nil)
}

// methodOf returns the collection method of an order.
func (c *clinic) methodOf(order string) string {
	c.t.Helper()
	var o orderView
	c.Get("/v3/order/"+order, &o)
	return strings.Split(o.LastEvent.Status, ".")[1]
}

var scenarios = []scenario{
	{"testkit", "completed", []step{
		{doNothing, "new received.ordered", "active", "", ""},
		{advanceClock(1), "received.requisition_created, collecting_sample.transit_customer", "active", "", ""},
		{advanceClock(20), "collecting_sample.out_for_delivery, collecting_sample.with_customer, collecting_sample.transit_lab, sample_with_lab.delivered_to_lab, completed.completed", "completed", "normal", ""},
	}},
	{"testkit", "corrected", []step{
		{doNothing, "new received.ordered", "active", "", ""},
		{simulateStatus("completed.*.completed"), "received.requisition_created, collecting_sample.transit_customer, collecting_sample.out_for_delivery, " +
			"collecting_sample.with_customer, collecting_sample.transit_lab, sample_with_lab.delivered_to_lab, completed.completed", "completed", "normal", ""},
		{simulateStatus("completed.*.corrected"), "completed.corrected", "completed", "normal", ""},
	}},
	{"testkit", "failed", []step{
		{doNothing, "new received.ordered", "active", "", ""},
		{runScript("lost_kit", 30), "received.requisition_created, collecting_sample.transit_customer, failed.lost", "completed", "", ""},
	}},
	{"testkit", "cancelled", []step{
		{doNothing, "new received.ordered", "active", "", ""},
		{simulateStatus("received.*.requisition_created"), "received.requisition_created", "active", "", ""},
		{cancelOrder, "cancelled.cancelled", "cancelled", "", ""},
		{advanceClock(30), "", "cancelled", "", ""},
	}},
	{"walk_in_test", "completed", []step{
		{doNothing, "new received.ordered", "active", "", ""},
		{advanceClock(1), "received.requisition_created", "active", "", ""},
		{advanceClock(20), "sample_with_lab.partial_results, completed.completed", "completed", "normal", ""},
	}},
	{"walk_in_test", "corrected", []step{
		{doNothing, "new received.ordered", "active", "", ""},
		{runScript("partial_then_corrected", 30), "received.requisition_created, sample_with_lab.partial_results, completed.completed, completed.corrected", "completed", "normal", ""},
	}},
	{"walk_in_test", "failed", []step{
		{doNothing, "new received.ordered", "active", "", ""},
		{runScript("quantity_not_sufficient", 30), "received.requisition_created, failed.sample_error", "completed", "unknown", ""},
	}},
	{"walk_in_test", "cancelled", []step{
		{doNothing, "new received.ordered", "active", "", ""},
		{simulateStatus("received.*.requisition_created"), "received.requisition_created", "active", "", ""},
		{cancelOrder, "cancelled.cancelled", "cancelled", "", ""},
		{advanceClock(30), "", "cancelled", "", ""},
	}},
	{"at_home_phlebotomy", "completed", []step{
		{doNothing, "new received.ordered", "active", "", ""},
		{simulateStatus("received.*.requisition_created"), "received.requisition_created", "active", "", ""},
		{bookVisit, "new visit pending, collecting_sample.appointment_scheduled, visit scheduled", "active", "", "confirmed"},
		{advanceClock(30), "visit in_progress, collecting_sample.draw_completed, visit completed, completed.completed", "completed", "normal", "completed"},
	}},
	{"at_home_phlebotomy", "corrected", []step{
		{doNothing, "new received.ordered", "active", "", ""},
		{simulateStatus("received.*.requisition_created"), "received.requisition_created", "active", "", ""},
		{bookVisit, "new visit pending, collecting_sample.appointment_scheduled, visit scheduled", "active", "", "confirmed"},
		{runScript("partial_then_corrected", 30), "visit in_progress, collecting_sample.draw_completed, visit completed, sample_with_lab.partial_results, completed.completed, completed.corrected", "completed", "normal", "completed"},
	}},
	{"at_home_phlebotomy", "failed", []step{
		{doNothing, "new received.ordered", "active", "", ""},
		{simulateStatus("received.*.requisition_created"), "received.requisition_created", "active", "", ""},
		{bookVisit, "new visit pending, collecting_sample.appointment_scheduled, visit scheduled", "active", "", "confirmed"},
		{runScript("hemolyzed", 30), "visit in_progress, collecting_sample.draw_completed, visit completed, failed.sample_error", "completed", "unknown", "completed"},
	}},
	{"at_home_phlebotomy", "cancelled", []step{
		{doNothing, "new received.ordered", "active", "", ""},
		{simulateStatus("received.*.requisition_created"), "received.requisition_created", "active", "", ""},
		{bookVisit, "new visit pending, collecting_sample.appointment_scheduled, visit scheduled", "active", "", "confirmed"},
		{cancelOrder, "cancelled.cancelled, visit cancelled", "cancelled", "", "cancelled"},
		{advanceClock(30), "", "cancelled", "", "cancelled"},
	}},
	{"on_site_collection", "completed", []step{
		{doNothing, "new received.ordered", "active", "", ""},
		{advanceClock(1), "received.requisition_created", "active", "", ""},
		{completeDraw, "sample_with_lab.draw_completed", "active", "", ""},
		{advanceClock(30), "completed.completed", "completed", "normal", ""},
	}},
	{"on_site_collection", "corrected", []step{
		{doNothing, "new received.ordered", "active", "", ""},
		{runScript("partial_then_corrected", 30), "received.requisition_created, sample_with_lab.draw_completed, sample_with_lab.partial_results, completed.completed, completed.corrected", "completed", "normal", ""},
	}},
	{"on_site_collection", "failed", []step{
		{doNothing, "new received.ordered", "active", "", ""},
		{runScript("hemolyzed", 30), "received.requisition_created, sample_with_lab.draw_completed, failed.sample_error", "completed", "unknown", ""},
	}},
	{"on_site_collection", "cancelled", []step{
		{doNothing, "new received.ordered", "active", "", ""},
		{simulateStatus("received.*.requisition_created"), "received.requisition_created", "active", "", ""},
		{cancelOrder, "cancelled.cancelled", "cancelled", "", ""},
		{advanceClock(30), "", "cancelled", "", ""},
	}},
}

func TestScenariosOfEveryMethod(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := newClinic(t, d, nil)
		c.announcePartials()
		receiver := c.newReceiver()
		for _, s := range scenarios {
			t.Run(s.method+" "+s.end, func(t *testing.T) {
				sub := *c
				sub.Service, sub.t = c.For(t), t
				sub.runScenario(receiver, s)
			})
		}
	})
}

// runScenario runs the steps, and checks webhooks and reads after each step.
func (c *clinic) runScenario(receiver *webhookReceiver, s scenario) {
	c.t.Helper()
	o := c.order(s.method)
	var received []string
	for i, now := range s.steps {
		now.action(c, o.ID)
		for text := range strings.SplitSeq(now.events, ", ") {
			if text != "" {
				received = append(received, text)
			}
		}
		c.expectEvents(receiver, o.ID, s.method, received)
		c.expectState(o.ID, s.method, received, now)
		if c.t.Failed() {
			c.t.Fatalf("in step %d", i+1)
		}
	}
	if stage := c.until(o.ID, c.last(o.ID)).Status; s.end != "corrected" && stage != s.end {
		c.t.Errorf("it ended %s", stage)
	}
	if got := c.feedEvents(o.ID, s.method); !slices.Equal(got, received) {
		c.t.Errorf("the feed has %q\nthe receiver got %q", got, received)
	}
}

// expectEvents waits until the receiver got exactly the wanted events of an order.
func (c *clinic) expectEvents(receiver *webhookReceiver, order, method string, want []string) {
	c.t.Helper()
	var got []string
	for range 9000 {
		if got = withoutMethod(method, receiver.eventsOf(order)); len(got) >= len(want) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if !slices.Equal(got, want) {
		c.t.Errorf("the receiver got %q\nwant %q", got, want)
	}
}

// expectState checks the reads of an order: its history, transaction, results and visit.
func (c *clinic) expectState(order, method string, received []string, now step) {
	c.t.Helper()
	var steps []string
	for _, text := range received {
		if !strings.Contains(text, "visit ") {
			steps = append(steps, strings.TrimPrefix(text, "new "))
		}
	}
	var o orderView
	c.Get("/v3/order/"+order, &o)
	if got := withoutMethod(method, o.path()); !slices.Equal(got, steps) || o.LastEvent.Status != o.path()[len(got)-1] || !strings.HasPrefix(o.LastEvent.Status, o.Status+".") {
		c.t.Errorf("the order is %s with a last event %s, and went %q", o.Status, o.LastEvent.Status, got)
	}
	var result struct {
		Metadata struct{ Interpretation string }
	}
	c.found("/v3/order/"+order+"/result", now.reads != "", &result)
	var v visit
	c.found("/v3/order/"+order+"/phlebotomy/appointment", now.visit != "", &v)
	if o.Transaction.Status != now.tx || result.Metadata.Interpretation != now.reads || v.Status != now.visit {
		c.t.Errorf("reads transaction %q, results %q, visit %q; want %q, %q, %q", o.Transaction.Status, result.Metadata.Interpretation, v.Status, now.tx, now.reads, now.visit)
	}
}

// found reads a path into v. With there == false it requires the status 404 instead.
func (c *clinic) found(path string, there bool, v any) {
	c.t.Helper()
	if there {
		c.Get(path, v)
		return
	}
	c.Expect(404, "GET", path, "", nil)
}

func (c *clinic) last(order string) string {
	c.t.Helper()
	var o orderView
	c.Get("/v3/order/"+order, &o)
	return o.LastEvent.Status
}

// feedEvents returns the events of an order in the feed.
func (c *clinic) feedEvents(order, method string) (texts []string) {
	c.t.Helper()
	for after, more := int64(0), true; more; {
		var page struct {
			Events []struct{ Event json.RawMessage }
			More   bool  `json:"has_more"`
			Next   int64 `json:"next_after"`
		}
		c.Get(fmt.Sprintf("/v2/events?after=%d&limit=1000", after), &page)
		for _, e := range page.Events {
			if of, text := summarise(c.t, e.Event); of == order {
				texts = append(texts, text)
			}
		}
		after, more = page.Next, page.More
	}
	return withoutMethod(method, texts)
}

// withoutMethod removes the method from event strings. It drops updates without a new status.
func withoutMethod(method string, all []string) (short []string) {
	for _, s := range all {
		s = strings.Replace(s, "."+method+".", ".", 1)
		same := len(short) > 0 && strings.TrimPrefix(short[len(short)-1], "new ") == s
		if !same || strings.HasPrefix(s, "labtest.") {
			short = append(short, s)
		}
	}
	return short
}
