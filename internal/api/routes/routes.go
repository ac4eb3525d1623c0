// Package routes assembles the API from the operations of all resource packages.
package routes

import (
	"hale/internal/api"
	"hale/internal/api/labs"
	"hale/internal/api/people"
	"hale/internal/api/platform"
	"hale/internal/api/wearables"
	"hale/internal/labs/orders"
	"hale/internal/labs/reports"
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
