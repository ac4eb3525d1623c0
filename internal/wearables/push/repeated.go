package push

import (
	"bytes"
	"slices"

	"hale/internal/platform/blocks"
	"hale/internal/platform/rows"
)

// Samples of one device have one form: only the instant, its end and the number differ
// from one sample to the next. The parser reads one sample completely and notes where
// those are. It then reads only these holes of the following samples whose other text is
// equal. The first sample that differs is read completely again.

// form is the text of a sample that was read completely, and its holes.
type form struct {
	from, to int // its position in the body
	holes    [mostHoles]hole
	n        int
	odd      bool // it has other parts
}

const mostHoles = 3

// hole is the position of a value in a sample.
type hole struct {
	what     rows.Field
	from, to int
}

// addHole adds a hole; there may be one of each kind.
func (a *form) addHole(what rows.Field, from, to int) {
	if a.n == mostHoles || slices.ContainsFunc(a.holes[:a.n], func(h hole) bool { return h.what == what }) {
		a.odd = true
		return
	}
	a.holes[a.n] = hole{what, from, to}
	a.n++
}

// addInstant adds the instant that was just read.
func (p *parser) addInstant(what rows.Field, b []byte) {
	from := p.pos - 1 - len(b)
	if from < 0 || &p.b[from] != &b[0] || b[10] != 'T' { // it has escapes
		p.form.odd = true
		return
	}
	p.form.addHole(what, from, from+instantLength)
}

// run is a run of samples of one form, from the first sample.
type run struct {
	form
	samples int
	until   int      // end of the last hole of the last sample
	shifts  [2]int64 // from the text of starts and ends to UTC
	numbers numberForms
}

// between returns the text after each hole. The last one ends with the sample.
func (a *form) between(b []byte) (all [mostHoles][]byte) {
	for k := range a.n {
		end := a.to
		if k+1 < a.n {
			end = a.holes[k+1].from
		}
		all[k] = b[a.holes[k].to:end]
	}
	return all
}

// lead returns the text before the first hole.
func (a *form) lead(b []byte) []byte { return b[a.from:a.holes[0].from] }

// more reads the following samples of the form of the one that was just read.
func (p *parser) more() run {
	r, s, b := run{form: p.form, samples: 1}, &p.sample, p.b
	if r.odd || !s.hasTime || !s.hasValue || s.hasValue2 || r.n < 2 || (r.n == mostHoles) != s.hasEnd {
		return run{}
	}
	now := sample{}
	if r.until = p.holes(&r.form, r.from, &now, &r.numbers); r.until != r.holes[r.n-1].to {
		return run{}
	}
	r.shifts = [2]int64{s.time - now.time, s.end - now.end}
	between := r.between(b)
	tail := between[r.n-1]
	g := p.groups.last
	for p.body.Count < p.most {
		at := p.pos + 1
		if p.pos >= len(b) || b[p.pos] != ',' {
			break
		}
		numbers := r.numbers
		end := p.holes(&r.form, at, &now, &numbers)
		if end < 0 || !bytes.HasPrefix(b[end:], tail) {
			break
		}
		if r.samples == 1 {
			g.grow(min(p.most-p.body.Count, 1+(len(b)-end)/(r.to-r.from)))
		}
		s.time, s.end, s.value = now.time+r.shifts[0], now.end+r.shifts[1], now.value
		g.add(s, p.body.Count)
		r.until, r.numbers, p.pos = end, numbers, end+len(tail)
		r.samples++
		p.body.Count++
	}
	return r
}

// holes reads the holes of a sample of the form a at a position. It returns the end of
// the last one, or -1 if the sample has another form.
func (p *parser) holes(a *form, at int, now *sample, numbers *numberForms) int {
	b, from := p.b, a.from
	for k := range a.n {
		h := &a.holes[k]
		text := b[from:h.from]
		if !bytes.HasPrefix(b[at:], text) {
			return -1
		}
		at, from = at+len(text), h.to
		var ok bool
		n := instantLength
		switch h.what {
		case rows.Start:
			now.time, ok = p.moments.local(b[at:])
		case rows.End:
			now.end, ok = p.moments.local(b[at:])
		default:
			var l numberForms
			now.value, n, l = plainNumber(b[at:])
			*numbers |= l
			ok = n > 0
		}
		if !ok || n == instantLength && b[at+10] != 'T' {
			return -1
		}
		at += n
	}
	return at
}

// rows returns the body by columns, if all its samples are one run.
func (p *parser) rows() *rows.Table {
	r := &p.run
	if r.samples != p.body.Count || r.samples < fewSamples || r.n == mostHoles && r.shifts[0] != r.shifts[1] {
		return nil
	}
	number := rows.Value
	switch {
	case r.numbers&otherForms != 0 || r.numbers&formWhole != 0 && r.numbers&decimals != 0:
		return nil
	case r.numbers&decimals != 0:
		number = rows.Decimal
	}
	g := p.groups.all[0]
	t := &rows.Table{
		Head: p.b[:r.holes[0].from], Tail: p.b[r.until:], Shift: -r.shifts[0],
		Columns: blocks.Columns{Time: g.Time, End: g.End, Value: g.Value},
	}
	between := r.between(p.b)
	between[r.n-1] = slices.Concat(between[r.n-1], []byte(","), r.lead(p.b))
	for k, h := range r.holes[:r.n] {
		if h.what == rows.Value {
			h.what = number
		}
		t.Fields, t.Separators = append(t.Fields, h.what), append(t.Separators, between[k])
	}
	return t
}

// fewSamples is a number of samples that is not worth a row template.
const fewSamples = 16
