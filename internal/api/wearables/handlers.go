// Package wearables serves the operations about wearable data: connections, what
// phones push, uploaded files, and reading samples, summaries and aggregates.
package wearables

import (
	"slices"

	"hale/internal/api"
	"hale/internal/wearables/connections/demo"
	"hale/internal/wearables/deletion"
	"hale/internal/wearables/imports"
	"hale/internal/wearables/ingest"
	"hale/internal/wearables/ledger"
	"hale/internal/wearables/ledger/replay"
	"hale/internal/wearables/providers"
)

// Handlers serve the operations.
type Handlers struct {
	*api.API
	// Imports stores uploaded files.
	Imports *imports.Service
	// Ingester stores what phones push.
	Ingester *ingest.Ingester
	// Demo makes the data of demo connections.
	Demo *demo.Service
	// Ledger keeps payloads as received; nil keeps none.
	Ledger *ledger.Ledger
	// Replay reads the ledger again.
	Replay *replay.Service
	// Deletions deletes data.
	Deletions *deletion.Service

	maxSummaryBytes int // for tests; 0 means maxSummaryBytes
}

// Routes returns every operation, one table per resource.
func (h *Handlers) Routes() []api.Route {
	return slices.Concat(
		h.manualRoutes(),
		h.connectionRoutes(),
		h.connectRoutes(),
		h.demoRoutes(),
		h.importRoutes(),
		h.partialRoutes(),
		h.deviceRoutes(),
		h.providerRoutes(),
		h.timeseriesRoutes(),
		h.plainSeriesRoutes(),
		h.noteRoutes(),
		h.mergedRoutes(),
		h.offsetRoutes(),
		h.priorityRoutes(),
		h.introspectRoutes(),
		h.summaryRoutes(),
		h.aggregateRoutes(),
		h.rawRoutes(),
		h.renormaliseRoutes(),
		h.deletionRoutes(), h.shiftRoutes(),
		h.exportRoutes(),
	)
}

// logos returns the base URL of logos in answers.
func (h *Handlers) logos() providers.Logos { return providers.LogosOf(h.DB) }
