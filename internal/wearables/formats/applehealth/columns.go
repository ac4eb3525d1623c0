package applehealth

import "hale/internal/wearables"

// columnKey identifies a series within one file. The strings come from the table of
// rules and share its memory, so comparing them is cheap.
type columnKey struct {
	resource, kind, sport string
	words                 string // wearables.ExtraText; mostly empty
	source                int
}

// columns gathers samples of many series until they are given away.
type columns struct {
	byKey   map[columnKey]*wearables.Samples
	lastKey columnKey
	last    *wearables.Samples
	order   []*wearables.Samples
	n       int
	spare   []wearables.Samples // storage of series that were given away
}

func newColumns() *columns {
	return &columns{byKey: map[columnKey]*wearables.Samples{}}
}

// at returns the columns of a series.
func (c *columns) at(key columnKey, list []wearables.Source) *wearables.Samples {
	if c.last != nil && key == c.lastKey {
		return c.last
	}
	col, ok := c.byKey[key]
	if !ok {
		col = c.storage()
		col.Resource, col.Type, col.Extra = key.resource, key.kind, key.words
		col.Source = list[key.source]
		col.Source.Sport = key.sport
		c.byKey[key] = col
		c.order = append(c.order, col)
	}
	c.lastKey, c.last = key, col
	return col
}

// add appends one sample of a measurement without length.
func (c *columns) add(col *wearables.Samples, start int64, offset int32, value float64) {
	col.Time = append(col.Time, start)
	col.Offset = append(col.Offset, offset)
	col.Value = append(col.Value, value)
	c.n++
}

// samples returns the series gathered so far. Columns without values are nil, as
// package wearables requires.
func (c *columns) samples() []wearables.Samples {
	all := make([]wearables.Samples, len(c.order))
	for i, col := range c.order {
		all[i] = *col
		if len(col.End) == 0 {
			all[i].End = nil
		}
		if len(col.Value2) == 0 {
			all[i].Value2 = nil
		}
	}
	return all
}

// reset empties the columns. Some storage is kept for the next ones, but not
// all: a file has hundreds of series and each is long only for a while.
func (c *columns) reset() {
	kept := 0
	c.spare = c.spare[:0]
	for _, col := range c.order {
		if kept += cap(col.Time); kept <= 2*flushAt {
			c.spare = append(c.spare, *col)
		}
	}
	clear(c.byKey)
	c.order, c.last, c.n = c.order[:0], nil, 0
}

func (c *columns) storage() *wearables.Samples {
	n := len(c.spare)
	if n == 0 {
		return &wearables.Samples{}
	}
	old := c.spare[n-1]
	c.spare = c.spare[:n-1]
	return &wearables.Samples{
		Time: old.Time[:0], End: old.End[:0], Offset: old.Offset[:0], Value: old.Value[:0], Value2: old.Value2[:0],
	}
}
