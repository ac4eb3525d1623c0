package webhooks

import "time"

// bucket is a token bucket: it lets rate posts per second through and up to a
// second's worth at once after a rest. The zero rate is no limit. It takes the
// present moment as an argument and never waits itself.
type bucket struct {
	rate   float64
	tokens float64
	last   time.Time
}

// setRate changes the limit; a bucket that was unlimited starts full.
func (b *bucket) setRate(perSecond float64) {
	if b.rate == 0 {
		b.tokens = max(perSecond, 1)
	}
	b.rate = perSecond
	b.tokens = min(b.tokens, max(perSecond, 1))
}

// take removes one token, or says how long to wait for it.
func (b *bucket) take(now time.Time) (wait time.Duration) {
	if b.rate == 0 {
		return 0
	}
	if elapsed := now.Sub(b.last); elapsed > 0 {
		if !b.last.IsZero() {
			b.tokens = min(b.tokens+elapsed.Seconds()*b.rate, max(b.rate, 1))
		}
		b.last = now
	}
	if b.tokens >= 1 {
		b.tokens--
		return 0
	}
	return time.Duration((1 - b.tokens) / b.rate * float64(time.Second))
}
