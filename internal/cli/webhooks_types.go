package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hale/internal/app"
)

func (s *shell) webhooksTypes() *cobra.Command {
	var language string
	c := &cobra.Command{
		Use: "types", Short: "print the types of events for a programming language",
		Long: `Print the types of all events for TypeScript or Python 3.11, from the section
"webhooks" of the OpenAPI document of this version. It needs no server.`,
		Example: examples("hale webhooks types --language typescript > hale-events.ts", "hale webhooks types --language python > hale_events.py"),
		Args:    wantArgs(),
		RunE: func(*cobra.Command, []string) error {
			write := map[string]func(*eventDocument) string{"typescript": typeScriptTypes, "python": pythonTypes}[language]
			if write == nil {
				return badUsagef("--language must be typescript or python")
			}
			doc, err := readEventDocument()
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(s.out, write(doc))
			return err
		},
	}
	c.Flags().StringVar(&language, "language", "typescript", "typescript or python")
	return c
}

// eventDocument is the part of the OpenAPI document that describes events.
type eventDocument struct {
	Components struct{ Schemas map[string]*eventSchema }
	Webhooks   map[string]struct {
		Post struct {
			Summary     string
			RequestBody struct {
				Content map[string]struct{ Schema eventSchema }
			}
		}
	}
}

// eventSchema is a JSON schema, with the keywords that payloads use.
type eventSchema struct {
	Ref                  string `json:"$ref"`
	Type                 schemaTypes
	Properties           map[string]*eventSchema
	Required             []string
	Items                *eventSchema
	AdditionalProperties json.RawMessage
}

// schemaTypes is the keyword type: one word, or a list.
type schemaTypes []string

func (t *schemaTypes) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '[' {
		return json.Unmarshal(text, (*[]string)(t))
	}
	*t = schemaTypes{""}
	return json.Unmarshal(text, &(*t)[0])
}

func readEventDocument() (*eventDocument, error) {
	text, err := app.OpenAPI()
	if err != nil {
		return nil, err
	}
	var doc eventDocument
	return &doc, json.Unmarshal(text, &doc)
}

// payload returns the name of the schema of an event's data.
func (d *eventDocument) payload(event string) string {
	schema := d.Webhooks[event].Post.RequestBody.Content["application/json"].Schema
	return schema.Properties["data"].name()
}

// payloads returns the names of all schemas of data.
func (d *eventDocument) payloads() []string {
	names := map[string]bool{}
	for event := range d.Webhooks {
		names[d.payload(event)] = true
	}
	return slices.Sorted(maps.Keys(names))
}

func (s *eventSchema) name() string { return s.Ref[strings.LastIndexByte(s.Ref, '/')+1:] }

// kind returns the type without null, "" for any.
func (s *eventSchema) kind() string {
	for _, t := range s.Type {
		if t != "null" {
			return t
		}
	}
	return ""
}

// mapValue returns the schema of the members of a map, nil for an object.
func (s *eventSchema) mapValue() *eventSchema {
	var value eventSchema
	if len(s.Properties) > 0 || len(s.AdditionalProperties) == 0 || s.AdditionalProperties[0] != '{' || json.Unmarshal(s.AdditionalProperties, &value) != nil {
		return nil
	}
	return &value
}

const typesHead = "Types of the events of Hale, printed by hale webhooks types. New versions may add\n%[1]s members and event types."

var identifier = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

// typeScriptName returns the name of a property, quoted unless it is an identifier.
func typeScriptName(name string) string {
	if identifier.MatchString(name) {
		return name
	}
	return strconv.Quote(name)
}

func typeScriptTypes(doc *eventDocument) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// "+typesHead+"\n", "//")
	for _, name := range doc.payloads() {
		fmt.Fprintf(&b, "\nexport type %s = %s;\n", name, typeScriptType(doc.Components.Schemas[name], ""))
	}
	b.WriteString("\n/** The data of each event type. */\nexport interface EventData {\n")
	for _, event := range slices.Sorted(maps.Keys(doc.Webhooks)) {
		fmt.Fprintf(&b, "  /** %s */\n  %q: %s;\n", doc.Webhooks[event].Post.Summary, event, doc.payload(event))
	}
	b.WriteString(`}

/** The body of a webhook, and the member event of the feed. */
export interface EventOf<T extends keyof EventData> {
  event_type: T;
  data: EventData[T];
  team_id: string;
  user_id: string | null;
  client_user_id: string | null;
}

/** Any event. A switch over event_type narrows data. */
export type HaleEvent = { [T in keyof EventData]: EventOf<T> }[keyof EventData];
`)
	return b.String()
}

func typeScriptType(s *eventSchema, indent string) string {
	text := "unknown"
	switch s.kind() {
	case "string", "number", "boolean":
		text = s.kind()
	case "array":
		text = "Array<" + typeScriptType(s.Items, indent) + ">"
	case "object":
		if value := s.mapValue(); value != nil {
			text = "Record<string, " + typeScriptType(value, indent) + ">"
			break
		}
		var b strings.Builder
		b.WriteString("{\n")
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			mark := "?"
			if slices.Contains(s.Required, name) {
				mark = ""
			}
			fmt.Fprintf(&b, "%s  %s%s: %s;\n", indent, typeScriptName(name), mark, typeScriptType(s.Properties[name], indent+"  "))
		}
		text = b.String() + indent + "}"
	}
	if slices.Contains(s.Type, "null") {
		text += " | null"
	}
	return text
}

func pythonTypes(doc *eventDocument) string {
	p := &pythonWriter{}
	fmt.Fprintf(&p.text, "# "+typesHead+"\nfrom typing import Any, Literal, NotRequired, TypedDict, Union\n", "#")
	for _, name := range doc.payloads() {
		if root := doc.Components.Schemas[name]; root.kind() == "object" {
			p.class(name, root)
		} else {
			text := p.typeOf(root, name+"Item")
			fmt.Fprintf(&p.text, "\n\n%s = %s\n", name, text)
		}
	}
	var all []string
	for _, event := range slices.Sorted(maps.Keys(doc.Webhooks)) {
		name := pythonName(event)
		all = append(all, name)
		fmt.Fprintf(&p.text, "\n\nclass %s(TypedDict):\n    # %s\n    event_type: Literal[%q]\n    data: %s\n    team_id: str\n    user_id: str | None\n    client_user_id: str | None\n",
			name, doc.Webhooks[event].Post.Summary, event, doc.payload(event))
	}
	fmt.Fprintf(&p.text, "\n\n# Any event. A comparison of event_type narrows data.\nHaleEvent = Union[\n    %s,\n]\n", strings.Join(all, ",\n    "))
	return p.text.String()
}

// pythonName returns the name of the class of an event.
func pythonName(event string) string {
	return "On" + pascalCase(event)
}

var wordStarts = regexp.MustCompile(`(?:^|[._])([a-z0-9])`)

func pascalCase(text string) string {
	return wordStarts.ReplaceAllStringFunc(text, func(s string) string { return strings.ToUpper(s[len(s)-1:]) })
}

// pythonWriter writes classes, those of members before the class with the members.
type pythonWriter struct{ text strings.Builder }

func (p *pythonWriter) class(name string, s *eventSchema) {
	var fields strings.Builder
	for _, member := range slices.Sorted(maps.Keys(s.Properties)) {
		text := p.typeOf(s.Properties[member], name+pascalCase(member))
		if !slices.Contains(s.Required, member) {
			text = "NotRequired[" + text + "]"
		}
		fmt.Fprintf(&fields, "    %q: %s,\n", member, text)
	}
	// The form of a call allows members such as class and from.
	fmt.Fprintf(&p.text, "\n\n%[1]s = TypedDict(%[1]q, {\n%[2]s})\n", name, fields.String())
}

// typeOf returns the type of a schema, and writes the classes of its objects.
func (p *pythonWriter) typeOf(s *eventSchema, name string) string {
	text := "Any"
	switch s.kind() {
	case "string":
		text = "str"
	case "number":
		text = "float"
	case "boolean":
		text = "bool"
	case "array":
		text = "list[" + p.typeOf(s.Items, name) + "]"
	case "object":
		if value := s.mapValue(); value != nil {
			text = "dict[str, " + p.typeOf(value, name) + "]"
			break
		}
		p.class(name, s)
		text = name
	}
	if slices.Contains(s.Type, "null") && text != "Any" {
		text += " | None"
	}
	return text
}
