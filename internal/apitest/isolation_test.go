package apitest

import (
	"bytes"
	"fmt"
	"net/http"
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
	named, unknown := ours.known(), ours.known()
	for _, p := range foreign {
		named[p.name] = theirs.known()[p.name]
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
	if steady(got.body) != steady(unheard.body) {
		t.Errorf("%v\ntells their id from an unknown one:\n%.500s\n%.500s", r, got.body, unheard.body)
	}
	for name, id := range theirs.ids {
		if bytes.Contains(got.body, []byte(id)) {
			t.Errorf("%v\nshows their %s: %.500s", r, name, got.body)
		}
	}
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
	values := mine.known()
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
