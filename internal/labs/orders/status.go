package orders

import (
	"slices"

	"hale/internal/labs/catalogue"
)

// Method says how a sample is collected.
type Method = catalogue.Method

// Status is where an order is: the last part of its event strings.
//
// Reference 1.3, low-level statuses. The list may grow.
type Status string

// The statuses. What follows each is in table.go.
const (
	// Ordered is stored and waits for its requisition.
	Ordered Status = "ordered"
	// AwaitingRegistration is a kit that nobody has registered yet.
	AwaitingRegistration Status = "awaiting_registration"
	// Registered is a kit of which we know whom the sample is from.
	Registered Status = "registered"
	// RequisitionCreated means that the lab has the order.
	RequisitionCreated Status = "requisition_created"
	// RequisitionBypassed means that the lab had the order before we did.
	RequisitionBypassed Status = "requisition_bypassed"

	// TransitCustomer to WithCustomer are a kit on its way out.
	TransitCustomer          Status = "transit_customer"
	OutForDelivery           Status = "out_for_delivery"
	WithCustomer             Status = "with_customer"
	ProblemInTransitCustomer Status = "problem_in_transit_customer"
	// TransitLab is a kit on its way back.
	TransitLab          Status = "transit_lab"
	ProblemInTransitLab Status = "problem_in_transit_lab"

	// AppointmentPending is asked for; scheduled has a time.
	AppointmentPending   Status = "appointment_pending"
	AppointmentScheduled Status = "appointment_scheduled"
	AppointmentCancelled Status = "appointment_cancelled"
	// DrawCompleted means that the sample was taken.
	DrawCompleted Status = "draw_completed"
	// RedrawAvailable ends an order whose missing markers a redraw order takes over.
	RedrawAvailable Status = "redraw_available"

	// DeliveredToLab is a kit that arrived.
	DeliveredToLab Status = "delivered_to_lab"
	// LabProcessingBlocked waits for something that the lab asks for.
	LabProcessingBlocked Status = "lab_processing_blocked"
	// PartialResults are some, with more to come.
	PartialResults Status = "partial_results"
	// Completed has its final results; Corrected has them anew.
	Completed Status = "completed"
	Corrected Status = "corrected"

	// The ends without results.
	FailureToDeliverToCustomer Status = "failure_to_deliver_to_customer"
	FailureToDeliverToLab      Status = "failure_to_deliver_to_lab"
	Lost                       Status = "lost"
	SampleError                Status = "sample_error"
	Cancelled                  Status = "cancelled"
	DoNotProcess               Status = "do_not_process"
)

// Statuses lists them all, roughly in the order of an order's life.
var Statuses = []Status{
	Ordered, AwaitingRegistration, Registered, RequisitionCreated, RequisitionBypassed,
	TransitCustomer, OutForDelivery, WithCustomer, ProblemInTransitCustomer, TransitLab, ProblemInTransitLab,
	AppointmentPending, AppointmentScheduled, AppointmentCancelled, DrawCompleted, RedrawAvailable,
	DeliveredToLab, LabProcessingBlocked, PartialResults, Completed, Corrected,
	FailureToDeliverToCustomer, FailureToDeliverToLab, Lost, SampleError, Cancelled, DoNotProcess,
}

// Stage is the top-level status: the first part of the event strings.
//
// Reference 1.2.
type Stage string

// The stages.
const (
	StageReceived   Stage = "received"
	StageCollecting Stage = "collecting_sample"
	StageWithLab    Stage = "sample_with_lab"
	StageCompleted  Stage = "completed"
	StageCancelled  Stage = "cancelled"
	StageFailed     Stage = "failed"
)

// Stages lists them all.
var Stages = []Stage{StageReceived, StageCollecting, StageWithLab, StageCompleted, StageCancelled, StageFailed}

// Stage of a status. It depends on the method for one of them: a sample drawn
// on site is with the lab, one drawn at home has to get there.
//
// Reference 1.3.
func (s Status) Stage(m Method) Stage {
	switch s {
	case Ordered, AwaitingRegistration, Registered, RequisitionCreated, RequisitionBypassed:
		return StageReceived
	case DrawCompleted:
		if m == catalogue.OnSite {
			return StageWithLab
		}
		return StageCollecting
	case DeliveredToLab, LabProcessingBlocked, PartialResults:
		return StageWithLab
	case Completed, Corrected:
		return StageCompleted
	case Cancelled, DoNotProcess:
		return StageCancelled
	case FailureToDeliverToCustomer, FailureToDeliverToLab, Lost, SampleError:
		return StageFailed
	default:
		return StageCollecting
	}
}

// Full is the event string, such as collecting_sample.testkit.transit_customer.
func (s Status) Full(m Method) string {
	return string(s.Stage(m)) + "." + string(m) + "." + string(s)
}

// Terminal reports that nothing more is expected of an order. Completed ones
// may still be corrected.
func (s Status) Terminal() bool {
	return slices.Contains([]Status{
		RedrawAvailable, Completed, Corrected, FailureToDeliverToCustomer, FailureToDeliverToLab,
		Lost, SampleError, Cancelled, DoNotProcess,
	}, s)
}

// HasRequisition reports whether the lab has, or had, the order at this point
// of its life. It says nothing of cancelled and failed orders.
func (s Status) HasRequisition() bool {
	return s != Ordered && s != AwaitingRegistration && s != Registered
}

// Detail says more about a status; labs and fulfilment set it.
//
// Reference 1.5.
type Detail string

// The details.
const (
	NoDetail                 Detail = ""
	CollectionDateMissing    Detail = "date_of_collection_unspecified"
	DemographicsMissing      Detail = "demographic_information_unspecified"
	DemographicsMismatch     Detail = "demographic_information_mismatch"
	QuantityNotSufficient    Detail = "sample_quantity_not_sufficient"
	SampleContaminated       Detail = "sample_contaminated"
	StabilityExceeded        Detail = "sample_stability_exceeded"
	SampleHemolyzed          Detail = "sample_hemolyzed"
	SampleImproperCollection Detail = "sample_improper_collection"
	FulfillmentError         Detail = "fulfillment_error"
)

// Details lists them all but the empty one.
var Details = []Detail{
	CollectionDateMissing, DemographicsMissing, DemographicsMismatch, QuantityNotSufficient, SampleContaminated,
	StabilityExceeded, SampleHemolyzed, SampleImproperCollection, FulfillmentError,
}
