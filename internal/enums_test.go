package internal_test

import (
	"go/ast"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// otherFacts are enum tags that have the words of a domain's list by chance, with the
// reason.
var otherFacts = map[string]string{
	"query_type": "the owners of continuous queries are not the sources of payors",
}

// A domain owns the list of its words, and the API derives its schema from the list: see
// api.Enum. A struct tag of the API with the same words would be a second list.
func TestEnumTagsRepeatNoListOfADomain(t *testing.T) {
	type tag struct{ words, field, at string }
	var tags []tag
	lists := map[string]string{} // the type of the constants by their words
	for file := range sources(t) {
		if inAPI := file.dir == "api" || strings.HasPrefix(file.dir, "api/"); !inAPI {
			for name, words := range constantsByType(file.syntax) {
				lists[wordSet(words)] = file.dir + "." + name
			}
			continue
		}
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			if f, ok := n.(*ast.Field); ok && f.Tag != nil {
				text, _ := strconv.Unquote(f.Tag.Value)
				all := reflect.StructTag(text)
				if words := strings.Split(all.Get("enum"), ","); len(words) > 1 {
					name, _, _ := strings.Cut(all.Get("json")+all.Get("query")+all.Get("path"), ",")
					tags = append(tags, tag{wordSet(words), name, file.position(f.Tag.Pos()).String()})
				}
			}
			return true
		})
	}
	if len(tags) == 0 || len(lists) < 50 {
		t.Fatalf("%d tags and %d lists were found", len(tags), len(lists))
	}
	used, first := map[string]bool{}, map[string]string{}
	for _, one := range tags {
		if list := lists[one.words]; list != "" && otherFacts[one.field] == "" {
			t.Errorf("%s: the words of %s are those of %s: use api.Enum with its list", one.at, one.field, list)
		} else if list != "" {
			used[one.field] = true
		}
		if other := first[one.words]; other != "" {
			t.Errorf("%s: the words of %s are also at %s: use one type for both", one.at, one.field, other)
		}
		first[one.words] = one.at
	}
	for field := range otherFacts {
		if !used[field] {
			t.Errorf("%s needs no exception: remove it", field)
		}
	}
}

// constantsByType returns the texts of a file's constants by the name of their type.
func constantsByType(file *ast.File) map[string][]string {
	found := map[string][]string{}
	for _, d := range file.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, s := range group.Specs {
			constant, _ := s.(*ast.ValueSpec)
			kind, typed := constant.Type.(*ast.Ident)
			if !typed || len(constant.Values) != 1 {
				continue
			}
			if text, ok := constant.Values[0].(*ast.BasicLit); ok && text.Kind == token.STRING {
				word, _ := strconv.Unquote(text.Value)
				found[kind.Name] = append(found[kind.Name], word)
			}
		}
	}
	return found
}

// wordSet returns the words in an order that does not depend on their own.
func wordSet(words []string) string {
	return strings.Join(slices.Sorted(slices.Values(words)), ",")
}
