package app

import (
	"encoding/json"
	"slices"

	"hale/internal/api"
	"hale/internal/api/routes"
	"hale/internal/labs/appointments"
	"hale/internal/labs/critical"
	"hale/internal/labs/documents"
	"hale/internal/labs/inbox"
	"hale/internal/labs/matching"
	"hale/internal/labs/networks/sandboxlab"
	"hale/internal/labs/orders"
	"hale/internal/labs/reports"
	"hale/internal/labs/results"
	"hale/internal/people/insurance"
	"hale/internal/people/messages"
	"hale/internal/people/tokens"
	"hale/internal/people/users"
	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/platform/webhooks"
	"hale/internal/wearables/aggregate/continuous"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/deletion"
	"hale/internal/wearables/imports"
	"hale/internal/wearables/ledger"
	"hale/internal/wearables/reread"
	"hale/internal/wearables/resources"
	"hale/internal/wearables/storage"
)

// Register connects the domains to each other, for one database. A node calls
// it, and so does a command that opens the database itself. links is nil without
// a root key.
func Register(db *store.DB, links *documents.Links) {
	events.Register(db, EventTypes())
	users.Register(db, userRecords()...)
	orders.Listen(db, orderListeners()...)
	if links != nil {
		orders.SignRequisitions(db, links.URL)
	}
}

// userRecords returns the rows about users in all domains. An erasure deletes
// them in this order.
func userRecords() []users.Records {
	return slices.Concat(
		tokens.UserRecords(), messages.UserRecords(), insurance.UserRecords(),
		storage.UserRecords(), deletion.UserRecords(), connections.UserRecords(), ledger.UserRecords(), imports.UserRecords(), reread.UserRecords(), continuous.UserRecords(),
		orders.UserRecords(), critical.UserRecords(), results.UserRecords(), reports.UserRecords(), appointments.UserRecords(), inbox.UserRecords(), matching.UserRecords(), sandboxlab.UserRecords(),
		api.UserRecords(),
	)
}

// OpenAPI returns the OpenAPI document of all operations and webhooks as JSON, without
// a running service.
func OpenAPI() ([]byte, error) {
	api.SetUpHuma()
	return json.Marshal(routes.New(api.Deps{}, routes.Services{EventTypes: EventTypes()}).OpenAPI())
}

// EventTypes returns the types of events of all domains.
func EventTypes() *events.Catalogue {
	return events.NewCatalogue(slices.Concat(
		webhooks.EventTypes(), users.EventTypes(), connections.EventTypes(), resources.EventTypes(), continuous.EventTypes(),
		orders.EventTypes(), reports.EventTypes(), critical.EventTypes(), appointments.EventTypes(), matching.EventTypes(),
	)...)
}
