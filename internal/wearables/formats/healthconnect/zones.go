package healthconnect

import (
	"context"
	"errors"
	"slices"
	"sort"
	"time"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/sheet"
)

// zones knows the offset of the phone on each day.
//
// Apps write an offset of zero as often for "not given" as for London in winter. The
// reader does not trust an app that never writes another offset. The app's records get
// the offset that other apps saw on that day. Otherwise they get the offset of the user's
// fallback zone, or none.
type zones struct {
	speaks   map[int64]bool // apps that have written an offset other than zero
	days     []int64        // UTC days since 1970, in order
	offsets  []int32        // the phone's offset on each day
	fallback *time.Location
}

// maxDays bounds the days that are remembered: more than a century.
const maxDays = 50_000

// offsetCounts counts how often apps used an offset on a day.
type offsetCounts struct {
	day    int64
	offset int32
}

func (db *database) zones(ctx context.Context, fallback *time.Location) (*zones, error) {
	z := &zones{speaks: map[int64]bool{}, fallback: fallback}
	counts := map[offsetCounts]int64{}
	for _, t := range tablesWithOffsets() {
		at, offset := t.clock()
		if !db.has(t.table, at, offset, "app_info_id") {
			continue
		}
		if err := z.listen(ctx, db, t.table, offset); err != nil {
			return nil, err
		}
	}
	for _, t := range tablesWithOffsets() {
		at, offset := t.clock()
		if !db.has(t.table, at, offset, "app_info_id") {
			continue
		}
		if err := z.look(ctx, db, t.table, at, offset, counts); err != nil {
			return nil, err
		}
	}
	z.settle(counts)
	return z, nil
}

// listen finds the apps that write offsets other than zero. A damaged table is read as
// far as possible.
func (z *zones) listen(ctx context.Context, db *database, table, offset string) error {
	err := db.query(ctx, `SELECT app_info_id, MAX(`+offset+` <> 0) FROM `+table+` GROUP BY app_info_id`, 2, func(row []any) error {
		if app, ok := integer(row[0]); ok && row[1] == int64(1) && len(z.speaks) < maxSources {
			z.speaks[app] = true
		}
		return nil
	})
	if errors.Is(err, errDamaged) {
		return nil
	}
	return err
}

// look counts by day the offsets of the apps that listen found.
func (z *zones) look(ctx context.Context, db *database, table, at, offset string, counts map[offsetCounts]int64) error {
	text := `SELECT app_info_id, ` + at + ` / 86400000, ` + offset + `, COUNT(*) FROM ` + table + ` GROUP BY 1, 2, 3`
	err := db.query(ctx, text, 4, func(row []any) error {
		app, _ := integer(row[0])
		day, ok := integer(row[1])
		seconds, good := offsetOf(row[2])
		n, _ := integer(row[3])
		if ok && good && z.speaks[app] && len(counts) < maxDays {
			counts[offsetCounts{day, seconds}] += n
		}
		return nil
	})
	if errors.Is(err, errDamaged) {
		return nil
	}
	return err
}

// settle chooses the commonest offset of each day.
func (z *zones) settle(counts map[offsetCounts]int64) {
	best := map[int64]offsetCounts{}
	for s, n := range counts {
		b, ok := best[s.day]
		if !ok || n > counts[b] || n == counts[b] && s.offset > b.offset {
			best[s.day] = s
		}
	}
	for day := range best {
		z.days = append(z.days, day)
	}
	slices.Sort(z.days)
	for _, day := range z.days {
		z.offsets = append(z.offsets, best[day].offset)
	}
}

// of returns the offset of a record. It trusts a stated offset that is not zero, or from
// an app that also writes others. Otherwise it returns the phone's offset on the last
// known day up to the record, or on the first known day. Without any such day it returns
// the offset of the fallback zone.
func (z *zones) of(app, at int64, stated any) int32 {
	if seconds, ok := offsetOf(stated); ok && (seconds != 0 || z.speaks[app]) {
		return seconds
	}
	if len(z.days) == 0 {
		return sheet.OffsetAt(z.fallback, at)
	}
	day := at / 86_400_000_000
	i := sort.Search(len(z.days), func(i int) bool { return z.days[i] > day })
	return z.offsets[max(i-1, 0)]
}

// offsetOf converts a value to an offset, in seconds east of UTC. It returns false if no
// place on earth has this offset.
func offsetOf(v any) (int32, bool) {
	seconds, ok := integer(v)
	if !ok || seconds < -18*3600 || seconds > 18*3600 {
		return wearables.NoOffset, false
	}
	return int32(seconds), true
}
