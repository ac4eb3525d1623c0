package orders

import (
	"slices"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orderwords"
	"hale/internal/people/messages"
)

//go:generate go test ./ -run TestOrderStatesPage -update

// Method is a collection method.
type Method = catalogue.Method

// Status is the last part of an order's event strings.
//
// Reference 1.3, low-level statuses. The list may grow.
type Status string

// The statuses. The rows of statusTable describe them.
const (
	Ordered              Status = orderwords.StatusOrdered
	AwaitingRegistration Status = orderwords.StatusAwaitingRegistration
	Registered           Status = orderwords.StatusRegistered
	RequisitionCreated   Status = orderwords.StatusRequisitionCreated
	RequisitionBypassed  Status = orderwords.StatusRequisitionBypassed

	TransitCustomer          Status = orderwords.StatusTransitCustomer
	OutForDelivery           Status = orderwords.StatusOutForDelivery
	WithCustomer             Status = orderwords.StatusWithCustomer
	ProblemInTransitCustomer Status = orderwords.StatusProblemInTransitCustomer
	TransitLab               Status = orderwords.StatusTransitLab
	ProblemInTransitLab      Status = orderwords.StatusProblemInTransitLab

	AppointmentPending   Status = orderwords.StatusAppointmentPending
	AppointmentScheduled Status = orderwords.StatusAppointmentScheduled
	AppointmentCancelled Status = orderwords.StatusAppointmentCancelled
	DrawCompleted        Status = orderwords.StatusDrawCompleted
	RedrawAvailable      Status = orderwords.StatusRedrawAvailable

	DeliveredToLab       Status = orderwords.StatusDeliveredToLab
	LabProcessingBlocked Status = orderwords.StatusLabProcessingBlocked
	PartialResults       Status = orderwords.StatusPartialResults
	Completed            Status = orderwords.StatusCompleted
	Corrected            Status = orderwords.StatusCorrected

	FailureToDeliverToCustomer Status = orderwords.StatusFailureToDeliverToCustomer
	FailureToDeliverToLab      Status = orderwords.StatusFailureToDeliverToLab
	Lost                       Status = orderwords.StatusLost
	SampleError                Status = orderwords.StatusSampleError
	Cancelled                  Status = orderwords.StatusCancelled
	DoNotProcess               Status = orderwords.StatusDoNotProcess
)

// Stage is the top-level status: the first part of the event strings.
//
// Reference 1.2.
type Stage string

// The stages.
const (
	StageReceived   Stage = orderwords.StageReceived
	StageCollecting Stage = orderwords.StageCollecting
	StageWithLab    Stage = orderwords.StageWithLab
	StageCompleted  Stage = orderwords.StageCompleted
	StageCancelled  Stage = orderwords.StageCancelled
	StageFailed     Stage = orderwords.StageFailed
)

// Stages lists all stages.
var Stages = []Stage{StageReceived, StageCollecting, StageWithLab, StageCompleted, StageCancelled, StageFailed}

// statusRow holds every fact about a status except its moves.
type statusRow struct {
	status Status
	stage  Stage
	// onSiteStage replaces stage for on-site collection. A sample that is drawn on
	// site is with the lab. A sample that is drawn at home still has to get there.
	// Reference 1.3.
	onSiteStage Stage
	// unplaced: the lab does not have the order yet.
	unplaced bool
	// terminal: no further step is expected. A completed order may still be
	// corrected.
	terminal bool
	// patientText is shown in the portal. It never mentions findings.
	patientText string
	// messages are the messages to the patient when an order reaches the status,
	// by method. Messages about visits are in package messages.
	// Reference 1.19.
	messages map[Method]messages.Rule
}

// smsForAll sends an SMS for every method.
var smsForAll = map[Method]messages.Rule{catalogue.TestKit: messages.BySMS, catalogue.AtHome: messages.BySMS, catalogue.WalkIn: messages.BySMS, catalogue.OnSite: messages.BySMS}

// smsForKits sends an SMS for test kits only.
var smsForKits = map[Method]messages.Rule{catalogue.TestKit: messages.BySMS}

// statusTable has one row per status, roughly in the order of an order's life.
var statusTable = []statusRow{
	// Before the lab has the order. A registrable kit is ordered before its
	// user is known.
	{status: Ordered, stage: StageReceived, unplaced: true, patientText: "We have received the order", messages: smsForAll},
	{status: AwaitingRegistration, stage: StageReceived, unplaced: true, patientText: "The kit waits to be registered"},
	{status: Registered, stage: StageReceived, unplaced: true, patientText: "The kit is registered"},

	// The lab has the order; bypassed: the lab had it before we did.
	{status: RequisitionCreated, stage: StageReceived, patientText: "The lab has the order", messages: map[Method]messages.Rule{
		catalogue.AtHome: messages.BySMSAndEmail, catalogue.WalkIn: messages.BySMSAndEmail, catalogue.OnSite: messages.BySMSAndEmail,
	}},
	{status: RequisitionBypassed, stage: StageReceived, patientText: "The lab has the order"},

	// A kit travels to the patient and back.
	{status: TransitCustomer, stage: StageCollecting, patientText: "Your kit is on its way to you", messages: smsForKits},
	{status: OutForDelivery, stage: StageCollecting, patientText: "Your kit is out for delivery", messages: smsForKits},
	{status: WithCustomer, stage: StageCollecting, patientText: "Your kit has arrived"},
	{status: ProblemInTransitCustomer, stage: StageCollecting, patientText: "The carrier has a problem with your kit"},
	{status: TransitLab, stage: StageCollecting, patientText: "Your sample is on its way to the lab"},
	{status: ProblemInTransitLab, stage: StageCollecting, patientText: "The carrier has a problem with your sample"},

	// A visit: pending has no confirmed time, scheduled has one.
	{status: AppointmentPending, stage: StageCollecting, patientText: "A visit was asked for and is not confirmed yet"},
	{status: AppointmentScheduled, stage: StageCollecting, patientText: "Your visit is confirmed"},
	{status: AppointmentCancelled, stage: StageCollecting, patientText: "Your visit was cancelled"},
	{status: DrawCompleted, stage: StageCollecting, onSiteStage: StageWithLab, patientText: "Your sample was taken", messages: map[Method]messages.Rule{
		catalogue.AtHome: messages.BySMS, catalogue.OnSite: messages.BySMS,
	}},
	// A redraw order gets the markers that this order misses.
	{status: RedrawAvailable, stage: StageCollecting, terminal: true, patientText: "The lab asks for another sample", messages: map[Method]messages.Rule{
		catalogue.WalkIn: messages.BySMSAndEmail,
	}},

	// The lab has the sample; blocked: it waits for information.
	{status: DeliveredToLab, stage: StageWithLab, patientText: "Your sample has arrived at the lab", messages: smsForKits},
	{status: LabProcessingBlocked, stage: StageWithLab, patientText: "The lab is waiting for something"},
	{status: PartialResults, stage: StageWithLab, patientText: "The lab has finished a part"},

	{status: Completed, stage: StageCompleted, terminal: true, patientText: "The lab has finished", messages: smsForAll},
	{status: Corrected, stage: StageCompleted, terminal: true, patientText: "The lab has finished, and corrected its report"},

	{status: FailureToDeliverToCustomer, stage: StageFailed, terminal: true, patientText: "Your kit could not be delivered"},
	{status: FailureToDeliverToLab, stage: StageFailed, terminal: true, patientText: "Your sample did not reach the lab"},
	{status: Lost, stage: StageFailed, terminal: true, patientText: "Your kit was lost"},
	{status: SampleError, stage: StageFailed, terminal: true, patientText: "The lab could not use your sample"},
	{status: Cancelled, stage: StageCancelled, terminal: true, patientText: "The order was cancelled", messages: smsForAll},
	{status: DoNotProcess, stage: StageCancelled, terminal: true, patientText: "The lab does not carry the order out"},
}

// Statuses lists all statuses in the order of statusTable.
var Statuses = func() (all []Status) {
	for _, row := range statusTable {
		all = append(all, row.status)
	}
	return all
}()

// statusRows finds the row of a status.
var statusRows = func() map[Status]statusRow {
	rows := map[Status]statusRow{}
	for _, row := range statusTable {
		rows[row.status] = row
	}
	return rows
}()

// Stage returns the stage of an order that has the status and the method.
func (s Status) Stage(m Method) Stage {
	row := statusRows[s]
	if m == catalogue.OnSite && row.onSiteStage != "" {
		return row.onSiteStage
	}
	return row.stage
}

// Full returns the event string, such as
// collecting_sample.testkit.transit_customer.
func (s Status) Full(m Method) string {
	return string(s.Stage(m)) + "." + string(m) + "." + string(s)
}

// Terminal reports whether no further step of the order is expected. A completed
// order may still be corrected.
func (s Status) Terminal() bool { return statusRows[s].terminal }

// HasRequisition reports whether the lab has, or had, the order at this point
// of its life. It is meaningless for cancelled and failed orders.
func (s Status) HasRequisition() bool { return !statusRows[s].unplaced }

// PatientText describes the status to the patient, without any finding.
func (s Status) PatientText() string { return statusRows[s].patientText }

// Message returns the rule for the message that a patient gets at this status.
func (s Status) Message(m Method) messages.Rule { return statusRows[s].messages[m] }

// Detail refines a status; labs and fulfilment set it.
//
// Reference 1.5.
type Detail string

// The details.
const (
	NoDetail                 Detail = ""
	CollectionDateMissing    Detail = orderwords.CollectionDateMissing
	DemographicsMissing      Detail = orderwords.DemographicsMissing
	DemographicsMismatch     Detail = orderwords.DemographicsMismatch
	QuantityNotSufficient    Detail = orderwords.QuantityNotSufficient
	SampleContaminated       Detail = orderwords.SampleContaminated
	StabilityExceeded        Detail = orderwords.StabilityExceeded
	SampleHemolyzed          Detail = orderwords.SampleHemolyzed
	SampleImproperCollection Detail = orderwords.SampleImproperCollection
	FulfillmentError         Detail = orderwords.FulfillmentError
)

// Details lists all details except the empty one.
var Details = []Detail{
	CollectionDateMissing, DemographicsMissing, DemographicsMismatch, QuantityNotSufficient, SampleContaminated,
	StabilityExceeded, SampleHemolyzed, SampleImproperCollection, FulfillmentError,
}

// Course is the course of an order: its method and, for test kits, whether they
// are registered when ordered or later.
type Course string

// The courses.
const (
	KitCourse         Course = orderwords.TestKit
	RegistrableCourse Course = "testkit, registered later"
	WalkInCourse      Course = orderwords.WalkIn
	AtHomeCourse      Course = orderwords.AtHome
	OnSiteCourse      Course = orderwords.OnSite
)

// Courses lists all courses.
var Courses = []Course{KitCourse, RegistrableCourse, WalkInCourse, AtHomeCourse, OnSiteCourse}

// Method returns the method of a course.
func (c Course) Method() Method {
	if c == RegistrableCourse {
		return catalogue.TestKit
	}
	return Method(c)
}

// CourseOf returns the course of an order with a method.
func CourseOf(m Method, registrable bool) Course {
	if registrable && m == catalogue.TestKit {
		return RegistrableCourse
	}
	return Course(m)
}

// Trigger is the source of a move.
type Trigger uint8

// The triggers.
const (
	Requisition Trigger = 1 << iota // our job that places the order
	Carrier                         // parcel tracking
	Lab                             // the lab's messages
	Appointment                     // a visit or its booking
	Call                            // the API
	Operator                        // the people who run the service
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
	// Skips marks a move over steps that were not reported: a missed scan must
	// not block later moves.
	Skips bool
}

// row stands for several arrows: from each of the first to each of the second.
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

// join concatenates lists.
func join(lists ...[]Status) []Status { return slices.Concat(lists...) }

// tables lists all moves. Reference 1.4; moves that its diagrams lack follow its
// text. Cancelling by call is reference 1.6. A lab may cancel until it has the
// sample; its final refusal ends the order.
var tables = map[Course][]row{
	KitCourse: {
		{from: list(Ordered), to: list(RequisitionCreated, DoNotProcess), by: Requisition},
		{from: list(Ordered), to: list(RequisitionBypassed), by: Call},
		{from: join(list(Ordered), requisition), to: list(Cancelled), by: Call | Lab | Operator},
		{from: requisition, to: list(TransitCustomer), by: Carrier},
		{from: list(TransitCustomer), to: list(OutForDelivery, ProblemInTransitCustomer, FailureToDeliverToCustomer, Lost), by: Carrier},
		{from: list(OutForDelivery), to: list(WithCustomer, ProblemInTransitCustomer, FailureToDeliverToCustomer, Lost), by: Carrier},
		{from: list(ProblemInTransitCustomer), to: list(OutForDelivery, WithCustomer, FailureToDeliverToCustomer, Lost), by: Carrier},
		{from: list(WithCustomer), to: list(TransitLab), by: Carrier},
		{from: list(TransitLab), to: list(DeliveredToLab, ProblemInTransitLab, FailureToDeliverToLab, Lost), by: Carrier | Lab},
		{from: list(ProblemInTransitLab), to: list(TransitLab, DeliveredToLab, FailureToDeliverToLab, Lost), by: Carrier | Lab},
		{from: list(DeliveredToLab), to: list(Completed, SampleError, LabProcessingBlocked, Lost), by: Lab},
		{from: list(LabProcessingBlocked), to: list(DeliveredToLab, Completed, SampleError, Lost), by: Lab},
		{from: join(list(Ordered), requisition), to: list(DoNotProcess), by: Lab | Operator},
		{from: join(onTheWayOut, list(WithCustomer), onTheWayIn, atTheLab), to: list(DoNotProcess), by: Operator},
		{from: list(Completed, Corrected), to: list(Corrected), by: Lab},
		{from: requisition, to: list(OutForDelivery, WithCustomer, ProblemInTransitCustomer, FailureToDeliverToCustomer, Lost), by: Carrier, skips: true},
		{from: list(TransitCustomer), to: list(WithCustomer), by: Carrier, skips: true},
		{from: join(requisition, onTheWayOut), to: list(TransitLab), by: Carrier, skips: true},
		{from: join(requisition, onTheWayOut, list(WithCustomer)), to: list(DeliveredToLab), by: Carrier | Lab, skips: true},
		{from: list(WithCustomer), to: list(ProblemInTransitLab, FailureToDeliverToLab, Lost), by: Carrier, skips: true},
		{from: join(requisition, onTheWayOut, list(WithCustomer), onTheWayIn), to: list(LabProcessingBlocked, Completed, SampleError), by: Lab, skips: true},
	},
	RegistrableCourse: {
		{from: list(Ordered), to: list(AwaitingRegistration), by: Call},
		{from: list(Ordered, AwaitingRegistration, Registered, RequisitionCreated), to: list(Cancelled), by: Call | Lab | Operator},
		{from: list(AwaitingRegistration), to: list(TransitCustomer), by: Carrier},
		{from: list(TransitCustomer), to: list(OutForDelivery, ProblemInTransitCustomer, FailureToDeliverToCustomer, Lost), by: Carrier},
		{from: list(OutForDelivery), to: list(WithCustomer, ProblemInTransitCustomer, FailureToDeliverToCustomer, Lost), by: Carrier},
		{from: list(ProblemInTransitCustomer), to: list(OutForDelivery, WithCustomer, FailureToDeliverToCustomer, Lost), by: Carrier},
		{from: join(list(AwaitingRegistration), onTheWayOut, list(WithCustomer)), to: list(Registered), by: Call},
		{from: list(Registered), to: list(RequisitionCreated, DoNotProcess), by: Requisition},
		{from: list(RequisitionCreated), to: list(TransitLab), by: Carrier},
		{from: list(TransitLab), to: list(DeliveredToLab, ProblemInTransitLab, FailureToDeliverToLab, Lost), by: Carrier | Lab},
		{from: list(ProblemInTransitLab), to: list(TransitLab, DeliveredToLab, FailureToDeliverToLab, Lost), by: Carrier | Lab},
		{from: list(DeliveredToLab), to: list(Completed, SampleError, LabProcessingBlocked, Lost), by: Lab},
		{from: list(LabProcessingBlocked), to: list(DeliveredToLab, Completed, SampleError, Lost), by: Lab},
		{from: list(Registered, RequisitionCreated), to: list(DoNotProcess), by: Lab | Operator},
		{from: join(list(Ordered, AwaitingRegistration), onTheWayOut, list(WithCustomer), onTheWayIn, atTheLab), to: list(DoNotProcess), by: Operator},
		{from: list(Completed, Corrected), to: list(Corrected), by: Lab},
		{from: list(AwaitingRegistration), to: list(OutForDelivery, WithCustomer, ProblemInTransitCustomer, FailureToDeliverToCustomer, Lost), by: Carrier, skips: true},
		{from: list(TransitCustomer), to: list(WithCustomer), by: Carrier, skips: true},
		{from: list(RequisitionCreated), to: list(DeliveredToLab), by: Carrier | Lab, skips: true},
		{from: list(RequisitionCreated), to: list(ProblemInTransitLab, FailureToDeliverToLab, Lost), by: Carrier, skips: true},
		{from: join(list(RequisitionCreated), onTheWayIn), to: list(LabProcessingBlocked, Completed, SampleError), by: Lab, skips: true},
	},
	WalkInCourse: {
		{from: list(Ordered), to: list(RequisitionCreated, Cancelled), by: Requisition},
		{from: list(Ordered), to: list(RequisitionBypassed), by: Call},
		{from: join(list(Ordered), requisition, appointment), to: list(Cancelled), by: Call | Lab | Operator},
		{from: join(requisition, list(AppointmentCancelled)), to: list(AppointmentPending), by: Appointment},
		{from: list(AppointmentPending), to: list(AppointmentScheduled, AppointmentCancelled), by: Appointment},
		{from: list(AppointmentScheduled), to: list(AppointmentPending, AppointmentScheduled, AppointmentCancelled), by: Appointment},
		{from: join(requisition, list(AppointmentScheduled, AppointmentCancelled, PartialResults)), to: list(PartialResults, Completed), by: Lab},
		{from: join(requisition, list(AppointmentScheduled, PartialResults)), to: list(SampleError), by: Lab},
		{from: join(requisition, appointment, list(PartialResults)), to: list(RedrawAvailable), by: Lab},
		{from: list(Completed, Corrected), to: list(Corrected), by: Lab},
		{from: join(requisition, list(AppointmentCancelled)), to: list(AppointmentScheduled), by: Appointment, skips: true},
		{from: list(AppointmentPending), to: list(PartialResults, Completed, SampleError), by: Lab, skips: true},
		{from: list(AppointmentCancelled), to: list(SampleError), by: Lab, skips: true},
	},
	AtHomeCourse: {
		{from: list(Ordered), to: list(RequisitionCreated, Cancelled), by: Requisition},
		{from: list(Ordered), to: list(RequisitionBypassed), by: Call},
		{from: join(list(Ordered), requisition, appointment, list(DrawCompleted)), to: list(Cancelled), by: Call | Lab | Operator},
		{from: join(requisition, list(AppointmentCancelled)), to: list(AppointmentPending), by: Appointment},
		{from: list(AppointmentPending), to: list(AppointmentScheduled, AppointmentCancelled), by: Appointment},
		{from: list(AppointmentScheduled), to: list(AppointmentScheduled, AppointmentCancelled, DrawCompleted), by: Appointment},
		{from: list(AppointmentCancelled), to: list(AppointmentScheduled), by: Appointment},
		{from: list(DrawCompleted, PartialResults), to: list(PartialResults, Completed, SampleError), by: Lab},
		{from: list(Completed, Corrected), to: list(Corrected), by: Lab},
		{from: requisition, to: list(AppointmentScheduled), by: Appointment, skips: true},
		{from: join(requisition, list(AppointmentPending, AppointmentCancelled)), to: list(DrawCompleted), by: Appointment, skips: true},
		{from: join(requisition, appointment), to: list(PartialResults, Completed, SampleError), by: Lab, skips: true},
	},
	OnSiteCourse: {
		{from: list(Ordered), to: list(RequisitionCreated, Cancelled), by: Requisition},
		{from: list(Ordered), to: list(RequisitionBypassed), by: Call},
		{from: join(list(Ordered), requisition, list(DrawCompleted)), to: list(Cancelled), by: Call | Lab | Operator},
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

// moves holds the triggers of each move, built once from the tables.
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

// Allows reports whether a trigger moves an order of a course between two statuses.
func (c Course) Allows(from, to Status, by Trigger) bool {
	return moves[c][[2]Status{from, to}]&by != 0
}

// Includes reports whether a course includes a status.
func (c Course) Includes(s Status) bool {
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

// Path returns the shortest way between two statuses, without from, for
// simulations. It uses no arrow that skips. It returns nil if there is no way.
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
				return shortestPath(came, from, to)
			}
			queue = append(queue, a.To)
		}
	}
	return nil
}

func shortestPath(came map[Status]Arrow, from, to Status) []Arrow {
	path := []Arrow{came[to]}
	for path[0].From != from {
		path = slices.Insert(path, 0, came[path[0].From])
	}
	return path
}
