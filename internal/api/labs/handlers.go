// Package labs serves the operations about laboratory orders: catalogue, service
// centers, diagnoses, orders, appointments, documents and results.
package labs

import (
	"context"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/api"
	"hale/internal/labs/appointments"
	"hale/internal/labs/documents"
	"hale/internal/labs/fulfilment"
	"hale/internal/labs/labclock"
	"hale/internal/labs/networks/sandboxlab"
	"hale/internal/labs/orders"
	"hale/internal/labs/places"
	"hale/internal/labs/reports"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Handlers serves the operations.
type Handlers struct {
	*api.API
	// Orders lists orders.
	Orders *orders.Index
	// Appointments books visits.
	Appointments *appointments.Service
	// Places finds service centers. It caches their locations in memory.
	Places *places.Directory
	// Sandbox is the simulated lab of sandbox teams.
	Sandbox *sandboxlab.Lab
	// Fulfilment records the steps of kits and visits.
	Fulfilment *fulfilment.Service
	// ResultDocuments returns results as documents. nil returns only documents of the
	// lab, unmarked.
	ResultDocuments ResultDocuments
	// Reports reads uploaded reports; nil draws no pages. ReportLimits bound an upload.
	Reports      *reports.Service
	ReportLimits reports.Limits
	// Links opens requisition links, which need no key. nil opens none.
	Links *documents.Links
}

// Routes returns all operations, one table per resource.
func (h *Handlers) Routes() []api.Route {
	registerAliases(h.OpenAPI().Components.Schemas)
	all := slices.Concat(
		h.diagnosisRoutes(),
		h.labRoutes(),
		h.labTestRoutes(),
		h.labAccountRoutes(),
		h.practiceRoutes(),
		h.compendiumRoutes(),
		h.placeRoutes(),
		h.orderRoutes(),
		h.appointmentRoutes(),
		h.documentRoutes(),
		h.resultRoutes(),
		h.unmatchedRoutes(),
		h.criticalRoutes(),
		h.reportRoutes(),
		h.sandboxRoutes(),
		h.fulfilmentRoutes(),
	)
	for i := range all {
		all[i] = all[i].WithHeader("Sandbox-Time", "The time of the sandbox laboratory; only for sandbox teams.", h.sandboxTime)
	}
	return all
}

// sandboxTime returns the time of the caller's sandbox lab, which the times of
// an answer follow; empty for other callers.
func (h *Handlers) sandboxTime(ctx context.Context, c api.Caller) string {
	if c.Environment != teams.Sandbox {
		return ""
	}
	var now time.Time
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		now, err = labclock.TimeOf(ctx, tx, c.Team)
		return err
	})
	if err != nil {
		return ""
	}
	return civil.Instant(now).String()
}

// registerAliases gives huma the schemas of types with their own JSON encoding.
func registerAliases(r huma.Registry) {
	registerOrderAliases(r)
	registerAppointmentAliases(r)
	registerReportAliases(r)
}
