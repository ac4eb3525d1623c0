package apitest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

// schema is a JSON Schema as OpenAPI 3.1 uses it, in the words that our
// document contains.
type schema struct {
	Ref        string             `json:"$ref"`
	Type       words              `json:"type"`
	Format     string             `json:"format"`
	Enum       []any              `json:"enum"`
	Const      any                `json:"const"`
	Default    any                `json:"default"`
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	Additional *either            `json:"additionalProperties"`
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
}

// words is one word or a list of them.
type words []string

func (w *words) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*w = words{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(w))
}

// either is a boolean or a schema.
type either struct {
	allowed bool
	schema  *schema
}

func (e *either) UnmarshalJSON(text []byte) error {
	e.allowed = true
	if json.Unmarshal(text, &e.allowed) == nil {
		return nil
	}
	return json.Unmarshal(text, &e.schema)
}

// decode reads one JSON value, with numbers as they are written.
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

// validate says where value is not what the schema asks for.
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

func (d *document) validateObject(s *schema, object map[string]any, at string) error {
	for _, name := range s.Required {
		if _, ok := object[name]; !ok {
			return fmt.Errorf("%s.%s is required and not there", at, name)
		}
	}
	for name, value := range object {
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
	if s.Pattern != "" && !regexp.MustCompile(s.Pattern).MatchString(value) {
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
