package routes_test

import (
	"encoding/json"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// node is an object of the OpenAPI document.
type node = map[string]any

// readDocument reads the document in docs, which TestTheOpenAPIDocumentIsTheOneInDocs
// compares with the served one.
func readDocument(t *testing.T) node {
	t.Helper()
	text, err := os.ReadFile("../../../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var document node
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	return document
}

// eachNode calls visit for each object of a part of the document.
func eachNode(part any, at string, visit func(at string, n node)) {
	switch part := part.(type) {
	case node:
		visit(at, part)
		for name, inner := range part {
			eachNode(inner, at+"/"+name, visit)
		}
	case []any:
		for i, inner := range part {
			eachNode(inner, at+"/"+strconv.Itoa(i), visit)
		}
	}
}

var repetition = regexp.MustCompile(`\{\d*,(\d{3,})\}`)

// A validator that backtracks needs no time without end: no pattern repeats a class often
// more than once.
func TestPatternsRepeatOnce(t *testing.T) {
	seen := 0
	eachNode(readDocument(t), "", func(at string, n node) {
		pattern, isPattern := n["pattern"].(string)
		if !isPattern {
			return
		}
		seen++
		if found := repetition.FindAllString(pattern, -1); len(found) > 1 {
			t.Errorf("%s has the repetitions %v", at, found)
		}
	})
	if seen < 100 {
		t.Errorf("only %d patterns were looked at", seen)
	}
}

// Generators make a type without fields of an object that states none, and refuse a list
// without items.
func TestTypesHaveContents(t *testing.T) {
	eachNode(readDocument(t)["components"], "", func(at string, n node) {
		lacks := func(kind string, contents ...string) bool {
			return isOf(n, kind) && !slices.ContainsFunc(contents, func(name string) bool { return n[name] != nil })
		}
		if lacks("object", "properties", "additionalProperties", "anyOf", "oneOf") {
			t.Errorf("%s is an object without properties", at)
		}
		if lacks("array", "items") {
			t.Errorf("%s is a list without items", at)
		}
	})
}

// isOf reports whether a schema names a type.
func isOf(n node, kind string) bool {
	list, _ := n["type"].([]any)
	return n["type"] == kind || slices.Contains(list, any(kind))
}

// The service treats null as absent in all optional fields of a body. The document states
// it, except in schemas that answers have, too.
func TestOptionalFieldsOfBodiesMayBeNull(t *testing.T) {
	document := readDocument(t)
	schemas, _ := document["components"].(node)["schemas"].(node)
	fields, seen := 0, map[string]bool{}
	for _, name := range []string{"AggregateQuery", "DataEventsBody", "ExportsBody", "PeriodBody", "QueryConfigBody", "SchedulingBody"} {
		seen["#/components/schemas/"+name] = true
	}
	var check func(at string, part any)
	check = func(at string, part any) {
		eachNode(part, at, func(at string, n node) {
			if ref, _ := n["$ref"].(string); ref != "" && !seen[ref] {
				seen[ref] = true
				check(ref, schemas[path.Base(ref)])
			}
			properties, _ := n["properties"].(node)
			required, _ := n["required"].([]any)
			for name, p := range properties {
				property, isSchema := p.(node)
				if !isSchema || slices.Contains(required, any(name)) {
					continue
				}
				fields++
				if n["type"] != nil && !isAlternative.MatchString(at) && !allowsNull(property) {
					t.Errorf("%s/%s cannot be null", at, name)
				}
			}
		})
	}
	paths, _ := document["paths"].(node)
	for name, item := range paths {
		operations, _ := item.(node)
		for method, operation := range operations {
			if o, ok := operation.(node); ok && o["requestBody"] != nil {
				content, _ := o["requestBody"].(node)["content"].(node)
				check(method+" "+name, content["application/json"])
			}
		}
	}
	if fields < 300 {
		t.Errorf("only %d optional fields were looked at", fields)
	}
}

// isAlternative matches the place of a schema that only states rules.
var isAlternative = regexp.MustCompile(`/(anyOf|oneOf|allOf|not)(/|$)`)

// allowsNull reports whether a schema allows null.
func allowsNull(n node) bool {
	if words, _ := n["enum"].([]any); words != nil && !slices.Contains(words, nil) {
		return false
	}
	if n["type"] != nil {
		return isOf(n, "null")
	}
	if n["$ref"] != nil {
		return false
	}
	alternatives, _ := n["anyOf"].([]any)
	return alternatives == nil || slices.ContainsFunc(alternatives, func(one any) bool {
		s, _ := one.(node)
		return allowsNull(s)
	})
}
