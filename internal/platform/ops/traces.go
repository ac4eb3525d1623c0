package ops

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Traces sends spans to a collector. A nil *Traces does nothing.
type Traces struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	carry    propagation.TraceContext
}

// NewTraces starts sending spans to an OTLP collector over HTTP. With an empty endpoint
// it returns nil. If the collector is unreachable, spans are lost, but requests
// succeed.
func NewTraces(endpoint, version string, log *slog.Logger) (*Traces, error) {
	if endpoint == "" {
		return nil, nil
	}
	target, err := tracesURL(endpoint)
	if err != nil {
		return nil, err
	}
	return newTraces(version, sdktrace.WithBatcher(&loggedExporter{newOTLPExporter(target), log})), nil
}

// loggedExporter logs spans that cannot be sent. Otherwise the SDK would pass the error
// to a handler that the whole process shares.
type loggedExporter struct {
	sdktrace.SpanExporter
	log *slog.Logger
}

func (e *loggedExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := e.SpanExporter.ExportSpans(ctx, spans); err != nil {
		e.log.Warn("traces cannot be sent", "error", err)
	}
	return nil
}

func newTraces(version string, where sdktrace.TracerProviderOption) *Traces {
	provider := sdktrace.NewTracerProvider(where, sdktrace.WithResource(resource.NewSchemaless(
		attribute.String("service.name", "hale"), attribute.String("service.version", version))))
	return &Traces{provider: provider, tracer: provider.Tracer("hale")}
}

// tracesURL adds the standard path to a collector's address without a path.
func tracesURL(endpoint string) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" {
		return "", fmt.Errorf("ops: the collector's address is not a URL")
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1/traces"
	}
	return u.String(), nil
}

// Close sends the remaining spans.
func (t *Traces) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// Middleware starts a span for each request, as a child of the caller's span if the
// request has one. It must wrap a chi router, whose template becomes the name of the
// span. The path may contain a person's id and never appears.
func (t *Traces) Middleware(next http.Handler) http.Handler {
	if t == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := t.carry.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		ctx, span := t.tracer.Start(ctx, "request", trace.WithSpanKind(trace.SpanKindServer))
		defer span.End()
		// A chi router fills an existing route context of the request, so that its
		// pattern can be read here.
		route := chi.NewRouteContext()
		answer := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		next.ServeHTTP(answer, r.WithContext(context.WithValue(ctx, chi.RouteCtxKey, route)))
		describe(span, routeOf(route.RoutePattern()), methodOf(r.Method), statusOf(answer))
	})
}

func describe(span trace.Span, route, method string, status int) {
	span.SetName(method + " " + route)
	span.SetAttributes(
		attribute.String("http.request.method", method),
		attribute.String("http.route", route),
		attribute.Int("http.response.status_code", status))
	if status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, "")
	}
}

// statusOf returns the status that was sent: 200 if the handler set none.
func statusOf(w middleware.WrapResponseWriter) int {
	if status := w.Status(); status != 0 {
		return status
	}
	return http.StatusOK
}
