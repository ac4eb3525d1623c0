package portal

import (
	"hale/internal/labs/appointments"
	"hale/internal/labs/orders"
)

// englishSteps are the statuses of orders in plain words. They tell nothing of
// what was found.
var englishSteps = map[orders.Status]string{
	orders.Ordered:                    "We have received the order",
	orders.AwaitingRegistration:       "The kit waits to be registered",
	orders.Registered:                 "The kit is registered",
	orders.RequisitionCreated:         "The lab has the order",
	orders.RequisitionBypassed:        "The lab has the order",
	orders.TransitCustomer:            "Your kit is on its way to you",
	orders.OutForDelivery:             "Your kit is out for delivery",
	orders.WithCustomer:               "Your kit has arrived",
	orders.ProblemInTransitCustomer:   "The carrier has a problem with your kit",
	orders.TransitLab:                 "Your sample is on its way to the lab",
	orders.ProblemInTransitLab:        "The carrier has a problem with your sample",
	orders.AppointmentPending:         "A visit was asked for and is not confirmed yet",
	orders.AppointmentScheduled:       "Your visit is confirmed",
	orders.AppointmentCancelled:       "Your visit was cancelled",
	orders.DrawCompleted:              "Your sample was taken",
	orders.RedrawAvailable:            "The lab asks for another sample",
	orders.DeliveredToLab:             "Your sample has arrived at the lab",
	orders.LabProcessingBlocked:       "The lab is waiting for something",
	orders.PartialResults:             "The lab has finished a part",
	orders.Completed:                  "The lab has finished",
	orders.Corrected:                  "The lab has finished, and corrected its report",
	orders.FailureToDeliverToCustomer: "Your kit could not be delivered",
	orders.FailureToDeliverToLab:      "Your sample did not reach the lab",
	orders.Lost:                       "Your kit was lost",
	orders.SampleError:                "The lab could not use your sample",
	orders.Cancelled:                  "The order was cancelled",
	orders.DoNotProcess:               "The lab does not carry the order out",
}

var englishVisits = map[string]string{
	string(appointments.Pending):    "It was asked for and is not confirmed yet.",
	string(appointments.Reserved):   "It is being confirmed.",
	string(appointments.Scheduled):  "It is confirmed.",
	string(appointments.InProgress): "It is going on.",
	string(appointments.Completed):  "It is over.",
	string(appointments.Cancelled):  "It was cancelled.",
}
