package ingest

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"hale/internal/platform/blocks"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// Wall-clock times of a file are read by the user's fallback zone. If a record was
// deleted, and the file is read by another zone since, the record has another time. It is
// still the same record, and stays deleted.

// leaveOutFormerZones leaves out samples that were deleted when their times were read by a
// former zone.
func (w *seriesPlan) leaveOutFormerZones(ctx context.Context, tx *store.Tx, former []*time.Location) error {
	for _, zone := range former {
		before := moveToZone(&w.add, zone)
		left, n, err := storage.LeaveOutDeletedAt(ctx, tx, &w.series, &w.add, &before)
		if err != nil {
			return err
		}
		if w.deleted += n; n > 0 {
			w.add = left
		}
		if w.add.Len() == 0 {
			break
		}
	}
	return nil
}

// moveToZone returns the samples with the times that a former zone gave them.
func moveToZone(c *blocks.Columns, zone *time.Location) blocks.Columns {
	before := *c
	before.Time, before.End = slices.Clone(c.Time), slices.Clone(c.End)
	for i, at := range c.Time {
		offset := wearables.NoOffset
		if len(c.Offset) > 0 {
			offset = c.Offset[i]
		}
		delta := misreading(at, offset, zone)
		before.Time[i] += delta
		if len(before.End) > 0 {
			before.End[i] += delta
		}
	}
	return before
}

// misreading returns the distance, in microseconds, to the instant at which the clock
// showed the same in another zone.
func misreading(at int64, offset int32, zone *time.Location) int64 {
	seconds, _ := storage.SplitOffset(offset)
	if seconds == wearables.NoOffset {
		seconds = 0
	}
	wall := time.UnixMicro(at).UTC().Add(time.Duration(seconds) * time.Second)
	there := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(), zone)
	return there.UnixMicro() - at
}

// misread returns the key and the fields that a former zone gave a summary, without its
// place and its day.
func (w *summaryPlan) misread(whole map[string]any, zone *time.Location) (storage.SummaryKey, map[string]any) {
	key, was := w.deletedKey(), maps.Clone(whole)
	delta := time.Duration(0)
	if !w.Start.IsZero() {
		offset := wearables.NoOffset
		if seconds, ok := whole["timezone_offset"].(json.Number); ok {
			if n, err := seconds.Int64(); err == nil {
				offset = int32(n)
			}
		}
		delta = time.Duration(misreading(w.Start.UnixMicro(), offset, zone)) * time.Microsecond
		key.Start, key.End = w.Start.Add(delta), w.End.Add(delta)
	}
	for _, f := range w.document.Fields {
		if text, ok := was[f.Name].(string); ok && f.Kind == wearables.Moment {
			was[f.Name] = wearables.MovedText(text, delta, zone)
		}
	}
	for _, place := range []string{"timezone_offset", "time_zone", "calendar_date", "date"} {
		delete(was, place)
	}
	return key, was
}
