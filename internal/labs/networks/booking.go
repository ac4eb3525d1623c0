package networks

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/civil"
)

// Booker is a network that sends phlebotomists or runs patient service centers
// which take appointments.
type Booker interface {
	// Slots lists free times of 14 days from q.Start.
	Slots(ctx context.Context, q SlotQuery) ([]Slot, error)
	// Book takes a slot for an order. Asked again under the same wish it returns
	// the same booking. Another wish is another booking, for the same order and
	// slot too: the one before may be on its way to Unbook. ErrSlotTaken when
	// somebody was faster.
	Book(ctx context.Context, wish uuid.UUID, order Order, slot Slot) (Booking, error)
	// Request asks for a visit without a time (the appointment-request tier).
	// The time follows as a Report. A wish is one booking, as in Book.
	Request(ctx context.Context, wish uuid.UUID, order Order, provider string, at Address, notes string) (Booking, error)
	// Unbook frees the slot of a booking, or withdraws a request, for good: the
	// wish behind it is over.
	Unbook(ctx context.Context, b Booking) error
}

// ErrSlotTaken is returned when a slot is free no more.
var ErrSlotTaken = errors.New("networks: the slot is taken")

// SlotQuery asks for the free times of one phlebotomy provider at an address,
// or of one patient service center.
type SlotQuery struct {
	// Team is who asks: each sandbox team has its own appointments.
	Team uuid.UUID
	// Provider is an appointment provider: getlabs, phlebfinders, quest …
	Provider string
	// Site is the PSC's code; empty for phlebotomy.
	Site string
	// Zip is where the phlebotomist goes to.
	Zip string
	// Zone is the IANA time zone of the place.
	Zone    string
	Start   civil.Date
	Now     time.Time
	Sandbox bool
}

// Slot is one free time. Key names it for the network; callers see a booking
// key of ours that holds it.
type Slot struct {
	Provider, Site, Zone string
	Start, End           time.Time
	// Price is in US cents; 0 for PSCs.
	Price int64
	// Free counts the appointments that can still be booked.
	Free     int
	Priority bool
	Key      string
}

// Booking is what the network calls an appointment.
type Booking struct {
	Provider string
	// ID is the network's own; ExternalID is the number to tell the patient.
	ID, ExternalID string
	Slot           Slot
}
