package push

import (
	"slices"

	"github.com/google/uuid"

	"hale/internal/wearables"
)

// Series is a pushed batch of samples of several resources.
type Series struct {
	Head
	Parts []Part // by resource, in the order in which they were sent
	Count int    // number of samples
}

// First returns the time of the first sample, UTC microseconds; 0 without samples.
func (s *Series) First() int64 {
	if len(s.Parts) == 0 {
		return 0
	}
	return s.Parts[0].First()
}

// Part holds the samples of one resource.
type Part struct {
	Body
	Resource *wearables.Resource

	unfit []Reject // found before storing
	first int      // index of its first group in the batch
}

// ParseSeries parses a pushed body with lists of samples by resource. A sample is as in a
// body of one resource. A sample without a source has the source of the body.
func ParseSeries(data []byte) (*Series, error) {
	s, malformed, err := parseSeries(data)
	if err == nil && malformed != nil && s.empty() {
		return nil, malformed
	}
	return s, err
}

// parseSeries parses a body like ParseSeries, and also accepts one whose samples are all
// malformed. malformed is the fault of the first malformed sample.
func parseSeries(data []byte) (s *Series, malformed, err error) {
	p := seriesParser{parser: parser{scanner: scanner{b: data, index: -1}}}
	if err := p.whole(p.member); err != nil {
		return nil, nil, err
	}
	s, err = p.finish()
	return s, p.fault, err
}

// empty reports whether there is no sample to store.
func (s *Series) empty() bool {
	return !slices.ContainsFunc(s.Parts, func(p Part) bool { return len(p.Groups) > 0 })
}

type seriesParser struct {
	parser
	source label // of samples that do not state theirs
	lists  []listOf
	count  int
}

// listOf is one list that was read.
type listOf struct {
	resource  *wearables.Resource
	groups    groups
	malformed []Reject
	count     int
}

func (p *seriesParser) member(key []byte) error {
	switch string(key) {
	case "series":
		p.field = "series"
		if null, err := p.null(); null || err != nil {
			return err
		}
		p.seen, p.lists, p.count, p.field = true, nil, 0, ""
		p.within = []string{"series"}
		err := p.object(p.resource)
		p.within = nil
		return err
	case "source":
		p.sample = sample{}
		err := p.parser.source()
		p.source, p.field = p.sample.label, ""
		return err
	}
	known, err := p.headMember(&p.body.Head, key)
	if err == nil && !known {
		err = p.skip(0)
	}
	return err
}

// resource reads the list of one resource.
func (p *seriesParser) resource(key []byte) error {
	name := string(key)
	p.field = name
	r, ok := wearables.ResourceNamed(name)
	if !ok || !r.Push {
		return p.wrong("value_error", "Value error, this resource cannot be pushed")
	}
	if slices.ContainsFunc(p.lists, func(l listOf) bool { return l.resource == r }) {
		return p.wrong("value_error", "Value error, this resource occurs twice")
	}
	p.setResource(r)
	if err := p.samples(MostSamples-p.count, []string{"series", name}); err != nil {
		return err
	}
	p.within = []string{"series"}
	p.lists = append(p.lists, listOf{r, p.groups, p.body.Malformed, p.body.Count})
	p.count += p.body.Count
	return nil
}

// finish checks the head and applies the body's source and the device's zone.
func (p *seriesParser) finish() (*Series, error) {
	if err := p.body.Head.check("series", p.seen); err != nil {
		return nil, err
	}
	z, err := p.body.zone()
	if err != nil {
		return nil, err
	}
	s := &Series{Head: p.body.Head, Count: p.count, Parts: make([]Part, len(p.lists))}
	for i := range p.lists {
		l := &p.lists[i]
		for _, g := range l.groups.all {
			g.setSource(&p.source)
		}
		s.Parts[i] = Part{Resource: l.resource, Body: Body{Head: s.Head, Groups: l.groups.finish(z), Count: l.count, Malformed: l.malformed}}
	}
	return s, nil
}

// setSource fills in the fields of the source that the samples of a group leave out.
func (g *groupOf) setSource(source *label) {
	if g.sourceType == "" && g.product == "" && len(source.sourceType) > 0 {
		g.Source.Type = string(source.sourceType)
	}
	if g.Source.AppID == "" {
		g.Source.AppID = string(source.app)
	}
	if g.Source.Sport == "" {
		g.Source.Sport = string(source.sport)
	}
	if g.Source.DeviceID == nil && source.device != uuid.Nil {
		g.Source.DeviceID = &source.device
	}
	if g.Source.WorkoutID == nil && source.workout != uuid.Nil {
		g.Source.WorkoutID = &source.workout
	}
}

// Batch returns one batch of all series, in canonical units.
func (s *Series) Batch() wearables.Batch {
	batch := wearables.Batch{Provider: s.Provider, Stage: s.Stage}
	for i := range s.Parts {
		p := &s.Parts[i]
		some, unfit := p.Body.Batch(p.Resource)
		p.unfit, p.first = unfit, len(batch.Samples)
		batch.Samples = append(batch.Samples, some.Samples...)
	}
	return batch
}

// Rejects returns the samples of one series that Batch or storing rejected, by their
// index in the list that was sent.
func (p *Part) Rejects(stored wearables.Result) []Reject {
	var own wearables.Result
	for _, r := range stored.Rejections {
		if r.Resource == p.Resource.Name {
			r.Part -= p.first
			own.Rejections = append(own.Rejections, r)
		}
	}
	return p.Body.Rejects(p.unfit, own)
}
