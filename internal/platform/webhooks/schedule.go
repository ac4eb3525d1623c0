package webhooks

import "time"

// Schedule decides when to retry after a failed attempt.
type Schedule struct {
	// Waits holds the wait after the first failure, after the second, and so on. The
	// number of attempts is one greater than the number of waits.
	Waits []time.Duration
	// Jitter lengthens each wait by up to this share of it.
	Jitter float64
}

// DefaultSchedule is the reference's schedule: at once, then after 5 s, 5 min,
// 30 min, 2 h, 5 h, 10 h and 10 h. Each wait begins at the failure before. The
// schedule has eight attempts in 27.6 hours.
//
// Reference 8.4.
var DefaultSchedule = Schedule{
	Waits: []time.Duration{
		5 * time.Second, 5 * time.Minute, 30 * time.Minute,
		2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 10 * time.Hour,
	},
	Jitter: 0.10,
}

// slowDown is the least wait after an answer that says that the receiver, or the way
// to it, is overloaded.
const slowDown = time.Minute

// After returns the wait after the try-th attempt (counted from 1) failed with outcome
// o. ok is false if no attempt is left. random is in [0, 1).
//
// A Retry-After counts between once and twice the step. After the answers 429, 502 and
// 504, and after a timeout, the wait is at least a minute.
func (s Schedule) After(try int, o Outcome, random float64) (wait time.Duration, ok bool) {
	if try < 1 || try > len(s.Waits) {
		return 0, false
	}
	step := s.Waits[try-1]
	wait = min(max(step, o.RetryAfter), 2*step)
	if o.overloaded() {
		wait = max(wait, slowDown)
	}
	return wait + time.Duration(float64(wait)*s.Jitter*random), true
}
