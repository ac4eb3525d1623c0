package aggregate

import (
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/aggregate/query"
)

// wall turns instants into floating time: what the clock on the person's wall
// showed. A value that states its offset knows; for others the zone in which
// the user is said to live counts, and UTC without one.
type wall struct {
	zone *time.Location // nil means UTC

	// from and to bound the instants for which the zone's offset is known.
	from, to, offset int64
}

func wallOf(user users.User) wall {
	if user.TimeZone == nil {
		return wall{}
	}
	zone, err := civil.Zone(user.TimeZone.Name)
	if err != nil { // a zone that left the database
		return wall{}
	}
	return wall{zone: zone}
}

// of is the wall for a provider's values, which no zone moves where they float
// already.
func (w *wall) of(provider string) *wall {
	if wearables.Floats(provider) {
		return &wall{}
	}
	return w
}

// at is the floating time of an instant.
func (w *wall) at(us int64, offset int32) int64 {
	switch {
	case offset != wearables.NoOffset:
		return us + int64(offset)*1e6
	case w.zone == nil:
		return us
	case us < w.from || us >= w.to:
		w.look(us)
	}
	return us + w.offset
}

// look finds the zone's offset at an instant and for how long it holds.
func (w *wall) look(us int64) {
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

// Zones is how far floating time may be from UTC. Real offsets reach from -12
// to +14 hours; stated ones are taken up to 26.
const Zones = 26 * int64(time.Hour/time.Microsecond)
