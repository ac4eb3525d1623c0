package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"

	"hale/internal/people/users"
	"hale/internal/wearables"
)

// rule says what counts of a payload where the ledger does not tell which of two
// payloads spoke last of a value. The store does: it has the value of the last.
type rule int

const (
	// asRead is all that today's mapping makes of it.
	asRead rule = iota
	// unlessStored is what today's mapping makes of it, but for the values that
	// stand in the scratch database as they are stored: those were told later.
	unlessStored
	// asStored is what is stored in the places that it tells of.
	asStored
)

// leave leaves of a batch what its rule says.
func (r *recorder) leave(ctx context.Context, user users.User, b wearables.Batch) (wearables.Batch, error) {
	if r.rule == asRead {
		return b, nil
	}
	stored := shelf{r.stored, user}
	there, err := stored.samples(ctx, &b)
	if err != nil {
		return b, err
	}
	left := b
	left.Samples, left.Summaries, left.Streams = nil, nil, nil
	var here map[place]sample
	if r.rule == unlessStored {
		if here, err = (shelf{r.sink.DB, user}).samples(ctx, &b); err != nil {
			return b, err
		}
	}
	for i := range b.Samples {
		if some := r.leaveSamples(b.Provider, &b.Samples[i], there, here); some.Len() > 0 {
			left.Samples = append(left.Samples, some)
		}
	}
	for i := range b.Summaries {
		one, ok, err := r.leaveSummary(ctx, stored, b.Provider, b.Summaries[i])
		if err != nil {
			return b, err
		}
		if ok {
			left.Summaries = append(left.Summaries, one)
		}
	}
	if left.Streams, err = stored.streams(ctx, &b); err != nil {
		return b, err
	}
	return left, nil
}

func (r *recorder) leaveSamples(provider string, s *wearables.Samples, there, here map[place]sample) wearables.Samples {
	left := wearables.Samples{Resource: s.Resource, Type: s.Type, Extra: s.Extra, Source: s.Source}
	at := placeOf(provider, s)
	for i, t := range s.Time {
		at.time = t
		was, stored := there[at]
		now, stands := here[at]
		switch {
		case r.rule == asStored && stored:
			was.appendTo(&left, t)
		case r.rule == unlessStored && !(stored && stands && now.says(was)):
			sampleOf(s, i).appendTo(&left, t)
		}
	}
	return left
}

// leaveSummary is leave for a summary, field by field; ok is false when nothing
// of it is left.
func (r *recorder) leaveSummary(ctx context.Context, stored shelf, provider string, s wearables.Summary) (left wearables.Summary, ok bool, err error) {
	id, _ := identify(stored.user, provider, &s)
	there, err := stored.summary(ctx, id, s.Resource)
	if err != nil {
		return s, false, err
	}
	told, err := parse(s.Body)
	if err != nil {
		return s, false, err
	}
	d, _ := wearables.DocumentNamed(s.Resource)
	if d == nil {
		return s, true, nil // for the store to refuse
	}
	if r.rule == asStored {
		if there == nil {
			return s, false, nil
		}
		told[d.Start], told[d.End] = true, true
		told = pick(told, shapesOf(d), func(_, stored, _ any) any { return stored }, there.fields, nil)
		s.Source, s.Measured = there.Source, there.Measured
		if day := there.StatedDay(); !day.IsZero() {
			s.Date = day
		}
		s.Body, err = json.Marshal(told)
		return s, true, err
	}
	here, err := (shelf{r.sink.DB, stored.user}).summary(ctx, id, s.Resource)
	if err != nil || there == nil || here == nil {
		return s, true, err
	}
	told = pick(told, shapesOf(d), later, there.fields, here.fields)
	if here.Source.Same(there.Source) {
		s.Source = here.Source
	}
	s.Body, err = json.Marshal(told)
	return s, len(told) > 0 || !here.Source.Same(there.Source), err
}

// later is a value that was told, unless another is stored and was read again as
// it is.
func later(v, stored, read any) any {
	if stored != nil && reflect.DeepEqual(stored, read) {
		return nil
	}
	return v
}

// shapesOf finds the shape of a document's fields.
func shapesOf(d *wearables.Document) func(name string) *wearables.Shape {
	return func(name string) *wearables.Shape {
		if f, ok := d.Settable(name); ok {
			return f.Shape()
		}
		return nil
	}
}

// pick walks over what a document tells, members of objects one by one, and
// keeps what choose gives for each value beside those of two others; nil is left
// out.
func pick(told map[string]any, shapeOf func(name string) *wearables.Shape, choose func(v, stored, read any) any, stored, read map[string]any) map[string]any {
	left := map[string]any{}
	for name, v := range told {
		members, object := v.(map[string]any)
		if s := shapeOf(name); object && s != nil && len(s.Members) > 0 {
			inStored, _ := stored[name].(map[string]any)
			inRead, _ := read[name].(map[string]any)
			if some := pick(members, membersOf(s), choose, inStored, inRead); len(some) > 0 {
				left[name] = some
			}
			continue
		}
		if v != nil {
			v = choose(v, stored[name], read[name])
		}
		if v != nil {
			left[name] = v
		}
	}
	return left
}

func membersOf(s *wearables.Shape) func(name string) *wearables.Shape {
	return func(name string) *wearables.Shape {
		for _, m := range s.Members {
			if m.Name == name {
				return m.Shape
			}
		}
		return nil
	}
}

func parse(body []byte) (fields map[string]any, err error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	return fields, d.Decode(&fields)
}
