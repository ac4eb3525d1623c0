package appointments

import (
	"log/slog"
	"maps"
	"slices"

	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/places"
	"hale/internal/platform/store"
)

// Service makes appointments with the networks that can.
type Service struct {
	DB *store.DB
	// Networks by their slugs; those that are Bookers are asked.
	Networks map[string]networks.Network
	Places   *places.Directory
	Log      *slog.Logger

	stale staleTimes
}

// booker is the network of a slug, or one that can nothing.
func (s *Service) booker(slug string) networks.Booker {
	if b, ok := s.Networks[slug].(networks.Booker); ok {
		return b
	}
	return nobody{}
}

// bookers are the slugs of the networks to ask, in a fixed order. A team in
// sandbox never reaches a real one, nor any other team the sandbox's.
func (s *Service) bookers(sandbox bool) []string {
	var all []string
	for _, slug := range slices.Sorted(maps.Keys(s.Networks)) {
		if _, ok := s.Networks[slug].(networks.Booker); ok && sandbox == (slug == orders.SandboxNetwork) {
			all = append(all, slug)
		}
	}
	return all
}
