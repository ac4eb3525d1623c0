package apitest

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hale/internal/app"
	"hale/internal/people/users"
	"hale/internal/platform/store/storetest"
)

// statements collects the SQL statements that the service runs, each with the
// arguments of its first run.
type statements struct {
	mu  sync.Mutex
	all map[string][]any
}

func (c *statements) add(text string, args []any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.all[text]; !known {
		c.all[text] = slices.Clone(args)
	}
}

var space = regexp.MustCompile(`\s+`)

// oneLine returns a statement in one line, as the tables of plans_test.go have it.
func oneLine(text string) string { return strings.TrimSpace(space.ReplaceAllString(text, " ")) }

// recordStatements runs the service until it has sent nearly every statement that
// it can send. It calls each operation with each of its filters and runs the
// background jobs. It deletes a user and waits for the erasure a week later. Then
// it stops the service.
func recordStatements(t *testing.T, d storetest.Database) map[string][]any {
	t.Helper()
	collected := &statements{all: map[string][]any{}}
	t.Run("recording", func(t *testing.T) { collected.story(t, d) })
	return collected.all
}

func (c *statements) story(t *testing.T, d storetest.Database) {
	t.Helper()
	var ahead atomic.Int64
	s := start(t, d, func(o *app.Options) {
		o.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		o.AnyClock = true
		o.Statement = c.add
	})
	s.keyed = true
	f := s.fixture(t)
	s.fixture(t) // its rows stay
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodGet, http.MethodDelete} {
		for _, o := range s.doc.operations {
			if o.Method == method && o.String() != deleteUser {
				s.tryAll(t, o, f)
			}
		}
	}
	for _, failed := range []string{"/v2/jobs?status=failed", "/v2/team/outbox?state=failed"} { // have an index of their own
		s.requestObject(t, "GET", failed, "")
	}
	s.settle(t)
	s.requestObject(t, "DELETE", "/v2/user/"+f.ids["user_id"], "")
	for _, later := range []time.Duration{time.Hour, 25 * time.Hour, users.Grace + time.Hour} {
		ahead.Store(int64(later))
		time.Sleep(500 * time.Millisecond)
	}
	waitUntil(t, "the erasure", func() bool { return s.count(t, erasures) > 0 })
	ahead.Store(int64(400 * 24 * time.Hour))
	time.Sleep(time.Second)
}

const erasures = `SELECT COUNT(*) FROM jobs WHERE kind = 'users.erase' AND status = 'succeeded'`

const deleteUser = "DELETE /v2/user/{user_id}"

// tryAll sends an operation as plain as possible, with each optional parameter of
// its query alone, and with all of them. Refused combinations do not matter.
func (s *service) tryAll(t *testing.T, o operation, f *fixture) {
	t.Helper()
	values := f.valuesFor(o)
	var every []place
	s.send(t, s.minimalRequest(t, o, values), s.Key)
	for _, p := range o.Params {
		if p.In == "query" && !p.Required {
			every = append(every, place{"query", p.Name})
			s.send(t, s.minimalRequest(t, o, values, place{"query", p.Name}), s.Key)
		}
	}
	if len(every) > 1 {
		s.send(t, s.minimalRequest(t, o, values, every...), s.Key)
	}
}
