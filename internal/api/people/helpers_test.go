package people

import (
	"testing"

	"hale/internal/api"
	"hale/internal/api/calltest"
	"hale/internal/platform/store"
)

func newCaller(t testing.TB) *calltest.Caller {
	t.Helper()
	return calltest.NewCallerOf(t, func(db *store.DB) *api.API {
		api.SetUpHuma()
		a := api.New(api.Deps{DB: db, BaseURL: "https://hale.example.org"})
		a.Add(New(a).Routes()...)
		return a
	})
}
