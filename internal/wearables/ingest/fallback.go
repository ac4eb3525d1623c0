package ingest

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/blocks"
	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// Where a person was when something was measured is mostly stated with the
// value. Where it is not, the team's fallback_time_zone says it, for what is
// stored from the moment it is set. What rests on a fallback is never taken
// for better than it is: it fills in where a new value has nothing, it changes
// no value that is stored, and a stored offset tells how it was found.
//
// Spec: User, FallbackTimeZone. Reference 7.10.

// fallBack gives the samples that state no offset that of the fallback zone.
// The columns may be the caller's: what changes is a copy.
func (w *seriesPlan) fallBack(user users.User) {
	c := &w.add
	if len(c.Offset) > 0 && !slices.Contains(c.Offset, wearables.NoOffset) {
		return
	}
	zone := wearables.FallbackFor(user, w.id.Provider)
	// Google Fit's days and sessions are of the fallback zone, and its series
	// state nothing. Reference 7.10.
	if zone == nil || w.id.Provider == "google_fit" {
		return
	}
	given, clock := c.Offset, zoneClock{zone: zone}
	c.Offset = make([]int32, len(c.Time))
	for i, at := range c.Time {
		if len(given) > 0 && given[i] != wearables.NoOffset {
			c.Offset[i] = given[i]
			continue
		}
		c.Offset[i] = storage.MarkFallback(clock.at(at))
	}
	w.fellBack = true
}

// spare gives the samples that are stored already the offset that they have
// there, in place of the fallback's.
func spare(old, add *blocks.Columns) {
	own := false
	for i, j := 0, 0; i < len(old.Time) && j < len(add.Time); {
		switch {
		case old.Time[i] < add.Time[j]:
			i++
		case old.Time[i] > add.Time[j]:
			j++
		default:
			if storage.IsFallback(add.Offset[j]) {
				if !own {
					add.Offset, own = slices.Clone(add.Offset), true
				}
				add.Offset[j] = wearables.NoOffset
				if len(old.Offset) > 0 {
					add.Offset[j] = old.Offset[i]
				}
			}
			i++
			j++
		}
	}
}

// zoneClock finds the offset of a zone at an instant and remembers the stretch
// of time for which it holds.
type zoneClock struct {
	zone     *time.Location
	from, to int64
	offset   int32
}

func (z *zoneClock) at(us int64) int32 {
	if us >= z.from && us < z.to {
		return z.offset
	}
	t := time.UnixMicro(us).In(z.zone)
	_, offset := t.Zone()
	z.offset, z.from, z.to = int32(offset), math.MinInt64, math.MaxInt64
	start, end := t.ZoneBounds()
	if !start.IsZero() {
		z.from = start.UnixMicro()
	}
	if !end.IsZero() {
		z.to = end.UnixMicro()
	}
	return z.offset
}

// beneath are the fields that the fallback zone gives a new summary where it
// states nothing itself.
func fallbackFields(d *wearables.Document, user users.User, s *wearables.Summary, fields map[string]any) map[string]any {
	zone := wearables.FallbackFor(user, s.Source.Provider)
	start, found := s.Start, map[string]any{}
	if zone == nil || start.IsZero() && s.Date.IsZero() || fields["time_zone"] != nil {
		return found
	}
	if start.IsZero() {
		start = s.Date.In(zone)
	}
	if !hasPlace(d) && d.Start != "" && fields["calendar_date"] == nil && !statesOffset(textOfMoment(fields[d.Start])) {
		found["calendar_date"] = civil.DateOf(start.In(zone)).String()
	}
	if _, ok := d.Settable("timezone_offset"); ok && fields["timezone_offset"] == nil {
		_, seconds := start.In(zone).Zone()
		found["timezone_offset"] = json.Number(strconv.Itoa(seconds))
	}
	if _, ok := d.Settable("time_zone"); ok && fields["timezone_offset"] == nil && !statesOtherOffset(d, fields, zone) {
		found["time_zone"] = zone.String()
	}
	return found
}

// placed says whether the document has a field for where the person was.
func hasPlace(d *wearables.Document) bool {
	_, offset := d.Settable("timezone_offset")
	_, zone := d.Settable("time_zone")
	return offset || zone
}

// elsewhere says whether the text of a session's start has another offset than
// the zone had then.
func statesOtherOffset(d *wearables.Document, fields map[string]any, zone *time.Location) bool {
	at := textOfMoment(fields[d.Start])
	_, there := at.In(zone).Zone()
	_, stated := at.Zone()
	return statesOffset(at) && stated != there
}
