package apitest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// fixture is one of everything that a team can have, with its identities by
// the names that parameters and body fields have for them.
type fixture struct {
	ids map[string]string
}

// notIdentities are path parameters whose values are words that everybody
// knows. Every other path parameter is an identity, and the fixture must have
// one: a new kind of id cannot go untested.
var notIdentities = []string{"provider", "resource", "environment", "type", "event_type", "kind", "lab_id", "provider_id"}

// alias are names under which the document asks for something that the fixture
// has under another.
var alias = map[string]string{
	"org_id": "team_id",   // each team is its own organisation
	"job_id": "import_id", // an import has its job's id

	"query_id_or_slug": "query_id",
}

// meant are operations whose parameters mean something else than the fixture
// has under their names: an order whose results are there, another kind of run.
var meant = map[string]map[string]string{}

var count atomic.Int64

// fixture makes one of everything for the team of s. Each part stands in the
// file of its area.
func (s *service) fixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{ids: map[string]string{}}
	s.person(t, f)
	s.sessions(t, f)
	s.continuousQuery(t, f)
	s.webhooks(t, f)
	s.ledger(t, f)
	s.labs(t, f)
	s.appointments(t)
	s.orders(t, f)
	s.unmatched(t, f)
	s.settle(t)
	return f
}

// apart is a team of its own with a fixture for an operation that changes what
// it names. What is done to it disturbs nothing that runs beside it.
func (s *service) apart(t *testing.T) (*service, *fixture) {
	t.Helper()
	own := s.another("Apart")
	return own, own.fixture(t)
}

func (s *service) serves(name string) bool {
	return slices.ContainsFunc(s.doc.operations, func(o operation) bool { return o.String() == name })
}

// known are values by parameter name, for requests that should get far.
func (f *fixture) known() map[string]string {
	values := maps.Clone(f.ids)
	values["provider"], values["resource"], values["environment"] = "apple_health_kit", "heartrate", "sandbox"
	values["event_type"] = "daily.data.heartrate.created"
	values["lab_id"], values["provider_id"] = "2", "70002" // of the catalogue that all sandbox teams see
	for name, of := range alias {
		values[name] = f.ids[of]
	}
	return values
}

// knownTo is known with what the parameters of one operation mean.
func (f *fixture) knownTo(o operation) map[string]string {
	values := f.known()
	for name, of := range meant[o.String()] {
		values[name] = f.ids[of]
	}
	return values
}

// identities lists the places of an operation that take an identity which the
// fixture has, in the path, the query and the body.
func (f *fixture) identities(t *testing.T, d *document, o operation) []place {
	t.Helper()
	known := f.known()
	var places []place
	for _, p := range o.Params {
		_, has := known[p.Name]
		switch {
		case slices.Contains(notIdentities, p.Name):
		case p.In == "path" && !has:
			t.Fatalf("%v: the fixture has no value for {%s}: make one in fixture_test.go", o, p.Name)
		case p.In == "path" || p.In == "query" && has && isIdentity(p.Name):
			places = append(places, place{p.In, p.Name})
		}
	}
	if body := d.resolve(o.Body); body != nil {
		for _, name := range slices.Sorted(maps.Keys(body.Properties)) {
			_, has := known[name]
			if p := (place{"body", name}); has && isIdentity(name) && !slices.Contains(notIdentities, name) && !chosen[o.String()+" "+p.String()] {
				places = append(places, p)
			}
		}
	}
	return places
}

func isIdentity(name string) bool {
	return strings.HasSuffix(name, "_id") || alias[name] != ""
}

// chosen are places whose value the caller makes up, so that nobody else's can
// be meant.
var chosen = map[string]bool{
	"POST /v2/user body client_user_id":             true,
	"PATCH /v2/user/{user_id} body client_user_id":  true,
	"POST /v2/user/{user_id}/device body device_id": true,
}

// somebody is a name for a user that no other has.
func somebody() string { return fmt.Sprintf("somebody-%06d", count.Add(1)) }
