package apitest

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// promises are the contract as the answers of a service are held against it:
// every answer that a test of this package gets, whatever it was asked for.
// They are nil where the contract is not at hand.
type promises struct {
	of []*contract

	mu   sync.Mutex
	kept map[string]bool // operations that succeeded
}

// promised reads the contract if it is there. Only the tests about the contract
// itself skip without it.
func promised(t *testing.T) *promises {
	t.Helper()
	if !atHand(t) {
		return nil
	}
	data, management := readContract(t)
	return &promises{of: []*contract{data, management}, kept: map[string]bool{}}
}

// hold says where an answer is not what the contract lets a client expect. A
// request of which the contract has no path, or a query that it does not know,
// is not one of its clients'.
func (p *promises) hold(d *document, r request, got answer) error {
	if p == nil {
		return nil
	}
	c, theirs, ok := p.find(d, r)
	if !ok || asksMore(theirs, r) {
		return nil
	}
	if got.status/100 != 2 && theirs.Responses[fmt.Sprint(got.status)] == nil {
		return nil // the contract lists few refusals; judge has the shape of all
	}
	if err := c.check(theirs, got.status, got.header.Get("content-type"), got.body); err != nil {
		return fmt.Errorf("the contract's %v: %w", theirs, err)
	}
	if got.status/100 == 2 {
		p.mu.Lock()
		p.kept[theirs.String()] = true
		p.mu.Unlock()
	}
	return nil
}

// find is the operation of the contract that a request asks for: one that is
// served by the same operation of ours, since some of our own paths look like
// an id in one of the contract's.
func (p *promises) find(d *document, r request) (c *contract, theirs operation, ok bool) {
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

// asksMore reports whether the query has a word that the contract has not.
func asksMore(theirs operation, r request) bool {
	_, text, _ := strings.Cut(r.path, "?")
	query, err := url.ParseQuery(text)
	return err != nil || slices.ContainsFunc(slices.Collect(maps.Keys(query)), func(name string) bool {
		return !slices.ContainsFunc(theirs.Params, func(p parameter) bool { return p.In == "query" && p.Name == name })
	})
}

// succeeded reports whether an operation of the contract has been answered as
// the contract says.
func (p *promises) succeeded(o operation) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.kept[o.String()]
}

// The judge is tested before it judges.
func TestAnswersAreHeldAgainstTheContract(t *testing.T) {
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
		p := &promises{of: []*contract{c}, kept: map[string]bool{}}
		got := answer{test.status, map[string][]string{"Content-Type": {"application/json"}}, []byte(test.body)}
		if err := p.hold(d, request{method: "GET", path: test.path}, got); (err == nil) != test.good {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
