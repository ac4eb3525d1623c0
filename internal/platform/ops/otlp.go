package ops

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// otlpExporter posts spans to a collector as OTLP in JSON. The exporter of the
// OpenTelemetry project links 66 packages of gRPC, also for HTTP; see
// docs/decisions/0016-compile-time.md.
//
// https://opentelemetry.io/docs/specs/otlp/#otlphttp
type otlpExporter struct {
	url  string
	http *http.Client
}

func newOTLPExporter(url string) *otlpExporter {
	return &otlpExporter{url: url, http: &http.Client{Timeout: 10 * time.Second}}
}

type (
	otlpRequest struct {
		ResourceSpans []otlpResourceSpans `json:"resourceSpans"`
	}
	otlpResourceSpans struct {
		Resource   otlpResource     `json:"resource"`
		ScopeSpans []otlpScopeSpans `json:"scopeSpans"`
	}
	otlpResource struct {
		Attributes []otlpAttribute `json:"attributes"`
	}
	otlpScopeSpans struct {
		Scope otlpScope  `json:"scope"`
		Spans []otlpSpan `json:"spans"`
	}
	otlpScope struct {
		Name string `json:"name"`
	}
	otlpSpan struct {
		TraceID    string          `json:"traceId"`
		SpanID     string          `json:"spanId"`
		ParentID   string          `json:"parentSpanId,omitempty"`
		Name       string          `json:"name"`
		Kind       int             `json:"kind"`
		Start      string          `json:"startTimeUnixNano"`
		End        string          `json:"endTimeUnixNano"`
		Attributes []otlpAttribute `json:"attributes"`
		Status     otlpStatus      `json:"status"`
	}
	otlpAttribute struct {
		Key   string    `json:"key"`
		Value otlpValue `json:"value"`
	}
	otlpValue struct {
		String *string `json:"stringValue,omitempty"`
		Int    *string `json:"intValue,omitempty"` // 64-bit integers are strings in JSON
	}
	otlpStatus struct {
		Code int `json:"code,omitempty"`
	}
)

// ExportSpans posts spans. All of them have the same resource and scope: see newTraces.
func (e *otlpExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	scope := otlpScopeSpans{Scope: otlpScope{spans[0].InstrumentationScope().Name}}
	for _, s := range spans {
		scope.Spans = append(scope.Spans, otlpSpanOf(s))
	}
	body, err := json.Marshal(otlpRequest{[]otlpResourceSpans{{
		Resource: otlpResource{otlpAttributes(spans[0].Resource().Attributes())}, ScopeSpans: []otlpScopeSpans{scope},
	}}})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := e.http.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) // so that the connection is used again
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return fmt.Errorf("the collector answered %d", answer.StatusCode)
	}
	return nil
}

// Shutdown ends the exporter, which holds nothing.
func (*otlpExporter) Shutdown(context.Context) error { return nil }

func otlpSpanOf(s sdktrace.ReadOnlySpan) otlpSpan {
	at := func(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }
	span := otlpSpan{
		TraceID: s.SpanContext().TraceID().String(), SpanID: s.SpanContext().SpanID().String(), Name: s.Name(),
		Kind: int(s.SpanKind()), Start: at(s.StartTime()), End: at(s.EndTime()), Attributes: otlpAttributes(s.Attributes()),
	}
	if s.Parent().HasSpanID() {
		span.ParentID = s.Parent().SpanID().String()
	}
	switch s.Status().Code { // the protocol's numbers differ from the library's
	case codes.Ok:
		span.Status.Code = 1
	case codes.Error:
		span.Status.Code = 2
	case codes.Unset:
	}
	return span
}

func otlpAttributes(all []attribute.KeyValue) []otlpAttribute {
	found := make([]otlpAttribute, len(all))
	for i, a := range all {
		text := a.Value.String()
		found[i].Key = string(a.Key)
		if a.Value.Type() == attribute.INT64 {
			found[i].Value.Int = &text
		} else {
			found[i].Value.String = &text
		}
	}
	return found
}
