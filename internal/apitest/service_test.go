package apitest

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"hale/internal/app"
	"hale/internal/app/apptest"
	"hale/internal/networks"
	"hale/internal/networks/networktest"
	"hale/internal/store/storetest"
)

// service is a running service with the document that it serves.
type service struct {
	*apptest.Service
	doc *document
}

func start(t *testing.T, d storetest.Database) *service {
	t.Helper()
	s := apptest.StartWith(t, d, func(o *app.Options) {
		o.Networks = []networks.Network{&networktest.Lab{Pending: true}} // orders stay where they are
	})
	status, text := s.Call("GET", "/openapi.json", "")
	if status != http.StatusOK {
		t.Fatalf("/openapi.json was answered %d", status)
	}
	return &service{s, parseDocument(t, text)}
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

// send sends a drawn or built request with a key, and no key when it is empty.
// Redirects are answers too.
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
	return answer{res.StatusCode, res.Header, text}
}

var transport = &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 4}
