package api

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"hale/internal/platform/fault"
)

// pagingParameters lists the parameters that clients use to page. An operation refuses
// those that it does not have: a client that pages with an ignored parameter would read
// the first page again and again.
var pagingParameters = []string{"page", "size", "page_size", "per_page", "limit", "offset", "cursor", "next_cursor", "after", "starting_after"}

// checkQuery accepts lists in the forms name=a&name=b, name[]=a and name=a,b, and refuses
// paging parameters that the operation does not have.
func (a *API) checkQuery(ctx huma.Context, next func(huma.Context)) {
	r, w := humachi.Unwrap(ctx)
	if r.URL.RawQuery == "" {
		next(ctx)
		return
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		next(ctx) // the parameters are refused one by one
		return
	}
	declared := ctx.Operation().Parameters
	changed := splitLists(query, declared)
	if r.Method == http.MethodGet {
		for _, name := range pagingParameters {
			if query.Has(name) && !hasParameter(declared, name) {
				writeError(w, a.refusal(r.Context(), fault.New(fault.Invalid, "This operation has no such paging parameter").At("query", name).WithType("extra_forbidden")))
				return
			}
		}
	}
	if strict, _ := ctx.Operation().Metadata[metaStrict].(bool); strict {
		for name := range query {
			if !hasParameter(declared, name) {
				writeError(w, a.refusal(r.Context(), fault.New(fault.Invalid, "This operation has no such parameter").At("query", name).WithType("extra_forbidden")))
				return
			}
		}
	}
	if changed {
		r.URL.RawQuery = query.Encode()
	}
	next(ctx)
}

func hasParameter(all []*huma.Param, name string) bool {
	return slices.ContainsFunc(all, func(p *huma.Param) bool { return p.In == "query" && p.Name == name })
}

// splitLists writes the lists of a query as repeated parameters, and reports whether that
// changed it.
func splitLists(query url.Values, declared []*huma.Param) (changed bool) {
	for _, p := range declared {
		if p.In != "query" || p.Schema == nil || p.Schema.Type != huma.TypeArray {
			continue
		}
		given := slices.Concat(query[p.Name], query[p.Name+"[]"])
		var all []string
		for _, value := range given {
			all = append(all, strings.Split(value, ",")...)
		}
		if query.Has(p.Name+"[]") || len(all) != len(given) {
			query.Del(p.Name + "[]")
			query[p.Name], changed = all, true
		}
	}
	return changed
}
