package sheet

import (
	"slices"

	"hale/internal/wearables"
)

// FlushSize is the number of samples to gather before storing them.
const FlushSize = 1 << 14

// Key identifies a series within one file.
type Key struct {
	Resource, Type string
	Extra          string // wearables.ExtraText of further words; mostly empty
	Source         wearables.Source
}

// Gather collects samples of many series as columns. The zero Gather is empty.
type Gather struct {
	N int // samples gathered

	byKey map[Key]*wearables.Samples
	order []*wearables.Samples
}

// At adds a measurement.
func (g *Gather) At(k Key, at int64, offset int32, value float64) {
	s := g.series(k)
	s.Time, s.Offset, s.Value = append(s.Time, at), append(s.Offset, offset), append(s.Value, value)
	g.N++
}

// Span adds an amount of a stretch of time.
func (g *Gather) Span(k Key, from, to int64, offset int32, value float64) {
	s := g.series(k)
	s.End = append(s.End, to)
	g.At(k, from, offset, value)
}

// Pair adds a measurement of two values.
func (g *Gather) Pair(k Key, at int64, offset int32, value, value2 float64) {
	s := g.series(k)
	s.Value2 = append(s.Value2, value2)
	g.At(k, at, offset, value)
}

// Record sets the provider's own id of the last sample of a series; empty means none.
func (g *Gather) Record(k Key, id string) {
	if id == "" {
		return
	}
	s := g.series(k)
	for len(s.Record) < s.Len()-1 {
		s.Record = append(s.Record, "")
	}
	s.Record = append(s.Record, id)
}

func (g *Gather) series(k Key) *wearables.Samples {
	s, ok := g.byKey[k]
	if !ok {
		s = &wearables.Samples{Resource: k.Resource, Type: k.Type, Extra: k.Extra, Source: k.Source}
		if g.byKey == nil {
			g.byKey = map[Key]*wearables.Samples{}
		}
		g.byKey[k] = s
		g.order = append(g.order, s)
	}
	return s
}

// Take returns the gathered samples and starts again.
func (g *Gather) Take() []wearables.Samples {
	all := make([]wearables.Samples, len(g.order))
	for i, s := range g.order {
		for s.Record != nil && len(s.Record) < s.Len() {
			s.Record = append(s.Record, "")
		}
		all[i] = *s
	}
	*g = Gather{}
	return all
}

// A diary puts all foods of a meal at one time, and some programs split a dose. But a
// series has one value at a time. So amounts of a moment are added up, and an exact
// repetition counts once.

// mostPortions bounds the moments whose amounts wait for others. Documents are
// mostly in order of time, so the amounts of a moment are near each other.
const mostPortions = FlushSize

// mostAtOnce bounds the different amounts of a moment; more are no meal.
const mostAtOnce = 100

type portionKey struct {
	Key
	at int64
}

type portion struct {
	offset int32
	values []float64
}

// Portion adds an amount that was eaten, drunk or injected at a moment. The words of a
// key should not depend on the amount: they identify the series, and other words later
// would store it twice.
func (d *Document) Portion(k Key, at int64, offset int32, value float64) {
	key := portionKey{k, at}
	p := d.portions[key]
	if p == nil {
		if len(d.portions) >= mostPortions {
			d.portionsUp(at)
		}
		if d.portions == nil {
			d.portions = map[portionKey]*portion{}
		}
		p = &portion{offset: offset}
		d.portions[key] = p
		d.moments = append(d.moments, key)
	}
	p.offset = max(p.offset, offset)
	if len(p.values) < mostAtOnce && !slices.Contains(p.values, value) {
		p.values = append(p.values, value)
	}
}

// portionsUp gathers the sums of all moments but one.
func (d *Document) portionsUp(but int64) {
	kept := d.moments[:0]
	for _, key := range d.moments {
		if key.at == but {
			kept = append(kept, key)
			continue
		}
		p, sum := d.portions[key], 0.0
		delete(d.portions, key)
		slices.Sort(p.values) // so that the sum is the same to the last digit in any order
		for _, v := range p.values {
			sum += v
		}
		d.Gather.Span(key.Key, key.at, key.at, p.offset, sum)
	}
	d.moments = kept
}
