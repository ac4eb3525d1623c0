package api

import (
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/people/users/person"
)

// Keywords holds keywords of JSON Schema that only the OpenAPI document has. The
// domain applies the rule and has its own message for it.
type Keywords map[string]any

// State adds keywords to the properties of an object's schema. The name "" adds them
// to the object itself, and a name with [] to the items of a list.
func State(object *huma.Schema, rules map[string]Keywords) *huma.Schema {
	for name, stated := range rules {
		switch list, isList := strings.CutSuffix(name, "[]"); {
		case name == "":
			object = stated.addTo(object)
		case isList:
			of := *object.Properties[list]
			of.Items = stated.addTo(of.Items)
			object.Properties[list] = &of
		default:
			object.Properties[name] = stated.addTo(object.Properties[name])
		}
	}
	return object
}

// addTo returns a copy of a schema with the keywords.
func (s Keywords) addTo(schema *huma.Schema) *huma.Schema {
	copied := *schema
	copied.Extensions = maps.Clone(schema.Extensions)
	if copied.Extensions == nil {
		copied.Extensions = map[string]any{}
	}
	maps.Copy(copied.Extensions, s)
	return &copied
}

// StatePatterns states that a text matches all patterns.
func StatePatterns(patterns ...string) Keywords {
	s := Keywords{"pattern": patterns[0]}
	if len(patterns) > 1 {
		var more []*huma.Schema
		for _, p := range patterns[1:] {
			more = append(more, &huma.Schema{Pattern: p})
		}
		s["allOf"] = more
	}
	return s
}

// StateText states the length of a required text without the spaces around it.
func StateText(limit int) Keywords {
	return StatePatterns(person.TextPattern(limit)).withMaxLength(limit)
}

// StateOptional states the length of a text that may be empty.
func StateOptional(limit int) Keywords {
	return StatePatterns(person.OptionalPattern(limit)).withMaxLength(limit)
}

// withMaxLength states a length that a pattern cannot state. It counts spaces around the
// text, which the rule ignores.
func (s Keywords) withMaxLength(limit int) Keywords {
	if limit > person.MaxLengthInPattern {
		s["maxLength"] = limit
	}
	return s
}

// StateName states the form of a person's name.
func StateName() Keywords { return StatePatterns(person.NamePatterns...) }

// StateEmail states the form of an e-mail address.
func StateEmail() Keywords {
	s := StatePatterns(person.EmailPatterns...)
	s["format"] = "email"
	return s
}

// StatePhone states the form of a telephone number.
func StatePhone() Keywords { return StatePatterns(person.PhonePatterns...) }

// OrEmpty states that a text may also be empty.
func (s Keywords) OrEmpty() Keywords {
	return Keywords{"anyOf": []*huma.Schema{{Pattern: `^\s*$`}, {Extensions: s}}}
}

// StateWords states that a text is one of the words. Spaces around it are allowed, and
// foldCase allows any case.
func StateWords[T ~string](words []T, foldCase bool) Keywords {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = string(w)
	}
	return Keywords{"anyOf": []*huma.Schema{{Enum: valuesOf(texts)}, {Pattern: person.WordsPattern(texts, foldCase)}}}
}

// StateWordsOrEmpty states that a text is one of the words or empty. Spaces around it are
// allowed.
func StateWordsOrEmpty(words []string) Keywords {
	return Keywords{"anyOf": []*huma.Schema{{Enum: valuesOf(words)}, {Pattern: person.WordsPattern(append(slices.Clip(words), ""), false)}}}
}

func valuesOf(words []string) []any {
	all := make([]any, len(words))
	for i, w := range words {
		all[i] = w
	}
	return all
}

// StateEnum states that a text is one of the words, exactly as they are.
func StateEnum[T ~string](words []T) Keywords {
	var all []any
	for _, w := range words {
		all = append(all, string(w))
	}
	return Keywords{"enum": all}
}

// OrNull adds null to an enum.
func (s Keywords) OrNull() Keywords {
	all, _ := s["enum"].([]any)
	return Keywords{"enum": append(slices.Clip(all), nil)}
}

// Text returns a schema of a text with the keywords.
func (s Keywords) Text() *huma.Schema { return &huma.Schema{Type: huma.TypeString, Extensions: s} }

// Object returns a schema of an object that states some of its properties. Required
// properties are present and not null.
func Object(required []string, properties map[string]*huma.Schema) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, Required: required, Properties: properties}
}

// Has returns a schema of an object with a property of a type, which is not null. It
// leaves out the type of objects and lists: generators make an empty type of it.
func Has(property, kind string) *huma.Schema {
	value := &huma.Schema{Type: kind}
	if kind == huma.TypeObject || kind == huma.TypeArray {
		value = &huma.Schema{Not: &huma.Schema{Type: "null"}}
	}
	return Object([]string{property}, map[string]*huma.Schema{property: value})
}

// HasList returns a schema of an object with a list that is not empty.
func HasList(property string) *huma.Schema {
	least := 1
	return Object([]string{property}, map[string]*huma.Schema{property: {Type: huma.TypeArray, Items: &huma.Schema{}, MinItems: &least}})
}

// HasText returns a schema of an object with a text that is not empty.
func HasText(property string) *huma.Schema {
	least := 1
	return Object([]string{property}, map[string]*huma.Schema{property: {Type: huma.TypeString, MinLength: &least}})
}

// HasWord returns a schema of an object with a text of more than spaces.
func HasWord(property string) *huma.Schema {
	return Object([]string{property}, map[string]*huma.Schema{property: {Type: huma.TypeString, Pattern: `\S`}})
}

// OneOf states that exactly one of the alternatives applies.
func OneOf(all ...*huma.Schema) Keywords { return Keywords{"oneOf": all} }

// StateAny states that at least one of the alternatives applies.
func StateAny(all ...*huma.Schema) Keywords { return Keywords{"anyOf": all} }

// statedOrNull adds null to stated alternatives of an object.
func statedOrNull(extensions map[string]any) map[string]any {
	with := maps.Clone(extensions)
	for _, keyword := range []string{"oneOf", "anyOf"} {
		if all, ok := with[keyword].([]*huma.Schema); ok {
			with[keyword] = append(slices.Clip(all), &huma.Schema{Type: "null"})
		}
	}
	return with
}
