package labs

import (
	"testing"

	"hale/internal/api"
	"hale/internal/api/calltest"
	"hale/internal/api/people"
	"hale/internal/labs/orders"
	"hale/internal/platform/store"
)

// newCaller returns a caller of an API with the operations of labs and people.
func newCaller(t testing.TB) *calltest.Caller {
	t.Helper()
	return calltest.NewCallerOf(t, func(db *store.DB) *api.API {
		api.SetUpHuma()
		a := api.New(api.Deps{DB: db, BaseURL: "https://hale.example.org"})
		a.Add((&Handlers{API: a, Orders: orders.NewIndex()}).Routes()...)
		a.Add(people.New(a).Routes()...)
		return a
	})
}
