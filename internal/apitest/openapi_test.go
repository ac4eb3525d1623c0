package apitest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

// document is the part of an OpenAPI 3.1 document that the tests use.
type document struct {
	operations []operation
	schemas    map[string]*schema
	webhooks   map[string]*schema // of the envelope, by event type
}

type operation struct {
	ID        string
	Method    string
	Path      string // with {parameters}
	Params    []parameter
	Body      *schema // of application/json; nil without a body
	BodyTypes []string
	Required  bool // whether the body is required
	Responses map[string]*response
	Public    bool // whether it needs no key
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

// fill inserts values into the path.
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
		Paths    map[string]map[string]json.RawMessage `json:"paths"`
		Webhooks map[string]struct {
			Post struct {
				RequestBody struct {
					Content map[string]media `json:"content"`
				} `json:"requestBody"`
			} `json:"post"`
		} `json:"webhooks"`
		Components struct {
			Schemas map[string]*schema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		t.Fatalf("the OpenAPI document does not read: %v", err)
	}
	d := &document{schemas: raw.Components.Schemas, webhooks: map[string]*schema{}}
	for name, hook := range raw.Webhooks {
		d.webhooks[name] = hook.Post.RequestBody.Content["application/json"].Schema
	}
	for _, s := range d.schemas {
		d.inherit(s)
	}
	for path, methods := range raw.Paths {
		for method, text := range methods {
			method = strings.ToUpper(method)
			if slices.Contains([]string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}, method) {
				d.operations = append(d.operations, parseOperation(t, method, path, text))
			}
		}
	}
	for _, o := range d.operations {
		d.inherit(o.Body)
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

// check returns an error if an answer violates the document.
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

// schema is a JSON Schema as in OpenAPI 3.1, with the keywords that our document uses.
type schema struct {
	Ref        string             `json:"$ref"`
	Type       stringOrList       `json:"type"`
	Format     string             `json:"format"`
	Enum       []any              `json:"enum"`
	Const      any                `json:"const"`
	Default    any                `json:"default"`
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	Additional *boolOrSchema      `json:"additionalProperties"`
	Names      *schema            `json:"propertyNames"`
	MaxNames   *int               `json:"maxProperties"`
	Items      *schema            `json:"items"`
	AnyOf      []*schema          `json:"anyOf"`
	OneOf      []*schema          `json:"oneOf"`
	AllOf      []*schema          `json:"allOf"`
	Minimum    *float64           `json:"minimum"`
	Maximum    *float64           `json:"maximum"`
	MinLength  *int               `json:"minLength"`
	MaxLength  *int               `json:"maxLength"`
	MinItems   *int               `json:"minItems"`
	MaxItems   *int               `json:"maxItems"`
	Pattern    string             `json:"pattern"`
	Not        *schema            `json:"not"`

	inherited bool // see document.inherit
}

// stringOrList is one string or a list of them.
type stringOrList []string

func (w *stringOrList) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*w = stringOrList{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(w))
}

// boolOrSchema is a boolean or a schema.
type boolOrSchema struct {
	allowed bool
	schema  *schema
}

func (e *boolOrSchema) UnmarshalJSON(text []byte) error {
	e.allowed = true
	if json.Unmarshal(text, &e.allowed) == nil {
		return nil
	}
	return json.Unmarshal(text, &e.schema)
}

// decode parses one JSON value and keeps the text of numbers.
func decode(text []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after the value")
	}
	return value, nil
}

func (d *document) resolve(s *schema) *schema {
	for s != nil && s.Ref != "" {
		s = d.schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
	}
	return s
}

// validate returns an error if value violates the schema.
func (d *document) validate(s *schema, value any, at string) error {
	s = d.resolve(s)
	if s == nil {
		return fmt.Errorf("%s: the schema is not in the document", at)
	}
	for _, all := range s.AllOf {
		if err := d.validate(all, value, at); err != nil {
			return err
		}
	}
	if choice := append(slices.Clone(s.AnyOf), s.OneOf...); len(choice) > 0 {
		if err := d.validateAny(choice, value, at); err != nil {
			return err
		}
	}
	if s.Not != nil && d.validate(s.Not, value, at) == nil {
		return fmt.Errorf("%s: %v is excluded", at, value)
	}
	if err := d.validateOne(s.OneOf, value, at); err != nil {
		return err
	}
	if len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(word any) bool { return fmt.Sprint(word) == fmt.Sprint(value) }) {
		return fmt.Errorf("%s: %v is none of %v", at, value, s.Enum)
	}
	if s.Const != nil && fmt.Sprint(s.Const) != fmt.Sprint(value) {
		return fmt.Errorf("%s: %v is not %v", at, value, s.Const)
	}
	if len(s.Type) > 0 && !slices.ContainsFunc(s.Type, func(t string) bool { return isA(value, t) }) {
		return fmt.Errorf("%s: %s where the document says %v", at, kindOf(value), []string(s.Type))
	}
	switch value := value.(type) {
	case map[string]any:
		return d.validateObject(s, value, at)
	case []any:
		return d.validateArray(s, value, at)
	case string:
		return validateString(s, value, at)
	case json.Number:
		return validateNumber(s, value, at)
	}
	return nil
}

func (d *document) validateAny(choice []*schema, value any, at string) error {
	var errs []error
	for _, one := range choice {
		err := d.validate(one, value, at)
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return fmt.Errorf("%s fits none of %d shapes: %w", at, len(choice), errors.Join(errs...))
}

// validateOne returns an error if value fits several alternatives.
func (d *document) validateOne(alternatives []*schema, value any, at string) error {
	fits := 0
	for _, one := range alternatives {
		if d.validate(one, value, at) == nil {
			fits++
		}
	}
	if fits > 1 {
		return fmt.Errorf("%s fits %d alternatives, of which one must fit", at, fits)
	}
	return nil
}

// inherit adds the keywords of a schema to its own alternatives. So the tests can treat
// them like separate schemas.
func (d *document) inherit(s *schema) {
	if s == nil || s.Ref != "" || s.inherited {
		return
	}
	s.inherited = true
	base := *s
	base.AnyOf, base.OneOf = nil, nil
	refine := func(list []*schema) (all []*schema) {
		for _, one := range list {
			if len(s.Type) > 0 && one.Ref == "" && !slices.Equal(one.Type, stringOrList{"null"}) {
				one = d.both(&base, one)
			}
			all = append(all, one)
		}
		return all
	}
	s.AnyOf, s.OneOf = refine(s.AnyOf), refine(s.OneOf)
	for _, p := range s.Properties {
		d.inherit(p)
	}
	d.inherit(s.Items)
	for _, one := range slices.Concat(s.AnyOf, s.OneOf) {
		d.inherit(one)
	}
}

// both returns a schema that requires two. The second one refines the first.
func (d *document) both(a, b *schema) *schema {
	if a == nil {
		return b
	}
	if a = d.resolve(a); b == nil {
		return a
	}
	c := *a
	c.inherited = false
	if len(b.Type) > 0 {
		c.Type = b.Type
	}
	if len(b.Enum) > 0 {
		c.Enum = b.Enum
	}
	c.Format = cmp.Or(b.Format, a.Format)
	c.Minimum, c.Maximum, c.Items = cmp.Or(b.Minimum, a.Minimum), cmp.Or(b.Maximum, a.Maximum), d.both(a.Items, b.Items)
	c.MinLength, c.MaxLength = cmp.Or(b.MinLength, a.MinLength), cmp.Or(b.MaxLength, a.MaxLength)
	c.MinItems, c.MaxItems = cmp.Or(b.MinItems, a.MinItems), cmp.Or(b.MaxItems, a.MaxItems)
	c.Required = slices.Concat(a.Required, b.Required)
	c.AllOf = slices.Concat(a.AllOf, b.AllOf)
	if c.Pattern = cmp.Or(b.Pattern, a.Pattern); a.Pattern != "" && b.Pattern != "" {
		c.AllOf = append(c.AllOf, &schema{Pattern: a.Pattern})
	}
	if c.Not = cmp.Or(b.Not, a.Not); a.Not != nil && b.Not != nil {
		c.AllOf = append(c.AllOf, &schema{Not: a.Not})
	}
	if len(b.AnyOf)+len(b.OneOf) > 0 {
		c.AllOf = append(c.AllOf, &schema{AnyOf: b.AnyOf, OneOf: b.OneOf})
	}
	if len(b.Properties) > 0 {
		c.Properties = maps.Clone(a.Properties)
		for name, p := range b.Properties {
			c.Properties[name] = d.both(a.Properties[name], p)
		}
	}
	return &c
}

func (d *document) validateObject(s *schema, object map[string]any, at string) error {
	for _, name := range s.Required {
		if _, ok := object[name]; !ok {
			return fmt.Errorf("%s.%s is required and not there", at, name)
		}
	}
	if s.MaxNames != nil && len(object) > *s.MaxNames {
		return fmt.Errorf("%s has %d members", at, len(object))
	}
	for name, value := range object {
		if s.Names != nil {
			if err := d.validate(s.Names, name, at+" (name)"); err != nil {
				return err
			}
		}
		property := s.Properties[name]
		switch {
		case property != nil:
		case s.Additional != nil && s.Additional.schema != nil:
			property = s.Additional.schema
		case s.Additional != nil && !s.Additional.allowed:
			return fmt.Errorf("%s.%s is not in the document", at, name)
		default:
			continue
		}
		if err := d.validate(property, value, at+"."+name); err != nil {
			return err
		}
	}
	return nil
}

func (d *document) validateArray(s *schema, array []any, at string) error {
	if s.MinItems != nil && len(array) < *s.MinItems || s.MaxItems != nil && len(array) > *s.MaxItems {
		return fmt.Errorf("%s has %d items", at, len(array))
	}
	if s.Items == nil {
		return nil
	}
	for i, value := range array {
		if err := d.validate(s.Items, value, fmt.Sprintf("%s[%d]", at, i)); err != nil {
			return err
		}
	}
	return nil
}

func validateString(s *schema, value, at string) error {
	length := utf8.RuneCountInString(value)
	if s.MinLength != nil && length < *s.MinLength || s.MaxLength != nil && length > *s.MaxLength {
		return fmt.Errorf("%s has %d characters", at, length)
	}
	if s.Pattern != "" && !compiled(s.Pattern).MatchString(value) {
		return fmt.Errorf("%s does not match %s", at, s.Pattern)
	}
	var err error
	switch s.Format {
	case "uuid":
		_, err = uuid.Parse(value)
	case "date-time":
		_, err = time.Parse(time.RFC3339Nano, value)
	case "date":
		_, err = time.Parse(time.DateOnly, value)
	}
	if err != nil {
		return fmt.Errorf("%s is no %s", at, s.Format)
	}
	return nil
}

var compiledPatterns sync.Map

func compiled(pattern string) *regexp.Regexp {
	if known, ok := compiledPatterns.Load(pattern); ok {
		return known.(*regexp.Regexp)
	}
	one := regexp.MustCompile(pattern)
	compiledPatterns.Store(pattern, one)
	return one
}

func validateNumber(s *schema, value json.Number, at string) error {
	number, err := value.Float64()
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	if s.Minimum != nil && number < *s.Minimum || s.Maximum != nil && number > *s.Maximum {
		return fmt.Errorf("%s: %v is out of bounds", at, value)
	}
	return nil
}

func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		return "number"
	case []any:
		return "array"
	default:
		return "object"
	}
}

func isA(value any, kind string) bool {
	if kind == "integer" {
		number, ok := value.(json.Number)
		return ok && !strings.ContainsAny(number.String(), ".eE")
	}
	return kindOf(value) == kind
}

// The validator itself is tested: one that accepts everything would make every other
// test of this package pass.
func TestValidatorRefuses(t *testing.T) {
	d := &document{schemas: map[string]*schema{"User": parseSchema(t, `{
		"type": "object", "required": ["id", "created_on"], "additionalProperties": false,
		"properties": {
			"id": {"type": "string", "format": "uuid"},
			"created_on": {"type": "string", "format": "date-time"},
			"birth": {"type": ["string", "null"], "format": "date"},
			"tags": {"type": "array", "maxItems": 2, "items": {"type": "string", "enum": ["a", "b"]}},
			"n": {"type": "integer", "minimum": 1, "maximum": 9},
			"either": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
				"oneOf": [{"required": ["a"]}, {"required": ["b"], "properties": {"b": {"pattern": "^x"}}}]},
			"odd": {"type": "integer", "not": {"enum": [2, 4]}},
			"more": {"anyOf": [{"type": "null"}, {"type": "object", "additionalProperties": {"type": "boolean"}}]}
		}}`)}}
	d.inherit(d.schemas["User"])
	user := parseSchema(t, `{"$ref": "#/components/schemas/User"}`)
	const good = `"id": "3fa85f64-5717-4562-b3fc-2c963f66afa6", "created_on": "2026-01-02T03:04:05+00:00"`

	for _, text := range []string{
		`{` + good + `}`,
		`{` + good + `, "birth": null, "tags": ["a", "b"], "n": 9, "more": {"x": true}}`,
		`{` + good + `, "birth": "2026-02-28", "more": null}`,
		`{` + good + `, "either": {"a": "1"}, "odd": 3}`,
		`{` + good + `, "either": {"b": "x"}}`,
		`{` + good + `, "either": {"a": "1", "b": "2"}}`,
	} {
		if err := d.validate(user, mustDecode(t, text), "body"); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for name, text := range map[string]string{
		"missing field":         `{"id": "3fa85f64-5717-4562-b3fc-2c963f66afa6"}`,
		"field not described":   `{` + good + `, "secret": 1}`,
		"no uuid":               `{"id": "7", "created_on": "2026-01-02T03:04:05+00:00"}`,
		"no instant":            `{"id": "3fa85f64-5717-4562-b3fc-2c963f66afa6", "created_on": "2026-01-02"}`,
		"no such day":           `{` + good + `, "birth": "2026-02-30"}`,
		"wrong type":            `{` + good + `, "tags": "a"}`,
		"word not in the enum":  `{` + good + `, "tags": ["c"]}`,
		"too many items":        `{` + good + `, "tags": ["a", "a", "a"]}`,
		"fraction for integer":  `{` + good + `, "n": 1.5}`,
		"out of bounds":         `{` + good + `, "n": 10}`,
		"null where it may not": `{` + good + `, "n": null}`,
		"none of the choices":   `{` + good + `, "more": {"x": 1}}`,
		"array for object":      `[]`,
		"excluded value":        `{` + good + `, "odd": 2}`,
		"no alternative":        `{` + good + `, "either": {"b": "y"}}`,
		"two alternatives":      `{` + good + `, "either": {"a": "1", "b": "x"}}`,
	} {
		if err := d.validate(user, mustDecode(t, text), "body"); err == nil {
			t.Errorf("%s was accepted: %s", name, text)
		}
	}
	if err := d.validate(parseSchema(t, `{"$ref": "#/components/schemas/Absent"}`), nil, "body"); err == nil {
		t.Error("a reference to nothing was accepted")
	}
	if _, err := decode([]byte(`{} {}`)); err == nil {
		t.Error("two values were read as one")
	}
}

func parseSchema(t *testing.T, text string) *schema {
	t.Helper()
	var s schema
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	return &s
}

func mustDecode(t *testing.T, text string) any {
	t.Helper()
	value, err := decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return value
}
