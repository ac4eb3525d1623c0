package routes

import (
	"hale/internal/api/labs"
	"hale/internal/labs/appointments"
	"hale/internal/labs/documents"
	"hale/internal/labs/networks/sandboxlab"
	"hale/internal/labs/orders"
	"hale/internal/labs/places"
	"hale/internal/platform/webhooks"
	"hale/internal/wearables/connections/demo"
	"hale/internal/wearables/imports"
	"hale/internal/wearables/ingest"
	"hale/internal/wearables/ledger"
	"hale/internal/wearables/ledger/replay"
)

// Services are the parts of the program that handlers call beside the plain
// functions of the domains.
type Services struct {
	// Imports takes uploaded exports.
	Imports *imports.Service
	// Ingester stores what phones push.
	Ingester *ingest.Ingester
	// Demo invents the data of demo connections.
	Demo *demo.Service
	// Ledger keeps what came in as it came; nil keeps nothing.
	Ledger *ledger.Ledger
	// Replay reads the ledger again.
	Replay *replay.Service
	// Orders answers lists of orders; a new one when nil.
	Orders *orders.Index
	// Appointments arranges visits.
	Appointments *appointments.Service
	// Places finds service centers; it keeps where they are in memory.
	Places *places.Directory
	// Sandbox is the lab of sandbox teams, which tests turn.
	Sandbox *sandboxlab.Lab
	// ResultDocuments renders results that a lab sent no document of; nil renders
	// none.
	ResultDocuments labs.ResultDocuments
	// Links reads addresses that open a requisition without a key; nil opens none.
	Links *documents.Links
	// Webhooks is how the deliverer was set up, for the rules of URLs and for
	// examples that are posted at once.
	Webhooks webhooks.Config
}
