package sheet

import "slices"

// A diary puts all foods of a meal at one time, and some programs split a dose. But a
// series has one value at a time. So amounts of a moment are added up, and an exact
// repetition counts once.

// mostPortions bounds the moments whose amounts wait for others. Documents are
// mostly in order of time, so the amounts of a moment are near each other.
const mostPortions = Full

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
