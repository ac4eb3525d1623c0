package push

import (
	"time"
	"unicode/utf8"

	"hale/internal/civil"
	"hale/internal/fault"
	"hale/internal/rows"
	"hale/internal/wearables"
)

// MostSamples is how many samples one body may have.
const MostSamples = 100_000

// Head is what a pushed body says about the batch as a whole.
type Head struct {
	Stage      wearables.Stage
	Start, End time.Time // the range that the batch covers; zero when not stated
	TimeZone   string    // IANA name of the device; empty when not stated
	Provider   string
	Final      bool // the last chunk of this resource
}

// Range is the stretch of time that the batch says it covers.
func (h *Head) Range() wearables.Range { return wearables.Range{Start: h.Start, End: h.End} }

// Body is a pushed batch of samples.
type Body struct {
	Head
	Groups []Group
	Count  int // samples in all
	// Rows is the whole body by its columns, where all its samples look alike.
	// It shares them with Groups: use it before Batch.
	Rows *rows.Text
}

// Parse reads a pushed body of samples. Faults name the field.
func Parse(data []byte) (*Body, error) {
	p := parser{scanner: scanner{b: data, index: -1}}
	if !utf8.Valid(data) {
		return nil, fault.New(fault.Invalid, "the body is not UTF-8").At("body").WithType("json_invalid")
	}
	if err := p.object(p.member); err != nil {
		return nil, err
	}
	if p.peek() != 0 || p.pos < len(data) {
		return nil, p.bad()
	}
	return p.finish()
}

type parser struct {
	scanner
	body    Body
	seen    bool // data was there
	sample  sample
	moments moments
	groups  groups
	alike   alike // how the last sample looks
	run     run   // the samples that look like the first one
}

// member reads one field of the body.
func (p *parser) member(key []byte) error {
	if string(key) != "data" {
		known, err := p.headMember(&p.body.Head, key)
		if err == nil && !known {
			err = p.skip(0)
		}
		return err
	}
	p.seen, p.field = true, "data"
	p.groups, p.body.Count, p.run = groups{}, 0, run{}
	err := p.list(func(int) error {
		i := p.body.Count // several may have been read since the last one
		if i == MostSamples {
			return fault.Newf(fault.TooLarge, "a batch has at most %d samples", MostSamples).At("body", "data")
		}
		p.index, p.field = i, ""
		p.body.Count++
		if err := p.one(i); err != nil {
			return err
		}
		if r := p.more(); i == 0 {
			p.run = r
		}
		return nil
	})
	p.index, p.field = -1, ""
	return err
}

// one reads a sample.
func (p *parser) one(index int) error {
	p.peek()
	p.sample, p.alike = sample{offset: wearables.NoOffset}, alike{from: p.pos}
	if err := p.object(p.sampleMember); err != nil {
		return err
	}
	p.alike.to = p.pos
	p.field = ""
	s := &p.sample
	if !s.hasTime {
		p.field = "timestamp"
		return p.wrong("missing", "Field required")
	}
	if !s.hasValue {
		p.field = "value"
		return p.wrong("missing", "Field required")
	}
	p.groups.find(&s.label).add(s, index)
	return nil
}

// finish checks the head and resolves what depends on it.
func (p *parser) finish() (*Body, error) {
	if err := p.body.Head.check(p.seen); err != nil {
		return nil, err
	}
	if p.body.TimeZone != "" {
		loc, err := civil.Zone(p.body.TimeZone)
		if err != nil {
			return nil, err
		}
		z := zone{loc: loc}
		for _, g := range p.groups.all {
			g.place(&z)
		}
	}
	for _, g := range p.groups.all {
		p.body.Groups = append(p.body.Groups, g.Group)
	}
	p.body.Rows = p.rows()
	return &p.body, nil
}

// place gives the samples that state no offset the one of the device's zone.
func (g *groupOf) place(z *zone) {
	if g.Offset == nil {
		g.Offset = make([]int32, len(g.Time))
		for i := range g.Offset {
			g.Offset[i] = wearables.NoOffset
		}
	}
	for i, offset := range g.Offset {
		if offset == wearables.NoOffset {
			g.Offset[i] = z.at(g.Time[i])
		}
	}
}
