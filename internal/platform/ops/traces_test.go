package ops

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// tracedHandler returns a small router with spans.
func tracedHandler(t *testing.T) (http.Handler, *tracetest.SpanRecorder) {
	t.Helper()
	spans := tracetest.NewSpanRecorder()
	router := chi.NewRouter()
	router.Get("/v2/user/{user_id}", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, chi.URLParam(r, "user_id"))
	})
	router.Get("/broken", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	return newTraces("test", sdktrace.WithSpanProcessor(spans)).Middleware(router), spans
}

func get(service http.Handler, target string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	service.ServeHTTP(w, r)
	return w
}

func TestSpanHasTheTemplateNotThePath(t *testing.T) {
	service, spans := tracedHandler(t)
	for target, want := range map[string]string{
		"/v2/user/canary-id?dob=canary": "GET /v2/user/{user_id} 200",
		"/canary/nowhere":               "GET unmatched 404",
		"/broken":                       "GET /broken 502",
	} {
		answer := get(service, target)
		if target == "/v2/user/canary-id?dob=canary" && answer.Body.String() != "canary-id" {
			t.Errorf("the handler sees %q for the parameter", answer.Body)
		}
		ended := spans.Ended()
		span := ended[len(ended)-1]
		values := map[string]string{}
		for _, a := range span.Attributes() {
			values[string(a.Key)] = a.Value.String()
			if strings.Contains(a.Value.String(), "canary") {
				t.Errorf("%s: attribute %s holds the path", target, a.Key)
			}
		}
		if got := span.Name() + " " + values["http.response.status_code"]; got != want {
			t.Errorf("%s: span %q, want %q", target, got, want)
		}
	}
}

func TestSpanContinuesTheCallersTrace(t *testing.T) {
	service, spans := tracedHandler(t)
	get(service, "/broken", "traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	if got := spans.Ended()[0].SpanContext().TraceID().String(); got != "0af7651916cd43dd8448eb211c80319c" {
		t.Errorf("trace id = %s", got)
	}
}

// A collector receives the spans over HTTP. An unreachable one affects no request.
func TestSpansReachACollector(t *testing.T) {
	got, bodies := make(chan string, 8), make(chan []byte, 8)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- r.URL.Path
		bodies <- body
	}))
	traces, err := NewTraces(collector.URL, "v1", Discard())
	if err != nil {
		t.Fatal(err)
	}
	get(traces.Middleware(http.NotFoundHandler()), "/x")
	if err := traces.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if path := <-got; path != "/v1/traces" {
		t.Errorf("posted to %s", path)
	}
	var sent otlpRequest
	if err := json.Unmarshal(<-bodies, &sent); err != nil || len(sent.ResourceSpans) != 1 {
		t.Fatalf("%+v %v", sent, err)
	}
	resource := sent.ResourceSpans[0]
	span := resource.ScopeSpans[0].Spans[0]
	if len(span.TraceID) != 32 || len(span.SpanID) != 16 || span.Name != "GET unmatched" || span.Kind != 2 || span.Start >= span.End ||
		*span.Attributes[2].Value.Int != "404" || *resource.Resource.Attributes[0].Value.String != "hale" {
		t.Errorf("span %+v of %+v", span, resource.Resource)
	}
	collector.Close()

	var log bytes.Buffer
	away, err := NewTraces(collector.URL, "v1", NewLogger(&log, "text", "info"))
	if err != nil {
		t.Fatal(err)
	}
	if w := get(away.Middleware(http.NotFoundHandler()), "/x"); w.Code != http.StatusNotFound {
		t.Errorf("status %d", w.Code)
	}
	ended, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	_ = away.Close(ended)
	if !strings.Contains(log.String(), "traces") {
		t.Errorf("the log does not say that spans were lost: %q", log.String())
	}
}

func TestNilTraces(t *testing.T) {
	none, err := NewTraces("", "v1", Discard())
	if none != nil || err != nil {
		t.Errorf("no endpoint: %v, %v", none, err)
	}
	if w := get(none.Middleware(http.NotFoundHandler()), "/x"); w.Code != http.StatusNotFound {
		t.Errorf("status %d", w.Code)
	}
	if err := none.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTracesURL(t *testing.T) {
	for endpoint, want := range map[string]string{
		"http://collector:4318":        "http://collector:4318/v1/traces",
		"http://collector:4318/":       "http://collector:4318/v1/traces",
		"https://c.example/otlp/trace": "https://c.example/otlp/trace",
	} {
		if got, err := tracesURL(endpoint); err != nil || got != want {
			t.Errorf("tracesURL(%s) = %s, %v, want %s", endpoint, got, err, want)
		}
	}
}
