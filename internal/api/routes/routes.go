// Package routes assembles the API from the operations of all resource packages.
package routes

import (
	"hale/internal/api"
	"hale/internal/api/labs"
	"hale/internal/api/people"
	"hale/internal/api/platform"
	"hale/internal/api/wearables"
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

// New returns an API with all operations.
func New(d api.Deps, s Services) *api.API {
	if s.Orders == nil {
		s.Orders = orders.NewIndex()
	}
	limits := reports.DefaultLimits()
	if s.Reports != nil {
		limits = s.Reports.Limits
	}
	a := api.New(d)
	a.Add(people.New(a).Routes()...)
	a.Add((&wearables.Handlers{
		API: a, Imports: s.Imports, Ingester: s.Ingester, Demo: s.Demo, Ledger: s.Ledger, Replay: s.Replay, Deletions: s.Deletions,
	}).Routes()...)
	a.Add((&labs.Handlers{
		API: a, Orders: s.Orders, Appointments: s.Appointments, Places: s.Places, Sandbox: s.Sandbox, Fulfilment: s.Fulfilment, ResultDocuments: s.ResultDocuments, Links: s.Links,
		Reports: s.Reports, ReportLimits: limits,
	}).Routes()...)
	a.Add((&platform.Handlers{API: a, Orders: s.Orders, Webhooks: s.Webhooks, EventTypes: s.EventTypes}).Routes()...)
	return a
}

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
