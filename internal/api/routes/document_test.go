package routes_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/api"
	"hale/internal/api/routes"
)

// The document contains every field of every request and response body. huma ignores
// embedded types that are not exported, without an error. encoding/json does use them,
// so such a field would work but be undocumented.
func TestTheDocumentShowsEveryField(t *testing.T) {
	api.SetUpHuma()
	schemas := routes.New(api.Deps{}, routes.Services{}).OpenAPI().Components.Schemas
	types := 0
	for name, schema := range schemas.Map() {
		of := schemas.TypeFromRef(api.SchemaPrefix + name)
		if of == nil || of.Kind() != reflect.Struct {
			continue // built from tables, not from a type
		}
		types++
		for _, field := range fieldsOf(of) {
			if schema.Properties[field] == nil {
				t.Errorf("%s, which is %v: the document does not show %s", name, of, field)
			}
		}
	}
	if types < 200 {
		t.Errorf("only %d types were looked at", types)
	}
}

// fieldsOf returns the JSON names of the fields of a type.
func fieldsOf(of reflect.Type) []string {
	var names []string
	for f := range of.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case f.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			names = append(names, fieldsOf(inner)...)
		case !f.IsExported() || name == "-":
		case name == "":
			names = append(names, f.Name)
		default:
			names = append(names, name)
		}
	}
	return names
}

func TestFieldsOfEmbeddedTypesAreFound(t *testing.T) {
	type inner struct {
		Seen   int `json:"seen,omitempty"`
		hidden int
	}
	type outer struct {
		inner
		Own    int `json:"own"`
		Plain  int
		Secret int   `json:"-"`
		Nested inner `json:"nested"`
	}
	want := []string{"seen", "own", "Plain", "nested"}
	if got := fieldsOf(reflect.TypeFor[outer]()); !slices.Equal(got, want) {
		t.Errorf("%v, not %v (%d)", got, want, inner{}.hidden)
	}
}

func TestNoOperationHasAShortBodyTimeout(t *testing.T) {
	api.SetUpHuma()
	for path, item := range routes.New(api.Deps{}, routes.Services{}).OpenAPI().Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op != nil && op.BodyReadTimeout > 0 {
				t.Errorf("%s %s gives a body %v", op.Method, path, op.BodyReadTimeout)
			}
		}
	}
}
