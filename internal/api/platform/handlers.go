// Package platform serves the operations about a team itself: webhook endpoints and
// deliveries, the event feed, background jobs, and the team's figures.
package platform

import (
	"slices"

	"hale/internal/api"
	"hale/internal/labs/orders"
	"hale/internal/platform/webhooks"
)

// Handlers serve the operations.
type Handlers struct {
	*api.API
	// Orders counts a team's orders.
	Orders *orders.Index
	// Webhooks is the setup of deliveries: rules for URLs, and how examples are posted.
	Webhooks webhooks.Config
}

// Routes returns every operation, one table per resource.
func (h *Handlers) Routes() []api.Route {
	return slices.Concat(
		h.metricRoutes(),
		h.webhookRoutes(),
		h.webhookLogRoutes(),
		h.eventRoutes(),
		h.jobRoutes(),
	)
}
