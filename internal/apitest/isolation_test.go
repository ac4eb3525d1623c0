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

// Another team's id gets the same answer as an unknown id: the same status and body,
// without any trace of the other team. This holds for every operation of the document
// and every id in the path, the query and the body.
func TestAnotherTeamsIDIsUnknown(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := start(t, d)
		theirs := s.fixture(t)
		s.settleJobs(t)
		before := s.readAll(t, theirs)
		us := s.newTeam("Us")
		ours := us.fixture(t)
		for _, o := range s.doc.operations {
			us.checkReads(t, o, ours, theirs)
		}
		for _, o := range s.doc.operations {
			for _, foreign := range combinations(theirs.identities(t, s.doc, o)) {
				t.Run(fmt.Sprintf("%v with their %v", o, foreign), func(t *testing.T) {
					caller := us
					if o.Path == "/v2/audit" { // lists the caller's own requests of the last second
						caller = s.newTeam("Without requests")
					}
					caller.compare(t, o, ours, theirs, foreign)
				})
			}
		}
		if after := s.readAll(t, theirs); after != before {
			t.Errorf("the other team changed something:\nbefore %s\nafter  %s", before, after)
		}
		s.checkOwnIDs(t, theirs)
	})
}

// compare sends a request with the other team's ids, and the same request with unknown
// ids.
func (s *service) compare(t *testing.T, o operation, ours, theirs *fixture, foreign []place) {
	t.Helper()
	named, unknown := ours.valuesFor(o), ours.valuesFor(o)
	for _, p := range foreign {
		named[p.name] = p.value(theirs.valuesFor(o))
		unknown[p.name] = unknownLike(named[p.name])
	}
	if storedAsSent[foreign[0].String()] != "" { // create the object that both requests change
		s.send(t, s.minimalRequest(t, o, ours.valuesFor(o), foreign...), s.Key)
	}
	// The unknown id is first, because a second answer may differ.
	unheard := s.send(t, s.minimalRequest(t, o, unknown, foreign...), s.Key)
	r := s.minimalRequest(t, o, named, foreign...)
	got := s.send(t, r, s.Key)
	if got.status != unheard.status {
		t.Errorf("%v\nwas answered %d, an unknown id %d\n%.300s\n%.300s", r, got.status, unheard.status, got.body, unheard.body)
	}
	for _, p := range foreign {
		got.body = bytes.ReplaceAll(got.body, []byte(named[p.name]), []byte("ID"))
		unheard.body = bytes.ReplaceAll(unheard.body, []byte(unknown[p.name]), []byte("ID"))
	}
	if got.status == http.StatusAccepted { // each started its own run, which fails later
		got.body, unheard.body = runID.ReplaceAll(got.body, nil), runID.ReplaceAll(unheard.body, nil)
	}
	if withoutVolatileParts(got.body) != withoutVolatileParts(unheard.body) {
		t.Errorf("%v\ntells their id from an unknown one:\n%.500s\n%.500s", r, got.body, unheard.body)
	}
	theirs.checkAbsent(t, r, got)
}

// runID matches the id of a run that a request started.
var runID = regexp.MustCompile(`"run_id":"[^"]*"`)

// checkReads reads with the caller's own ids only: lists, counts, searches.
func (s *service) checkReads(t *testing.T, o operation, ours, theirs *fixture) {
	t.Helper()
	if o.Method == http.MethodGet {
		r := s.minimalRequest(t, o, ours.valuesFor(o))
		theirs.checkAbsent(t, r, s.send(t, r, s.Key))
	}
}

// checkAbsent fails if an answer contains an id of f.
func (f *fixture) checkAbsent(t *testing.T, r request, got answer) {
	t.Helper()
	for name, id := range f.ids {
		if bytes.Contains(got.body, []byte(id)) {
			t.Errorf("%v\nshows another team's %s: %.500s", r, name, got.body)
		}
	}
}

// An idempotency key is valid only within its team.
func TestIdempotencyKeysBelongToATeam(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		theirs := start(t, d)
		ours := theirs.newTeam("Us")
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

// combinations returns sets of places for the other team's ids: each place alone, and
// all places of the path.
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

// unknownLike returns an unknown id of the same form.
func unknownLike(id string) string {
	if _, err := uuid.Parse(id); err == nil {
		return "019f0000-0000-7000-8000-000000000000"
	}
	if prefix, rest, ok := strings.Cut(id, "_"); ok && len(rest) > 10 {
		return prefix + "_" + rest[:6] + strings.Repeat("0", len(rest)-6)
	}
	return "no-such-user"
}

// volatileParts matches the parts of an answer that differ between calls:
//
//   - the ids of requests
//   - times such as the sandbox's clock and the date of an export
//   - the tokens of links, which contain their expiry
var volatileParts = regexp.MustCompile(`"(request_id|created_on|created_at|updated_at|at|now)":"[^"]*"|"type":"collection","timestamp":"[^"]*"|\?token=[^"]*`)

func withoutVolatileParts(body []byte) string {
	return volatileParts.ReplaceAllString(string(body), "")
}

// changesByItself has the paths whose answers change without a change by the caller. The
// audit log records each read, and jobs begin at a later time.
var changesByItself = map[string]bool{
	"/v2/audit": true, "/v2/jobs": true, "/aggregate/v1/user/{user_id}/continuous_query/{query_id_or_slug}/task_history": true,
}

// readAll returns the team's view of its fixture: every plain read of the document.
func (s *service) readAll(t *testing.T, f *fixture) string {
	t.Helper()
	var all strings.Builder
	for _, o := range s.doc.operations {
		if o.Method != http.MethodGet || changesByItself[o.Path] {
			continue
		}
		r := s.minimalRequest(t, o, f.valuesFor(o))
		got := s.send(t, r, s.Key)
		fmt.Fprintf(&all, "%v %d %s\n", r, got.status, withoutVolatileParts(got.body))
	}
	return all.String()
}

// checkOwnIDs repeats every operation with the caller's own ids, which must get other
// answers than unknown ids. Otherwise the comparison with another team's ids would
// prove nothing. Reads share a fixture. Each place of the other operations has its own,
// because some delete it.
func (s *service) checkOwnIDs(t *testing.T, read *fixture) {
	t.Helper()
	for _, o := range s.doc.operations {
		for _, p := range read.identities(t, s.doc, o) {
			t.Run(fmt.Sprintf("%v with our own %v", o, p), func(t *testing.T) {
				t.Parallel()
				if o.Method == http.MethodGet {
					s.checkOwnID(t, o, p, read)
					return
				}
				own, mine := s.newTeamWithFixture(t)
				own.checkOwnID(t, o, p, mine)
			})
		}
	}
}

func (s *service) checkOwnID(t *testing.T, o operation, p place, mine *fixture) {
	t.Helper()
	if prepare := preparations[o.String()]; prepare != nil {
		prepare(t, s, mine)
	}
	values := mine.valuesFor(o)
	asked := s.minimalRequest(t, o, values, p)
	own := s.send(t, asked, s.Key)
	if own.status >= http.StatusInternalServerError {
		t.Errorf("%v was answered %d with ids of the caller's own: %.300s", o, own.status, own.body)
	}
	values[p.name] = unknownLike(p.value(values))
	other := s.send(t, s.minimalRequest(t, o, values, p), s.Key)
	same := own.status == other.status
	switch {
	case o.Method == http.MethodGet:
		same = same && withoutVolatileParts(own.body) == withoutVolatileParts(other.body)
	case same && warning[o.String()+" "+p.String()] != "":
		flagged := func(a answer) bool { return strings.Contains(string(a.body), warning[o.String()+" "+p.String()]) }
		same = flagged(own) == flagged(other)
	case same && reportsItems(o): // the answer about an existing item differs from that about a new one
		again := s.send(t, asked, s.Key)
		same = withoutVolatileParts(other.body) == withoutVolatileParts(own.body) || withoutVolatileParts(other.body) == withoutVolatileParts(again.body)
	}
	if same && sameForUnknown[o.String()+" "+p.String()] == "" && storedAsSent[p.String()] == "" {
		t.Errorf("%v answers %d for the caller's own %v and for an unknown one: %.200s", o, own.status, p, own.body)
	}
}

// sameForUnknown are places where an unknown value gets the same answer as the caller's
// own, with the reason.
var sameForUnknown = map[string]string{
	"GET /v2/team/outbox query order_id":          "an order of which nothing was said has an empty outbox",
	"POST /v3/fulfilment/{partner} body order_id": "the signature is checked first",
	"GET /v2/events query after_id":               "at the beginning no event came before, with which it could be compared",
}

// warning lists places where an unknown value is accepted with a warning, and the code
// of that warning.
var warning = map[string]string{
	"POST /v2/user/{user_id}/insurance body payor_code": `"payor_unknown"`,
}

// reportsItems reports whether a changing operation reports the result of each item.
func reportsItems(o operation) bool {
	return o.String() == "POST /v3/order/resend_events" ||
		o.Method == http.MethodPost && (strings.HasPrefix(o.Path, "/v2/timeseries") || strings.HasPrefix(o.Path, "/v2/summary/"))
}

// storedAsSent are places, in any operation, whose value is stored as sent, with the reason.
// No answer reveals whether the object exists.
var storedAsSent = map[string]string{
	"body data[].sleep_id": "a cycle may come before its night",
}

// preparations prepares an operation whose object needs an earlier request.
var preparations = map[string]func(t *testing.T, s *service, f *fixture){
	"POST /v2/user/undo_delete": func(t *testing.T, s *service, f *fixture) {
		s.requestObject(t, "DELETE", "/v2/user/"+f.ids["user_id"], "")
	},
}
