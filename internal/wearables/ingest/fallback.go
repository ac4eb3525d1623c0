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

// Most values state the offset of the place where they were measured. For others
// the user's fallback_time_zone gives it, from the moment it is set. A fallback
// applies to new values without an offset. It changes no stored value, and a stored
// offset records that a fallback gave it.
//
// Spec: User, FallbackTimeZone. Reference 7.10.

// applyFallback sets the offset of samples that state none, by the fallback zone.
// It copies columns before it changes them, because they may be the caller's.
func (w *seriesPlan) applyFallback(user users.User) {
	c := &w.add
	if len(c.Offset) > 0 && !slices.Contains(c.Offset, wearables.NoOffset) {
		return
	}
	zone := wearables.FallbackFor(user, w.key.Provider)
	// The fallback zone applies to Google Fit's days and sessions, not to its
	// series. Reference 7.10.
	if zone == nil || w.key.Provider == "google_fit" {
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
	w.hasUnsure = true
}

// keepStoredOffsets replaces the fallback's offset of samples that are stored already
// by their stored offset, and also an assumed offset if one is stored. It removes the mark
// of assumed offsets.
func keepStoredOffsets(old, add *blocks.Columns) {
	add.Offset = slices.Clone(add.Offset)
	i, _ := slices.BinarySearch(old.Time, add.Time[0])
	for j, at := range add.Time {
		for i < len(old.Time) && old.Time[i] < at {
			i++
		}
		stored, known := wearables.NoOffset, i < len(old.Time) && old.Time[i] == at
		if known && len(old.Offset) > 0 {
			stored = old.Offset[i]
		}
		plain, assumed := wearables.SplitAssumed(add.Offset[j])
		add.Offset[j] = plain
		if known && (assumed && stored != wearables.NoOffset || storage.IsFallback(plain)) {
			add.Offset[j] = stored
		}
	}
}

// hasAssumed reports whether any offset is assumed.
func hasAssumed(offsets []int32) bool {
	return slices.ContainsFunc(offsets, func(o int32) bool {
		_, assumed := wearables.SplitAssumed(o)
		return assumed
	})
}

// zoneClock finds the offset of a zone at an instant, and caches the time for which
// it is valid.
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

// fallbackFields returns the fields that the fallback zone gives a new summary that
// does not state them.
func fallbackFields(d *wearables.Document, user users.User, s *wearables.Summary, fields map[string]any) map[string]any {
	zone := wearables.FallbackFor(user, s.Source.Provider)
	start, found := s.Start, map[string]any{}
	if zone == nil || start.IsZero() && s.Date.IsZero() || fields["time_zone"] != nil {
		return found
	}
	if start.IsZero() {
		start = s.Date.In(zone)
	}
	if !hasPlace(d) && d.Start != "" && fields["calendar_date"] == nil && !statesOffset(momentOf(fields[d.Start])) {
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

// hasPlace reports whether the document has a field for where the person was.
func hasPlace(d *wearables.Document) bool {
	_, offset := d.Settable("timezone_offset")
	_, zone := d.Settable("time_zone")
	return offset || zone
}

// statesOtherOffset reports whether the text of a session's start has another offset
// than the zone had then.
func statesOtherOffset(d *wearables.Document, fields map[string]any, zone *time.Location) bool {
	at := momentOf(fields[d.Start])
	_, there := at.In(zone).Zone()
	_, stated := at.Zone()
	return statesOffset(at) && stated != there
}
