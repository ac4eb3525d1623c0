package apitest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"hale/internal/testdata"
)

// contract is the published contract of the reference, in the same form as our
// document, so that the same code checks answers against both. The file is not in this
// repository. Tests that need it skip without it.
type contract struct {
	*document
	deprecated map[string]bool
	events     map[string]string // event type, or its prefix and ".*", to schema
}

// contractPath is next to the public sample files.
const contractPath = "../reference/contract.json"

// readContract returns the contract and the contract of the reference's management API,
// whose schemas have separate names. They are parsed once and must not be changed.
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

// hasContract reports whether the contract exists, without skipping the test.
func hasContract(t *testing.T) bool {
	t.Helper()
	asks := &skipRecorder{TB: t}
	testdata.Shared(asks, contractPath)
	return !asks.skipped
}

// skipRecorder is a test that records a skip and continues.
type skipRecorder struct {
	testing.TB
	skipped bool
}

func (a *skipRecorder) Skipf(string, ...any) { a.skipped = true }

// contractText is the file format of the contract.
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

// contractSchema is a schema in the contract's format: the name of another schema, a
// shape, or one shape per media type.
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
	Additional *boolOrSchema             `json:"additional"`
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
		s.Type = stringOrList{c.Type}
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
	case c.Keys != nil && c.Keys.Const != nil: // a map with one key is an object with one property
		s.put(fmt.Sprint(c.Keys.Const), c.Values.schema(), true)
	case c.Values != nil:
		s.Additional = &boolOrSchema{allowed: true, schema: c.Values.schema()}
	}
	if c.Nullable {
		return &schema{AnyOf: []*schema{s, {Type: stringOrList{"null"}}}, Default: c.Default}
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

// drop removes a property.
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

// content returns the shapes of a body by media type.
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

// contractCheck checks all answers that tests of this package receive against the contract.
// It is nil if the contract does not exist.
type contractCheck struct {
	of []*contract

	mu                  sync.Mutex
	succeededOperations map[string]bool // operations that succeeded
}

// loadContractCheck reads the contract if it exists. Only the tests about the contract itself
// skip without it.
func loadContractCheck(t *testing.T) *contractCheck {
	t.Helper()
	if !hasContract(t) {
		return nil
	}
	data, management := readContract(t)
	return &contractCheck{of: []*contract{data, management}, succeededOperations: map[string]bool{}}
}

// checkAnswer returns an error if an answer violates the contract. It ignores requests with a
// path or a query parameter that the contract does not have.
func (p *contractCheck) checkAnswer(d *document, r request, got answer) error {
	if p == nil {
		return nil
	}
	c, theirs, ok := p.find(d, r)
	if !ok || hasUnknownQuery(theirs, r) {
		return nil
	}
	if got.status/100 != 2 && theirs.Responses[fmt.Sprint(got.status)] == nil {
		return nil // the contract has few error answers; judge checks their shape
	}
	if err := c.check(theirs, got.status, got.header.Get("content-type"), got.body); err != nil {
		return fmt.Errorf("the contract's %v: %w", theirs, err)
	}
	if got.status/100 == 2 {
		p.mu.Lock()
		p.succeededOperations[theirs.String()] = true
		p.mu.Unlock()
	}
	return nil
}

// find returns the contract's operation for a request. It must be served by the same
// operation of ours, because some of our own paths look like an id in the contract's
// paths.
func (p *contractCheck) find(d *document, r request) (c *contract, theirs operation, ok bool) {
	path, _, _ := strings.Cut(r.path, "?")
	wanted := operation{Method: r.method, Path: strings.TrimSuffix(path, "/")}
	ours, ok := d.serving(wanted)
	if !ok {
		return nil, theirs, false
	}
	for _, c := range p.of {
		theirs, ok := c.serving(wanted)
		if by, served := d.serving(theirs); ok && served && by.Path == ours.Path {
			return c, theirs, true
		}
	}
	return nil, theirs, false
}

// hasUnknownQuery reports whether the query has a parameter that the contract does not have.
func hasUnknownQuery(theirs operation, r request) bool {
	_, text, _ := strings.Cut(r.path, "?")
	query, err := url.ParseQuery(text)
	return err != nil || slices.ContainsFunc(slices.Collect(maps.Keys(query)), func(name string) bool {
		return !slices.ContainsFunc(theirs.Params, func(p parameter) bool { return p.In == "query" && p.Name == name })
	})
}

// succeeded reports whether an operation of the contract has returned a success that
// follows the contract.
func (p *contractCheck) succeeded(o operation) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.succeededOperations[o.String()]
}

// The check itself is tested here.
func TestContractCheck(t *testing.T) {
	c := &contract{document: &document{operations: []operation{
		{Method: "GET", Path: "/team/{id}", Responses: map[string]*response{"200": {Content: map[string]media{
			"application/json": {Schema: parseSchema(t, `{"type":"object","required":["id"]}`)},
		}}}},
	}}}
	d := &document{operations: []operation{{Method: "GET", Path: "/team/{team_id}"}, {Method: "GET", Path: "/team/outbox"}}}
	for _, test := range []struct {
		name, path, body string
		status           int
		good             bool
	}{
		{"what it promises", "/team/1", `{"id":1}`, 200, true},
		{"a slash at the end", "/team/1/", `{"id":1}`, 200, true},
		{"less than it promises", "/team/1", `{}`, 200, false},
		{"less, with a slash", "/team/1/", `{}`, 200, false},
		{"another success", "/team/1", `{"id":1}`, 201, false},
		{"a refusal that it does not list", "/team/1", `{}`, 404, true},
		{"a path of our own that looks like an id", "/team/outbox", `{}`, 200, true},
		{"a query of our own", "/team/1?explain=true", `{}`, 200, true},
	} {
		p := &contractCheck{of: []*contract{c}, succeededOperations: map[string]bool{}}
		got := answer{test.status, map[string][]string{"Content-Type": {"application/json"}}, []byte(test.body)}
		if err := p.checkAnswer(d, request{method: "GET", path: test.path}, got); (err == nil) != test.good {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
