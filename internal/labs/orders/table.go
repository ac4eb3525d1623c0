package orders

import (
	"slices"

	"hale/internal/labs/catalogue"
)

//go:generate go test ./ -run TestOrderStatesPage -update

// Course is the way an order goes: its method, and for test kits whether they
// are registered when they are ordered or later.
type Course string

// The courses.
const (
	KitCourse         Course = "testkit"
	RegistrableCourse Course = "testkit, registered later"
	WalkInCourse      Course = "walk_in_test"
	AtHomeCourse      Course = "at_home_phlebotomy"
	OnSiteCourse      Course = "on_site_collection"
)

// Courses lists them all.
var Courses = []Course{KitCourse, RegistrableCourse, WalkInCourse, AtHomeCourse, OnSiteCourse}

// Method of a course.
func (c Course) Method() Method {
	if c == RegistrableCourse {
		return catalogue.TestKit
	}
	return Method(c)
}

// CourseOf is the way that an order of a method goes.
func CourseOf(m Method, registrable bool) Course {
	if registrable && m == catalogue.TestKit {
		return RegistrableCourse
	}
	return Course(m)
}

// Trigger says who may cause a move.
type Trigger uint8

// The triggers.
const (
	Requisition Trigger = 1 << iota // our own job that places the order
	Carrier                         // parcel tracking
	Lab                             // the lab's messages
	Appointment                     // a visit or its booking changed
	Call                            // the API
	Operator                        // people who run the service
)

var triggerNames = []struct {
	t    Trigger
	name string
}{{Requisition, "requisition"}, {Carrier, "carrier"}, {Lab, "lab"}, {Appointment, "appointment"}, {Call, "call"}, {Operator, "operator"}}

func (t Trigger) String() string {
	name := ""
	for _, n := range triggerNames {
		if t&n.t != 0 {
			if name != "" {
				name += ", "
			}
			name += n.name
		}
	}
	return name
}

// Arrow is a move that an order may make.
type Arrow struct {
	From, To Status
	By       Trigger
	// Skips marks a move over steps that nobody reported: a scan that was
	// missed must not hold up what comes after it.
	Skips bool
}

// row is several arrows: from each of the first to each of the second.
type row struct {
	from, to []Status
	by       Trigger
	skips    bool
}

func list(all ...Status) []Status { return all }

var (
	requisition = list(RequisitionCreated, RequisitionBypassed)
	appointment = list(AppointmentPending, AppointmentScheduled, AppointmentCancelled)
	onTheWayOut = list(TransitCustomer, OutForDelivery, ProblemInTransitCustomer)
	onTheWayIn  = list(TransitLab, ProblemInTransitLab)
	atTheLab    = list(DeliveredToLab, LabProcessingBlocked)
)

// and joins lists.
func and(lists ...[]Status) []Status { return slices.Concat(lists...) }

// tables are all moves there are. Reference 1.4; what its diagrams leave out is
// placed as it says. Cancelling by call is reference 1.6; a lab may cancel until
// it has the sample, and its final no to an order ends it.
var tables = map[Course][]row{
	KitCourse: {
		{from: list(Ordered), to: list(RequisitionCreated, DoNotProcess), by: Requisition},
		{from: list(Ordered), to: list(RequisitionBypassed), by: Call},
		{from: and(list(Ordered), requisition), to: list(Cancelled), by: Call | Lab | Operator},
		{from: requisition, to: list(TransitCustomer), by: Carrier},
		{from: list(TransitCustomer), to: list(OutForDelivery, ProblemInTransitCustomer, FailureToDeliverToCustomer, Lost), by: Carrier},
		{from: list(OutForDelivery), to: list(WithCustomer, ProblemInTransitCustomer, FailureToDeliverToCustomer, Lost), by: Carrier},
		{from: list(ProblemInTransitCustomer), to: list(OutForDelivery, WithCustomer, FailureToDeliverToCustomer, Lost), by: Carrier},
		{from: list(WithCustomer), to: list(TransitLab), by: Carrier},
		{from: list(TransitLab), to: list(DeliveredToLab, ProblemInTransitLab, FailureToDeliverToLab, Lost), by: Carrier | Lab},
		{from: list(ProblemInTransitLab), to: list(TransitLab, DeliveredToLab, FailureToDeliverToLab, Lost), by: Carrier | Lab},
		{from: list(DeliveredToLab), to: list(Completed, SampleError, LabProcessingBlocked, Lost), by: Lab},
		{from: list(LabProcessingBlocked), to: list(DeliveredToLab, Completed, SampleError, Lost), by: Lab},
		{from: and(list(Ordered), requisition), to: list(DoNotProcess), by: Lab | Operator},
		{from: and(onTheWayOut, list(WithCustomer), onTheWayIn, atTheLab), to: list(DoNotProcess), by: Operator},
		{from: list(Completed, Corrected), to: list(Corrected), by: Lab},
		{from: requisition, to: list(OutForDelivery, WithCustomer, ProblemInTransitCustomer, FailureToDeliverToCustomer, Lost), by: Carrier, skips: true},
		{from: list(TransitCustomer), to: list(WithCustomer), by: Carrier, skips: true},
		{from: and(requisition, onTheWayOut), to: list(TransitLab), by: Carrier, skips: true},
		{from: and(requisition, onTheWayOut, list(WithCustomer)), to: list(DeliveredToLab), by: Carrier | Lab, skips: true},
		{from: list(WithCustomer), to: list(ProblemInTransitLab, FailureToDeliverToLab, Lost), by: Carrier, skips: true},
		{from: and(requisition, onTheWayOut, list(WithCustomer), onTheWayIn), to: list(LabProcessingBlocked, Completed, SampleError), by: Lab, skips: true},
	},
	RegistrableCourse: {
		{from: list(Ordered), to: list(AwaitingRegistration), by: Call},
		{from: list(Ordered, AwaitingRegistration, Registered, RequisitionCreated), to: list(Cancelled), by: Call | Lab | Operator},
		{from: list(AwaitingRegistration), to: list(TransitCustomer), by: Carrier},
		{from: list(TransitCustomer), to: list(OutForDelivery, ProblemInTransitCustomer, FailureToDeliverToCustomer, Lost), by: Carrier},
		{from: list(OutForDelivery), to: list(WithCustomer, ProblemInTransitCustomer, FailureToDeliverToCustomer, Lost), by: Carrier},
		{from: list(ProblemInTransitCustomer), to: list(OutForDelivery, WithCustomer, FailureToDeliverToCustomer, Lost), by: Carrier},
		{from: and(list(AwaitingRegistration), onTheWayOut, list(WithCustomer)), to: list(Registered), by: Call},
		{from: list(Registered), to: list(RequisitionCreated, DoNotProcess), by: Requisition},
		{from: list(RequisitionCreated), to: list(TransitLab), by: Carrier},
		{from: list(TransitLab), to: list(DeliveredToLab, ProblemInTransitLab, FailureToDeliverToLab, Lost), by: Carrier | Lab},
		{from: list(ProblemInTransitLab), to: list(TransitLab, DeliveredToLab, FailureToDeliverToLab, Lost), by: Carrier | Lab},
		{from: list(DeliveredToLab), to: list(Completed, SampleError, LabProcessingBlocked, Lost), by: Lab},
		{from: list(LabProcessingBlocked), to: list(DeliveredToLab, Completed, SampleError, Lost), by: Lab},
		{from: list(Registered, RequisitionCreated), to: list(DoNotProcess), by: Lab | Operator},
		{from: and(list(Ordered, AwaitingRegistration), onTheWayOut, list(WithCustomer), onTheWayIn, atTheLab), to: list(DoNotProcess), by: Operator},
		{from: list(Completed, Corrected), to: list(Corrected), by: Lab},
		{from: list(AwaitingRegistration), to: list(OutForDelivery, WithCustomer, ProblemInTransitCustomer, FailureToDeliverToCustomer, Lost), by: Carrier, skips: true},
		{from: list(TransitCustomer), to: list(WithCustomer), by: Carrier, skips: true},
		{from: list(RequisitionCreated), to: list(DeliveredToLab), by: Carrier | Lab, skips: true},
		{from: list(RequisitionCreated), to: list(ProblemInTransitLab, FailureToDeliverToLab, Lost), by: Carrier, skips: true},
		{from: and(list(RequisitionCreated), onTheWayIn), to: list(LabProcessingBlocked, Completed, SampleError), by: Lab, skips: true},
	},
	WalkInCourse: {
		{from: list(Ordered), to: list(RequisitionCreated, Cancelled), by: Requisition},
		{from: list(Ordered), to: list(RequisitionBypassed), by: Call},
		{from: and(list(Ordered), requisition, appointment), to: list(Cancelled), by: Call | Lab | Operator},
		{from: and(requisition, list(AppointmentCancelled)), to: list(AppointmentPending), by: Appointment},
		{from: list(AppointmentPending), to: list(AppointmentScheduled, AppointmentCancelled), by: Appointment},
		{from: list(AppointmentScheduled), to: list(AppointmentPending, AppointmentScheduled, AppointmentCancelled), by: Appointment},
		{from: and(requisition, list(AppointmentScheduled, AppointmentCancelled, PartialResults)), to: list(PartialResults, Completed), by: Lab},
		{from: and(requisition, list(AppointmentScheduled, PartialResults)), to: list(SampleError), by: Lab},
		{from: and(requisition, appointment, list(PartialResults)), to: list(RedrawAvailable), by: Lab},
		{from: list(Completed, Corrected), to: list(Corrected), by: Lab},
		{from: and(requisition, list(AppointmentCancelled)), to: list(AppointmentScheduled), by: Appointment, skips: true},
		{from: list(AppointmentPending), to: list(PartialResults, Completed, SampleError), by: Lab, skips: true},
		{from: list(AppointmentCancelled), to: list(SampleError), by: Lab, skips: true},
	},
	AtHomeCourse: {
		{from: list(Ordered), to: list(RequisitionCreated, Cancelled), by: Requisition},
		{from: list(Ordered), to: list(RequisitionBypassed), by: Call},
		{from: and(list(Ordered), requisition, appointment, list(DrawCompleted)), to: list(Cancelled), by: Call | Lab | Operator},
		{from: and(requisition, list(AppointmentCancelled)), to: list(AppointmentPending), by: Appointment},
		{from: list(AppointmentPending), to: list(AppointmentScheduled, AppointmentCancelled), by: Appointment},
		{from: list(AppointmentScheduled), to: list(AppointmentScheduled, AppointmentCancelled, DrawCompleted), by: Appointment},
		{from: list(AppointmentCancelled), to: list(AppointmentScheduled), by: Appointment},
		{from: list(DrawCompleted, PartialResults), to: list(PartialResults, Completed, SampleError), by: Lab},
		{from: list(Completed, Corrected), to: list(Corrected), by: Lab},
		{from: requisition, to: list(AppointmentScheduled), by: Appointment, skips: true},
		{from: and(requisition, list(AppointmentPending, AppointmentCancelled)), to: list(DrawCompleted), by: Appointment, skips: true},
		{from: and(requisition, appointment), to: list(PartialResults, Completed, SampleError), by: Lab, skips: true},
	},
	OnSiteCourse: {
		{from: list(Ordered), to: list(RequisitionCreated, Cancelled), by: Requisition},
		{from: list(Ordered), to: list(RequisitionBypassed), by: Call},
		{from: and(list(Ordered), requisition, list(DrawCompleted)), to: list(Cancelled), by: Call | Lab | Operator},
		{from: requisition, to: list(DrawCompleted), by: Call},
		{from: list(DrawCompleted, PartialResults), to: list(PartialResults, Completed, SampleError), by: Lab},
		{from: list(Completed, Corrected), to: list(Corrected), by: Lab},
		{from: requisition, to: list(PartialResults, Completed, SampleError), by: Lab, skips: true},
	},
}

// Arrows lists the moves of a course, in the order of its table.
func Arrows(c Course) []Arrow {
	var all []Arrow
	for _, r := range tables[c] {
		for _, from := range r.from {
			for _, to := range r.to {
				if from == to && r.skips {
					continue
				}
				all = append(all, Arrow{from, to, r.by, r.skips})
			}
		}
	}
	return all
}

// moves answers who may make a move; built once from the tables.
var moves = func() map[Course]map[[2]Status]Trigger {
	all := map[Course]map[[2]Status]Trigger{}
	for _, c := range Courses {
		all[c] = map[[2]Status]Trigger{}
		for _, a := range Arrows(c) {
			all[c][[2]Status{a.From, a.To}] |= a.By
		}
	}
	return all
}()

// May reports whether a trigger moves an order of a course between two statuses.
func (c Course) May(from, to Status, by Trigger) bool { return moves[c][[2]Status{from, to}]&by != 0 }

// Has reports whether a course knows a status.
func (c Course) Has(s Status) bool {
	if s == Ordered {
		return true
	}
	for pair := range moves[c] {
		if pair[1] == s {
			return true
		}
	}
	return false
}

// Path is the shortest way between two statuses, without from: what a
// simulator walks. It takes no arrow that skips. Nil means that there is no way.
func (c Course) Path(from, to Status) []Arrow {
	arrows := Arrows(c)
	came := map[Status]Arrow{}
	for queue := []Status{from}; len(queue) > 0; queue = queue[1:] {
		for _, a := range arrows {
			_, seen := came[a.To]
			if a.From != queue[0] || a.Skips || seen || a.To == from && to != from {
				continue
			}
			came[a.To] = a
			if a.To == to {
				return back(came, from, to)
			}
			queue = append(queue, a.To)
		}
	}
	return nil
}

func back(came map[Status]Arrow, from, to Status) []Arrow {
	path := []Arrow{came[to]}
	for path[0].From != from {
		path = slices.Insert(path, 0, came[path[0].From])
	}
	return path
}
