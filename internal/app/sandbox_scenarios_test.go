package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// withMethod returns the statuses of a scenario with the method between the stage and the step.
func withMethod(method string, steps ...string) []string {
	var all []string
	for _, step := range steps {
		stage, low, _ := strings.Cut(step, ".")
		all = append(all, stage+"."+method+"."+low)
	}
	return all
}

// advance moves the clock of the team's lab.
func (c *clinic) advance(days int) {
	c.t.Helper()
	var lab struct{ Waiting int }
	c.Expect(200, "POST", "/v3/sandbox/advance", fmt.Sprintf(`{"seconds":%d}`, days*86400), &lab)
	if lab.Waiting != 0 {
		c.t.Fatalf("%d things are due and not done", lab.Waiting)
	}
}

func (c *clinic) script(order, script string) {
	c.t.Helper()
	c.Expect(200, "POST", "/v3/sandbox/order/"+order+"/run", fmt.Sprintf(`{"script":%q}`, script), nil)
}

// results returns the results of an order and their metadata.
func (c *clinic) results(order string) (all []map[string]any, metadata map[string]any) {
	c.t.Helper()
	var body struct {
		Metadata map[string]any
		Results  []map[string]any
	}
	c.Get("/v3/order/"+order+"/result", &body)
	return body.Results, body.Metadata
}

var kitSteps = []string{
	"received.ordered", "received.requisition_created", "collecting_sample.transit_customer", "collecting_sample.out_for_delivery",
	"collecting_sample.with_customer", "collecting_sample.transit_lab", "sample_with_lab.delivered_to_lab", "completed.completed",
}

// orderReceiver receives the webhooks of a team's orders.
type orderReceiver struct {
	mu   sync.Mutex
	seen map[string]orderView // by the id of the event
}

func (m *orderReceiver) eventsOf(order string) (all []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, o := range m.seen {
		if o.ID == order {
			all = append(all, o.LastEvent.Status)
		}
	}
	slices.Sort(all)
	return all
}

func (c *clinic) newOrderReceiver() *orderReceiver {
	c.t.Helper()
	m := &orderReceiver{seen: map[string]orderView{}}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var event struct {
			Data orderView `json:"data"`
		}
		if err := json.NewDecoder(r.Body).Decode(&event); err != nil {
			c.t.Error(err)
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		m.seen[r.Header.Get("webhook-id")] = event.Data
	}))
	c.t.Cleanup(server.Close)
	c.Expect(200, "POST", "/v2/webhooks", fmt.Sprintf(`{"url":%q,"filter_types":["labtest.order.created","labtest.order.updated"]}`, server.URL), nil)
	return m
}

// announcePartials enables the events about partial results for the team.
func (c *clinic) announcePartials() {
	c.t.Helper()
	c.changeSettings(func(s *teams.Settings) { s.PartialWebhooks = true })
}

// changeSettings changes the settings of the team.
func (c *clinic) changeSettings(change func(s *teams.Settings)) {
	c.t.Helper()
	ctx := store.AsSystem(c.t.Context())
	err := c.DB.Write(ctx, func(tx *store.Tx) error {
		all, err := teams.List(ctx, tx)
		if err != nil {
			return err
		}
		change(&all[0].Settings)
		return teams.Update(ctx, tx, all[0])
	})
	if err != nil {
		c.t.Fatal(err)
	}
}

// delivered waits until the receiver got exactly the wanted events of an order. Updates
// without a new status may repeat.
func (c *clinic) delivered(receiver *orderReceiver, order string, want []string) {
	c.t.Helper()
	want = slices.Compact(slices.Sorted(slices.Values(want))) // there are updates without a new status
	for deadline := time.Now().Add(90 * time.Second); !slices.Equal(slices.Compact(receiver.eventsOf(order)), want); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.t.Errorf("the receiver got %v, want %v", receiver.eventsOf(order), want)
			return
		}
	}
}

// The test places one order for each script and each method that needs no appointment. It
// compares all events from the creation to the end.
func TestSandboxScenarios(t *testing.T) {
	walkIn := []string{"received.ordered", "received.requisition_created", "sample_with_lab.partial_results", "completed.completed"}
	onSite := []string{"received.ordered", "received.requisition_created", "sample_with_lab.draw_completed", "completed.completed"}
	scenarios := []struct {
		method, script string
		want           []string
		interpretation string // of the results; empty when there are none
	}{
		{"testkit", "success", kitSteps, "normal"},
		{"testkit", "lost_kit", []string{"received.ordered", "received.requisition_created", "collecting_sample.transit_customer", "failed.lost"}, ""},
		{"testkit", "late", slices.Concat(kitSteps[:5], kitSteps[6:]), "normal"},
		{"walk_in_test", "success", walkIn, "normal"},
		{"walk_in_test", "duplicated", walkIn, "normal"},
		{"walk_in_test", "critical", walkIn, "critical"},
		{"walk_in_test", "partial_then_corrected", append(slices.Clone(walkIn), "completed.corrected"), "normal"},
		{"walk_in_test", "out_of_order", []string{"received.ordered", "received.requisition_created", "completed.completed"}, "normal"},
		{"walk_in_test", "quantity_not_sufficient", []string{"received.ordered", "received.requisition_created", "failed.sample_error"}, ""},
		{"walk_in_test", "wrong_patient", []string{"received.ordered", "received.requisition_created"}, ""},
		{"on_site_collection", "success", onSite, "normal"},
		{"on_site_collection", "abnormal", onSite, "abnormal"},
		{"on_site_collection", "hemolyzed", []string{"received.ordered", "received.requisition_created", "sample_with_lab.draw_completed", "failed.sample_error"}, ""},
	}
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := newClinic(t, d, nil)
		c.announcePartials()
		receiver := c.newOrderReceiver()
		made := make([]orderView, len(scenarios))
		for i, s := range scenarios {
			made[i] = c.order(s.method)
			c.script(made[i].ID, s.script)
		}
		for range 3 { // the test reads between the three advances
			c.advance(20)
			for _, o := range made {
				c.Get("/v3/order/"+o.ID, new(orderView))
			}
		}
		for i, s := range scenarios {
			want := withMethod(s.method, s.want...)
			o := c.until(made[i].ID, want[len(want)-1])
			if !slices.Equal(o.path(), want) {
				t.Errorf("%s of a %s: events %v", s.script, s.method, o.path())
			}
			c.delivered(receiver, o.ID, want)
			if s.interpretation == "" {
				continue
			}
			results, metadata := c.results(o.ID)
			if metadata["interpretation"] != s.interpretation || len(results) == 0 {
				t.Errorf("%s of a %s: %d results, %v", s.script, s.method, len(results), metadata)
			}
		}
	})
}

// A simulation without a delay answers when the order has the simulated status. Reference
// 1.15.
func TestSimulatedStatus(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := newClinic(t, d, nil)
		simulate := func(order, query, body string) {
			t.Helper()
			var said string
			c.Expect(200, "POST", "/v3/order/"+order+"/test"+query, body, &said)
			if said != "Success" {
				t.Errorf("the answer is %q", said)
			}
		}
		visit := c.order("at_home_phlebotomy")
		for _, body := range []string{"", "null"} { // no visit is booked, so the second call changes nothing
			simulate(visit.ID, "", body)
			if got := c.until(visit.ID, "received.at_home_phlebotomy.requisition_created"); len(got.Events) != 2 || got.SampleID == nil {
				t.Errorf("events %v", got.path())
			}
		}
		walkIn := c.order("walk_in_test")
		simulate(walkIn.ID, "?final_status=sample_with_lab.walk_in_test.partial_results", "")
		c.until(walkIn.ID, "sample_with_lab.walk_in_test.partial_results")
		simulate(walkIn.ID, "", `{"interpretation":"critical","has_missing_results":true,"result_types":["numeric"]}`)
		c.until(walkIn.ID, "completed.walk_in_test.completed")
		simulate(walkIn.ID, "?final_status=failed.walk_in_test.sample_error", "")
		if o := c.until(walkIn.ID, "completed.walk_in_test.completed"); len(o.Events) != 4 {
			t.Errorf("events %v", o.path())
		}
		ranges := c.order("walk_in_test")
		simulate(ranges.ID, "", `{"interpretation":"normal","result_types":["range"]}`)
		c.until(ranges.ID, "completed.walk_in_test.completed")
		var got struct{ Interpretation string }
		if c.Expect(200, "GET", "/v3/order/"+ranges.ID, "", &got); got.Interpretation != "normal" {
			t.Errorf("a normal simulation whose results are ranges is %s", got.Interpretation)
		}
		later := c.order("on_site_collection")
		simulate(later.ID, "?delay=1", "")
		if o := c.until(later.ID, "received.on_site_collection.ordered"); len(o.Events) != 1 {
			t.Error("a delayed simulation happened at once")
		}
		c.until(later.ID, "completed.on_site_collection.completed")
		if status, body := c.Call("POST", "/v3/order/019f0000-0000-7000-8000-000000000000/test", ""); status != 404 {
			t.Errorf("an unknown order was answered %d %s", status, body)
		}
		if status, body := c.Call("POST", "/v3/order/"+later.ID+"/test?final_status=nowhere", ""); status != 422 {
			t.Errorf("an unknown status was answered %d %s", status, body)
		}
	})
}

// eventually polls until so returns true. After 90 seconds it fails the test; otherwise
// is the message of the failure.
func (c *clinic) eventually(so func() bool, otherwise string) {
	c.t.Helper()
	for deadline := time.Now().Add(90 * time.Second); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.t.Fatal(otherwise)
		}
	}
}

// Orders show their lab test with its current name. Their events keep the earlier name.
func TestARenamedLabTest(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := newClinic(t, d, nil)
		o := c.order("walk_in_test")
		labTest := func() map[string]any {
			_, read := c.readAt("/v3/order/" + o.ID)
			return read["lab_test"].(map[string]any)
		}
		c.Expect(200, "PATCH", "/v3/lab_tests/"+labTest()["id"].(string), `{"name":"Another name"}`, nil)
		if got := labTest()["name"]; got != "Another name" {
			t.Errorf("the order's lab test is %v", got)
		}
		made := c.eventOf("labtest.order.created", func(e *feedEvent) bool { return e.Event.Data["id"] == o.ID })
		if was := made.Event.Data["lab_test"].(map[string]any); was["name"] == "Another name" || was["id"] != labTest()["id"] {
			t.Errorf("the event's lab test is %v", was)
		}
	})
}
