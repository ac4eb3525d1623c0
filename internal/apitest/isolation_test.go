package apitest

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"testing"

	"hale/internal/store/storetest"
)

// Another team's id is an unknown id: the same status, the same body, and no
// trace of the other team in it. For every operation of the document and every
// id-shaped parameter, in the path, the query and the body.
func TestAnotherTeamsIDIsAnUnknownID(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := start(t, d)
		theirs := s.fixture(t)
		before := s.seen(t, theirs)
		us := &service{s.NewTeam("Us"), s.doc}
		ours := us.fixture(t)
		for _, o := range s.doc.operations {
			for _, foreign := range combinations(theirs.identities(t, s.doc, o)) {
				t.Run(fmt.Sprintf("%v with their %v", o, foreign), func(t *testing.T) {
					us.compare(t, o, ours, theirs, foreign)
				})
			}
			us.look(t, o, ours, theirs)
		}
		if after := s.seen(t, theirs); after != before {
			t.Errorf("the other team changed something:\nbefore %s\nafter  %s", before, after)
		}
		s.control(t)
	})
}

// compare sends a request that names their ids, and the same with ids that do
// not exist.
func (s *service) compare(t *testing.T, o operation, ours, theirs *fixture, foreign []place) {
	t.Helper()
	named, unknown := ours.knownTo(o), ours.knownTo(o)
	for _, p := range foreign {
		named[p.name] = theirs.knownTo(o)[p.name]
		unknown[p.name] = unknownLike(named[p.name])
	}
	// The unknown one first: whichever is second may not be answered better.
	unheard := s.send(t, s.whole(t, o, unknown, foreign...), s.Key)
	r := s.whole(t, o, named, foreign...)
	got := s.send(t, r, s.Key)
	if got.status != unheard.status {
		t.Errorf("%v\nwas answered %d, an unknown id %d\n%.300s\n%.300s", r, got.status, unheard.status, got.body, unheard.body)
	}
	for _, p := range foreign {
		got.body = bytes.ReplaceAll(got.body, []byte(named[p.name]), []byte("ID"))
		unheard.body = bytes.ReplaceAll(unheard.body, []byte(unknown[p.name]), []byte("ID"))
	}
	if got.status == http.StatusAccepted { // each began a run of its own, which finds out later
		got.body, unheard.body = begun.ReplaceAll(got.body, nil), begun.ReplaceAll(unheard.body, nil)
	}
	if steady(got.body) != steady(unheard.body) {
		t.Errorf("%v\ntells their id from an unknown one:\n%.500s\n%.500s", r, got.body, unheard.body)
	}
	theirs.absent(t, r, got)
}

// begun is the identity of a run that a request began.
var begun = regexp.MustCompile(`"run_id":"[^"]*"`)

// look reads with nothing but the caller's own ids: lists, counts, searches.
func (s *service) look(t *testing.T, o operation, ours, theirs *fixture) {
	t.Helper()
	if o.Method == http.MethodGet {
		r := s.whole(t, o, ours.knownTo(o))
		theirs.absent(t, r, s.send(t, r, s.Key))
	}
}

// absent fails when an answer to somebody else shows an identity of f.
func (f *fixture) absent(t *testing.T, r request, got answer) {
	t.Helper()
	for name, id := range f.ids {
		if bytes.Contains(got.body, []byte(id)) {
			t.Errorf("%v\nshows another team's %s: %.500s", r, name, got.body)
		}
	}
}

// A key for repeated requests means something only within its team.
func TestIdempotencyKeysBelongToATeam(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		theirs := start(t, d)
		ours := &service{theirs.NewTeam("Us"), theirs.doc}
		r := request{
			method: "POST", path: "/v2/user", body: []byte(`{"client_user_id":"the-same"}`),
			headers: map[string]string{"content-type": "application/json", "idempotency-key": "one-key"},
		}
		first := theirs.send(t, r, theirs.Key)
		again := theirs.send(t, r, theirs.Key)
		other := ours.send(t, r, ours.Key)
		if first.status/100 != 2 || !bytes.Equal(first.body, again.body) {
			t.Fatalf("the same request twice was answered %d %s and %d %s", first.status, first.body, again.status, again.body)
		}
		if other.status/100 != 2 || bytes.Equal(first.body, other.body) {
			t.Errorf("another team's request was answered %d %s", other.status, other.body)
		}
	})
}

// control repeats every operation with the ids of the caller's own, which must
// be answered otherwise than unknown ids: else the comparison above compared
// two answers that never looked. Each place has a fixture of its own, since
// some operations delete it.
func (s *service) control(t *testing.T) {
	t.Helper()
	places := s.fixture(t)
	for _, o := range s.doc.operations {
		for _, p := range places.identities(t, s.doc, o) {
			t.Run(fmt.Sprintf("%v with our own %v", o, p), func(t *testing.T) { s.controlOne(t, o, p) })
		}
	}
}

func (s *service) controlOne(t *testing.T, o operation, p place) {
	t.Helper()
	mine := s.fixture(t)
	if prepare := before[o.String()]; prepare != nil {
		prepare(t, s, mine)
	}
	values := mine.knownTo(o)
	own := s.send(t, s.whole(t, o, values, p), s.Key)
	if own.status >= http.StatusInternalServerError {
		t.Errorf("%v was answered %d with ids of the caller's own: %.300s", o, own.status, own.body)
	}
	values[p.name] = unknownLike(values[p.name])
	other := s.send(t, s.whole(t, o, values, p), s.Key)
	if own.status == other.status && indifferent[o.String()+" "+p.String()] == "" {
		t.Errorf("%v answers %d for the caller's own %v and for an unknown one: %.200s", o, own.status, p, own.body)
	}
}

// combinations lists which ids are theirs: each alone, and all of the path.
func combinations(places []place) [][]place {
	var all [][]place
	var path []place
	for _, p := range places {
		all = append(all, []place{p})
		if p.in == "path" {
			path = append(path, p)
		}
	}
	if len(path) > 1 {
		all = append(all, path)
	}
	return all
}
