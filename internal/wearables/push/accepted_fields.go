package push

import (
	"slices"

	"hale/internal/wearables"
)

// AcceptedField is a field of a pushed summary. Other fields of a read come from the
// service, or follow from others.
type AcceptedField struct {
	Name, Doc string
	*wearables.Shape
	Required bool // if not, it may be null
}

// deprecatedDate is the field that repeats calendar_date.
const deprecatedDate = "date"

// derivedFields lists fields of documents that cannot be set, because reads derive them.
var derivedFields = map[string][]string{"sleep": {"duration"}}

// AcceptedFields returns the fields of a pushed summary of a document, and its source in
// both of its forms.
func AcceptedFields(d *wearables.Document) []AcceptedField {
	var all []AcceptedField
	needed := requiredFields(d)
	for _, f := range d.Fields {
		if _, ok := d.Settable(f.Name); !ok || f.Name == deprecatedDate || slices.Contains(derivedFields[d.Name], f.Name) {
			continue
		}
		one := AcceptedField{Name: f.Name, Doc: f.Doc, Shape: f.Shape(), Required: slices.Contains(needed, f.Name)}
		if f.Name == "sport" {
			one.Doc, one.Shape = "name and slug; id is deprecated, and found by the slug when absent", withoutID(one.Shape)
		}
		all = append(all, one)
	}
	if _, ok := d.Settable("timezone_offset"); !ok && d.Start != "" {
		all = append(all, AcceptedField{
			Name: "timezone_offset", Doc: "seconds east of UTC; determines the day and is not stored",
			Shape: &wearables.Shape{Kind: wearables.Integer},
		})
	}
	return append(all, sourceFields...)
}

// requiredFields returns the fields without which a summary of a document is refused.
func requiredFields(d *wearables.Document) []string {
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

// withoutID returns the shape of an object whose id may be absent.
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

// sourceFields lists the fields about the source of a summary.
var sourceFields = func() []AcceptedField {
	text := func() *wearables.Shape { return &wearables.Shape{Kind: wearables.Text} }
	id := &wearables.Shape{Kind: wearables.UUID}
	kind := &wearables.Shape{Kind: wearables.Text, Words: wearables.SourceTypes()}
	member := func(name string, s *wearables.Shape) wearables.Member {
		return wearables.Member{Name: name, Shape: s, Null: true}
	}
	return []AcceptedField{
		{Name: "source_type", Doc: "Kind of device. The default is unknown.", Shape: kind},
		{Name: "source_app_id", Doc: "Id of the app. app_id and source_bundle are other names.", Shape: text()},
		{Name: "source_device_id", Doc: "One of the user's devices. device_id is another name.", Shape: id},
		{Name: "product_type", Doc: "Model, such as Watch7,1 or iPhone17,2. It determines source_type if that is absent.", Shape: text()},
		{Name: "source", Doc: "Source in one object, as in reads.", Shape: &wearables.Shape{
			Kind: wearables.Object, Members: []wearables.Member{member("type", kind), member("app_id", text()), member("device_id", id)},
		}},
	}
}()
