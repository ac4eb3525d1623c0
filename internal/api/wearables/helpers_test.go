package wearables

import (
	"testing"
	"time"

	"hale/internal/api"
	"hale/internal/api/calltest"
	"hale/internal/api/people"
	"hale/internal/platform/store"
	"hale/internal/wearables/deletion"
	"hale/internal/wearables/ingest"
	"hale/internal/wearables/ledger"
)

func (d userCaller) ingester() *ingest.Ingester { return ingest.New(d.DB) }

// newAPI returns an API with the operations of wearables and people.
func newAPI(db *store.DB) *api.API { return newAPIOf(db, func(*Handlers) {}) }

func newAPIOf(db *store.DB, change func(h *Handlers)) *api.API {
	api.SetUpHuma()
	a := api.New(api.Deps{DB: db, BaseURL: "https://hale.example"})
	in := ingest.New(db)
	h := &Handlers{API: a, Ingester: in, Ledger: &ledger.Ledger{}, Deletions: &deletion.Service{DB: db, Ingester: in}}
	change(h)
	a.Add(h.Routes()...)
	a.Add(people.New(a).Routes()...)
	return a
}

func newCaller(t testing.TB) *calltest.Caller {
	t.Helper()
	return calltest.NewCallerOf(t, newAPI)
}

// userCaller adds the requests of the wearables tests to calltest.UserCaller.
type userCaller struct{ calltest.UserCaller }

func eachCaller(t *testing.T, fn func(d userCaller)) {
	t.Helper()
	eachCallerAt(t, func() time.Time { return calltest.March }, fn)
}

func eachCallerAt(t *testing.T, now func() time.Time, fn func(d userCaller)) {
	t.Helper()
	calltest.EachUserCaller(t, now, newAPI, func(d calltest.UserCaller) { fn(userCaller{d}) })
}
