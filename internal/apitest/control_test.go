package apitest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// control repeats every operation with the ids of the caller's own, which must
// be answered otherwise than unknown ids: else the comparison with another
// team's compared two answers that never looked. All that only reads shares a
// fixture; for each place of the others there is one, since some delete it.
func (s *service) control(t *testing.T, read *fixture) {
	t.Helper()
	for _, o := range s.doc.operations {
		for _, p := range read.identities(t, s.doc, o) {
			t.Run(fmt.Sprintf("%v with our own %v", o, p), func(t *testing.T) {
				t.Parallel()
				if o.Method == http.MethodGet {
					s.controlOne(t, o, p, read)
					return
				}
				own, mine := s.apart(t)
				own.controlOne(t, o, p, mine)
			})
		}
	}
}

func (s *service) controlOne(t *testing.T, o operation, p place, mine *fixture) {
	t.Helper()
	if prepare := before[o.String()]; prepare != nil {
		prepare(t, s, mine)
	}
	values := mine.knownTo(o)
	asked := s.whole(t, o, values, p)
	own := s.send(t, asked, s.Key)
	if own.status >= http.StatusInternalServerError {
		t.Errorf("%v was answered %d with ids of the caller's own: %.300s", o, own.status, own.body)
	}
	values[p.name] = unknownLike(p.of(values))
	other := s.send(t, s.whole(t, o, values, p), s.Key)
	same := own.status == other.status
	switch {
	case o.Method == http.MethodGet:
		same = same && steady(own.body) == steady(other.body)
	case same && warning[o.String()+" "+p.String()] != "":
		flagged := func(a answer) bool { return strings.Contains(string(a.body), warning[o.String()+" "+p.String()]) }
		same = flagged(own) == flagged(other)
	case same && itemwise(o): // what was stored already is told of otherwise than what is new
		again := s.send(t, asked, s.Key)
		same = steady(other.body) == steady(own.body) || steady(other.body) == steady(again.body)
	}
	if same && indifferent[o.String()+" "+p.String()] == "" && asSent[p.String()] == "" {
		t.Errorf("%v answers %d for the caller's own %v and for an unknown one: %.200s", o, own.status, p, own.body)
	}
}

// indifferent are places where an unknown value is answered like the caller's
// own, with the reason.
var indifferent = map[string]string{
	"GET /v2/team/outbox query order_id": "an order of which nothing was said has an empty outbox",
	"GET /v2/events query after_id":      "at the beginning no event came before, with which it could be compared",
}

// warning lists places where an unknown value is accepted with a warning, and
// the code of that warning.
var warning = map[string]string{
	"POST /v2/user/{user_id}/insurance body payor_code": `"payor_unknown"`,
}

// itemwise tells of operations that change things and say of each by itself what
// became of it, as a list does that is read.
func itemwise(o operation) bool {
	return o.String() == "POST /v3/order/resend_events" ||
		o.Method == http.MethodPost && (strings.HasPrefix(o.Path, "/v2/timeseries") || strings.HasPrefix(o.Path, "/v2/summary/"))
}

// asSent are places, of any operation, whose value is kept as it was sent, with the
// reason: no answer tells whether there is such a thing.
var asSent = map[string]string{
	"body data[].sleep_id": "a cycle may come before its night",
}

// before says what must have happened for an operation to find its object.
var before = map[string]func(t *testing.T, s *service, f *fixture){
	"POST /v2/user/undo_delete": func(t *testing.T, s *service, f *fixture) {
		s.make(t, "DELETE", "/v2/user/"+f.ids["user_id"], "")
	},
}
