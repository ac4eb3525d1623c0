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

// The stories of this file run one order of each collection method to each end. A
// story lists the actions on the order and the team's webhooks about it, in
// order. It also lists the state that a caller can read in between.

// story is the life of an order.
type story struct {
	method, end string
	acts        []scene
}

// scene is an action, with everything that it must cause.
type scene struct {
	act   act
	hears string // what is announced, with the method left out; commas between
	tx    string // status of the transaction
	reads string // interpretation of the results; "" when there are none
	visit string // status of the appointment; "" when there is none
}

// act is an action of the team, a patient or the lab.
type act func(c *clinic, order string)

// simulate brings an order to a status; * in the status means its method.
func simulate(status string) act {
	return func(c *clinic, order string) {
		status := strings.Replace(status, "*", c.methodOf(order), 1)
		c.Expect(200, "POST", "/v3/order/"+order+"/test?final_status="+status, "", nil)
	}
}

// play gives an order a script and moves the lab's clock by some days.
func play(script string, days int) act {
	return func(c *clinic, order string) { c.script(order, script); c.advance(days) }
}

// turn moves the lab's clock by some days.
func turn(days int) act { return func(c *clinic, _ string) { c.advance(days) } }

func doNothing(*clinic, string) {}

func cancel(c *clinic, order string) { c.Expect(200, "POST", "/v3/order/"+order+"/cancel", "", nil) }

func draw(c *clinic, order string) {
	c.Expect(200, "PATCH", "/v3/order/"+order+"/draw_completed", "", nil)
}

func book(c *clinic, order string) {
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

var stories = []story{
	{"testkit", "completed", []scene{
		{doNothing, "new received.ordered", "active", "", ""},
		{turn(1), "received.requisition_created, collecting_sample.transit_customer", "active", "", ""},
		{turn(20), "collecting_sample.out_for_delivery, collecting_sample.with_customer, collecting_sample.transit_lab, sample_with_lab.delivered_to_lab, completed.completed", "completed", "normal", ""},
	}},
	{"testkit", "corrected", []scene{
		{doNothing, "new received.ordered", "active", "", ""},
		{simulate("completed.*.completed"), "received.requisition_created, collecting_sample.transit_customer, collecting_sample.out_for_delivery, " +
			"collecting_sample.with_customer, collecting_sample.transit_lab, sample_with_lab.delivered_to_lab, completed.completed", "completed", "normal", ""},
		{simulate("completed.*.corrected"), "completed.corrected", "completed", "normal", ""},
	}},
	{"testkit", "failed", []scene{
		{doNothing, "new received.ordered", "active", "", ""},
		{play("lost_kit", 30), "received.requisition_created, collecting_sample.transit_customer, failed.lost", "completed", "", ""},
	}},
	{"testkit", "cancelled", []scene{
		{doNothing, "new received.ordered", "active", "", ""},
		{simulate("received.*.requisition_created"), "received.requisition_created", "active", "", ""},
		{cancel, "cancelled.cancelled", "cancelled", "", ""},
		{turn(30), "", "cancelled", "", ""},
	}},
	{"walk_in_test", "completed", []scene{
		{doNothing, "new received.ordered", "active", "", ""},
		{turn(1), "received.requisition_created", "active", "", ""},
		{turn(20), "sample_with_lab.partial_results, completed.completed", "completed", "normal", ""},
	}},
	{"walk_in_test", "corrected", []scene{
		{doNothing, "new received.ordered", "active", "", ""},
		{play("partial_then_corrected", 30), "received.requisition_created, sample_with_lab.partial_results, completed.completed, completed.corrected", "completed", "normal", ""},
	}},
	{"walk_in_test", "failed", []scene{
		{doNothing, "new received.ordered", "active", "", ""},
		{play("quantity_not_sufficient", 30), "received.requisition_created, failed.sample_error", "completed", "unknown", ""},
	}},
	{"walk_in_test", "cancelled", []scene{
		{doNothing, "new received.ordered", "active", "", ""},
		{simulate("received.*.requisition_created"), "received.requisition_created", "active", "", ""},
		{cancel, "cancelled.cancelled", "cancelled", "", ""},
		{turn(30), "", "cancelled", "", ""},
	}},
	{"at_home_phlebotomy", "completed", []scene{
		{doNothing, "new received.ordered", "active", "", ""},
		{simulate("received.*.requisition_created"), "received.requisition_created", "active", "", ""},
		{book, "new visit pending, collecting_sample.appointment_scheduled, visit scheduled", "active", "", "confirmed"},
		{turn(30), "visit in_progress, collecting_sample.draw_completed, visit completed, completed.completed", "completed", "normal", "completed"},
	}},
	{"at_home_phlebotomy", "corrected", []scene{
		{doNothing, "new received.ordered", "active", "", ""},
		{simulate("received.*.requisition_created"), "received.requisition_created", "active", "", ""},
		{book, "new visit pending, collecting_sample.appointment_scheduled, visit scheduled", "active", "", "confirmed"},
		{play("partial_then_corrected", 30), "visit in_progress, collecting_sample.draw_completed, visit completed, sample_with_lab.partial_results, completed.completed, completed.corrected", "completed", "normal", "completed"},
	}},
	{"at_home_phlebotomy", "failed", []scene{
		{doNothing, "new received.ordered", "active", "", ""},
		{simulate("received.*.requisition_created"), "received.requisition_created", "active", "", ""},
		{book, "new visit pending, collecting_sample.appointment_scheduled, visit scheduled", "active", "", "confirmed"},
		{play("hemolyzed", 30), "visit in_progress, collecting_sample.draw_completed, visit completed, failed.sample_error", "completed", "unknown", "completed"},
	}},
	{"at_home_phlebotomy", "cancelled", []scene{
		{doNothing, "new received.ordered", "active", "", ""},
		{simulate("received.*.requisition_created"), "received.requisition_created", "active", "", ""},
		{book, "new visit pending, collecting_sample.appointment_scheduled, visit scheduled", "active", "", "confirmed"},
		{cancel, "cancelled.cancelled, visit cancelled", "cancelled", "", "cancelled"},
		{turn(30), "", "cancelled", "", "cancelled"},
	}},
	{"on_site_collection", "completed", []scene{
		{doNothing, "new received.ordered", "active", "", ""},
		{turn(1), "received.requisition_created", "active", "", ""},
		{draw, "sample_with_lab.draw_completed", "active", "", ""},
		{turn(30), "completed.completed", "completed", "normal", ""},
	}},
	{"on_site_collection", "corrected", []scene{
		{doNothing, "new received.ordered", "active", "", ""},
		{play("partial_then_corrected", 30), "received.requisition_created, sample_with_lab.draw_completed, sample_with_lab.partial_results, completed.completed, completed.corrected", "completed", "normal", ""},
	}},
	{"on_site_collection", "failed", []scene{
		{doNothing, "new received.ordered", "active", "", ""},
		{play("hemolyzed", 30), "received.requisition_created, sample_with_lab.draw_completed, failed.sample_error", "completed", "unknown", ""},
	}},
	{"on_site_collection", "cancelled", []scene{
		{doNothing, "new received.ordered", "active", "", ""},
		{simulate("received.*.requisition_created"), "received.requisition_created", "active", "", ""},
		{cancel, "cancelled.cancelled", "cancelled", "", ""},
		{turn(30), "", "cancelled", "", ""},
	}},
}

func TestStoriesOfEveryMethod(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := newClinic(t, d, nil)
		c.announcePartials()
		box := c.postbox()
		for _, s := range stories {
			t.Run(s.method+" "+s.end, func(t *testing.T) {
				sub := *c
				sub.Service, sub.t = c.For(t), t
				sub.tell(box, s)
			})
		}
	})
}

// tell plays a story, and checks webhooks and reads after each scene.
func (c *clinic) tell(box *postbox, s story) {
	c.t.Helper()
	o := c.order(s.method)
	var heard []string
	for i, now := range s.acts {
		now.act(c, o.ID)
		for says := range strings.SplitSeq(now.hears, ", ") {
			if says != "" {
				heard = append(heard, says)
			}
		}
		c.hears(box, o.ID, s.method, heard)
		c.reads(o.ID, s.method, heard, now)
		if c.t.Failed() {
			c.t.Fatalf("in scene %d", i+1)
		}
	}
	if stage := c.until(o.ID, c.last(o.ID)).Status; s.end != "corrected" && stage != s.end {
		c.t.Errorf("it ended %s", stage)
	}
	if got := c.fed(o.ID, s.method); !slices.Equal(got, heard) {
		c.t.Errorf("the feed has %q\nthe receiver heard %q", got, heard)
	}
}

// hears waits until the receiver got exactly the wanted events of an order.
func (c *clinic) hears(box *postbox, order, method string, want []string) {
	c.t.Helper()
	var got []string
	for range 1000 {
		if got = exclude(method, box.of(order)); len(got) >= len(want) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if !slices.Equal(got, want) {
		c.t.Errorf("the receiver heard %q\nwant %q", got, want)
	}
}

// reads checks the reads of an order: its history, transaction, results and visit.
func (c *clinic) reads(order, method string, heard []string, now scene) {
	c.t.Helper()
	var steps []string
	for _, says := range heard {
		if !strings.Contains(says, "visit ") {
			steps = append(steps, strings.TrimPrefix(says, "new "))
		}
	}
	var o orderView
	c.Get("/v3/order/"+order, &o)
	if got := exclude(method, o.path()); !slices.Equal(got, steps) || o.LastEvent.Status != o.path()[len(got)-1] || !strings.HasPrefix(o.LastEvent.Status, o.Status+".") {
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

// fed returns the events of an order in the feed.
func (c *clinic) fed(order, method string) (says []string) {
	c.t.Helper()
	for after, more := int64(0), true; more; {
		var page struct {
			Events []struct{ Event json.RawMessage }
			More   bool  `json:"has_more"`
			Next   int64 `json:"next_after"`
		}
		c.Get(fmt.Sprintf("/v2/events?after=%d&limit=1000", after), &page)
		for _, e := range page.Events {
			if about, what := sayingOf(c.t, e.Event); about == order {
				says = append(says, what)
			}
		}
		after, more = page.Next, page.More
	}
	return exclude(method, says)
}

// exclude removes the method from event strings. It drops updates without a new status.
func exclude(method string, all []string) (short []string) {
	for _, s := range all {
		s = strings.Replace(s, "."+method+".", ".", 1)
		same := len(short) > 0 && strings.TrimPrefix(short[len(short)-1], "new ") == s
		if !same || strings.HasPrefix(s, "labtest.") {
			short = append(short, s)
		}
	}
	return short
}
