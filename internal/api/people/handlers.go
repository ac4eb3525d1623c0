// Package people serves the operations about the people that a team cares for:
//
//   - users, their demographics and their insurance
//   - messages to users, and portal links
//   - the tokens with which their phones sign in
package people

import (
	"slices"

	"hale/internal/api"
)

// Handlers serve the operations.
type Handlers struct {
	*api.API
	guesses *guessLimiter
}

// New returns handlers with their own count of wrong link codes.
func New(a *api.API) *Handlers { return &Handlers{API: a, guesses: newGuessLimiter()} }

// Routes returns every operation, one table per resource.
func (h *Handlers) Routes() []api.Route {
	return slices.Concat(
		h.userRoutes(),
		h.demographicsRoutes(),
		h.insuranceRoutes(),
		h.payorRoutes(),
		h.messageRoutes(),
		h.portalLinkRoutes(),
		h.portalAccessRoutes(),
		h.tokenRoutes(),
	)
}
