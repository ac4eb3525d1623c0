// Package orderwords names the collection methods, stages, statuses and status details of
// orders. Package catalogue has the type of the methods, and package orders has the types
// and the tables of the others. This package imports no other package, so messages to
// patients, lab networks and FHIR documents can use the same words.
//
// Reference 1.2, 1.3 and 1.5.
package orderwords

// The collection methods.
const (
	TestKit = "testkit"
	WalkIn  = "walk_in_test"
	AtHome  = "at_home_phlebotomy"
	OnSite  = "on_site_collection"
)

// The stages.
const (
	StageReceived   = "received"
	StageCollecting = "collecting_sample"
	StageWithLab    = "sample_with_lab"
	StageCompleted  = "completed"
	StageCancelled  = "cancelled"
	StageFailed     = "failed"
)

// The statuses.
const (
	StatusOrdered              = "ordered"
	StatusAwaitingRegistration = "awaiting_registration"
	StatusRegistered           = "registered"
	StatusRequisitionCreated   = "requisition_created"
	StatusRequisitionBypassed  = "requisition_bypassed"

	StatusTransitCustomer          = "transit_customer"
	StatusOutForDelivery           = "out_for_delivery"
	StatusWithCustomer             = "with_customer"
	StatusProblemInTransitCustomer = "problem_in_transit_customer"
	StatusTransitLab               = "transit_lab"
	StatusProblemInTransitLab      = "problem_in_transit_lab"

	StatusAppointmentPending   = "appointment_pending"
	StatusAppointmentScheduled = "appointment_scheduled"
	StatusAppointmentCancelled = "appointment_cancelled"
	StatusDrawCompleted        = "draw_completed"
	StatusRedrawAvailable      = "redraw_available"

	StatusDeliveredToLab       = "delivered_to_lab"
	StatusLabProcessingBlocked = "lab_processing_blocked"
	StatusPartialResults       = "partial_results"
	StatusCompleted            = "completed"
	StatusCorrected            = "corrected"

	StatusFailureToDeliverToCustomer = "failure_to_deliver_to_customer"
	StatusFailureToDeliverToLab      = "failure_to_deliver_to_lab"
	StatusLost                       = "lost"
	StatusSampleError                = "sample_error"
	StatusCancelled                  = "cancelled"
	StatusDoNotProcess               = "do_not_process"
)

// The details of statuses.
const (
	CollectionDateMissing    = "date_of_collection_unspecified"
	DemographicsMissing      = "demographic_information_unspecified"
	DemographicsMismatch     = "demographic_information_mismatch"
	QuantityNotSufficient    = "sample_quantity_not_sufficient"
	SampleContaminated       = "sample_contaminated"
	StabilityExceeded        = "sample_stability_exceeded"
	SampleHemolyzed          = "sample_hemolyzed"
	SampleImproperCollection = "sample_improper_collection"
	FulfillmentError         = "fulfillment_error"
)
