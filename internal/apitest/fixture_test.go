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

// notIdentities are names of parameters and fields whose values belong to no
// team, with the reason. Every other path parameter, and everything that has the
// form of an identity, must have a value in the fixture: a new kind of id cannot
// go untested.
var notIdentities = map[string]string{
	"provider": "a word that everybody knows", "resource": "a word that everybody knows", "environment": "a word that everybody knows",
	"type": "a word that everybody knows", "event_type": "a word that everybody knows", "kind": "a word that everybody knows",
	"lab_id": "of the catalogue that all teams see", "provider_id": "a lab's or a maker's own code", "marker_id": "of the catalogue that all teams see",
	"question_id":            "of the catalogue that all teams see",
	"cancellation_reason_id": "of the list that all teams see", "cancellationReasonId": "of the list that all teams see",
	"app_id": "the name of an app", "source_app_id": "the name of an app",
	"member_id": "an insurer's own number", "group_id": "an insurer's own number", "provider_payor_id": "a code of the directory that all teams see",
	"creator_member_id": "whoever the team says it is; nothing has such an identity",
}

// alias are names under which the document asks for something that the fixture
// has under another.
var alias = map[string]string{
	"org_id": "team_id",   // each team is its own organisation
	"job_id": "import_id", // an import has its job's id

	"query_id_or_slug": "query_id",
	"after_id":         "message_id", // of an event

	"source_device_id":  "device_id",
	"wrong_lab_test_id": "lab_test_id",
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

// identities lists the places of an operation that take an identity, in the
// path, the query and the body.
func (f *fixture) identities(t *testing.T, d *document, o operation) []place {
	t.Helper()
	var all []place
	for _, p := range o.Params {
		if p.In == "path" || p.In == "query" && isIdentity(p.Name) {
			all = append(all, place{p.In, p.Name})
		}
	}
	all = append(all, d.identitiesOf(o.Body, "", 0)...)
	known := f.known()
	return slices.DeleteFunc(all, func(p place) bool {
		if notIdentities[p.key()] != "" || chosen[o.String()+" "+p.String()] != "" || chosen[p.String()] != "" {
			return true
		}
		if _, has := known[p.key()]; !has {
			t.Fatalf("%v: the fixture has no value for the %v: make one in fixture_test.go, or say why there is none", o, p)
		}
		return false
	})
}

// identitiesOf lists the fields of a body that have the form of an identity, by
// their paths, such as order_set.lab_test_ids[] and data[].source.device_id.
func (d *document) identitiesOf(s *schema, at string, depth int) (all []place) {
	if s = d.resolve(s); s == nil || depth > 8 {
		return nil
	}
	if name := (place{"body", at}).leaf(); s.Items == nil && isIdentity(name) {
		return []place{{"body", at}}
	}
	all = d.identitiesOf(s.Items, at+"[]", depth+1)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		all = append(all, d.identitiesOf(s.Properties[name], strings.TrimPrefix(at+"."+name, "."), depth+1)...)
	}
	for _, choice := range slices.Concat(s.AnyOf, s.OneOf, s.AllOf) {
		for _, p := range d.identitiesOf(choice, at, depth+1) {
			if !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	return all
}

func isIdentity(name string) bool {
	for _, ending := range []string{"_id", "_ids", "Id", "Ids"} {
		if strings.HasSuffix(name, ending) {
			return true
		}
	}
	return name == "id" || name == "ids" || name == "payor_code" || alias[name] != ""
}

// chosen are places whose value the caller makes up, or that are not looked at,
// so that nobody else's can be meant, with the reason: of one operation, or of
// all that have the place.
var chosen = map[string]string{
	"POST /v2/user body client_user_id":             "a new name",
	"PATCH /v2/user/{user_id} body client_user_id":  "a new name",
	"POST /v2/user/{user_id}/device body device_id": "the phone's own",

	"body data[].id":                "a read says it, and what is written leaves it out",
	"body data[].user_id":           "a read says it, and what is written leaves it out",
	"body data[].source_id":         "a read says it, and what is written leaves it out",
	"body data[].priority_id":       "a read says it, and what is written leaves it out",
	"body data[].source.workout_id": "of series; what is written of a summary leaves it out",
	"body data[].sport.id":          "of the list of sports that all teams see",
}

// somebody is a name for a user that no other has.
func somebody() string { return fmt.Sprintf("somebody-%06d", count.Add(1)) }
