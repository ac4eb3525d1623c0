package api

import (
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/wearables"
)

// What the table of time series says of units, ranges, words and further fields
// goes into the document here.
//
// Reference 7.7.

// seriesName is the path segment of a time series that takes samples.
type seriesName string

// Schema lists the resources.
func (seriesName) Schema(huma.Registry) *huma.Schema {
	return namesOf("Kind of time series; the schema PushedSample lists units, ranges and words.", takesSamples)
}

// readName is the path segment of a time series whose values are numbers. Notes
// have operations of their own.
type readName string

// Schema lists the resources.
func (readName) Schema(huma.Registry) *huma.Schema {
	return namesOf("Kind of time series; the schema SampleBody lists units, ranges and words.", ofNumbers)
}

func namesOf(what string, which func(*wearables.Resource) bool) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString, Description: what}
	for _, r := range wearables.Resources() {
		if which(&r) {
			s.Enum = append(s.Enum, r.Name)
		}
	}
	s.PrecomputeMessages()
	return s
}

func takesSamples(r *wearables.Resource) bool { return r.Push }
func ofNumbers(r *wearables.Resource) bool    { return !r.Text }

// withTable adds the table itself to the description of a sample's schema.
func withTable(s *huma.Schema, what string, which func(*wearables.Resource) bool) *huma.Schema {
	var b strings.Builder
	b.WriteString(what + "\n\n| Resource | Unit | Samples | Range | `type` | Further fields |\n|---|---|---|---|---|---|\n")
	for _, r := range wearables.Resources() {
		if which(&r) {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", r.Name, r.Unit, r.Shape(), r.Range(), r.TypeWords(), r.FieldWords())
		}
	}
	s.Description = b.String()
	return s
}

// withWords adds those fields to the schema of a sample.
func withWords(s *huma.Schema) *huma.Schema {
	resources := map[string][]string{}
	for _, r := range wearables.Resources() {
		for _, field := range r.Extra {
			if len(field.Words) == 0 {
				continue
			}
			resources[field.Name] = append(resources[field.Name], r.Name)
			words := []any{nil}
			for _, word := range field.Words {
				words = append(words, word)
			}
			s.Properties[field.Name] = &huma.Schema{
				Type: huma.TypeString, Nullable: true, Enum: words,
				Description: "Of " + strings.Join(resources[field.Name], " and ") + ".",
			}
		}
	}
	return s
}

// TransformSchema adds the words that a sample may be read with.
func (sampleBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return withTable(withWords(s), "A sample. Its unit, what its value lies between and its words are those of its resource:", ofNumbers)
}

// TransformSchema adds the words that a piece has of its sample.
func (PieceBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema { return withWords(s) }

// TransformSchema adds the words that a sample may be pushed with.
func (pushedSample) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return withTable(withWords(s), "A sample that is outside its resource's range is left out, and the answer counts it:", takesSamples)
}

// TransformSchema adds the words that an entry may have.
func (pushedEntry) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema { return withWords(s) }
