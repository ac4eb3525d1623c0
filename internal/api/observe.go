package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/google/uuid"
)

// logFields contains the fields of a request's log line that later handlers add.
type logFields struct {
	id   string
	team string
}

type seenKey struct{}

// requestID returns the id of the request, which is also in the answer.
func requestID(ctx context.Context) string {
	if s, ok := ctx.Value(seenKey{}).(*logFields); ok {
		return s.id
	}
	return ""
}

// NoteTeam adds the team to the request's log line.
func NoteTeam(ctx context.Context, team string) {
	if s, ok := ctx.Value(seenKey{}).(*logFields); ok {
		s.team = team
	}
}

// observe assigns the id of the request, recovers panics, and writes one log line and
// one measurement at the end. Both contain the route template, never the address.
func (a *API) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		about := &logFields{id: r.Header.Get("X-Request-Id")}
		if !plainID(about.id) {
			about.id = uuid.Must(uuid.NewV7()).String()
		}
		w.Header().Set("X-Request-Id", about.id)
		answer := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		r = r.WithContext(context.WithValue(r.Context(), seenKey{}, about))
		defer func() {
			if p := recover(); p != nil {
				a.panicked(answer, r, p)
			}
			a.finish(answer, r, about, time.Since(start))
		}()
		next.ServeHTTP(answer, r)
	})
}

func (a *API) finish(w middleware.WrapResponseWriter, r *http.Request, about *logFields, took time.Duration) {
	status, route := w.Status(), ""
	if status == 0 {
		status = http.StatusOK // the handler wrote nothing, so net/http sends 200
	}
	if rc := chi.RouteContext(r.Context()); rc != nil {
		route = rc.RoutePattern()
	}
	a.Metrics.Request(route, r.Method, status, took)
	level := levelOf(route, r.Method, status)
	if !a.Log.Enabled(r.Context(), level) {
		return
	}
	a.Log.LogAttrs(r.Context(), level, "request",
		slog.String("method", r.Method), slog.String("route", route), slog.Int("status", status),
		slog.Duration("took", took), slog.Int("bytes", w.BytesWritten()),
		slog.String("team", about.team), slog.String("request_id", about.id))
}

// levelOf returns the level of a request's log line. Successful reads are counted but
// not logged: they are most of the traffic, and logging one costs a tenth of answering it.
// Probes are not logged either, because ops logs changes of their answers.
func levelOf(route, method string, status int) slog.Level {
	switch {
	case route == "/livez" || route == "/readyz":
		return slog.LevelDebug
	case status >= http.StatusInternalServerError:
		return slog.LevelError
	case status < http.StatusBadRequest && (method == http.MethodGet || method == http.MethodHead):
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// panicked logs the place and the type of a panic. It includes the text only of the
// runtime's own errors (such as index out of range), because other texts may contain
// private data.
func (a *API) panicked(w middleware.WrapResponseWriter, r *http.Request, p any) {
	if p == http.ErrAbortHandler { //nolint:errorlint // net/http compares with the same value
		panic(p)
	}
	text := ""
	if err, ok := p.(runtime.Error); ok {
		text = err.Error()
	}
	a.Log.ErrorContext(r.Context(), "panic", "type", fmt.Sprintf("%T", p), "text", text,
		"request_id", requestID(r.Context()), "stack", string(debug.Stack()))
	if w.Status() == 0 {
		WriteDetail(w, http.StatusInternalServerError, "Internal Server Error")
	}
}

// maxRequestID is the maximum length of an id from the caller.
const maxRequestID = 64

func plainID(id string) bool {
	if id == "" || len(id) > maxRequestID {
		return false
	}
	for i := range len(id) {
		c := id[i]
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}
