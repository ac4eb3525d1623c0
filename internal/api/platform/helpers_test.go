package platform

import (
	"slices"
	"testing"
	"time"

	"hale/internal/api"
	"hale/internal/api/calltest"
	"hale/internal/api/people"
	wearablesapi "hale/internal/api/wearables"
	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/ingest"
	"hale/internal/wearables/ledger"
	"hale/internal/wearables/resources"
)

func newCaller(t testing.TB) *calltest.Caller {
	t.Helper()
	return calltest.NewCallerOf(t, newAPI)
}

// newAPI returns an API with the operations of the platform, and those of people and
// wearables, which emit events.
func newAPI(db *store.DB) *api.API {
	events.Register(db, events.NewCatalogue(slices.Concat(users.EventTypes(), resources.EventTypes(), connections.EventTypes())...))
	api.SetUpHuma()
	a := api.New(api.Deps{DB: db, BaseURL: "https://hale.example.org"})
	a.Add((&Handlers{API: a, Orders: orders.NewIndex()}).Routes()...)
	a.Add((&wearablesapi.Handlers{API: a, Ingester: ingest.New(db), Ledger: &ledger.Ledger{}}).Routes()...)
	a.Add(people.New(a).Routes()...)
	return a
}

func eachCaller(t *testing.T, fn func(d calltest.UserCaller)) {
	t.Helper()
	calltest.EachUserCaller(t, func() time.Time { return calltest.March }, newAPI, fn)
}
