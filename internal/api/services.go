package api

import (
	"hale/internal/appointments"
	"hale/internal/connections/demo"
	"hale/internal/documents"
	"hale/internal/imports"
	"hale/internal/jobs"
	"hale/internal/ledger"
	"hale/internal/ledger/replay"
	"hale/internal/networks/sandboxlab"
	"hale/internal/places"
	"hale/internal/wearables"
	"hale/internal/webhooks"
)

// Services are the parts of the program that handlers call beside the plain
// functions of the domains.
type Services struct {
	// Imports takes uploaded exports.
	Imports *imports.Service
	// Wearables stores what phones push.
	Wearables *wearables.Ingester
	// Demo invents the data of demo connections.
	Demo *demo.Service
	// Ledger keeps what came in as it came; nil keeps nothing.
	Ledger *ledger.Ledger
	// Replay reads the ledger again.
	Replay *replay.Service
	// Appointments arranges visits.
	Appointments *appointments.Service
	// Places finds service centers; it keeps where they are in memory.
	Places *places.Directory
	// Sandbox is the lab of sandbox teams, which tests turn.
	Sandbox *sandboxlab.Lab
	// ResultDocuments renders results that a lab sent no document of; nil renders
	// none.
	ResultDocuments ResultDocuments
	// Links reads addresses that open a requisition without a key; nil opens none.
	Links *documents.Links
	// Node is who we are among the nodes; nil when there is but one.
	Node *jobs.Node
	// Webhooks is how the deliverer was set up, for the rules of URLs and for
	// examples that are posted at once.
	Webhooks webhooks.Config
}
