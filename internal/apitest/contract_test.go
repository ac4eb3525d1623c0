package apitest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"hale/internal/platform/store/storetest"
)

// Client libraries of the reference run against this service: each operation
// of the contract is served, takes what the contract lets a client send, and
// answers what the contract lets a client expect. What differs on purpose
// stands in kept, with its reason.
func TestTheContractIsServed(t *testing.T) {
	data, management := readContract(t)
	s := start(t, storetest.NewSQLite(t))
	differences := map[string]bool{}
	for _, c := range []*contract{data, management} {
		for _, theirs := range c.operations {
			ours, ok := s.doc.serving(theirs)
			if _, listed := absent(theirs); listed == ok {
				t.Errorf("%v: served is %v, and listed as not served yet is %v", theirs, ok, listed)
			}
			if ok {
				compareOperations(c.document, s.doc, theirs, ours, func(what string) { differences[what] = true })
			}
		}
	}
	reasons := map[string]string{}
	for _, k := range kept {
		for _, what := range k.differences {
			reasons[what] = k.reason
			if !differences[what] {
				t.Errorf("kept, and no difference any more: %s", what)
			}
		}
	}
	for _, what := range slices.Sorted(maps.Keys(differences)) {
		if reasons[what] == "" {
			t.Error(what)
		}
	}
}

// serving finds the operation that answers requests of another one: the same
// path, or one whose parameter stands where the other has a word.
func (d *document) serving(theirs operation) (operation, bool) {
	best, words := operation{}, -1
	for _, ours := range d.operations {
		if n, ok := covers(ours.Path, theirs.Path); ok && ours.Method == theirs.Method && n > words {
			best, words = ours, n
		}
	}
	return best, words >= 0
}

// covers says whether a path template matches another, and in how many words.
func covers(ours, theirs string) (words int, ok bool) {
	a, b := strings.Split(ours, "/"), strings.Split(theirs, "/")
	if len(a) != len(b) {
		return 0, false
	}
	for i := range a {
		switch {
		case a[i] == b[i]:
			words++
		case !strings.HasPrefix(a[i], "{"):
			return 0, false
		}
	}
	return words, true
}

func compareOperations(td, od *document, theirs, ours operation, found func(string)) {
	report := func(direction string) func(at, what string) {
		return func(at, what string) { found(direction + " " + at + " " + what) }
	}
	sent := func() *comparison {
		return &comparison{theirs: td, ours: od, seen: map[[2]*schema]bool{}, found: report("sent")}
	}
	compareParams(sent, theirs, ours)
	switch {
	case theirs.Body == nil && ours.Required:
		found("sent " + theirs.String() + " body is required")
	case theirs.Body != nil && ours.Body == nil:
		found("sent " + theirs.String() + " body is not taken")
	case theirs.Body != nil:
		sent().compare(theirs.Body, ours.Body, theirs.String()+" body")
		if ours.Required && !theirs.Required {
			found("sent " + theirs.String() + " body is required")
		}
	}
	_, words := strings.CutPrefix(ours.Path, "/v2/timeseries/{user_id}/{resource}")
	for status, declared := range theirs.Responses {
		if status[0] != '2' || words {
			continue // one document for all series; their answers show more
		}
		answer := ours.Responses[status]
		if answer == nil {
			found("answered " + theirs.String() + " never with " + status)
			continue
		}
		for kind, content := range declared.Content {
			c := comparison{theirs: td, ours: od, answered: true, seen: map[[2]*schema]bool{}, found: report("answered")}
			if mine, ok := answer.Content[kind]; ok {
				c.compare(content.Schema, mine.Schema, theirs.String())
			} else if content.Schema != nil && (len(content.Schema.Type) > 0 || content.Schema.Ref != "") {
				found(fmt.Sprintf("answered %v not as %s", theirs, kind))
			}
		}
	}
}

func compareParams(sent func() *comparison, theirs, ours operation) {
	for _, t := range theirs.Params {
		if t.In == "path" {
			continue // where it stands, by whatever name
		}
		at := fmt.Sprintf("%v %s %s", theirs, t.In, t.Name)
		i := slices.IndexFunc(ours.Params, func(o parameter) bool { return o.In == t.In && strings.EqualFold(o.Name, t.Name) })
		if i < 0 {
			sent().found(at, "is not taken")
			continue
		}
		o := ours.Params[i]
		if o.Required && !t.Required {
			sent().found(at, "is required")
		}
		c := sent()
		c.compare(notNull(t.Schema), notNull(o.Schema), at)
		c.defaults(notNull(t.Schema), notNull(o.Schema), at)
	}
	for _, o := range ours.Params {
		known := slices.ContainsFunc(theirs.Params, func(t parameter) bool { return o.In == t.In && strings.EqualFold(o.Name, t.Name) })
		if o.In != "path" && o.Required && !known {
			sent().found(fmt.Sprintf("%v %s %s", theirs, o.In, o.Name), "is required")
		}
	}
}

// notNull leaves out null, which a query and a header cannot say.
func notNull(s *schema) *schema {
	if s == nil || len(s.AnyOf) == 0 {
		return s
	}
	rest := slices.DeleteFunc(slices.Clone(s.AnyOf), func(one *schema) bool { return slices.Equal(one.Type, words{"null"}) })
	if len(rest) == 1 && s.Default != nil {
		one := *rest[0]
		one.Default = s.Default
		return &one
	}
	if len(rest) == 1 {
		return rest[0]
	}
	return &schema{AnyOf: rest, Default: s.Default}
}
