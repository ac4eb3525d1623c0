package api

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"iter"
	"sort"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// The server renders the reference page from the description in /openapi.json, without
// scripts and without content from other hosts.

//go:embed docs.html
var docsText string

var docsTemplate = template.Must(template.New("docs").Parse(docsText))

type docsGroup struct {
	Tag        string
	Operations []docsOperation
}

type docsOperation struct {
	ID, Method, Path, Summary, Text string
	Deprecated                      bool
	Parameters                      []docsField
	Body                            []docsField
	Answer                          []docsField
	Status, Curl                    string
}

type docsField struct {
	Name, Type, Place, Text string
	Required                bool
}

// operationsOf returns all operations of a document.
func operationsOf(doc *huma.OpenAPI) iter.Seq[*huma.Operation] {
	return func(yield func(*huma.Operation) bool) {
		for _, item := range doc.Paths {
			for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
				if op != nil && !yield(op) {
					return
				}
			}
		}
	}
}

func docsPage(doc *huma.OpenAPI) ([]byte, error) {
	groups := map[string]*docsGroup{}
	for op := range operationsOf(doc) {
		tag := "other"
		if len(op.Tags) > 0 {
			tag = op.Tags[0]
		}
		if groups[tag] == nil {
			groups[tag] = &docsGroup{Tag: tag}
		}
		groups[tag].Operations = append(groups[tag].Operations, describeOperation(doc, op.Path, op))
	}
	var sorted []*docsGroup
	for _, g := range groups {
		sort.Slice(g.Operations, func(i, j int) bool {
			a, b := g.Operations[i], g.Operations[j]
			return a.Path < b.Path || a.Path == b.Path && a.Method < b.Method
		})
		sorted = append(sorted, g)
	}
	sort.Slice(sorted, func(i, j int) bool { return sorted[i].Tag < sorted[j].Tag })
	var page bytes.Buffer
	err := docsTemplate.Execute(&page, map[string]any{"Info": doc.Info, "Groups": sorted, "Header": doc.Components.SecuritySchemes["apiKey"].Name})
	return page.Bytes(), err
}

func describeOperation(doc *huma.OpenAPI, path string, op *huma.Operation) docsOperation {
	d := docsOperation{ID: op.OperationID, Method: op.Method, Path: path, Summary: op.Summary, Text: op.Description, Deprecated: op.Deprecated}
	for _, p := range op.Parameters {
		d.Parameters = append(d.Parameters, docsField{p.Name, typeName(doc, p.Schema), p.In, p.Description, p.Required})
	}
	if op.RequestBody != nil {
		for _, media := range op.RequestBody.Content {
			d.Body = fields(doc, media.Schema)
		}
	}
	for _, status := range []string{"200", "201", "202", "204"} {
		if res := op.Responses[status]; res != nil {
			d.Status = status
			for _, media := range res.Content {
				d.Answer = fields(doc, media.Schema)
			}
			break
		}
	}
	d.Curl = curl(doc, path, op, len(d.Body) > 0)
	return d
}

// fields lists the properties of an object, or of the items of a list.
func fields(doc *huma.OpenAPI, s *huma.Schema) []docsField {
	s = resolve(doc, s)
	if s != nil && s.Items != nil {
		s = resolve(doc, s.Items)
	}
	if s == nil {
		return nil
	}
	required := map[string]bool{}
	for _, name := range s.Required {
		required[name] = true
	}
	var list []docsField
	for name, p := range s.Properties {
		text := p.Description
		if r := resolve(doc, p); text == "" && r != nil {
			text = r.Description
		}
		list = append(list, docsField{Name: name, Type: typeName(doc, p), Text: text, Required: required[name]})
	}
	sort.Slice(list, func(i, j int) bool {
		if list[i].Required != list[j].Required {
			return list[i].Required
		}
		return list[i].Name < list[j].Name
	})
	return list
}

func resolve(doc *huma.OpenAPI, s *huma.Schema) *huma.Schema {
	if s != nil && s.Ref != "" {
		return doc.Components.Schemas.SchemaFromRef(s.Ref)
	}
	return s
}

func typeName(doc *huma.OpenAPI, s *huma.Schema) string {
	if s == nil {
		return "any"
	}
	if len(s.AnyOf) > 0 {
		var names []string
		for _, one := range s.AnyOf {
			names = append(names, typeName(doc, one))
		}
		return strings.Join(names, " or ")
	}
	if s.Ref != "" {
		return s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
	}
	name := s.Type
	switch {
	case s.Items != nil:
		name = "list of " + typeName(doc, s.Items)
	case s.Format != "" && s.Type == huma.TypeString:
		name = s.Format
	case len(s.Enum) > 0:
		var words []string
		for _, e := range s.Enum {
			words = append(words, fmt.Sprint(e))
		}
		name = strings.Join(words, " | ")
	case name == "":
		name = "any"
	}
	if s.Nullable {
		name += " or null"
	}
	return name
}

// curl returns an example command. The reader replaces the names in braces.
func curl(doc *huma.OpenAPI, path string, op *huma.Operation, body bool) string {
	var b strings.Builder
	b.WriteString("curl ")
	if op.Method != "GET" {
		b.WriteString("-X " + op.Method + " ")
	}
	fmt.Fprintf(&b, "-H '%s: '$HALE_API_KEY ", doc.Components.SecuritySchemes["apiKey"].Name)
	if body {
		b.WriteString("-d '{…}' ")
	}
	b.WriteString("'" + doc.Servers[0].URL + path + "'")
	return b.String()
}
