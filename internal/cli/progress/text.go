package progress

import (
	"fmt"
	"strings"
	"time"
)

// line describes a state: `upload: 12.0 MiB of 40.0 MiB (30%), 4.0 MiB/s, 7s left,
// 310,000 records`.
func (s state) line(now time.Time) string {
	var b strings.Builder
	b.WriteString(s.label + ": " + s.amount(s.done))
	if s.total > 0 {
		fmt.Fprintf(&b, " of %s (%d%%)", s.amount(s.total), s.percent())
	}
	b.WriteString(", " + s.rateAndRest(now))
	if s.note != "" {
		b.WriteString(", " + s.note)
	}
	return b.String()
}

// rateAndRest returns the mean rate and the remaining time as text. Once the work has
// ended, it returns the elapsed time instead of the remaining time.
func (s state) rateAndRest(now time.Time) string {
	if !s.ended.IsZero() {
		now = s.ended
	}
	took := now.Sub(s.began)
	rate := 0.0
	if took > 0 {
		rate = float64(s.done) / took.Seconds()
	}
	text := s.amount(int64(rate)) + "/s"
	switch {
	case !s.ended.IsZero():
		outcome := "stopped after " + shortDuration(took)
		if s.ok {
			outcome = "done in " + shortDuration(took)
		}
		if took < shortestRate {
			return outcome
		}
		return text + ", " + outcome
	case s.total > s.done && rate > 0:
		left := time.Duration(float64(s.total-s.done) / rate * float64(time.Second))
		return text + ", " + shortDuration(left) + " left"
	}
	return text
}

// shortestRate is the shortest time for which a rate means something. Work that had ended
// before the first look takes microseconds here.
const shortestRate = 10 * time.Millisecond

func (s state) percent() int64 {
	if s.total <= 0 {
		return 0
	}
	return min(100, int64(float64(s.done)/float64(s.total)*100))
}

func (s state) amount(n int64) string {
	if s.unit == Bytes {
		return Size(n)
	}
	return Count(n)
}

// Size prints bytes for people: 512 B, 12.0 MiB.
func Size(n int64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n), ""
	for _, unit = range []string{"KiB", "MiB", "GiB", "TiB"} {
		if value /= 1 << 10; value < 1000 {
			break
		}
	}
	return fmt.Sprintf("%.1f %s", value, unit)
}

// Count prints a number for people: 1,234,567.
func Count(n int64) string {
	digits := fmt.Sprint(max(n, -n))
	var b strings.Builder
	if n < 0 {
		b.WriteByte('-')
	}
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// shortDuration prints a span with two units at most: 850ms, 7s, 3m20s, 2h5m.
func shortDuration(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}
