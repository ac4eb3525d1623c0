package networks

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/civil"
)

// Booker is a network with phlebotomists, or with service centers that offer
// appointments.
type Booker interface {
	// Slots lists the free slots of 14 days from q.Start.
	Slots(ctx context.Context, q SlotQuery) ([]Slot, error)
	// Book books a slot for an order. With the same wish it returns the same
	// booking again. Another wish is another booking, even for the same order
	// and slot: the earlier one may be about to be released. It returns
	// ErrSlotTaken when another order has the slot.
	Book(ctx context.Context, wish uuid.UUID, order Order, slot Slot) (Booking, error)
	// Request asks for a visit without a time (the appointment-request tier).
	// The time follows as a Report. A wish is one booking, as in Book.
	Request(ctx context.Context, wish uuid.UUID, order Order, provider string, at Address, notes string) (Booking, error)
	// Unbook releases the slot of a booking, or withdraws a request, for good:
	// its wish cannot be used again.
	Unbook(ctx context.Context, b Booking) error
}

// ErrSlotTaken is returned when a slot is no longer free.
var ErrSlotTaken = errors.New("networks: the slot is taken")

// SlotQuery asks for the free times of one phlebotomy provider at an address,
// or of one patient service center.
type SlotQuery struct {
	// Team is the team that asks: each sandbox team has its own appointments.
	Team uuid.UUID
	// Provider is an appointment provider: getlabs, phlebfinders, quest …
	Provider string
	// Site is the code of the service center; empty for phlebotomy.
	Site string
	// Zip is the ZIP code of the visit.
	Zip string
	// Zone is the IANA time zone of the place.
	Zone    string
	Start   civil.Date
	Now     time.Time
	Sandbox bool
	// Open reports whether the service center's hours include a time; nil
	// without hours. A network that knows its own slots ignores it.
	Open func(start, end time.Time) bool
}

// Slot is one free slot. Key names it for the network; callers see a booking
// key that holds it.
type Slot struct {
	Provider, Site, Zone string
	Start, End           time.Time
	// Price is in US cents; 0 for service centers.
	Price int64
	// Free counts the appointments that can still be booked.
	Free     int
	Priority bool
	Key      string
}

// Booking is an appointment at the network.
type Booking struct {
	Provider string
	// ID is the network's own; ExternalID is the number for the patient.
	ID, ExternalID string
	Slot           Slot
}
