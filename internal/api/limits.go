package api

import (
	"bytes"
	"errors"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
	"github.com/klauspost/compress/gzhttp"
	"golang.org/x/time/rate"

	"hale/internal/platform/teams"
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
func checkURL(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !cleanText(r.URL.Path) || !cleanQuery(r.URL.RawQuery) {
			writeError(w, &refusal{status: http.StatusUnprocessableEntity, detail: []problem{{
				Type: "string_unicode", Loc: []any{"path"}, Msg: "The address should be valid UTF-8 without NUL",
			}}})
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

var errBadText = errors.New("api: text with NUL or broken UTF-8")

// checkJSON refuses text that encoding/json accepts but the database does not. It also
// refuses single halves of surrogate pairs, which encoding/json would all replace by
// the same character.
func checkJSON(body []byte) error {
	if !utf8.Valid(body) {
		return errBadText
	}
	for at := bytes.IndexByte(body, '\\'); at >= 0 && at+1 < len(body); {
		next := at + 2
		if first, ok := parseEscapedUnit(body[at:]); ok {
			second, paired := parseEscapedUnit(body[at+6:])
			switch pair := utf16.DecodeRune(first, second); {
			case first == 0:
				return withPlace(body, at, errBadText)
			case !utf16.IsSurrogate(first):
				next = at + 6
			case paired && pair != utf8.RuneError:
				next = at + 12
			default:
				return withPlace(body, at, errBadText)
			}
		}
		more := bytes.IndexByte(body[next:], '\\')
		if more < 0 {
			break
		}
		at = next + more
	}
	return nil
}

// parseEscapedUnit returns the code unit of a \uXXXX escape at the start of a text.
func parseEscapedUnit(text []byte) (unit rune, ok bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(n), err == nil
}

// rateLimits has a token bucket for each key and each phone.
type rateLimits struct {
	perSecond rate.Limit
	burst     int
	sandbox   bool

	mu      sync.Mutex
	buckets map[uuid.UUID]*rate.Limiter
}

func newRateLimits(d Deps) *rateLimits {
	burst := d.RateBurst
	if burst == 0 {
		burst = max(1, int(math.Ceil(2*d.RatePerSecond)))
	}
	return &rateLimits{perSecond: rate.Limit(d.RatePerSecond), burst: burst, sandbox: d.RateSandbox, buckets: map[uuid.UUID]*rate.Limiter{}}
}

func (l *rateLimits) bucket(key uuid.UUID) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	b, ok := l.buckets[key]
	if !ok {
		if len(l.buckets) >= mostKeys {
			clear(l.buckets)
		}
		b = rate.NewLimiter(l.perSecond, l.burst)
		l.buckets[key] = b
	}
	return b
}

// describe writes the state of a key's limit into headers. They have the number of
// requests that may arrive at once, and how many of them are left. They also have the
// seconds until all of them are available again.
func (l *rateLimits) describe(h http.Header, tokens float64) {
	missing := math.Max(0, float64(l.burst)-tokens)
	h.Set("RateLimit-Limit", strconv.Itoa(l.burst))
	h.Set("RateLimit-Remaining", strconv.Itoa(max(0, int(tokens))))
	h.Set("RateLimit-Reset", strconv.Itoa(int(math.Ceil(missing/float64(l.perSecond)))))
}

// limitRate answers 429 with Retry-After if a key exceeds its rate.
func (a *API) limitRate(next http.Handler) http.Handler {
	if a.limits.perSecond == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := CallerOf(r.Context())
		if c.Team.IsZero() || c.Environment == teams.Sandbox && !a.limits.sandbox {
			next.ServeHTTP(w, r)
			return
		}
		now := a.DB.Now()
		bucket := a.limits.bucket(c.rateLimitID())
		res := bucket.ReserveN(now, 1)
		a.limits.describe(w.Header(), bucket.TokensAt(now))
		if wait := res.DelayFrom(now); wait > 0 {
			res.CancelAt(now)
			a.Metrics.RateLimited()
			w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
			WriteDetail(w, http.StatusTooManyRequests, "Too many requests")
			return
		}
		next.ServeHTTP(w, r)
	})
}
