// Package labs serves the operations about laboratory orders: catalogue, service
// centers, diagnoses, orders, appointments, documents and results.
package labs

import (
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/api"
	"hale/internal/labs/appointments"
	"hale/internal/labs/documents"
	"hale/internal/labs/networks/sandboxlab"
	"hale/internal/labs/orders"
	"hale/internal/labs/places"
)

// Handlers serve the operations.
type Handlers struct {
	*api.API
	// Orders answers lists of orders.
	Orders *orders.Index
	// Appointments arranges visits.
	Appointments *appointments.Service
	// Places finds service centers; it keeps where they are in memory.
	Places *places.Directory
	// Sandbox is the lab of sandbox teams.
	Sandbox *sandboxlab.Lab
	// ResultDocuments renders results that a lab sent no document of; nil renders
	// none.
	ResultDocuments ResultDocuments
	// Links reads addresses that open a requisition without a key; nil opens none.
	Links *documents.Links
}

// Routes returns every operation, one table per resource.
func (h *Handlers) Routes() []api.Route {
	registerAliases(h.OpenAPI().Components.Schemas)
	return slices.Concat(
		h.diagnosisRoutes(),
		h.labRoutes(),
		h.labTestRoutes(),
		h.labAccountRoutes(),
		h.compendiumRoutes(),
		h.placeRoutes(),
		h.orderRoutes(),
		h.appointmentRoutes(),
		h.documentRoutes(),
		h.resultRoutes(),
		h.unmatchedRoutes(),
		h.sandboxRoutes(),
	)
}

// registerAliases describes types of the labs' domains that have their own JSON.
func registerAliases(r huma.Registry) {
	registerOrderAliases(r)
	registerAppointmentAliases(r)
}
