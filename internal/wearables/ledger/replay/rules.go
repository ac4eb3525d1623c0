package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"

	"hale/internal/people/users"
	"hale/internal/wearables"
)

// rule determines which data of a payload counts if the ledger does not show which of two
// payloads has the last value. The stored value is the last one.
type rule int

const (
	// useMapped stores all data of the current mapping.
	useMapped rule = iota
	// preferStored stores the data of the current mapping, except values that are stored as
	// the scratch database has them. The stored ones are later.
	preferStored
	// useStored stores the stored values of the keys of the payload.
	useStored
)

// applyRule returns the part of a batch that counts.
func (r *recorder) applyRule(ctx context.Context, user users.User, b wearables.Batch) (wearables.Batch, error) {
	if r.rule == useMapped {
		return b, nil
	}
	stored := database{r.stored, user}
	there, err := stored.samples(ctx, &b)
	if err != nil {
		return b, err
	}
	left := b
	left.Samples, left.Summaries, left.Streams = nil, nil, nil
	var here map[place]sample
	if r.rule == preferStored {
		if here, err = (database{r.scratch, user}).samples(ctx, &b); err != nil {
			return b, err
		}
	}
	for i := range b.Samples {
		if some := r.leaveSamples(b.Provider, &b.Samples[i], there, here); some.Len() > 0 {
			left.Samples = append(left.Samples, some)
		}
	}
	for i := range b.Summaries {
		one, ok, err := r.applyRuleToSummary(ctx, stored, b.Provider, b.Summaries[i])
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
		now, mapped := here[at]
		switch {
		case r.rule == useStored && stored:
			was.appendTo(&left, t)
		case r.rule == preferStored && !(stored && mapped && now.equals(was)):
			sampleOf(s, i).appendTo(&left, t)
		}
	}
	return left
}

// applyRuleToSummary applies the rule to each field of a summary, and returns the summary
// with the fields that count. ok is false if nothing remains.
func (r *recorder) applyRuleToSummary(ctx context.Context, stored database, provider string, s wearables.Summary) (left wearables.Summary, ok bool, err error) {
	id, _ := identify(stored.user, provider, &s)
	there, err := stored.summary(ctx, id, s.Resource)
	if err != nil {
		return s, false, err
	}
	stated, err := parse(s.Body)
	if err != nil {
		return s, false, err
	}
	d, _ := wearables.DocumentNamed(s.Resource)
	if d == nil {
		return s, true, nil // ingest refuses it
	}
	if r.rule == useStored {
		if there == nil {
			return s, false, nil
		}
		stated[d.Start], stated[d.End] = true, true
		stated = chooseValues(stated, shapesOf(d), func(_, stored, _ any) any { return stored }, there.fields, nil)
		s.Source, s.Measured = there.Source, there.Measured
		if day := there.StatedDay(); !day.IsZero() {
			s.Date = day
		}
		s.Body, err = json.Marshal(stated)
		return s, true, err
	}
	here, err := (database{r.scratch, stored.user}).summary(ctx, id, s.Resource)
	if err != nil || there == nil || here == nil {
		return s, true, err
	}
	computed := wearables.ComputedFields(stated)
	stated = chooseValues(stated, shapesOf(d), valueUnlessStored, there.fields, here.fields)
	if len(stated) > 0 {
		wearables.SetComputed(stated, computed)
	}
	if here.Source.Same(there.Source) {
		s.Source = here.Source
	}
	s.Body, err = json.Marshal(stated)
	return s, len(stated) > 0 || !here.Source.Same(there.Source), err
}

// valueUnlessStored returns v, unless another value is stored that equals the one in
// read.
func valueUnlessStored(v, stored, read any) any {
	if stored != nil && reflect.DeepEqual(stored, read) {
		return nil
	}
	return v
}

// shapesOf returns a function for the shapes of a document's fields.
func shapesOf(d *wearables.Document) func(name string) *wearables.Shape {
	return func(name string) *wearables.Shape {
		if f, ok := d.Settable(name); ok {
			return f.Shape()
		}
		return nil
	}
}

// chooseValues calls choose with each value of a document and the values of two others at
// the same place. It compares the members of an object one by one. It keeps the results that
// are not nil.
func chooseValues(fields map[string]any, shapeOf func(name string) *wearables.Shape, choose func(v, stored, read any) any, stored, read map[string]any) map[string]any {
	left := map[string]any{}
	for name, v := range fields {
		members, object := v.(map[string]any)
		if s := shapeOf(name); object && s != nil && len(s.Members) > 0 {
			inStored, _ := stored[name].(map[string]any)
			inRead, _ := read[name].(map[string]any)
			if some := chooseValues(members, membersOf(s), choose, inStored, inRead); len(some) > 0 {
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
