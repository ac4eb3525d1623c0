package app_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/app"
	"hale/internal/app/apptest"
	"hale/internal/labs/networks"
	"hale/internal/labs/networks/networktest"
	"hale/internal/platform/store/storetest"
)

// orderView holds the fields of an order that a test checks.
type orderView struct {
	ID       string  `json:"id"`
	Status   string  `json:"status"`
	SampleID *string `json:"sample_id"`
	Events   []struct {
		Status string  `json:"status"`
		Detail *string `json:"status_detail"`
	} `json:"events"`
	LastEvent struct {
		Status string `json:"status"`
	} `json:"last_event"`
	Transaction struct {
		ID     string `json:"id"`
		Status string `json:"status"`
	} `json:"order_transaction"`
	LabTest struct {
		Lab struct {
			Slug string `json:"slug"`
		} `json:"lab"`
		Markers []struct {
			ID  int64 `json:"id"`
			AOE *struct {
				Questions []struct {
					ID       int64 `json:"id"`
					Required bool  `json:"required"`
					Answers  []struct {
						Code string `json:"code"`
					} `json:"answers"`
				} `json:"questions"`
			} `json:"aoe"`
		} `json:"markers"`
	} `json:"lab_test"`
}

func (o orderView) path() []string {
	var all []string
	for _, e := range o.Events {
		all = append(all, e.Status)
	}
	return all
}

// clinic is a running service with a lab, and a user who gets orders.
type clinic struct {
	*apptest.Service
	t     *testing.T
	lab   *networktest.Lab
	user  string
	tests map[string]string // by method
	aoe   map[string]string
}

// newClinic starts a service. If lab is nil, orders go to the built-in lab.
func newClinic(t *testing.T, d storetest.Database, lab *networktest.Lab) *clinic {
	t.Helper()
	s := apptest.StartWith(t, d, func(o *app.Options) {
		if lab != nil {
			o.Networks = []networks.Network{lab}
		}
	})
	return clinicOf(t, s, lab, "patient-1")
}

// clinicOf returns a clinic of a running service. It creates a user with the client id
// name.
func clinicOf(t *testing.T, s *apptest.Service, lab *networktest.Lab, name string) *clinic {
	t.Helper()
	c := &clinic{Service: s, t: t, lab: lab, tests: map[string]string{}, aoe: map[string]string{}}
	var user struct {
		UserID string `json:"user_id"`
	}
	s.Expect(200, "POST", "/v2/user", fmt.Sprintf(`{"client_user_id":%q}`, name), &user)
	c.user = user.UserID
	var tests struct {
		Data []struct {
			ID      string          `json:"id"`
			Method  string          `json:"method"`
			Markers json.RawMessage `json:"markers"`
		} `json:"data"`
	}
	s.Get("/v3/lab_test", &tests)
	for _, test := range tests.Data {
		var o orderView
		if err := json.Unmarshal(test.Markers, &o.LabTest.Markers); err != nil {
			t.Fatal(err)
		}
		c.tests[test.Method], c.aoe[test.Method] = test.ID, answersTo(o)
	}
	return c
}

// answersTo answers the required questions of the markers.
func answersTo(o orderView) string {
	all := []string{}
	for _, m := range o.LabTest.Markers {
		if m.AOE == nil {
			continue
		}
		for _, q := range m.AOE.Questions {
			answer := "1"
			if len(q.Answers) > 0 {
				answer = q.Answers[0].Code
			}
			if q.Required {
				all = append(all, fmt.Sprintf(`{"marker_id":%d,"question_id":%d,"answer":%q}`, m.ID, q.ID, answer))
			}
		}
	}
	return "[" + strings.Join(all, ",") + "]"
}

const (
	aPatient  = `{"first_name":"Ada","last_name":"Byron","dob":"1984-12-10","gender":"female","phone_number":"+14155550132","email":"ada@example.org"}`
	anAddress = `{"receiver_name":"Ada Byron","first_line":"1 Main Street","city":"Phoenix","state":"AZ","zip":"85004","country":"US","phone_number":"+14155550132"}`
)

func (c *clinic) body(method string) string {
	return fmt.Sprintf(`{"user_id":%q,"order_set":{"lab_test_ids":[%q]},"collection_method":%q,"aoe_answers":%s,"patient_details":%s,"patient_address":%s}`,
		c.user, c.tests[method], method, c.aoe[method], aPatient, anAddress)
}

// order orders the team's lab test for a collection method.
func (c *clinic) order(method string) orderView {
	c.t.Helper()
	var made struct {
		Order   orderView
		Status  string
		Message string
	}
	c.Expect(200, "POST", "/v3/order", c.body(method), &made)
	if made.Status != "success" || made.Message != "Order created successfully" || len(made.Order.Events) != 1 {
		c.t.Fatalf("created: %+v", made)
	}
	return made.Order
}

// until waits until an order has a status.
func (c *clinic) until(id, status string) orderView {
	c.t.Helper()
	deadline := time.Now().Add(90 * time.Second)
	for {
		var o orderView
		c.Get("/v3/order/"+id, &o)
		if o.LastEvent.Status == status {
			if last := o.Events[len(o.Events)-1].Status; last != status || !strings.HasPrefix(status, o.Status+".") {
				c.t.Fatalf("the parts of the order disagree: %+v", o)
			}
			return o
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("the order has the status %s, want %s", o.LastEvent.Status, status)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// reportStatus reports a status as the lab, and waits until the order has it.
func (c *clinic) reportStatus(id, status, eventStatus string) {
	c.t.Helper()
	var o orderView
	c.Get("/v3/order/"+id, &o)
	r := networks.Report{Placer: id, Lab: o.LabTest.Lab.Slug, Status: status, At: time.Now()} // the lab may never have been given the order
	if err := c.lab.Report(c.t.Context(), id+status, r); err != nil {
		c.t.Fatal(err)
	}
	c.until(id, eventStatus)
}

// A kit is sent and returned, and the lab reports. Repeated and late reports change
// nothing.
func TestKitFromOrderToResults(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := newClinic(t, d, &networktest.Lab{})
		c.lab.Fail(0)
		o := c.order("testkit")
		o = c.until(o.ID, "received.testkit.requisition_created")
		if want := networktest.SampleID(uuid.MustParse(o.ID)); o.SampleID == nil || *o.SampleID != want {
			t.Errorf("the sample id is not the lab's: %v", o.SampleID)
		}
		want := []string{"received.testkit.ordered", "received.testkit.requisition_created"}
		for _, step := range []string{
			"collecting_sample.testkit.transit_customer", "collecting_sample.testkit.out_for_delivery", "collecting_sample.testkit.with_customer",
			"collecting_sample.testkit.transit_lab", "sample_with_lab.testkit.delivered_to_lab", "completed.testkit.completed",
		} {
			c.reportStatus(o.ID, step[strings.LastIndexByte(step, '.')+1:], step)
			want = append(want, step)
		}
		for _, key := range []string{o.ID + "transit_lab", "again"} { // the same message, and an old one
			if err := c.lab.Report(t.Context(), key, networks.Report{Placer: o.ID, Status: "transit_lab"}); err != nil {
				t.Fatal(err)
			}
		}
		c.reportStatus(o.ID, "corrected", "completed.testkit.corrected")
		if got := c.until(o.ID, "completed.testkit.corrected"); !slices.Equal(got.path(), append(want, "completed.testkit.corrected")) {
			t.Errorf("events %v", got.path())
		} else if got.Transaction.Status != "completed" {
			t.Errorf("the transaction is %s", got.Transaction.Status)
		}
		if _, n := c.lab.Placed(uuid.MustParse(o.ID)); n != 1 {
			t.Errorf("the order was placed %d times", n)
		}
		var page struct {
			Orders []orderView
			Total  int
		}
		c.Get("/v3/orders?status=corrected&patient_name=byron&order_transaction_id="+o.Transaction.ID, &page)
		if page.Total != 1 || len(page.Orders) != 1 || page.Orders[0].ID != o.ID {
			t.Errorf("the list has %d", page.Total)
		}
	})
}

// An order is cancelled once, and its lab gets the cancellation.
func TestCancellationOfAnOrder(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := newClinic(t, d, &networktest.Lab{})
		for _, method := range []string{"testkit", "walk_in_test", "at_home_phlebotomy", "on_site_collection"} {
			o := c.order(method)
			c.until(o.ID, "received."+method+".requisition_created")
			for _, want := range []string{"order cancelled", "order already cancelled"} {
				var answer struct {
					Message string
					Order   orderView
				}
				c.Expect(200, "POST", "/v3/order/"+o.ID+"/cancel", ``, &answer)
				if answer.Message != want || answer.Order.LastEvent.Status != "cancelled."+method+".cancelled" || answer.Order.Transaction.Status != "cancelled" {
					t.Errorf("%s: %+v", method, answer)
				}
			}
			if n := len(c.until(o.ID, "cancelled."+method+".cancelled").Events); n != 3 {
				t.Errorf("%s: %d events", method, n)
			}
			for deadline := time.Now().Add(90 * time.Second); c.lab.Cancelled(uuid.MustParse(o.ID)) == 0; time.Sleep(5 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the lab got no cancellation")
				}
			}
		}
	})
}

// Another user registers a kit and becomes the user of the order.
func TestRegistrationOfAKit(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := newClinic(t, d, &networktest.Lab{})
		var made struct{ Order orderView }
		c.Expect(200, "POST", "/v3/order/testkit", fmt.Sprintf(`{"user_id":%q,"lab_test_id":%q,"shipping_details":%s}`, c.user, c.tests["testkit"], anAddress), &made)
		if got := made.Order.path(); !slices.Equal(got, []string{"received.testkit.ordered", "received.testkit.awaiting_registration"}) {
			t.Fatalf("events %v", got)
		}
		c.reportStatus(made.Order.ID, "transit_customer", "collecting_sample.testkit.transit_customer")
		var other struct {
			UserID string `json:"user_id"`
		}
		c.Expect(200, "POST", "/v2/user", `{"client_user_id":"patient-2"}`, &other)
		register := fmt.Sprintf(`{"user_id":%q,"sample_id":%q,"patient_details":%s,"patient_address":%s}`, other.UserID, *made.Order.SampleID, aPatient, anAddress)
		var registered struct {
			Order struct {
				UserID string `json:"user_id"`
			}
		}
		c.Expect(200, "POST", "/v3/order/testkit/register", register, &registered)
		if registered.Order.UserID != other.UserID {
			t.Error("the order did not move")
		}
		c.until(made.Order.ID, "received.testkit.requisition_created")
		if status, _ := c.Call("POST", "/v3/order/testkit/register", register); status != 400 {
			t.Errorf("registering again was answered %d", status)
		}
		if placed, n := c.lab.Placed(uuid.MustParse(made.Order.ID)); n != 1 || placed.Patient.LastName != "Byron" || placed.SampleID != *made.Order.SampleID {
			t.Errorf("placed %d times", n)
		}
	})
}

// A repeated request with the same key returns the same order. Another body is a
// conflict.
func TestOrderingTwice(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := newClinic(t, d, &networktest.Lab{})
		status, first := c.Call("POST", "/v3/order", c.body("walk_in_test"), "X-Idempotency-Key", "one")
		again, second := c.Call("POST", "/v3/order", c.body("walk_in_test"), "X-Idempotency-Key", "one")
		if status != 200 || again != 200 || string(first) != string(second) {
			t.Errorf("%d %s, then %d %s", status, first, again, second)
		}
		if status, _ := c.Call("POST", "/v3/order", c.body("testkit"), "X-Idempotency-Key", "one"); status != 409 {
			t.Errorf("another body was answered %d", status)
		}
		bad := strings.Replace(c.body("walk_in_test"), `"state":"AZ"`, `"state":"AK"`, 1)
		bad = strings.Replace(bad, c.user, "019f0000-0000-7000-8000-000000000000", 1)
		for _, want := range []int{404, 404} {
			if status, _ := c.Call("POST", "/v3/order", bad, "X-Idempotency-Key", "two"); status != want {
				t.Errorf("an unknown user was answered %d", status)
			}
		}
		var trial struct {
			Valid    bool
			Problems []struct{ Code string }
		}
		c.Expect(200, "POST", "/v3/order?dry_run=true", strings.Replace(bad, `"zip":"85004"`, `"zip":"8500"`, 1), &trial)
		if trial.Valid || len(trial.Problems) < 2 {
			t.Errorf("the dry run found %v", trial)
		}
		var page struct{ Total int }
		c.Get("/v3/orders", &page)
		if page.Total != 1 {
			t.Errorf("%d orders, want 1", page.Total)
		}
	})
}

// A final refusal by a laboratory ends the order, and the team can read its reason.
func TestRefusalByALab(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := newClinic(t, d, &networktest.Lab{Refuse: func(networks.Order) string { return "we do not serve this doctor" }})
		kit, visit := c.order("testkit"), c.order("walk_in_test")
		c.until(kit.ID, "cancelled.testkit.do_not_process")
		c.until(visit.ID, "cancelled.walk_in_test.cancelled")
	})
}
