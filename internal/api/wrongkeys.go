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
)

const (
	// maxWrongAddresses bounds the memory for addresses that sent wrong keys.
	maxWrongAddresses = 10_000
	// warnEvery is the minimum time between two log lines about an address.
	warnEvery = time.Minute
)

// wrongKeys counts wrong API keys by address. A right key is neither counted nor
// refused, so that a mistaken program does not lock out another one at its address.
type wrongKeys struct {
	perMinute int

	mu        sync.Mutex
	addresses map[string]*wrongAddress
}

type wrongAddress struct {
	limit  *rate.Limiter
	warned time.Time
}

func newWrongKeys(perMinute int) *wrongKeys {
	return &wrongKeys{perMinute: perMinute, addresses: map[string]*wrongAddress{}}
}

// count counts a wrong key. It returns the time until the address may try again, and
// whether to log that it must wait.
func (w *wrongKeys) count(address string, now time.Time) (wait time.Duration, warn bool) {
	if w.perMinute == 0 {
		return 0, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	a, ok := w.addresses[address]
	if !ok {
		w.makeRoom(now)
		a = &wrongAddress{limit: rate.NewLimiter(rate.Every(time.Minute/time.Duration(w.perMinute)), w.perMinute)}
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

// makeRoom forgets the addresses without a recent wrong key, or all if there are none.
func (w *wrongKeys) makeRoom(now time.Time) {
	if len(w.addresses) < maxWrongAddresses {
		return
	}
	maps.DeleteFunc(w.addresses, func(_ string, a *wrongAddress) bool { return a.limit.TokensAt(now) >= float64(w.perMinute) })
	if len(w.addresses) >= maxWrongAddresses {
		clear(w.addresses)
	}
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
