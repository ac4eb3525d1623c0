package push

import (
	"cmp"
	"errors"
	"time"
	"unicode/utf8"

	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/rows"
	"hale/internal/wearables"
)

// MostSamples limits the samples of one body.
const MostSamples = 100_000

// Head holds the fields of a pushed body about the whole batch.
type Head struct {
	Stage      wearables.Stage
	Start, End time.Time // the range that the batch covers; zero when not stated
	TimeZone   string    // IANA name of the device; empty when not stated
	Provider   string
	Final      bool // the last chunk of this resource
	// Deleted are the provider's own ids of records that the phone reports as deleted.
	Deleted []string
}

// Range returns the range that the batch states to cover.
func (h *Head) Range() wearables.Range { return wearables.Range{Start: h.Start, End: h.End} }

// Body is a pushed batch of samples.
type Body struct {
	Head
	Groups []Group
	Count  int // number of samples
	// Rows is the whole body by columns, if all its samples have one form. It shares the
	// columns with Groups: use it before Batch.
	Rows *rows.Table

	Malformed []Reject // samples that are left out, because a field of them cannot be read
}

// First returns the time of the first sample, UTC microseconds; 0 without samples.
func (b *Body) First() int64 {
	if len(b.Groups) == 0 || len(b.Groups[0].Time) == 0 {
		return 0
	}
	return b.Groups[0].Time[0]
}

// Parse parses a pushed body of samples of a resource. Faults name the field.
func Parse(data []byte, r *wearables.Resource) (*Body, error) {
	body, malformed, err := ParsePart(data, r)
	if err == nil && malformed != nil && len(body.Groups) == 0 {
		return nil, malformed
	}
	return body, err
}

// ParsePart parses a body like Parse, and also accepts one whose samples are all
// malformed. malformed is the fault of the first malformed sample.
func ParsePart(data []byte, r *wearables.Resource) (body *Body, malformed, err error) {
	p := parser{scanner: scanner{b: data, index: -1}}
	p.setResource(r)
	if err := p.whole(p.member); err != nil {
		return nil, nil, err
	}
	body, err = p.finish()
	return body, p.fault, err
}

// whole parses a body that is one object.
func (s *scanner) whole(member func(key []byte) error) error {
	if !utf8.Valid(s.b) {
		return fault.New(fault.Invalid, "the body is not UTF-8").At("body").WithType("json_invalid")
	}
	if err := s.object(member); err != nil {
		return err
	}
	if s.peek() != 0 || s.pos < len(s.b) {
		return s.bad()
	}
	return nil
}

type parser struct {
	scanner
	body    Body
	seen    bool  // data is present
	fault   error // about the first malformed sample
	most    int   // maximum of samples in the list
	sample  sample
	extra   []wearables.Extra // further fields of samples
	words   [][]byte          // words of those fields in the current sample
	moments moments
	groups  groups
	form    form // form of the last sample
	run     run  // the samples of the form of the first one
}

// setResource sets the resource of the next samples.
func (p *parser) setResource(r *wearables.Resource) {
	p.extra, p.words = r.Extra, make([][]byte, len(r.Extra))
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
	p.field = "data"
	if null, err := p.null(); null || err != nil {
		return err
	}
	p.seen = true
	return p.samples(MostSamples, dataPath)
}

// dataPath locates the values of a body of one resource.
var dataPath = []string{"data"}

// samples reads a list of samples. It replaces samples of an earlier list.
func (p *parser) samples(most int, within []string) error {
	p.within, p.field = within, ""
	p.groups, p.body.Count, p.body.Malformed, p.run, p.most = groups{}, 0, nil, run{}, most
	err := p.list(func(int) error {
		i := p.body.Count // more() reads several
		if i == most {
			return fault.Newf(fault.TooLarge, "a batch has at most %d samples", MostSamples).At(append([]string{"body"}, within...)...)
		}
		p.index, p.field = i, ""
		p.body.Count++
		p.peek()
		from := p.pos
		if err := p.parseSample(i); err != nil {
			return p.leaveOut(err, from, &p.body.Malformed, &p.fault)
		}
		if r := p.more(); i == 0 {
			p.run = r
		}
		return nil
	})
	p.within, p.index, p.field = nil, -1, ""
	return err
}

// parseSample reads a sample.
func (p *parser) parseSample(index int) error {
	p.peek()
	p.sample, p.form = sample{offset: wearables.NoOffset}, form{from: p.pos}
	clear(p.words)
	if err := p.object(p.sampleMember); err != nil {
		return err
	}
	p.form.to = p.pos
	p.field = ""
	s := &p.sample
	if !s.hasTime {
		p.field = "timestamp"
		return p.wrong("missing", "Field required")
	}
	if !s.hasValue {
		p.field = "value"
		if s.hasValue2 {
			p.field = "systolic"
		}
		return p.wrong("missing", "Field required")
	}
	s.extra = wearables.ExtraText(p.words...)
	p.groups.find(&s.label).add(s, index)
	return nil
}

// leaveOut skips a malformed element of the list, which begins at a position: a field of
// it is invalid or missing. It counts the element, and keeps the first fault. It returns
// the error if the text is not JSON.
func (s *scanner) leaveOut(err error, from int, malformed *[]Reject, first *error) error {
	var one *fault.Error
	if !errors.As(err, &one) || one.Code() == invalidJSON {
		return err
	}
	*malformed, *first = reject(*malformed, s.reason(one), 1, s.index), cmp.Or(*first, err)
	s.pos = from
	if again := s.skip(0); again != nil {
		return err
	}
	return nil
}

// reason returns the reason for which the current element is left out, by its fault.
func (s *scanner) reason(one *fault.Error) string {
	if one.Code() == "missing" {
		return wearables.MissingField + s.field
	}
	return wearables.MalformedField + cmp.Or(s.field, "element")
}

// finish checks the head and applies the zone of the device.
func (p *parser) finish() (*Body, error) {
	if err := p.body.Head.check("data", p.seen); err != nil {
		return nil, err
	}
	z, err := p.body.zone()
	if err != nil {
		return nil, err
	}
	p.body.Groups = p.groups.finish(z)
	p.body.Rows = p.rows()
	return &p.body, nil
}

// zone returns the zone of the device; nil if it is not stated.
func (h *Head) zone() (*zone, error) {
	if h.TimeZone == "" {
		return nil, nil
	}
	loc, err := civil.Zone(h.TimeZone)
	return &zone{loc: loc}, err
}

// finish returns the groups, with assumed offsets of the device's zone if it is stated.
func (gs *groups) finish(z *zone) []Group {
	all := make([]Group, 0, len(gs.all))
	for _, g := range gs.all {
		if z != nil {
			g.place(z)
		}
		all = append(all, g.Group)
	}
	return all
}

// place sets the offset of samples that state none, by the device's zone. It is where the
// phone is now, so it is marked as assumed.
func (g *groupOf) place(z *zone) {
	if g.Offset == nil {
		g.Offset = make([]int32, len(g.Time))
		for i := range g.Offset {
			g.Offset[i] = wearables.NoOffset
		}
	}
	for i, offset := range g.Offset {
		if offset == wearables.NoOffset {
			g.Offset[i] = wearables.MarkAssumed(z.at(g.Time[i]))
		}
	}
}
