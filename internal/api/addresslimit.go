package api

import (
	"log/slog"
	"maps"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"hale/internal/platform/fault"
)

const (
	// maxAddresses bounds the addresses that a limit remembers.
	maxAddresses = 10_000
	// warnEvery is the minimum time between two log lines about an address.
	warnEvery = time.Minute
)

// addressLimit counts requests by address: those with a wrong API key, or those with a
// link in place of a key. It does not count or refuse a right key, so that a mistaken
// program does not lock out another one at its address.
type addressLimit struct {
	perMinute int

	mu        sync.Mutex
	addresses map[string]*limitedAddress
}

type limitedAddress struct {
	limit  *rate.Limiter
	warned time.Time
}

func newAddressLimit(perMinute int) *addressLimit {
	return &addressLimit{perMinute: perMinute, addresses: map[string]*limitedAddress{}}
}

// count counts a request. It returns the time until the address may try again, and
// whether to log that it must wait.
func (w *addressLimit) count(address string, now time.Time) (wait time.Duration, warn bool) {
	if w.perMinute == 0 {
		return 0, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	a, ok := w.addresses[address]
	if !ok {
		w.makeRoom(now)
		a = &limitedAddress{limit: rate.NewLimiter(rate.Every(time.Minute/time.Duration(w.perMinute)), w.perMinute)}
		w.addresses[address] = a
	}
	r := a.limit.ReserveN(now, 1)
	if wait = r.DelayFrom(now); wait == 0 {
		return 0, false
	}
	r.CancelAt(now)
	if warn = a.warned.IsZero() || now.Sub(a.warned) >= warnEvery; warn {
		a.warned = now
	}
	return wait, warn
}

// makeRoom forgets the addresses without a recent request, or all if there are none.
func (w *addressLimit) makeRoom(now time.Time) {
	if len(w.addresses) < maxAddresses {
		return
	}
	maps.DeleteFunc(w.addresses, func(_ string, a *limitedAddress) bool { return a.limit.TokensAt(now) >= float64(w.perMinute) })
	if len(w.addresses) >= maxAddresses {
		clear(w.addresses)
	}
}

// TooManyError is a refusal with the time until the next request of an address.
type TooManyError struct {
	Text string
	Wait time.Duration
}

func (e *TooManyError) Error() string { return e.Text }

// Kind returns fault.TooMany.
func (e *TooManyError) Kind() fault.Kind { return fault.TooMany }

// RetryAfter returns the wait in seconds, rounded up.
func (e *TooManyError) RetryAfter() int { return int(math.Ceil(e.Wait.Seconds())) }

// CountLink counts a request with a link in place of a key, from a remote address. It
// returns a TooMany fault if the address must wait.
func (a *API) CountLink(remote string) error {
	wait, _ := a.links.count(AddressOf(remote), a.DB.Now())
	if wait == 0 {
		return nil
	}
	a.Metrics.RateLimited()
	return &TooManyError{"Too many requests", wait}
}

// refuseKey answers a request with a wrong API key: 401, or 429 if its address sent too
// many of them.
func (a *API) refuseKey(w http.ResponseWriter, r *http.Request) {
	address := AddressOf(r.RemoteAddr)
	wait, warn := a.wrongKeys.count(address, a.DB.Now())
	a.Metrics.WrongKey(wait > 0)
	if warn {
		a.Log.WarnContext(r.Context(), "an address sends wrong API keys and must wait", slog.String("client", address), slog.String("request_id", requestID(r.Context())))
	}
	if wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
		WriteDetail(w, http.StatusTooManyRequests, "Too many wrong API keys")
		return
	}
	WriteDetail(w, http.StatusUnauthorized, "invalid token")
}
