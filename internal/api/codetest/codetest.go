// Package codetest checks in tests that operations declare the codes of their refusals.
package codetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"hale/internal/api"
	"hale/internal/platform/fault"
)

// Check returns an error if an answer of an API has the code of a single refusal that the
// operation does not declare. address is the path of the request, with or without a query.
// Check ignores requests that no operation reads, and handlers that are no *api.API.
func Check(handler http.Handler, method, address string, answer []byte) error {
	a, ok := handler.(*api.API)
	var body struct{ Code string }
	if !ok || json.Unmarshal(answer, &body) != nil || !fault.IsSpecific(body.Code) {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil //nolint:nilerr // no operation reads it
	}
	route := chi.NewRouteContext()
	if !a.Router().Match(route, method, strings.TrimRight(u.Path, "/")) {
		return nil
	}
	op := operation(a.OpenAPI(), method, route.RoutePattern())
	if op == nil {
		return nil
	}
	declared, _ := op.Extensions[api.CodesExtension].([]string)
	if !slices.Contains(declared, body.Code) {
		return fmt.Errorf("%s answered the code %s, which Refuses of its route does not list", op.OperationID, body.Code)
	}
	return nil
}

func operation(doc *huma.OpenAPI, method, path string) *huma.Operation {
	item := doc.Paths[path]
	if item == nil {
		return nil
	}
	return map[string]*huma.Operation{
		http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put, http.MethodPatch: item.Patch, http.MethodDelete: item.Delete,
	}[method]
}
