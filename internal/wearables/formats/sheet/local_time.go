package sheet

import (
	"slices"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
)

// Wall converts a local clock time without a zone to an instant.
//
// With the user's fallback zone the instant is that of the zone. Without one the time
// floats: it is stored as if the clock had shown UTC. Its offset is then
// wearables.NoOffset, so a reader sees the local time and an unknown zone.
//
// Reference 7.9: floating time, fallback zone.
type Wall struct {
	Zone *time.Location // nil floats
	last int64          // the instant before
}

// Zone returns the user's fallback time zone, or nil if none is set.
func Zone(in files.Input) *time.Location {
	if in.User.TimeZone == nil {
		return nil
	}
	zone, err := civil.Zone(in.User.TimeZone.Name)
	if err != nil {
		return nil
	}
	return zone
}

// Instant returns the UTC instant, in microseconds, at which the clock showed wall, and
// the zone's offset at that instant. wall is the local time, given in UTC.
//
// An hour in autumn occurs twice. Instant chooses its first pass, unless the time before,
// in a document in order of time, was already later. A time that the clock skips in
// spring counts as if the clock were not yet set forward.
func (w *Wall) Instant(wall time.Time) (at int64, offset int32) {
	if w.Zone == nil {
		return wall.UnixMicro(), wearables.NoOffset
	}
	unset := w.candidate(wall, -26*time.Hour) // as if the clock had not been set yet
	early, late := unset, w.candidate(wall, 26*time.Hour)
	if late.Before(early) {
		early, late = late, early
	}
	chosen := early
	first, second := w.shows(early, wall), w.shows(late, wall)
	switch {
	case !first && !second: // the clock skips it
		chosen = unset
	case !first, second && w.last > early.UnixMicro() && w.last <= late.UnixMicro():
		chosen = late
	}
	w.last = chosen.UnixMicro()
	_, seconds := chosen.In(w.Zone).Zone()
	return w.last, int32(seconds)
}

// Passes returns the UTC instants, in microseconds, at which the clock showed
// wall, in order. It returns two in the hour that occurs twice, and none in one
// that the clock skips. A floating time has one.
func (w *Wall) Passes(wall time.Time) (all []int64) {
	if w.Zone == nil {
		return []int64{wall.UnixMicro()}
	}
	for _, away := range []time.Duration{-26 * time.Hour, 26 * time.Hour} {
		if at := w.candidate(wall, away); w.shows(at, wall) && !slices.Contains(all, at.UnixMicro()) {
			all = append(all, at.UnixMicro())
		}
	}
	slices.Sort(all)
	return all
}

// candidate returns the instant of a local time, with the offset that is valid some time
// before or after it. away is the distance of that time.
func (w *Wall) candidate(wall time.Time, away time.Duration) time.Time {
	_, seconds := wall.Add(away).In(w.Zone).Zone()
	return wall.Add(-time.Duration(seconds) * time.Second)
}

// shows reports whether the clock shows the local time at an instant.
func (w *Wall) shows(at, wall time.Time) bool {
	_, seconds := at.In(w.Zone).Zone()
	return at.Add(time.Duration(seconds) * time.Second).Equal(wall)
}

// OffsetAt returns the offset of a zone at an instant in UTC microseconds, in seconds
// east of UTC. Without a zone it returns wearables.NoOffset.
func OffsetAt(zone *time.Location, at int64) int32 {
	if zone == nil {
		return wearables.NoOffset
	}
	_, seconds := time.UnixMicro(at).In(zone).Zone()
	return int32(seconds)
}
