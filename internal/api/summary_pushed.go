package api

import (
	"maps"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/wearables/push"
)

// pushedSummaries is what a phone sends.
type pushedSummaries[D documentName] struct{}

// Schema is the head of a push with a list of summaries.
func (pushedSummaries[D]) Schema(r huma.Registry) *huma.Schema {
	head := r.SchemaFromRef(r.Schema(reflect.TypeFor[PushHead](), true, "").Ref)
	s := &huma.Schema{Type: huma.TypeObject, Required: append(slices.Clone(head.Required), "data"), Properties: maps.Clone(head.Properties)}
	most := push.MostSummaries
	s.Properties["data"] = &huma.Schema{
		Type: huma.TypeArray, Items: pushedSummary[D](), MaxItems: &most,
		Description: "Fields may be in snake_case or camelCase; others are skipped, and null is the same as absent.",
	}
	s.PrecomputeMessages()
	return s
}

// pushedSummary is made of the table of what a push takes.
func pushedSummary[D documentName]() *huma.Schema {
	d := documentOf[D]()
	s := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}}
	for _, f := range push.TakenOf(d) {
		one := shapeSchema(f.Shape)
		if one.Description = f.Doc; f.Required {
			s.Required = append(s.Required, f.Name)
		} else {
			maybeNull(one)
		}
		s.Properties[f.Name] = one
	}
	s.PrecomputeMessages()
	return s
}
