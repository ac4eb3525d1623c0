package webhooks

import (
	"testing"
	"time"
)

func TestParseRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "120": 2 * time.Minute, " 7 ": 7 * time.Second, "-1": 0, "1.5": 0, "soon": 0,
		"Sun, 01 Mar 2026 12:01:00 GMT": time.Minute, "Sun, 01 Mar 2026 11:00:00 GMT": 0, "99999999999999999999": 0,
	} {
		if got := parseRetryAfter(value, now); got != want {
			t.Errorf("%q is %v, want %v", value, got, want)
		}
	}
}

func FuzzParseRetryAfter(f *testing.F) {
	f.Add("120")
	f.Add("Sun, 01 Mar 2026 12:01:00 GMT")
	f.Fuzz(func(t *testing.T, value string) {
		if got := parseRetryAfter(value, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)); got < 0 {
			t.Errorf("%q is %v", value, got)
		}
	})
}

// A bucket never lets more through than a second's worth and the rate.
func TestBucket(t *testing.T) {
	var b bucket
	b.setRate(10)
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	start, through := now, 0
	for range 1000 {
		wait := b.take(now)
		if wait == 0 {
			through++
			continue
		}
		now = now.Add(wait)
	}
	if most := 10 + 10*now.Sub(start).Seconds() + 1; float64(through) > most || float64(through) < most-3 {
		t.Errorf("%d in %v at 10 a second", through, now.Sub(start))
	}
	b.setRate(0)
	if b.take(now) != 0 {
		t.Error("no limit, and yet a wait")
	}
}
