package api

import (
	"cmp"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"
)

// Pages of the origins in Deps.CORSOrigins may call the operations from a browser. A
// browser sends Origin with such a request, and hides the answer from the page unless
// it names the origin. Keys are in headers that the page sets itself; the API has no
// cookies, so no answer allows credentials.
//
// Source: the Fetch standard, 3.3 (HTTP-CORS protocol).

// corsMaxAge is the time in seconds for which a browser may reuse the answer to a preflight.
const corsMaxAge = "600"

// crossOrigin answers preflights of listed origins and names the origin in all answers
// of operations, and in the errors for unknown addresses and methods. The pages of the
// service, such as the portal, are not for pages of other origins.
func (a *API) crossOrigin(next http.Handler) http.Handler {
	if len(a.CORSOrigins) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin, wanted := r.Header.Get("Origin"), r.Header.Get("Access-Control-Request-Method")
		preflight := r.Method == http.MethodOptions && wanted != ""
		if !preflight {
			wanted = r.Method
		}
		if origin == "" || a.isPage(wanted, r.URL) {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Add("Vary", "Origin")
		if !slices.Contains(a.CORSOrigins, origin) {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Access-Control-Allow-Origin", origin)
		if !preflight {
			w.Header().Set("Access-Control-Expose-Headers", a.answerHeaders())
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Add("Vary", "Access-Control-Request-Method")
		w.Header().Set("Access-Control-Allow-Methods", wanted)
		w.Header().Set("Access-Control-Allow-Headers", a.requestHeaders())
		w.Header().Set("Access-Control-Max-Age", corsMaxAge)
		w.WriteHeader(http.StatusNoContent)
	})
}

// isPage reports whether the address belongs to a page and not to an API operation, for any
// method. It reads the address as the router does.
func (a *API) isPage(method string, address *url.URL) bool {
	path := strings.TrimRight(cmp.Or(address.RawPath, address.Path), "/")
	for _, m := range []string{method, http.MethodGet} {
		route := a.router.Find(chi.NewRouteContext(), m, cmp.Or(path, "/"))
		if _, operation := a.needs[m+" "+route]; route != "" && !operation {
			return true
		}
	}
	return false
}

// requestHeadersOf returns the headers that pages may send: those of the OpenAPI
// document, and those that every operation reads.
func (a *API) requestHeadersOf() string {
	names := append([]string{"Authorization", "Content-Encoding", "Content-Type", "X-Request-Id", OnBehalfOfHeader}, a.KeyHeaders...)
	for op := range operationsOf(a.OpenAPI()) {
		for _, p := range op.Parameters {
			if p.In == "header" {
				names = append(names, p.Name)
			}
		}
	}
	return headerList(names)
}

// answerHeadersOf returns the headers that pages may read.
func (a *API) answerHeadersOf() string {
	names := []string{"Allow", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After", "X-Request-Id", eventNumberHeader, replayedHeader, tagHeader}
	for op := range operationsOf(a.OpenAPI()) {
		for _, answer := range op.Responses {
			for name := range answer.Headers {
				names = append(names, name)
			}
		}
	}
	return headerList(names)
}

// headerList joins names of headers, each once. It ignores upper and lower case.
func headerList(names []string) string {
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	return strings.Join(slices.CompactFunc(names, strings.EqualFold), ", ")
}

// operationsOf returns all operations of a document.
func operationsOf(doc *huma.OpenAPI) iter.Seq[*huma.Operation] {
	return func(yield func(*huma.Operation) bool) {
		for _, item := range doc.Paths {
			for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
				if op != nil && !yield(op) {
					return
				}
			}
		}
	}
}
