// Package platform serves the operations about the team: webhook endpoints and
// deliveries, the event feed, background jobs, and the team's metrics.
package platform

import (
	"slices"

	"hale/internal/api"
	"hale/internal/labs/orders"
	"hale/internal/platform/events"
	"hale/internal/platform/webhooks"
)

// Handlers serves the operations.
type Handlers struct {
	*api.API
	// Orders counts a team's orders.
	Orders *orders.Index
	// Webhooks is the configuration of deliveries. It has the rules for URLs, and the
	// settings for posting examples.
	Webhooks webhooks.Config
	// EventTypes are described as webhooks in the OpenAPI document. nil describes none.
	EventTypes *events.Catalogue
}

// Routes returns all operations, one table per resource.
func (h *Handlers) Routes() []api.Route {
	h.describeEvents()
	return slices.Concat(
		h.metricRoutes(),
		h.settingRoutes(),
		h.webhookRoutes(),
		h.webhookLogRoutes(),
		h.eventRoutes(),
		h.jobRoutes(),
		h.auditRoutes(),
	)
}
