package aggregate

import (
	"cmp"
	"strings"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/aggregate/query"
)

// Vector is one column. The slice for its kind holds the values.
type Vector struct {
	Kind query.Kind
	Null []bool    // of every row
	Num  []float64 // numbers, integers, flags (1 is true)
	Time []int64   // moments and dates: floating microseconds
	Text []string
}

// width returns the bytes of one value, without those of a text.
func width(k query.Kind) int {
	if k == query.Text {
		return 1 + 16
	}
	return 1 + 8
}

// Len returns the number of rows.
func (v *Vector) Len() int { return len(v.Null) }

func (v *Vector) appendNull() {
	v.Null = append(v.Null, true)
	switch v.Kind {
	case query.Moment, query.Date:
		v.Time = append(v.Time, 0)
	case query.Text:
		v.Text = append(v.Text, "")
	default:
		v.Num = append(v.Num, 0)
	}
}

func (v *Vector) appendNumber(f float64) {
	v.Null, v.Num = append(v.Null, false), append(v.Num, f)
}

func (v *Vector) appendTime(us int64) {
	v.Null, v.Time = append(v.Null, false), append(v.Time, us)
}

// appendText appends a text. An empty text is null, as in the store.
func (v *Vector) appendText(s string) {
	v.Null, v.Text = append(v.Null, s == ""), append(v.Text, s)
}

// appendFrom appends row i of a vector of the same kind.
func (v *Vector) appendFrom(src *Vector, i int) {
	if src.Null[i] {
		v.appendNull()
		return
	}
	v.Null = append(v.Null, false)
	switch v.Kind {
	case query.Moment, query.Date:
		v.Time = append(v.Time, src.Time[i])
	case query.Text:
		v.Text = append(v.Text, src.Text[i])
	default:
		v.Num = append(v.Num, src.Num[i])
	}
}

// pick returns a new vector with the given rows, in the given order.
func (v *Vector) pick(rows []int32) Vector {
	out := Vector{Kind: v.Kind}
	for _, i := range rows {
		out.appendFrom(v, int(i))
	}
	return out
}

// compare orders two rows that are not null.
func (v *Vector) compare(i, j int) int {
	switch v.Kind {
	case query.Moment, query.Date:
		return cmp.Compare(v.Time[i], v.Time[j])
	case query.Text:
		return strings.Compare(v.Text[i], v.Text[j])
	default:
		return cmp.Compare(v.Num[i], v.Num[j])
	}
}

// order compares two rows like compare, and puts nulls last.
func (v *Vector) order(i, j int) int {
	switch {
	case v.Null[i] && v.Null[j]:
		return 0
	case v.Null[i]:
		return 1
	case v.Null[j]:
		return -1
	}
	return v.compare(i, j)
}

// wallClock turns instants into floating time: the time on the clock at the person's
// place. A value's own offset is used if it states one, otherwise the user's zone, and
// UTC without one.
type wallClock struct {
	zone *time.Location // nil means UTC

	// from and to bound the instants for which offset is valid.
	from, to, offset int64
}

func wallClockOf(user users.User) wallClock {
	if user.TimeZone == nil {
		return wallClock{}
	}
	zone, err := civil.Zone(user.TimeZone.Name)
	if err != nil { // a zone that left the database
		return wallClock{}
	}
	return wallClock{zone: zone}
}

// forProvider returns the clock for a provider's values. If the provider's times already
// are floating, no zone moves them.
func (w *wallClock) forProvider(provider string) *wallClock {
	if wearables.HasFloatingTimes(provider) {
		return &wallClock{}
	}
	return w
}

// floatingTime returns the floating time of an instant in UTC microseconds. offset is the
// value's own, in seconds east of UTC, or wearables.NoOffset.
func (w *wallClock) floatingTime(us int64, offset int32) int64 {
	switch {
	case offset != wearables.NoOffset:
		return us + int64(offset)*1e6
	case w.zone == nil:
		return us
	case us < w.from || us >= w.to:
		w.loadOffset(us)
	}
	return us + w.offset
}

// loadOffset finds the zone's offset at an instant and for how long it holds.
func (w *wallClock) loadOffset(us int64) {
	t := time.UnixMicro(us).In(w.zone)
	_, seconds := t.Zone()
	start, end := t.ZoneBounds()
	w.offset, w.from, w.to = int64(seconds)*1e6, us, us+1
	if !start.IsZero() {
		w.from = start.UnixMicro()
	}
	if !end.IsZero() {
		w.to = end.UnixMicro()
	} else {
		w.to = query.EndOfTime
	}
}

// LargestOffset is the largest distance of floating time from UTC. Real offsets reach
// from -12 to +14 hours; stated ones are accepted up to 26.
const LargestOffset = 26 * int64(time.Hour/time.Microsecond)
