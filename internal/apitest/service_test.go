package apitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/api/codetest"
	"hale/internal/app"
	"hale/internal/app/apptest"
	"hale/internal/labs/networks"
	"hale/internal/labs/networks/networktest"
	"hale/internal/platform/store/storetest"
)

// service is a running service with its document, called as one of its teams.
type service struct {
	*apptest.Service
	doc      *document
	promises *contractCheck
	// keyed sends every creation with a separate Idempotency-Key, so that its answer is
	// stored.
	keyed bool
}

// start starts a service whose lab does not advance orders.
func start(t *testing.T, d storetest.Database, change ...func(*app.Options)) *service {
	t.Helper()
	s := &service{promises: loadContractCheck(t), Service: apptest.StartWith(t, d, func(o *app.Options) {
		o.Networks = []networks.Network{&networktest.Lab{Pending: true}}
		for _, fn := range change {
			fn(o)
		}
	})}
	s.doc = parseDocument(t, s.requestOK(t, "GET", "/openapi.json", ""))
	return s
}

// newTeam returns the same service for a new team.
func (s *service) newTeam(name string) *service {
	return &service{s.NewTeam(name), s.doc, s.promises, s.keyed}
}

// answer is an HTTP response.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// fataler is a *testing.T or a *rapid.T.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// send sends a request with a key, or without one if the key is empty, and checks the
// answer against the reference's contract. It does not follow redirects.
func (s *service) send(t fataler, r request, key string) answer {
	t.Helper()
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	req, err := http.NewRequest(r.method, s.URL()+r.path, body)
	if err != nil {
		t.Fatalf("%v: %v", r, err)
	}
	for name, value := range r.headers {
		req.Header.Set(name, value)
	}
	if key != "" {
		req.Header.Set("x-service-api-key", key)
	}
	res, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatalf("%v: %v", r, err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%v: reading the answer: %v", r, err)
	}
	got := answer{res.StatusCode, res.Header, text}
	if err := codetest.Check(s.Handler(), r.method, r.path, text); err != nil {
		t.Fatalf("%v\n%v\nanswer: %.1500s", r, err, text)
	}
	if s.doc == nil { // the document itself
		return got
	}
	if err := s.promises.checkAnswer(s.doc, r, got); err != nil {
		t.Fatalf("%v\n%v\nanswer: %.1500s", r, err, got.body)
	}
	return got
}

var transport = &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 4}

// requestOK sends a request that must succeed.
func (s *service) requestOK(t *testing.T, method, path, body string) []byte {
	t.Helper()
	r := request{method: method, path: path, headers: map[string]string{"content-type": "application/json"}}
	if body != "" {
		r.body = []byte(body)
	}
	if s.keyed && method == "POST" {
		r.headers["idempotency-key"] = uuid.NewString()
	}
	got := s.send(t, r, s.Key)
	if got.status/100 != 2 {
		t.Fatalf("%s %s was answered %d: %.500s", method, path, got.status, got.body)
	}
	return got.body
}

// requestObject sends a request that must succeed and returns the object of the answer,
// nil if it has no body.
func (s *service) requestObject(t *testing.T, method, path, body string) map[string]any {
	t.Helper()
	text := s.requestOK(t, method, path, body)
	if len(text) == 0 || text[0] != '{' {
		return nil
	}
	return mustDecode(t, string(text)).(map[string]any)
}

// requestField sends a request that must succeed and returns one field of the answer as
// text.
func (s *service) requestField(t *testing.T, method, path, body, name string) string {
	t.Helper()
	value := s.requestObject(t, method, path, body)[name]
	if value == nil {
		t.Fatalf("%s %s answered no %s", method, path, name)
	}
	return fmt.Sprint(value)
}

// get decodes the answer, which must be 200, into v.
func (s *service) get(t *testing.T, path string, v any) {
	t.Helper()
	if err := json.Unmarshal(s.requestOK(t, "GET", path, ""), v); err != nil {
		t.Fatalf("GET %s: %v", path, err)
	}
}

// waitUntil polls until done returns true. Under the race detector, tests of all operations
// run at once and their jobs may wait for minutes.
func waitUntil(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
