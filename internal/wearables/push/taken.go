package push

import (
	"slices"

	"hale/internal/wearables"
)

// Taken is a field that a pushed summary may have. What it leaves out of the
// fields that reads give is the service's own, or follows from others.
type Taken struct {
	Name, Doc string
	*wearables.Shape
	Required bool // else it may be null
}

// midnight is the field that has the day once more, which calendar_date tells.
const midnight = "date"

// follows are fields of documents that nobody sets: a read has another value.
var follows = map[string][]string{"sleep": {"duration"}}

// TakenOf are the fields of a pushed summary of a document, and its source in
// either of the two forms that it may be written in.
func TakenOf(d *wearables.Document) []Taken {
	var all []Taken
	needed := neededOf(d)
	for _, f := range d.Fields {
		if _, ok := d.Settable(f.Name); !ok || f.Name == midnight || slices.Contains(follows[d.Name], f.Name) {
			continue
		}
		one := Taken{Name: f.Name, Doc: f.Doc, Shape: f.Shape(), Required: slices.Contains(needed, f.Name)}
		if f.Name == "sport" {
			one.Doc, one.Shape = "name and slug; id is deprecated, and found by the slug when absent", withoutID(one.Shape)
		}
		all = append(all, one)
	}
	if _, ok := d.Settable("timezone_offset"); !ok && d.Start != "" {
		all = append(all, Taken{
			Name: "timezone_offset", Doc: "seconds east of UTC; tells the day and is not read back",
			Shape: &wearables.Shape{Kind: wearables.Integer},
		})
	}
	return append(all, sources...)
}

// neededOf are the fields without which a summary of a document is refused.
func neededOf(d *wearables.Document) []string {
	switch {
	case !d.Dated:
		return nil
	case d.Name == "menstrual_cycle":
		return []string{"period_start"}
	case d.Start == "":
		return []string{"calendar_date"}
	case d.End == "":
		return []string{d.Start}
	}
	return []string{d.Start, d.End}
}

// withoutID is the shape of an object whose id may be missing.
func withoutID(s *wearables.Shape) *wearables.Shape {
	free := *s
	free.Members = slices.Clone(s.Members)
	for i := range free.Members {
		if m := &free.Members[i]; m.Name == "id" {
			m.Required, m.Null = false, true
		}
	}
	return &free
}

// sources are the fields that tell where a summary comes from.
var sources = func() []Taken {
	text := func() *wearables.Shape { return &wearables.Shape{Kind: wearables.Text} }
	id := &wearables.Shape{Kind: wearables.UUID}
	kind := &wearables.Shape{Kind: wearables.Text, Words: wearables.SourceTypes()}
	member := func(name string, s *wearables.Shape) wearables.Member {
		return wearables.Member{Name: name, Shape: s, Null: true}
	}
	return []Taken{
		{Name: "source_type", Doc: "Kind of device; unknown when absent.", Shape: kind},
		{Name: "source_app_id", Doc: "Also app_id or source_bundle.", Shape: text()},
		{Name: "source_device_id", Doc: "One of the user's devices. Also device_id.", Shape: id},
		{Name: "product_type", Doc: "Model, such as Watch7,1 or iPhone17,2; tells source_type where that is absent.", Shape: text()},
		{Name: "source", Doc: "The same in one object, as reads give it.", Shape: &wearables.Shape{
			Kind: wearables.Object, Members: []wearables.Member{member("type", kind), member("app_id", text()), member("device_id", id)},
		}},
	}
}()
