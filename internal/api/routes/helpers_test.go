package routes_test

import (
	"testing"
	"time"

	"hale/internal/api"
	"hale/internal/api/calltest"
	"hale/internal/api/routes"
	"hale/internal/platform/store"
	"hale/internal/wearables/ingest"
	"hale/internal/wearables/ledger"
)

func newCaller(t testing.TB) *calltest.Caller {
	t.Helper()
	return calltest.NewCallerOf(t, newAPI)
}

func newAPI(db *store.DB) *api.API {
	api.SetUpHuma()
	return routes.New(api.Deps{DB: db, BaseURL: "https://hale.example"}, routes.Services{Ingester: ingest.New(db), Ledger: &ledger.Ledger{}})
}

func eachCaller(t *testing.T, fn func(d calltest.UserCaller)) {
	t.Helper()
	eachCallerAt(t, func() time.Time { return calltest.March }, fn)
}

func eachCallerAt(t *testing.T, now func() time.Time, fn func(d calltest.UserCaller)) {
	t.Helper()
	calltest.EachUserCaller(t, now, newAPI, fn)
}
