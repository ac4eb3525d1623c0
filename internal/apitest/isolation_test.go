package apitest

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hale/internal/platform/store/storetest"
)

// Another team's id is an unknown id: the same status, the same body, and no
// trace of the other team in it. For every operation of the document and every
// id-shaped parameter, in the path, the query and the body.
func TestAnotherTeamsIDIsAnUnknownID(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := start(t, d)
		theirs := s.fixture(t)
		s.rest(t)
		before := s.seen(t, theirs)
		us := s.another("Us")
		ours := us.fixture(t)
		for _, o := range s.doc.operations {
			us.look(t, o, ours, theirs)
		}
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
		s.control(t, theirs)
	})
}

// compare sends a request that names their ids, and the same with ids that do
// not exist.
func (s *service) compare(t *testing.T, o operation, ours, theirs *fixture, foreign []place) {
	t.Helper()
	named, unknown := ours.knownTo(o), ours.knownTo(o)
	for _, p := range foreign {
		named[p.name] = p.of(theirs.knownTo(o))
		unknown[p.name] = unknownLike(named[p.name])
	}
	if asSent[foreign[0].String()] != "" { // what both change is there
		s.send(t, s.whole(t, o, ours.knownTo(o), foreign...), s.Key)
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
		ours := theirs.another("Us")
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

// unknownLike is an identity of the same form that nobody has.
func unknownLike(id string) string {
	if _, err := uuid.Parse(id); err == nil {
		return "019f0000-0000-7000-8000-000000000000"
	}
	if prefix, rest, ok := strings.Cut(id, "_"); ok && len(rest) > 10 {
		return prefix + "_" + rest[:6] + strings.Repeat("0", len(rest)-6)
	}
	return "nobody-at-all"
}

// changing are the parts of an answer that differ from call to call: names of
// the request, clocks, such as the sandbox's and the date of an export, and the
// seals of links, which tell until when these hold.
var changing = regexp.MustCompile(`"(request_id|created_on|created_at|updated_at|now)":"[^"]*"|"type":"collection","timestamp":"[^"]*"|\?token=[^"]*`)

func steady(body []byte) string { return changing.ReplaceAllString(string(body), "") }

// seen is what a team sees of its fixture: every plain read of the document.
func (s *service) seen(t *testing.T, f *fixture) string {
	t.Helper()
	var all strings.Builder
	for _, o := range s.doc.operations {
		if o.Method != http.MethodGet {
			continue
		}
		r := s.whole(t, o, f.knownTo(o))
		got := s.send(t, r, s.Key)
		fmt.Fprintf(&all, "%v %d %s\n", r, got.status, steady(got.body))
	}
	return all.String()
}
