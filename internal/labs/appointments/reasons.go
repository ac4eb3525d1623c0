package appointments

import (
	"slices"

	"github.com/google/uuid"
)

// Reason is why a patient cancels.
//
// Reference 2.6.
type Reason struct {
	ID         uuid.UUID `json:"id" format:"uuid"`
	Name       string    `json:"name"`
	Refundable bool      `json:"is_refundable"`
}

// other wants to be explained.
const other = "Other"

func reason(id, name string) Reason { return Reason{uuid.MustParse(id), name, true} }

// The reference publishes the first eight digits of its ids; the rest is ours.
var (
	phlebotomyReasons = []Reason{
		reason("5c0257ef-6fea-4c0e-8a4d-5f1c1f1a0001", "Did not fast"),
		reason("448c519c-6fea-4c0e-8a4d-5f1c1f1a0002", "Do not trust company"),
		reason("d378e152-6fea-4c0e-8a4d-5f1c1f1a0003", "Getlabs cannot deliver to my preferred lab"),
		reason("5330c863-6fea-4c0e-8a4d-5f1c1f1a0004", "No longer interested"),
		reason("2b9f23fd-6fea-4c0e-8a4d-5f1c1f1a0005", other),
		reason("98f861dd-6fea-4c0e-8a4d-5f1c1f1a0006", "Provider asked me to cancel"),
		reason("7dfd7da5-6fea-4c0e-8a4d-5f1c1f1a0007", "Scheduled for wrong patient"),
		reason("796da8c8-6fea-4c0e-8a4d-5f1c1f1a0008", "Scheduled time no longer works"),
		reason("ba02af35-6fea-4c0e-8a4d-5f1c1f1a0009", "Unable to get lab order from provider"),
		reason("0c9425db-6fea-4c0e-8a4d-5f1c1f1a000a", "Wanted to book in-person appointment"),
		reason("2599a0ea-6fea-4c0e-8a4d-5f1c1f1a000b", "Went to lab for appointment"),
		reason("e1d60b52-6fea-4c0e-8a4d-5f1c1f1a000c", "Phlebotomist was late"),
		reason("e1d60b53-6fea-4c0e-8a4d-5f1c1f1a000d", "Phlebotomist was ill"),
		reason("e1d60b54-6fea-4c0e-8a4d-5f1c1f1a000e", "Rescheduled time does not work"),
	}
	centerReasons = []Reason{reason("226a6520-6fea-4c0e-8a4d-5f1c1f1a0101", other)}
)

// Reasons lists why an appointment of a kind may be cancelled.
func Reasons(k Kind) []Reason {
	if k == AtCenter {
		return slices.Clone(centerReasons)
	}
	return slices.Clone(phlebotomyReasons)
}

func reasonOf(k Kind, id uuid.UUID) (Reason, bool) {
	for _, r := range Reasons(k) {
		if r.ID == id {
			return r, true
		}
	}
	return Reason{}, false
}
