package apitest

import (
	"net/http"
	"testing"

	"pgregory.net/rapid"

	"hale/internal/platform/store/storetest"
)

// Whatever a caller sends, the answer is one that the document declares, and a
// fault is the caller's. rapid shrinks a failure to one curl line. What only
// reads shares a fixture; everything else has a team of its own to spoil.
func TestEveryAnswerIsInTheDocument(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := start(t, d)
		read := s.fixture(t)
		for _, o := range s.doc.operations {
			t.Run(o.String(), func(t *testing.T) {
				t.Parallel()
				own, f := s, read
				if o.Method != http.MethodGet {
					own, f = s.apart(t)
				}
				g := generator{s.doc, f.knownTo(o)}
				rapid.Check(t, func(rt *rapid.T) {
					r := g.request(rt, o)
					own.judge(rt, o, r, own.send(rt, r, own.Key))
				})
			})
		}
	})
}

// judge fails when an answer breaks the document or the house's rules.
func (s *service) judge(t fataler, o operation, r request, got answer) {
	t.Helper()
	if got.status >= http.StatusInternalServerError {
		t.Fatalf("%v\nwas answered %d: %.500s", r, got.status, got.body)
	}
	if got.header.Get("x-request-id") == "" {
		t.Fatalf("%v\nwas answered without x-request-id", r)
	}
	if err := s.doc.check(o, got.status, got.header.Get("content-type"), got.body); err != nil {
		t.Fatalf("%v\n%v\nanswer: %.500s", r, err, got.body)
	}
	if got.status >= http.StatusBadRequest {
		if err := checkRefusal(got.status, got.body); err != nil {
			t.Fatalf("%v\nwas refused with %d: %v: %.500s", r, got.status, err, got.body)
		}
	}
}

// Without a key, and with one that nobody has, every operation that needs one
// answers 401 and nothing else, whatever the rest of the request.
func TestEveryOperationWantsAKey(t *testing.T) {
	s := start(t, storetest.NewSQLite(t))
	known := s.fixture(t).known()
	for _, o := range s.doc.operations {
		if o.Public {
			continue
		}
		for _, key := range []string{"", "sk_nobody_has_this_key"} {
			r := s.whole(t, o, known)
			got := s.send(t, r, key)
			if got.status != http.StatusUnauthorized {
				t.Errorf("%v with key %q was answered %d", r, key, got.status)
			}
			s.judge(t, o, r, got)
		}
	}
}
