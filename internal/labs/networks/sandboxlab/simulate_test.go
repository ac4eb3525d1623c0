package sandboxlab

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
)

func statuses(steps []Step) string {
	var all []string
	for _, s := range steps {
		word := string(s.Status)
		if s.Act == Visit {
			word = "visit " + s.Visit
		}
		all = append(all, word)
	}
	return strings.Join(all, " ")
}

// Reference 1.15: the table of what a simulation does.
func TestShortestPath(t *testing.T) {
	visit := &appointment{ID: uuid.New()}
	for _, test := range []struct {
		name   string
		method orders.Method
		from   orders.Status
		final  string
		visit  *appointment
		want   string
	}{
		{"a fresh walk-in order", catalogue.WalkIn, orders.Ordered, "", nil, "requisition_created partial_results completed"},
		{"a fresh walk-in order to its requisition", catalogue.WalkIn, orders.Ordered, "received.walk_in_test.requisition_created", nil, "requisition_created"},
		{"an appointment of a fresh order", catalogue.WalkIn, orders.Ordered, "collecting_sample.walk_in_test.appointment_scheduled", nil, "requisition_created"},
		{"an appointment later", catalogue.WalkIn, orders.RequisitionCreated, "collecting_sample.walk_in_test.appointment_scheduled", nil, ""},
		{"a requisition later", catalogue.WalkIn, orders.RequisitionCreated, "received.walk_in_test.requisition_created", nil, ""},
		{"partial results", catalogue.WalkIn, orders.RequisitionCreated, "sample_with_lab.walk_in_test.partial_results", nil, "partial_results"},
		{"ordered", catalogue.WalkIn, orders.RequisitionCreated, "received.walk_in_test.ordered", nil, "partial_results completed"},
		{"cancelled", catalogue.WalkIn, orders.RequisitionCreated, "cancelled.walk_in_test.cancelled", nil, "partial_results completed"},
		{"another method's status", catalogue.WalkIn, orders.RequisitionCreated, "failed.testkit.lost", nil, "partial_results completed"},
		{"a failure", catalogue.WalkIn, orders.AppointmentScheduled, "failed.walk_in_test.sample_error", nil, "sample_error"},
		{"with partial results", catalogue.WalkIn, orders.PartialResults, "", nil, "completed"},
		{"booked at a center", catalogue.WalkIn, orders.AppointmentScheduled, "", visit, "partial_results completed"},
		{"at a center that says yes later", catalogue.WalkIn, orders.RequisitionCreated, "", &appointment{Requested: true}, "visit scheduled partial_results completed"},
		{"an imported order", catalogue.WalkIn, orders.RequisitionBypassed, "", nil, "partial_results completed"},
		{"corrected at once", catalogue.WalkIn, orders.RequisitionCreated, "completed.walk_in_test.corrected", nil, "partial_results completed corrected"},
		{"corrected afterwards", catalogue.WalkIn, orders.Completed, "completed.walk_in_test.corrected", nil, "corrected"},
		{"completed already", catalogue.WalkIn, orders.Completed, "", nil, ""},
		{"cancelled already", catalogue.WalkIn, orders.Cancelled, "", nil, ""},
		{"redrawn already", catalogue.WalkIn, orders.RedrawAvailable, "", nil, ""},

		{"a fresh visit", catalogue.AtHome, orders.Ordered, "", nil, "requisition_created"},
		{"a visit that is not booked", catalogue.AtHome, orders.RequisitionCreated, "", nil, ""},
		{"a booked visit", catalogue.AtHome, orders.AppointmentScheduled, "", visit, "visit in_progress visit completed completed"},
		{"a requested visit", catalogue.AtHome, orders.AppointmentPending, "", &appointment{Requested: true}, "visit scheduled visit in_progress visit completed completed"},
		{"a cancelled visit", catalogue.AtHome, orders.AppointmentCancelled, "", nil, ""},
		{"to the draw", catalogue.AtHome, orders.AppointmentScheduled, "collecting_sample.at_home_phlebotomy.draw_completed", visit, "visit in_progress visit completed"},
		{"after the draw", catalogue.AtHome, orders.DrawCompleted, "sample_with_lab.at_home_phlebotomy.partial_results", visit, "partial_results"},

		{"on site", catalogue.OnSite, orders.Ordered, "", nil, "requisition_created draw_completed completed"},
		{"on site, to the draw", catalogue.OnSite, orders.Ordered, "sample_with_lab.on_site_collection.draw_completed", nil, "requisition_created draw_completed"},
		{"on site, drawn", catalogue.OnSite, orders.DrawCompleted, "", nil, "completed"},

		{"a kit", catalogue.TestKit, orders.Ordered, "", nil, "requisition_created transit_customer out_for_delivery with_customer transit_lab delivered_to_lab completed"},
		{"a kit on its way", catalogue.TestKit, orders.WithCustomer, "sample_with_lab.testkit.delivered_to_lab", nil, "transit_lab delivered_to_lab"},
		{"a kit gets lost", catalogue.TestKit, orders.RequisitionCreated, "failed.testkit.lost", nil, "transit_customer lost"},
		{"a kit is back already", catalogue.TestKit, orders.DeliveredToLab, "collecting_sample.testkit.transit_customer", nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := &orders.Order{Method: test.method, Status: test.from}
			if got := statuses(shortestPath(o, targetStatus(o, test.final), test.visit)); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// An unregistered kit reaches the patient and stops there.
func TestUnregisteredKit(t *testing.T) {
	o := &orders.Order{Method: catalogue.TestKit, Registrable: true, Status: orders.AwaitingRegistration}
	if got := statuses(shortestPath(o, orders.Completed, nil)); got != "transit_customer out_for_delivery with_customer" {
		t.Errorf("it goes %s", got)
	}
	if got := statuses(shortestPath(o, orders.FailureToDeliverToCustomer, nil)); got != "transit_customer failure_to_deliver_to_customer" {
		t.Errorf("it fails by %s", got)
	}
	o.Status = orders.WithCustomer
	if got := statuses(shortestPath(o, orders.Completed, nil)); got != "" {
		t.Errorf("it continues by %s", got)
	}
	o.Status, o.Body.Patient = orders.Registered, &orders.Patient{}
	if got := statuses(shortestPath(o, orders.Completed, nil)); got != "requisition_created transit_lab delivered_to_lab completed" {
		t.Errorf("once registered it goes %s", got)
	}
}

// Every path follows the table of orders, step by step, for any order and
// target.
func TestPathsAreAllowed(t *testing.T) {
	walked := 0
	for _, course := range orders.Courses {
		for _, from := range orders.Statuses {
			if !course.Includes(from) {
				continue
			}
			for _, to := range orders.Statuses {
				o := &orders.Order{Method: course.Method(), Registrable: course == orders.RegistrableCourse, Status: from}
				if !o.Registrable || rank(from) >= rank(orders.Registered) && from != orders.TransitCustomer && from != orders.OutForDelivery {
					o.Body.Patient = &orders.Patient{}
				}
				at := from
				for _, s := range shortestPath(o, targetStatus(o, to.Full(o.Method)), nil) {
					if !course.Allows(at, s.Status, ^orders.Trigger(0)) {
						t.Errorf("%s: from %s to %s it goes from %s to %s", course, from, to, at, s.Status)
					}
					at = s.Status
					walked++
				}
			}
		}
	}
	if walked < 500 {
		t.Errorf("only %d steps were tried", walked)
	}
}

// A course has the steps of its script, without the ones that have passed.
func TestScripts(t *testing.T) {
	kit := func() *orders.Order {
		return &orders.Order{Method: catalogue.TestKit, Status: orders.Ordered, Body: orders.Body{Patient: &orders.Patient{}}}
	}
	walkIn := &orders.Order{Method: catalogue.WalkIn, Status: orders.Ordered}
	for _, test := range []struct {
		script Script
		order  *orders.Order
		want   string
	}{
		{Success, kit(), "requisition_created transit_customer out_for_delivery with_customer transit_lab delivered_to_lab completed"},
		{LostKit, kit(), "requisition_created transit_customer lost"},
		{LostSample, kit(), "requisition_created transit_customer out_for_delivery with_customer transit_lab lost"},
		{Undeliverable, kit(), "requisition_created transit_customer out_for_delivery failure_to_deliver_to_customer"},
		{Blocked, kit(), "requisition_created transit_customer out_for_delivery with_customer transit_lab delivered_to_lab lab_processing_blocked delivered_to_lab completed"},
		{OutOfOrder, kit(), "requisition_created transit_customer out_for_delivery with_customer delivered_to_lab transit_lab completed partial_results"},
		{Late, kit(), "requisition_created transit_customer out_for_delivery with_customer delivered_to_lab completed transit_lab"},
		{Hemolyzed, walkIn, "requisition_created sample_error"},
		{Corrected, walkIn, "requisition_created partial_results completed corrected"},
		{OutOfOrder, walkIn, "requisition_created completed partial_results"},
		{WrongPatient, walkIn, "requisition_created partial_results completed"},
	} {
		if got := statuses(planCourse(test.order, test.script, nil)); got != test.want {
			t.Errorf("%s of a %s: %s, want %s", test.script, test.order.Method, got, test.want)
		}
	}
	for _, info := range Scripts {
		o := kit()
		o.Status = orders.WithCustomer
		steps := planCourse(o, info.Name, nil)
		if len(steps) > 0 && rank(steps[0].Status) <= rank(orders.WithCustomer) {
			t.Errorf("%s goes back to %s", info.Name, steps[0].Status)
		}
	}
	if !slices.ContainsFunc(planCourse(walkIn, Duplicated, nil), func(s Step) bool { return s.Twice }) {
		t.Error("nothing comes twice")
	}
}
