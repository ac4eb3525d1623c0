package appointments

import (
	"context"
	"log/slog"
	"maps"
	"slices"

	"github.com/google/uuid"

	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/places"
	"hale/internal/platform/store"
)

// Service books appointments with networks.
type Service struct {
	DB *store.DB
	// Networks by slug; those that implement Booker are asked.
	Networks map[string]networks.Network
	Places   *places.Directory
	Log      *slog.Logger

	siteCache siteCache
}

// booker returns the network of a slug, or noBooker.
func (s *Service) booker(slug string) networks.Booker {
	if b, ok := s.Networks[slug].(networks.Booker); ok {
		return b
	}
	return noBooker{}
}

// bookers returns the slugs of the networks to ask, in a fixed order. A
// sandbox team reaches only the sandbox network, any other team only real
// ones.
func (s *Service) bookers(sandbox bool) []string {
	var all []string
	for _, slug := range slices.Sorted(maps.Keys(s.Networks)) {
		if _, ok := s.Networks[slug].(networks.Booker); ok && sandbox == (slug == orders.SandboxNetwork) {
			all = append(all, slug)
		}
	}
	return all
}

// noBooker replaces a network that offers no appointments, or for which this
// node has no settings.
type noBooker struct{}

func (noBooker) Slots(context.Context, networks.SlotQuery) ([]networks.Slot, error) {
	return nil, networks.ErrUnsupported
}

func (noBooker) Book(context.Context, uuid.UUID, networks.Order, networks.Slot) (networks.Booking, error) {
	return networks.Booking{}, networks.ErrUnsupported
}

func (noBooker) Request(context.Context, uuid.UUID, networks.Order, string, networks.Address, string) (networks.Booking, error) {
	return networks.Booking{}, networks.ErrUnsupported
}

func (noBooker) Unbook(context.Context, networks.Booking) error { return networks.ErrUnsupported }
