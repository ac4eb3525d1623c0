package api

import (
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/wearables"
)

// Some resources have further fields, of one of a few words each. Their table
// stands in wearables; here it goes into the document.
//
// Reference 7.7.

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
func (sampleBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema { return withWords(s) }

// TransformSchema adds the words that a piece has of its sample.
func (PieceBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema { return withWords(s) }

// TransformSchema adds the words that a sample may be pushed with.
func (pushedSample) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return withWords(s)
}

// TransformSchema adds the words that an entry may have.
func (pushedEntry) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema { return withWords(s) }
