package push

import (
	"bytes"
	"slices"

	"hale/internal/platform/blocks"
	"hale/internal/platform/rows"
)

// Samples of one device look alike: all but the instant, its end and the number
// is the same text from one to the next. A sample that was read with care shows
// where those are. Samples behind it that are equal to it everywhere else mean
// the same but for them, so only these places are looked into. The first one
// that differs is read with care again.

// alike is how a sample looks that was read with care.
type alike struct {
	from, to int // where it stands in the body
	holes    [mostHoles]hole
	n        int
	odd      bool // it has more to it than that
}

const mostHoles = 3

// hole is a place in a sample.
type hole struct {
	what     rows.Field
	from, to int
}

// found notes a place, of which there may be one of each kind.
func (a *alike) found(what rows.Field, from, to int) {
	if a.n == mostHoles || slices.ContainsFunc(a.holes[:a.n], func(h hole) bool { return h.what == what }) {
		a.odd = true
		return
	}
	a.holes[a.n] = hole{what, from, to}
	a.n++
}

// foundInstant notes the instant that was just read.
func (p *parser) foundInstant(what rows.Field, b []byte) {
	from := p.pos - 1 - len(b)
	if from < 0 || &p.b[from] != &b[0] || b[10] != 'T' { // it had escapes
		p.alike.odd = true
		return
	}
	p.alike.found(what, from, from+instantLength)
}

// run is samples that look alike, from the first one on.
type run struct {
	alike
	samples int
	until   int      // where the last hole of the last one ends
	shifts  [2]int64 // from the text of starts and ends to what they mean
	numbers look
}

// between is the text behind each hole; the last one ends with the sample.
func (a *alike) between(b []byte) (all [mostHoles][]byte) {
	for k := range a.n {
		end := a.to
		if k+1 < a.n {
			end = a.holes[k+1].from
		}
		all[k] = b[a.holes[k].to:end]
	}
	return all
}

// lead is the text before the first hole.
func (a *alike) lead(b []byte) []byte { return b[a.from:a.holes[0].from] }

// more reads the samples that look like the one that was just read, and follow
// it.
func (p *parser) more() run {
	r, s, b := run{alike: p.alike, samples: 1}, &p.sample, p.b
	if r.odd || !s.hasTime || !s.hasValue || s.hasValue2 || r.n < 2 || (r.n == mostHoles) != s.hasEnd {
		return run{}
	}
	now := sample{}
	if r.until = p.holes(&r.alike, r.from, &now, &r.numbers); r.until != r.holes[r.n-1].to {
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
		end := p.holes(&r.alike, at, &now, &numbers)
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

// holes reads what is in the holes of a sample that starts at a place and looks
// like a. It returns where the last one ends; -1 when the sample looks otherwise.
func (p *parser) holes(a *alike, at int, now *sample, numbers *look) int {
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
			var l look
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

// rows is the body by its columns, where all samples of it are one run.
func (p *parser) rows() *rows.Table {
	r := &p.run
	if r.samples != p.body.Count || r.samples < fewSamples || r.n == mostHoles && r.shifts[0] != r.shifts[1] {
		return nil
	}
	number := rows.Value
	switch {
	case r.numbers&oddLook != 0 || r.numbers&wholes != 0 && r.numbers&decimals != 0:
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

// fewSamples are not worth a shape.
const fewSamples = 16
