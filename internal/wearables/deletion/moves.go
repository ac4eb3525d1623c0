package deletion

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/google/uuid"

	"hale/internal/platform/blocks"
	"hale/internal/platform/store"
	"hale/internal/wearables/storage"
)

// A shift records what it moves: the former time of each sample, and when that was stored.
// So a value of an import is found at its new time, and its import can be undone. Reversing
// a shift finds what it moved, also if another shift has moved that there and back since.

// moves finds values that shifts have moved.
type moves struct {
	team, user uuid.UUID
	shifts     []uuid.UUID // that recorded something, in their order
	summaries  map[uuid.UUID][]move
	streams    map[uuid.UUID][]move
}

// move is a move of a summary or stream.
type move struct {
	was, at int64 // when it was stored before, and then: milliseconds
	delta   int64 // microseconds
}

// readMoves reads which shifts moved values since an instant, without one of them.
func (d *Deletion) readMoves(ctx context.Context, tx *store.Tx, since int64, without uuid.UUID) (*moves, error) {
	m := &moves{team: d.Team.UUID(), user: d.User.UUID(), summaries: map[uuid.UUID][]move{}, streams: map[uuid.UUID][]move{}}
	rows, err := tx.Query(ctx, `SELECT import_id FROM import_changes WHERE team_id = $1 AND user_id = $2 AND at >= $3
			AND import_id IN (SELECT id FROM data_deletions WHERE team_id = $1 AND user_id = $2)
		GROUP BY import_id ORDER BY MIN(at), import_id`, d.Team, d.User, since)
	if err != nil {
		return nil, fmt.Errorf("deletion: reading shifts: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id uuid.UUID
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		if id != without && id != d.ID.UUID() {
			m.shifts = append(m.shifts, id)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if err := rows.Close(); err != nil {
		return nil, err
	}
	_, err = m.each(ctx, tx, m.shifts, func(c *storage.ImportChange) error {
		for _, s := range c.Summaries {
			m.summaries[s.ID] = append(m.summaries[s.ID], move{s.Was, c.At.UnixMilli(), c.Shift})
		}
		for _, s := range c.Streams {
			m.streams[s.Workout] = append(m.streams[s.Workout], move{s.Was, c.At.UnixMilli(), c.Shift})
		}
		return nil
	})
	return m, err
}

// each calls fn with the records of shifts, in their order. It returns their number.
func (m *moves) each(ctx context.Context, tx *store.Tx, shifts []uuid.UUID, fn func(c *storage.ImportChange) error) (n int, err error) {
	for _, id := range shifts {
		for after := int64(0); ; n++ {
			c, ok, err := storage.ReadImportChange(ctx, tx, m.team, m.user, id, after)
			if err != nil {
				return n, err
			}
			if !ok {
				break
			}
			if err := fn(&c); err != nil {
				return n, err
			}
			after = c.Seq
		}
	}
	return n, nil
}

// origin returns when the stored version of a summary or stream was stored first, and by
// how much shifts have moved it since.
func origin(all []move, at int64) (first, delta int64) {
	for _, m := range slices.Backward(all) {
		if m.at == at {
			at, delta = m.was, delta+m.delta
		}
	}
	return at, delta
}

// place names the former time of a sample, and when its present value was stored. 0 means
// by one of the batches of an import.
type place struct{ from, written int64 }

// follow follows samples of a series through the shifts. The keys of all are times. It
// returns how many records it read.
func (m *moves) follow(ctx context.Context, tx *store.Tx, series int64, all map[int64]place, batches map[int64]bool) (read int, err error) {
	return m.each(ctx, tx, m.shifts, func(c *storage.ImportChange) error {
		for i := range c.Series {
			if c.Series[i].Series != series {
				continue
			}
			moved, err := unpackBlock(c.Series[i].Moved)
			if err != nil {
				return err
			}
			there := map[int64]place{}
			for k, at := range moved.Time {
				p, known := all[at]
				if !known || !p.isStored(moved.Written[k], batches) {
					continue
				}
				delete(all, at)
				there[at+c.Shift] = place{p.from, c.At.UnixMilli()}
			}
			maps.Copy(all, there)
		}
		return nil
	})
}

// isStored reports whether the value that was stored at a time is the one that is followed.
func (p place) isStored(at int64, batches map[int64]bool) bool {
	return p.written == at || p.written == 0 && batches[at]
}

// unpackBlock unpacks a block of a record.
func unpackBlock(packed []byte) (c blocks.Columns, err error) {
	if len(packed) == 0 {
		return c, nil
	}
	if err = blocks.Decode(&c, packed); err != nil {
		return c, fmt.Errorf("deletion: a record of changes: %w", err)
	}
	c.Written = append(c.Written, make([]int64, c.Len()-len(c.Written))...)
	return c, nil
}

// extents are the summaries and the ranges of samples that a shift has moved.
type extents struct {
	summaries map[uuid.UUID]bool
	samples   map[int64][2]int64 // by series: the first and last time
}

// extentsOf reads the extents of a shift, at the former times or at the new ones. ok is
// false if it has no record.
func (m *moves) extentsOf(ctx context.Context, tx *store.Tx, shift uuid.UUID, moved bool) (e extents, ok bool, err error) {
	e = extents{map[uuid.UUID]bool{}, map[int64][2]int64{}}
	n, err := m.each(ctx, tx, []uuid.UUID{shift}, func(c *storage.ImportChange) error {
		for _, s := range c.Summaries {
			e.summaries[s.ID] = true
		}
		for i := range c.Series {
			one, err := unpackBlock(c.Series[i].Moved)
			if err != nil || one.Len() == 0 {
				return err
			}
			first, last := one.Time[0], one.Time[one.Len()-1]
			if moved {
				first, last = first+c.Shift, last+c.Shift
			}
			known, found := e.samples[c.Series[i].Series]
			if !found {
				known = [2]int64{math.MaxInt64, math.MinInt64}
			}
			e.samples[c.Series[i].Series] = [2]int64{min(known[0], first), max(known[1], last)}
		}
		return nil
	})
	return e, n > 0, err
}

// meets reports whether two shifts have moved the same data.
func (e *extents) meets(o *extents) bool {
	for id := range e.summaries {
		if o.summaries[id] {
			return true
		}
	}
	for series, a := range e.samples {
		if b, both := o.samples[series]; both && a[0] <= b[1] && b[0] <= a[1] {
			return true
		}
	}
	return false
}
