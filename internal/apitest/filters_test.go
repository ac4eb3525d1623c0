package apitest

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"hale/internal/platform/store/storetest"
)

// Every operation reads name[]=value and name[0]=value as name=value. A list also has the
// form name=a,b. Several values of a parameter that takes one are refused.
func TestSpellingsOfParameters(t *testing.T) {
	s := start(t, storetest.NewSQLite(t))
	f := s.fixture(t)
	for _, o := range s.doc.operations {
		for _, p := range o.Params {
			if p.In != "query" || o.Method != http.MethodGet {
				continue
			}
			t.Run(o.String()+" "+p.Name, func(t *testing.T) { s.trySpellings(t, o, p, f) })
		}
	}
}

func (s *service) trySpellings(t *testing.T, o operation, p parameter, f *fixture) {
	t.Helper()
	r := s.minimalRequest(t, o, f.valuesFor(o), place{"query", p.Name})
	path, text, _ := strings.Cut(r.path, "?")
	query, err := url.ParseQuery(text)
	if err != nil {
		t.Fatal(err)
	}
	list := slices.Contains(s.doc.resolve(p.Schema).Type, "array")
	value := query.Get(p.Name)
	if list {
		if value = fmt.Sprint(s.doc.simplestValue(s.doc.resolve(p.Schema).Items, p.Name, f.valuesFor(o))); value == "" {
			value = "x"
		}
	}
	query.Del(p.Name)
	send := func(name string, values ...string) answer {
		q := url.Values{name: values}
		r.path = path + "?" + strings.Trim(query.Encode()+"&"+q.Encode(), "&")
		return s.send(t, r, s.Key)
	}
	plain := send(p.Name, value)
	if plain.status >= http.StatusInternalServerError {
		t.Fatalf("%d: %.300s", plain.status, plain.body)
	}
	for _, name := range []string{p.Name + "[]", p.Name + "[0]"} {
		if got := send(name, value); got.status != plain.status {
			t.Errorf("%s=%s: %d %.300s, want %d", name, value, got.status, got.body, plain.status)
		}
	}
	if !list {
		if got := send(p.Name, value, value); got.status != http.StatusUnprocessableEntity || !strings.Contains(string(got.body), `"`+p.Name+`"`) {
			t.Errorf("twice: %d %.300s", got.status, got.body)
		}
		return
	}
	for _, got := range []answer{send(p.Name, value, value), send(p.Name, value+","+value), send(p.Name+"[]", value, value)} {
		if got.status != plain.status {
			t.Errorf("two values: %d %.300s, want %d", got.status, got.body, plain.status)
		}
	}
}
