package platform

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"hale/internal/api"
	"hale/internal/platform/events"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/resources"
)

// DescribeEvents adds the webhooks of the event types to the OpenAPI document. The
// schema of a payload is that of its examples.
func DescribeEvents(doc *huma.OpenAPI, types []events.Type) {
	samples := map[string][]any{}
	for _, t := range types {
		name := payloadName(t.Name)
		samples[name] = append(samples[name], examplesOf(t)...)
	}
	for name, values := range samples {
		doc.Components.Schemas.Map()[name] = schemaOfSamples("", values)
	}
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = t.Name
	}
	doc.Components.Schemas.Map()[api.EventTypeSchema] = api.Enum(names)
	doc.Webhooks = map[string]*huma.PathItem{}
	for _, t := range types {
		doc.Webhooks[t.Name] = &huma.PathItem{Post: &huma.Operation{
			OperationID: "receive" + pascalCase(t.Name), Summary: t.Sentence,
			Security:    []map[string][]string{}, // the receiver checks the signature
			RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: envelopeSchema(t.Name)}}},
			Responses:   map[string]*huma.Response{"2XX": {Description: "Received. Any other status is tried again."}},
		}}
	}
}

// examplesOf returns the payloads that show the members of an event type.
func examplesOf(t events.Type) (all []any) {
	for _, example := range []func(uuid.UUID) json.RawMessage{t.Example, t.Sparse} {
		if example == nil {
			continue
		}
		var value any
		if err := json.Unmarshal(example(uuid.Nil), &value); err != nil {
			panic("platform: the example of " + t.Name + ": " + err.Error()) // TestEventSchemas
		}
		all = append(all, value)
	}
	return all
}

// eventTypeRef refers to the schema that lists the event types.
var eventTypeRef = api.Keywords{"$ref": api.SchemaPrefix + api.EventTypeSchema}

// payloadName returns the name of the schema that payloads of an event type have.
// Deletions and histories of all resources have one schema each.
func payloadName(event string) string {
	if _, ok := resources.NameInHistoricalEvent(event); ok {
		return "HistoricalDataEvent"
	}
	if name, ok := resources.NameInDailyEvent(event); ok && event == resources.DailyEvent(name, resources.Deleted) {
		return "DataDeletedEvent"
	}
	for _, suffix := range []string{".created", ".updated", ".restored"} {
		event = strings.TrimSuffix(event, suffix)
	}
	if event == connections.DeletedEvent {
		event = strings.TrimSuffix(event, ".deleted")
	}
	return pascalCase(event) + "Event"
}

func pascalCase(words string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(words, func(r rune) bool { return r == '.' || r == '_' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

func envelopeSchema(event string) *huma.Schema {
	id := func(nullable bool) *huma.Schema {
		return &huma.Schema{Type: huma.TypeString, Format: "uuid", Nullable: nullable}
	}
	s := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Properties: map[string]*huma.Schema{
		"event_type": {Type: huma.TypeString, Enum: []any{event}},
		"data":       {Ref: api.SchemaPrefix + payloadName(event)},
		"team_id":    id(false), "user_id": id(true), "client_user_id": {Type: huma.TypeString, Nullable: true},
	}}
	s.Required = slices.Sorted(maps.Keys(s.Properties))
	return s
}

// promisedMembers are in every payload whose examples have them, and null only if an
// example is. All others may be absent or null.
var promisedMembers = []string{
	"user_id", "id", "source", "data", "timestamp", "provider", "slug", "type", "status", "created_at", "updated_at", "events", "order_id", "lab_test",
}

// textMembers are texts although the examples of their payloads have none.
var textMembers = []string{"app_id", "device_id", "sport", "type", "workout_id"}

// mapMembers are objects whose members have names that are data.
var mapMembers = []string{"resource_availability"}

// schemaOfSamples returns a schema that all samples of a member have.
func schemaOfSamples(member string, samples []any) *huma.Schema {
	s := &huma.Schema{}
	values := slices.DeleteFunc(slices.Clone(samples), func(v any) bool { return v == nil })
	s.Nullable = len(values) < len(samples)
	switch {
	case len(values) == 0 && slices.Contains(textMembers, member):
		return &huma.Schema{Type: huma.TypeString, Nullable: true}
	case len(values) == 0:
		return &huma.Schema{} // anything
	}
	switch values[0].(type) {
	case string:
		s.Type = huma.TypeString
	case bool:
		s.Type = huma.TypeBoolean
	case float64:
		s.Type = huma.TypeNumber
	case []any:
		s.Type = huma.TypeArray
		var items []any
		for _, v := range values {
			list, _ := v.([]any)
			items = append(items, list...)
		}
		s.Items = schemaOfSamples(member, items)
	case map[string]any:
		s.Type = huma.TypeObject
		describeMembers(s, member, values)
	}
	return s
}

// describeMembers adds the members of objects to their schema.
func describeMembers(s *huma.Schema, member string, objects []any) {
	members := map[string][]any{}
	for _, v := range objects {
		object, _ := v.(map[string]any)
		for name, value := range object {
			members[name] = append(members[name], value)
		}
	}
	if _, isTable := members["group_key"]; isTable { // the columns of a query, of any type
		s.AdditionalProperties = &huma.Schema{}
		return
	}
	if slices.Contains(mapMembers, member) {
		var all []any
		for _, values := range members {
			all = append(all, values...)
		}
		s.AdditionalProperties = schemaOfSamples("", all)
		return
	}
	s.AdditionalProperties, s.Properties = true, map[string]*huma.Schema{}
	for name, values := range members {
		one := schemaOfSamples(name, values)
		if len(values) == len(objects) && one.Type != "" && slices.Contains(promisedMembers, name) {
			s.Required = append(s.Required, name)
		} else if one.Type != "" {
			one.Nullable = true
		}
		s.Properties[name] = one
	}
	slices.Sort(s.Required)
}

// describeEvents describes the webhooks of the types that the database may emit.
func (h *Handlers) describeEvents() {
	if h.EventTypes != nil {
		DescribeEvents(h.OpenAPI(), h.EventTypes.Types())
	}
}
