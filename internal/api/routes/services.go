package routes

import (
	"hale/internal/api/labs"
	"hale/internal/labs/appointments"
	"hale/internal/labs/documents"
	"hale/internal/labs/fulfilment"
	"hale/internal/labs/networks/sandboxlab"
	"hale/internal/labs/orders"
	"hale/internal/labs/places"
	"hale/internal/labs/reports"
	"hale/internal/platform/events"
	"hale/internal/platform/webhooks"
	"hale/internal/wearables/connections/demo"
	"hale/internal/wearables/deletion"
	"hale/internal/wearables/imports"
	"hale/internal/wearables/ingest"
	"hale/internal/wearables/ledger"
	"hale/internal/wearables/ledger/replay"
)

// Services are the services that handlers call, besides the functions of the domains.
type Services struct {
	// EventTypes are described as webhooks in the OpenAPI document. nil describes none.
	EventTypes *events.Catalogue
	// Imports accepts uploaded exports.
	Imports *imports.Service
	// Ingester stores the pushes of phones.
	Ingester *ingest.Ingester
	// Demo generates the data of demo connections.
	Demo *demo.Service
	// Ledger stores original payloads. nil stores nothing.
	Ledger *ledger.Ledger
	// Replay reprocesses the payloads of the ledger.
	Replay *replay.Service
	// Deletions deletes wearable data.
	Deletions *deletion.Service
	// Orders lists orders. nil creates a new index.
	Orders *orders.Index
	// Appointments books visits.
	Appointments *appointments.Service
	// Places finds service centers. It caches their locations in memory.
	Places *places.Directory
	// Sandbox is the simulated lab of sandbox teams. Tests advance its clock.
	Sandbox *sandboxlab.Lab
	// Fulfilment records the steps of kits and visits of real orders.
	Fulfilment *fulfilment.Service
	// ResultDocuments returns results as documents. nil returns only documents of the
	// lab, unmarked.
	ResultDocuments labs.ResultDocuments
	// Links opens requisition links, which need no key. nil opens none.
	Links *documents.Links
	// Reports reads uploaded lab reports. nil uses the default limits and reads none.
	Reports *reports.Service
	// Webhooks is the configuration of webhook deliveries. It has the rules for URLs, and
	// the settings for posting examples.
	Webhooks webhooks.Config
}
