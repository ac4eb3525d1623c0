package api

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
)

// Words of lab ordering that a request must choose from. Answers say them as
// plain text, since the lists may grow.
type (
	collectionMethod  string
	labTestStatus     string
	generationMethod  string
	labTestOrderKey   string
	orderDirection    string
	compendiumMode    string
	compendiumLabSlug string
)

func (collectionMethod) Schema(huma.Registry) *huma.Schema  { return wordsOf(catalogue.Methods) }
func (labTestStatus) Schema(huma.Registry) *huma.Schema     { return wordsOf(catalogue.TestStatuses) }
func (compendiumLabSlug) Schema(huma.Registry) *huma.Schema { return wordsOf(catalogue.CentralSlugs) }
func (orderDirection) Schema(huma.Registry) *huma.Schema    { return wordsOf([]string{"asc", "desc"}) }

func (generationMethod) Schema(huma.Registry) *huma.Schema {
	return wordsOf([]string{"auto", "manual", "all"})
}

func (labTestOrderKey) Schema(huma.Registry) *huma.Schema {
	return wordsOf([]catalogue.TestOrder{catalogue.ByPrice, catalogue.ByCreation, catalogue.ByUpdate})
}

func (compendiumMode) Schema(huma.Registry) *huma.Schema {
	return wordsOf([]string{"canonical", "crosswalk"})
}

// wordsOf is a string that must be one of words.
func wordsOf[T ~string](words []T) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, w := range words {
		s.Enum = append(s.Enum, string(w))
	}
	s.PrecomputeMessages()
	return s
}

// listOrNull is a list that may be null or absent, which is an empty one.
type listOrNull[T any] []T

// Schema adds null to the list.
func (listOrNull[T]) Schema(r huma.Registry) *huma.Schema {
	var item any = *new(T)
	items := r.Schema(reflect.TypeFor[T](), true, "")
	if _, identity := item.(interface{ UUID() uuid.UUID }); identity {
		items = &huma.Schema{Type: huma.TypeString, Format: "uuid"}
		items.PrecomputeMessages()
	}
	return &huma.Schema{Type: huma.TypeArray, Nullable: true, Items: items}
}

// Maybe is a query parameter that tells absent from zero. It is exported,
// since huma sets no others.
type Maybe[T any] struct {
	Value T
	Given bool
}

// Schema is that of the value.
func (Maybe[T]) Schema(r huma.Registry) *huma.Schema {
	return huma.SchemaFromType(r, reflect.TypeFor[T]())
}

// Receiver is where huma puts the value.
func (m *Maybe[T]) Receiver() reflect.Value { return reflect.ValueOf(m).Elem().Field(0) }

// OnParamSet is told whether there was one.
func (m *Maybe[T]) OnParamSet(given bool, _ any) { m.Given = given }

// pointer is the value, nil for none.
func (m *Maybe[T]) pointer() *T {
	if !m.Given {
		return nil
	}
	return &m.Value
}
