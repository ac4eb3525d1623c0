package api

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"hale/internal/platform/fault"
)

// A link code has 32 bits. What keeps it from being guessed is that wrong
// guesses are few: ten in ten minutes from one address, thirty in a minute
// from everywhere, on each node. With a hundred codes open all the time, any
// number of addresses together need more than two years on average.
const (
	guessesFromOne  = 10
	guessesFromAll  = 30
	mostGuessers    = 10_000
	guessFromOneIn  = time.Minute
	guessFromAllIn  = 2 * time.Second
	guessesTooOften = "Too many wrong codes; try again later"
)

// guessRation counts wrong guesses. A right one costs nothing.
type guessRation struct {
	mu        sync.Mutex
	everyone  *rate.Limiter
	addresses map[string]*rate.Limiter
}

func newGuessRation() *guessRation {
	return &guessRation{
		everyone:  rate.NewLimiter(rate.Every(guessFromAllIn), guessesFromAll),
		addresses: map[string]*rate.Limiter{},
	}
}

// guess is one that was taken from the ration and not judged yet.
type guess struct {
	at    time.Time
	taken []*rate.Reservation
}

// giveBack undoes the guess: it was right, or nobody looked at it.
func (g *guess) giveBack() {
	for _, r := range g.taken {
		r.CancelAt(g.at)
	}
}

// take counts a guess before it is judged, so that many at once cannot pass
// the ration together.
func (g *guessRation) take(address string, now time.Time) (*guess, error) {
	taken := &guess{at: now}
	for _, l := range []*rate.Limiter{g.of(address), g.everyone} {
		r := l.ReserveN(now, 1)
		if wait := r.DelayFrom(now); wait > 0 {
			r.CancelAt(now)
			taken.giveBack()
			return nil, &tooManyGuessesError{wait}
		}
		taken.taken = append(taken.taken, r)
	}
	return taken, nil
}

// guesser is who has a ration: an IPv4 address, or the network of an IPv6 one,
// of which a single machine has 2^64.
func guesser(address string) string {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return address
	}
	host := at.Addr().Unmap().WithZone("")
	if host.Is4() {
		return host.String()
	}
	return netip.PrefixFrom(host, 64).Masked().String()
}

func (g *guessRation) of(address string) *rate.Limiter {
	host := guesser(address)
	g.mu.Lock()
	defer g.mu.Unlock()
	l, ok := g.addresses[host]
	if !ok {
		if len(g.addresses) >= mostGuessers {
			clear(g.addresses) // everyone's ration still holds
		}
		l = rate.NewLimiter(rate.Every(guessFromOneIn), guessesFromOne)
		g.addresses[host] = l
	}
	return l
}

// tooManyGuessesError says when the next guess may be made.
type tooManyGuessesError struct{ wait time.Duration }

func (e *tooManyGuessesError) Error() string { return guessesTooOften }

// Kind is TooMany.
func (e *tooManyGuessesError) Kind() fault.Kind { return fault.TooMany }

// RetryAfter is in seconds, rounded up.
func (e *tooManyGuessesError) RetryAfter() int { return int((e.wait + time.Second - 1) / time.Second) }
