package codetest

import (
	"context"
	"testing"

	"hale/internal/api"
)

func TestCheckFindsUndeclaredCodes(t *testing.T) {
	api.SetUpHuma()
	a := api.New(api.Deps{})
	read := func(context.Context, api.Caller, *api.Empty) (*api.Out[string], error) { return nil, nil } //nolint:nilnil // never called
	a.Add(api.Get("/v2/thing/{id}", read, "Read a thing").Refuses("order_state"))
	for body, undeclared := range map[string]bool{
		`{"code":"order_state"}`:     false,
		`{"code":"order_set_twice"}`: true,
		`{"code":"refused"}`:         false,
		`[1]`:                        false,
	} {
		if err := Check(a, "GET", "/v2/thing/7/?x=1", []byte(body)); (err != nil) != undeclared {
			t.Errorf("%s: %v", body, err)
		}
	}
	if err := Check(a, "GET", "/elsewhere", []byte(`{"code":"order_set_twice"}`)); err != nil {
		t.Error(err)
	}
}
