package ops

import (
	"net/http"
	"net/http/pprof"
	"time"
)

// MachineServer serves /metrics, /livez and /readyz for monitoring, and Go's profiles
// under /debug/pprof/. Its address must not be reachable from outside.
func MachineServer(m *Metrics, h *Health) *http.Server {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m.Handler())
	mux.HandleFunc("GET /livez", h.Live)
	mux.HandleFunc("GET /readyz", h.Ready)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index) // goroutine, heap, allocs, mutex, block
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 2 * time.Minute}
}
