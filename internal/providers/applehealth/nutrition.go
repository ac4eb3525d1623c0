package applehealth

import (
	"cmp"
	"slices"
)

// nutrition has the three nutrients that are series of their own. The other
// dietary types belong to meals, which an export tells only in part: they are
// counted and not kept.
var nutrition = []rule{
	{name: quantity + "DietaryWater", shape: portion, resource: "water", units: inMillilitres},
	{name: quantity + "DietaryCaffeine", shape: portion, resource: "caffeine", units: inGrams},
	{name: quantity + "DietaryCarbohydrates", shape: portion, resource: "carbohydrates", units: inGrams},
}

// maxPortions bounds the portions that wait for others of the same moment:
// twenty a day for 35 years.
const maxPortions = 1 << 18

// portionKey tells meals of one source apart.
type portionKey struct {
	rule   *rule
	source int
	start  int64
}

// eaten is what one source says was eaten at one moment. Diaries put all foods
// of a meal, or of a day, at one time: they are added up, while a record that
// stands there twice counts once.
type eaten struct {
	end    int64
	offset int32
	values []float64
}

// eat keeps a portion until the end of the file, since its others may follow.
func (r *Reader) eat(p *pending) {
	key := portionKey{p.rule, p.source, p.start}
	e := r.portions[key]
	switch {
	case e == nil && len(r.portions) >= maxPortions:
		r.keep(p)
	case e == nil:
		r.portions[key] = &eaten{p.end, p.offset, []float64{p.value}}
	case !slices.Contains(e.values, p.value) && len(e.values) < 1000:
		e.values = append(e.values, p.value)
		e.end = max(e.end, p.end)
	}
}

// eatenUp gives away all portions, in order.
func (r *Reader) eatenUp() error {
	keys := make([]portionKey, 0, len(r.portions))
	for key := range r.portions {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b portionKey) int {
		return cmp.Or(cmp.Compare(a.rule.resource, b.rule.resource), cmp.Compare(a.source, b.source), cmp.Compare(a.start, b.start))
	})
	for _, key := range keys {
		e := r.portions[key]
		p := pending{rule: key.rule, start: key.start, end: e.end, offset: e.offset, source: key.source}
		for _, v := range e.values {
			p.value += v
		}
		r.keep(&p)
		if r.columns.n >= flushAt {
			if err := r.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}
