package apitest

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"hale/internal/testdata"
)

// contract is the published contract of the reference, in the same form as our
// own document, so that what judges answers by the one judges them by the
// other too. It is read in place; a test that needs it skips where it is not.
type contract struct {
	*document
	deprecated map[string]bool
	events     map[string]string // event type, or its beginning and ".*", to schema
}

// contractPath is beside the public sample files.
const contractPath = "../reference/contract.json"

// readContract gives the contract and the one of the reference's management
// API, whose schemas have names of their own. They are read once and changed
// by nobody.
func readContract(t *testing.T) (data, management *contract) {
	t.Helper()
	both, err := parseContract(testdata.Shared(t, contractPath))
	if err != nil {
		t.Fatalf("the contract does not read: %v", err)
	}
	return both.data, both.management
}

type bothContracts struct{ data, management *contract }

var parsedContract struct {
	sync.Mutex
	bothContracts
}

func parseContract(path string) (bothContracts, error) {
	parsedContract.Lock()
	defer parsedContract.Unlock()
	if parsedContract.data != nil {
		return parsedContract.bothContracts, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return bothContracts{}, err
	}
	var raw struct {
		contractText
		Management contractText `json:"management"`
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return bothContracts{}, err
	}
	parsedContract.bothContracts = bothContracts{raw.parse(), raw.Management.parse()}
	parsedContract.data.amend()
	parsedContract.management.amend()
	return parsedContract.bothContracts, nil
}

// atHand reports whether the contract is there, and skips nothing.
func atHand(t *testing.T) bool {
	t.Helper()
	asks := &asker{TB: t}
	testdata.Shared(asks, contractPath)
	return !asks.told
}

// asker is a test that hears that it should skip and goes on.
type asker struct {
	testing.TB
	told bool
}

func (a *asker) Skipf(string, ...any) { a.told = true }

// contractText is how the contract is written.
type contractText struct {
	Operations []struct {
		Method     string                     `json:"method"`
		Path       string                     `json:"path"`
		Deprecated bool                       `json:"deprecated"`
		Params     map[string][]contractParam `json:"params"`
		Request    *struct {
			Required bool            `json:"required"`
			Schema   *contractSchema `json:"schema"`
		} `json:"request"`
		Responses map[string]struct {
			Schema *contractSchema `json:"schema"`
		} `json:"responses"`
	} `json:"operations"`
	Webhooks map[string]string         `json:"webhooks"`
	Schemas  map[string]contractSchema `json:"schemas"`
}

type contractParam struct {
	Name     string `json:"name"`
	Required bool   `json:"required"`
	shape    contractSchema
}

func (p *contractParam) UnmarshalJSON(text []byte) error {
	type plain contractParam
	if err := json.Unmarshal(text, (*plain)(p)); err != nil {
		return err
	}
	return json.Unmarshal(text, &p.shape)
}

// contractSchema is a schema as the contract writes it: the name of another, a
// shape, or one for each media type.
type contractSchema struct {
	contractWords
	named   string
	byMedia map[string]contractSchema
}

type contractWords struct {
	Type       string                    `json:"type"`
	Ref        string                    `json:"ref"`
	Nullable   bool                      `json:"nullable"`
	Format     string                    `json:"format"`
	Enum       []any                     `json:"enum"`
	Const      any                       `json:"const"`
	Default    any                       `json:"default"`
	Required   bool                      `json:"required"`
	Fields     map[string]contractSchema `json:"fields"`
	Values     *contractSchema           `json:"values"`
	Keys       *contractSchema           `json:"keys"`
	Additional *either                   `json:"additional"`
	Items      *contractSchema           `json:"items"`
	Prefix     []contractSchema          `json:"prefix_items"`
	AnyOf      []contractSchema          `json:"any_of"`
	Min        *float64                  `json:"min"`
	Max        *float64                  `json:"max"`
	MinLength  *int                      `json:"min_length"`
	MaxLength  *int                      `json:"max_length"`
	MinItems   *int                      `json:"min_items"`
	MaxItems   *int                      `json:"max_items"`
	Pattern    string                    `json:"pattern"`
}

func (c *contractSchema) UnmarshalJSON(text []byte) error {
	if json.Unmarshal(text, &c.named) == nil {
		return nil
	}
	var media map[string]json.RawMessage
	if err := json.Unmarshal(text, &media); err != nil {
		return err
	}
	if slices.ContainsFunc(slices.Collect(maps.Keys(media)), func(key string) bool { return strings.Contains(key, "/") }) {
		return json.Unmarshal(text, &c.byMedia)
	}
	return json.Unmarshal(text, &c.contractWords)
}

func (c *contractSchema) schema() *schema {
	switch {
	case c == nil:
		return nil
	case c.named != "":
		return &schema{Ref: c.named}
	}
	s := &schema{
		Ref: c.Ref, Format: strings.TrimSuffix(c.Format, "4"), Enum: c.Enum, Const: c.Const, Default: c.Default,
		Minimum: c.Min, Maximum: c.Max, MinLength: c.MinLength, MaxLength: c.MaxLength, MinItems: c.MinItems, MaxItems: c.MaxItems,
		Pattern: c.Pattern, Items: c.Items.schema(), Additional: c.Additional,
	}
	if c.Type != "" && c.Type != "any" {
		s.Type = words{c.Type}
	}
	for _, one := range c.AnyOf {
		s.AnyOf = append(s.AnyOf, one.schema())
	}
	for i := range c.Prefix {
		if s.Items == nil {
			s.Items = &schema{}
		}
		s.Items.AnyOf = append(s.Items.AnyOf, c.Prefix[i].schema())
	}
	for name, field := range c.Fields {
		s.put(name, field.schema(), field.Required)
	}
	switch {
	case c.Keys != nil && c.Keys.Const != nil: // a map of one key is an object of one property
		s.put(fmt.Sprint(c.Keys.Const), c.Values.schema(), true)
	case c.Values != nil:
		s.Additional = &either{allowed: true, schema: c.Values.schema()}
	}
	if c.Nullable {
		return &schema{AnyOf: []*schema{s, {Type: words{"null"}}}, Default: c.Default}
	}
	return s
}

func (s *schema) put(name string, of *schema, required bool) {
	if s.Properties == nil {
		s.Properties = map[string]*schema{}
	}
	s.Properties[name] = of
	if required {
		s.Required = append(s.Required, name)
	}
}

// drop takes a property away.
func (s *schema) drop(name string) {
	delete(s.Properties, name)
	s.Required = slices.DeleteFunc(s.Required, func(one string) bool { return one == name })
}

func mustSchema(text string) *schema {
	s := &schema{}
	if err := json.Unmarshal([]byte(text), s); err != nil {
		panic(err)
	}
	return s
}

func (c contractText) parse() *contract {
	out := &contract{document: &document{schemas: map[string]*schema{}}, deprecated: map[string]bool{}, events: c.Webhooks}
	for name, s := range c.Schemas {
		out.schemas[name] = s.schema()
	}
	for _, from := range c.Operations {
		o := operation{Method: from.Method, Path: from.Path, Responses: map[string]*response{}}
		for in, params := range from.Params {
			for _, p := range params {
				o.Params = append(o.Params, parameter{Name: p.Name, In: in, Required: p.Required, Schema: p.shape.schema()})
			}
		}
		if from.Request != nil {
			o.Required = from.Request.Required
			content := from.Request.Schema.content()
			o.Body, o.BodyTypes = content["application/json"].Schema, slices.Sorted(maps.Keys(content))
		}
		for status, r := range from.Responses {
			o.Responses[status] = &response{Content: r.Schema.content()}
		}
		out.operations = append(out.operations, o)
		out.deprecated[o.String()] = from.Deprecated
	}
	return out
}

// content gives the shapes of a body by their media types.
func (c *contractSchema) content() map[string]media {
	switch {
	case c == nil:
		return nil
	case c.byMedia == nil:
		return map[string]media{"application/json": {c.schema()}}
	}
	content := map[string]media{}
	for kind, of := range c.byMedia {
		content[kind] = media{of.schema()}
	}
	return content
}
