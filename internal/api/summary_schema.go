package api

import (
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/wearables"
)

// Names of the documents as types, so that each has its own schema.
type (
	activityDoc          struct{}
	bodyDoc              struct{}
	profileDoc           struct{}
	sleepDoc             struct{}
	sleepCycleDoc        struct{}
	workoutsDoc          struct{}
	mealDoc              struct{}
	menstrualCycleDoc    struct{}
	electrocardiogramDoc struct{}
)

type documentName interface{ name() string }

func (activityDoc) name() string          { return "activity" }
func (bodyDoc) name() string              { return "body" }
func (profileDoc) name() string           { return "profile" }
func (sleepDoc) name() string             { return "sleep" }
func (sleepCycleDoc) name() string        { return "sleep_cycle" }
func (workoutsDoc) name() string          { return "workouts" }
func (mealDoc) name() string              { return "meal" }
func (menstrualCycleDoc) name() string    { return "menstrual_cycle" }
func (electrocardiogramDoc) name() string { return "electrocardiogram" }

func documentOf[D documentName]() *wearables.Document {
	var d D
	document, _ := wearables.DocumentNamed(d.name())
	return document
}

// summaryOf is one summary on the wire.
type summaryOf[D documentName] struct{}

// Schema is made of the document's table of fields.
func (summaryOf[D]) Schema(r huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}}
	for _, f := range documentOf[D]().Fields {
		s.Properties[f.Name] = fieldSchema(r, f)
		s.Required = append(s.Required, f.Name)
	}
	s.PrecomputeMessages()
	return s
}

// always are the fields that are never null.
var always = []string{
	"id", "user_id", "source", "created_at", "updated_at", "calendar_date", "date", "source_provider", "source_type",
	"bedtime_start", "bedtime_stop", "session_start", "session_end", "time_start", "time_end", "timestamp", "period_start", "sleep_id",
}

func fieldSchema(r huma.Registry, f wearables.Field) *huma.Schema {
	if f.Name == "source" {
		return r.Schema(reflect.TypeFor[sourceBody](), true, "")
	}
	s := shapeSchema(f.Shape())
	if f.Name == "sleep_stream" { // which nothing fills
		s = &huma.Schema{Type: "null"}
	}
	s.Description, s.Deprecated = f.Doc, strings.HasPrefix(f.Doc, "Deprecated")
	if f.Name == "wheelchair_use" {
		s.Enum = []any{true}
	}
	if f.Default == "" && !slices.Contains(always, f.Name) && s.Type != "null" {
		maybeNull(s)
	}
	return s
}

// formats are the kinds that are texts of a format, which has the kind's name.
var formats = []wearables.Kind{wearables.Moment, wearables.Day, wearables.UUID}

// shapeSchema describes what is inside a field.
func shapeSchema(shape *wearables.Shape) *huma.Schema {
	s := &huma.Schema{Type: string(shape.Kind)}
	if slices.Contains(formats, shape.Kind) {
		s.Type, s.Format = huma.TypeString, string(shape.Kind)
	}
	for _, word := range shape.Words {
		s.Enum = append(s.Enum, word)
	}
	for _, number := range shape.Numbers {
		s.Enum = append(s.Enum, number)
	}
	switch {
	case shape.Each != nil && shape.Kind == wearables.List:
		s.Items = shapeSchema(shape.Each)
	case shape.Each != nil:
		s.AdditionalProperties = shapeSchema(shape.Each)
	case len(shape.Members) > 0:
		s.Properties = map[string]*huma.Schema{}
	}
	for _, m := range shape.Members {
		s.Properties[m.Name] = shapeSchema(m.Shape)
		if m.Required {
			s.Required = append(s.Required, m.Name)
		}
		if m.Null {
			maybeNull(s.Properties[m.Name])
		}
	}
	s.PrecomputeMessages()
	return s
}

// maybeNull lets null be a value too.
func maybeNull(s *huma.Schema) {
	s.Nullable = true
	if len(s.Enum) > 0 {
		s.Enum = append(s.Enum, nil)
	}
	s.PrecomputeMessages()
}

// summariesOf is a read of summaries: one list under the document's key.
type summariesOf[D documentName] struct{}

// Schema has the one list.
func (summariesOf[D]) Schema(r huma.Registry) *huma.Schema {
	key := documentOf[D]().Key
	s := &huma.Schema{
		Type: huma.TypeObject, Required: []string{key},
		Properties: map[string]*huma.Schema{key: {Type: huma.TypeArray, Items: summaryOf[D]{}.Schema(r)}},
	}
	s.PrecomputeMessages()
	return s
}
