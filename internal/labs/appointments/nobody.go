package appointments

import (
	"context"

	"github.com/google/uuid"

	"hale/internal/labs/networks"
)

// nobody stands in for a network that takes no appointments, or that this node
// is not set up for.
type nobody struct{}

func (nobody) Slots(context.Context, networks.SlotQuery) ([]networks.Slot, error) {
	return nil, networks.ErrUnsupported
}

func (nobody) Book(context.Context, uuid.UUID, networks.Order, networks.Slot) (networks.Booking, error) {
	return networks.Booking{}, networks.ErrUnsupported
}

func (nobody) Request(context.Context, uuid.UUID, networks.Order, string, networks.Address, string) (networks.Booking, error) {
	return networks.Booking{}, networks.ErrUnsupported
}

func (nobody) Unbook(context.Context, networks.Booking) error { return networks.ErrUnsupported }
