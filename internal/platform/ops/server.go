package ops

import (
	"net/http"
	"net/http/pprof"
	"time"
)

// MachineServer serves /metrics, /livez and /readyz to whoever watches this
// node, and Go's profiles under /debug/pprof/ to whoever looks into it. It belongs on an address that the outside cannot reach.
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
