package ops

import (
	"net/http"
	"time"
)

// MachineServer serves /metrics, /livez and /readyz to whoever watches this
// node. It belongs on an address that the outside cannot reach.
func MachineServer(m *Metrics, h *Health) *http.Server {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m.Handler())
	mux.HandleFunc("GET /livez", h.Live)
	mux.HandleFunc("GET /readyz", h.Ready)
	return &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second}
}
