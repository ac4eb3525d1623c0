package api

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// deadlines is a response whose connection records its read deadlines.
type deadlines struct {
	*httptest.ResponseRecorder
	set []time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error {
	d.set = append(d.set, t)
	return nil
}

func TestABodyHasTimeAndItsRequestToo(t *testing.T) {
	w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	began := time.Now()
	extendReadDeadline(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			t.Error(err)
		}
		if len(w.set) < 2 || w.set[0].Before(began.Add(maxReadPause)) {
			t.Fatalf("deadlines while reading: %v", w.set)
		}
		if last := w.set[len(w.set)-1]; !last.IsZero() {
			t.Errorf("a deadline stays while the request is carried out: %v", last)
		}
	})).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader("{}")))
}
