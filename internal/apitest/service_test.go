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

	"hale/internal/app"
	"hale/internal/app/apptest"
	"hale/internal/labs/networks"
	"hale/internal/labs/networks/networktest"
	"hale/internal/platform/store/storetest"
)

// service is a running service, as one of its teams calls it, with the document
// that it serves.
type service struct {
	*apptest.Service
	doc      *document
	promises *promises
	// keyed sends every creation with an Idempotency-Key of its own, so that its
	// answer is kept.
	keyed bool
}

// start starts a service whose lab leaves orders where they are.
func start(t *testing.T, d storetest.Database, change ...func(*app.Options)) *service {
	t.Helper()
	s := &service{promises: promised(t), Service: apptest.StartWith(t, d, func(o *app.Options) {
		o.Networks = []networks.Network{&networktest.Lab{Pending: true}}
		for _, fn := range change {
			fn(o)
		}
	})}
	s.doc = parseDocument(t, s.good(t, "GET", "/openapi.json", ""))
	return s
}

// another is the same service for a team of its own.
func (s *service) another(name string) *service {
	return &service{s.NewTeam(name), s.doc, s.promises, s.keyed}
}

// answer is what came back.
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

// send sends a drawn or built request with a key, and no key when it is empty,
// and holds the answer against the reference's contract. Redirects are answers
// too.
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
	if s.doc == nil { // the document itself
		return got
	}
	if err := s.promises.hold(s.doc, r, got); err != nil {
		t.Fatalf("%v\n%v\nanswer: %.1500s", r, err, got.body)
	}
	return got
}

var transport = &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 4}

// good sends a request that must succeed.
func (s *service) good(t *testing.T, method, path, body string) []byte {
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

// make sends a request that must succeed and returns the object it answers,
// nil for one that answers none.
func (s *service) make(t *testing.T, method, path, body string) map[string]any {
	t.Helper()
	text := s.good(t, method, path, body)
	if len(text) == 0 || text[0] != '{' {
		return nil
	}
	return mustDecode(t, string(text)).(map[string]any)
}

// field is make for one field of the answer.
func (s *service) field(t *testing.T, method, path, body, name string) string {
	t.Helper()
	value := s.make(t, method, path, body)[name]
	if value == nil {
		t.Fatalf("%s %s answered no %s", method, path, name)
	}
	return fmt.Sprint(value)
}

// get reads into v what must be there.
func (s *service) get(t *testing.T, path string, v any) {
	t.Helper()
	if err := json.Unmarshal(s.good(t, "GET", path, ""), v); err != nil {
		t.Fatalf("GET %s: %v", path, err)
	}
}

// await asks until it is done.
func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(90 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
