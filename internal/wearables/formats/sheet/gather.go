package sheet

import "hale/internal/wearables"

// Full is the number of samples to gather before storing them.
const Full = 1 << 14

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
		all[i] = *s
	}
	*g = Gather{}
	return all
}
