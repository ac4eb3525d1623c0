package api

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
	"github.com/klauspost/compress/gzhttp"
)

// compress compresses answers with gzip if the caller accepts it and the body is large
// enough.
func compress(next http.Handler) http.Handler {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(1400), gzhttp.ContentTypes([]string{"application/json", "text/html", "text/css", "image/svg+xml", "application/yaml"}))
	if err != nil {
		panic("api: gzip: " + err.Error())
	}
	zipped := wrap(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") == "" {
			next.ServeHTTP(w, r)
			return
		}
		zipped.ServeHTTP(w, r)
	})
}

// protect keeps answers out of caches and browsers from guessing their type. Handlers
// of public files replace Cache-Control.
func (a *API) protect(next http.Handler) http.Handler {
	secure := strings.HasPrefix(a.BaseURL, "https://")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		if secure {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		next.ServeHTTP(w, r)
	})
}

// checkURL refuses text that the database cannot store: NUL and invalid UTF-8.
func (a *API) checkURL(next http.Handler) http.Handler {
	refuse := a.counted(func(w http.ResponseWriter, _ *http.Request) {
		writeError(w, &refusal{status: http.StatusUnprocessableEntity, detail: []problem{{
			Type: "string_unicode", Loc: []any{"path"}, Msg: "The address should be valid UTF-8 without NUL",
		}}})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !cleanText(r.URL.Path) || !cleanQuery(r.URL.RawQuery) {
			refuse(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func cleanQuery(raw string) bool {
	if !strings.ContainsRune(raw, '%') {
		return cleanText(raw)
	}
	text, err := url.QueryUnescape(raw)
	return err == nil && cleanText(text)
}

func cleanText(s string) bool {
	return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}

// methodNotAllowed lists the methods that the address supports, as RFC 9110 (15.5.6)
// requires.
func (a *API) methodNotAllowed(w http.ResponseWriter, r *http.Request) {
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		if a.router.Match(chi.NewRouteContext(), method, r.URL.Path) {
			w.Header().Add("Allow", method)
			if method == http.MethodGet { // see middleware.GetHead
				w.Header().Add("Allow", http.MethodHead)
			}
		}
	}
	WriteDetail(w, http.StatusMethodNotAllowed, "Method Not Allowed")
}

// trimSlash serves each path with and without a final slash. A redirect would turn a
// POST into a GET.
func trimSlash(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := r.URL.Path; len(p) > 1 && p[len(p)-1] == '/' {
			u := *r.URL
			u.Path = strings.TrimRight(p, "/")
			u.RawPath = strings.TrimRight(u.RawPath, "/")
			if u.Path == "" {
				u.Path = "/"
			}
			clone := *r
			clone.URL = &u
			r = &clone
		}
		next.ServeHTTP(w, r)
	})
}

// anyContentType treats every body as JSON and ignores its Content-Type, because curl
// -d without a header is a common first try.
func (a *API) anyContentType(ctx huma.Context, next func(huma.Context)) {
	r, _ := humachi.Unwrap(ctx)
	if ct := r.Header.Get("Content-Type"); ct != "" && ct != "application/json" && !strings.HasPrefix(ct, "multipart/") {
		r.Header.Set("Content-Type", "application/json")
	}
	next(ctx)
}
