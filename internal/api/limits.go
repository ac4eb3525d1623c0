package api

import (
	"math"
	"net/http"
	"strconv"
	"sync"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"hale/internal/platform/teams"
)

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

// counted serves requests that reach no operation. One with a key is authenticated and
// counted like any other, so its answer has the state of the key's limit.
func (a *API) counted(next http.HandlerFunc) http.HandlerFunc {
	known := a.authenticate(a.limitRate(next))
	return func(w http.ResponseWriter, r *http.Request) {
		if a.keyText(r) == "" {
			next(w, r)
			return
		}
		known.ServeHTTP(w, r)
	}
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
