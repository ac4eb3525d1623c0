package apitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// document is the part of an OpenAPI 3.1 document that the tests use.
type document struct {
	operations []operation
	schemas    map[string]*schema
}

type operation struct {
	ID        string
	Method    string
	Path      string // with {parameters}
	Params    []parameter
	Body      *schema // of application/json; nil when it takes none
	BodyTypes []string
	Required  bool // the body is
	Responses map[string]*response
	Public    bool // answers without a key
}

type parameter struct {
	Name     string  `json:"name"`
	In       string  `json:"in"`
	Required bool    `json:"required"`
	Schema   *schema `json:"schema"`
}

type response struct {
	Content map[string]media `json:"content"`
}

type media struct {
	Schema *schema `json:"schema"`
}

func (o operation) String() string { return o.Method + " " + o.Path }

// fill puts values into the path.
func (o operation) fill(values map[string]string) string {
	path := o.Path
	for name, value := range values {
		path = strings.ReplaceAll(path, "{"+name+"}", value)
	}
	return path
}

func parseDocument(t *testing.T, text []byte) *document {
	t.Helper()
	var raw struct {
		Paths      map[string]map[string]json.RawMessage `json:"paths"`
		Components struct {
			Schemas map[string]*schema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		t.Fatalf("the OpenAPI document does not read: %v", err)
	}
	d := &document{schemas: raw.Components.Schemas}
	for path, methods := range raw.Paths {
		for method, text := range methods {
			method = strings.ToUpper(method)
			if slices.Contains([]string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}, method) {
				d.operations = append(d.operations, parseOperation(t, method, path, text))
			}
		}
	}
	slices.SortFunc(d.operations, func(a, b operation) int { return strings.Compare(a.Path+a.Method, b.Path+b.Method) })
	if len(d.operations) == 0 {
		t.Fatal("the OpenAPI document describes no operation")
	}
	return d
}

func parseOperation(t *testing.T, method, path string, text []byte) operation {
	t.Helper()
	var raw struct {
		OperationID string                 `json:"operationId"`
		Parameters  []parameter            `json:"parameters"`
		Security    *[]map[string][]string `json:"security"`
		RequestBody *struct {
			Required bool             `json:"required"`
			Content  map[string]media `json:"content"`
		} `json:"requestBody"`
		Responses map[string]*response `json:"responses"`
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		t.Fatalf("%s %s does not read: %v", method, path, err)
	}
	o := operation{
		ID: raw.OperationID, Method: method, Path: path, Params: raw.Parameters, Responses: raw.Responses,
		Public: raw.Security == nil || len(*raw.Security) == 0,
	}
	if raw.RequestBody != nil {
		o.Required = raw.RequestBody.Required
		for kind, content := range raw.RequestBody.Content {
			o.BodyTypes = append(o.BodyTypes, kind)
			if kind == "application/json" {
				o.Body = content.Schema
			}
		}
	}
	return o
}

// check compares an answer with what the document says of the operation and
// returns what is wrong.
func (d *document) check(o operation, status int, contentType string, body []byte) error {
	declared := o.Responses[fmt.Sprint(status)]
	if declared == nil {
		declared = o.Responses[fmt.Sprintf("%dXX", status/100)]
	}
	if declared == nil {
		declared = o.Responses["default"]
	}
	if declared == nil {
		return fmt.Errorf("status %d is not declared", status)
	}
	kind, _, _ := strings.Cut(contentType, ";")
	if len(declared.Content) == 0 {
		if len(body) > 0 {
			return fmt.Errorf("status %d is declared without a body and has one of %d bytes", status, len(body))
		}
		return nil
	}
	content, ok := declared.Content[kind]
	if !ok {
		return fmt.Errorf("status %d came as %q, which is not declared", status, kind)
	}
	if content.Schema == nil || kind != "application/json" {
		return nil
	}
	value, err := decode(body)
	if err != nil {
		return fmt.Errorf("status %d: the body is no JSON: %w", status, err)
	}
	return d.validate(content.Schema, value, "body")
}
