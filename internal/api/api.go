package api

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"hale/internal/platform/jobs"
	"hale/internal/platform/ops"
	"hale/internal/platform/store"
)

// Deps are what the door needs from the rest of the program.
type Deps struct {
	DB  *store.DB
	Log *slog.Logger
	// BaseURL is the address callers know us by, without a trailing slash.
	BaseURL string
	// KeyHeaders are the headers an API key may come in, first the one that
	// error texts name. Authorization: Bearer works beside them.
	KeyHeaders []string
	// Version is shown in OpenAPI.
	Version string
	// RatePerSecond and RateBurst bound the requests of a production key; 0 means no bound.
	RatePerSecond float64
	RateBurst     int
	// RateSandbox applies the bound to sandbox keys as well.
	RateSandbox bool
	// MaxBody and MaxPush bound JSON bodies and pushed batches, in bytes after
	// decompression; 0 means 1 MiB and 64 MiB.
	MaxBody, MaxPush int64
	// Metrics counts; nil counts nothing.
	Metrics *ops.Metrics
	// Stopping is closed when the node is about to stop: whoever waits for news
	// is answered then. Nil never is.
	Stopping <-chan struct{}
	// Node is who we are among the nodes; nil when there is but one.
	Node *jobs.Node
}

// API is the door. It is an http.Handler.
type API struct {
	Deps
	router chi.Router
	huma   huma.API

	operations chi.Router // what stands behind authentication and limits
	keys       *keyCache
	limits     *rateLimits
	running    claims // idempotency keys whose requests run here

	own, anybody map[string]bool // operations that phones may call; that need no key at all

	background sync.WaitGroup // small writes that no request waits for
}

// New builds the API without any operations. Add registers them.
func New(d Deps) *API {
	setUpHuma()
	if len(d.KeyHeaders) == 0 {
		d.KeyHeaders = []string{"x-service-api-key"}
	}
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	if d.MaxBody == 0 {
		d.MaxBody = 1 << 20
	}
	if d.MaxPush == 0 {
		d.MaxPush = 64 << 20
	}
	d.BaseURL = strings.TrimRight(d.BaseURL, "/")
	a := &API{
		Deps: d, router: chi.NewRouter(), keys: newKeyCache(), limits: newRateLimits(d), running: claims{held: map[claim]bool{}},
		own: map[string]bool{}, anybody: map[string]bool{},
	}
	a.router.Use(patient, a.observe, checkURL, trimSlash, middleware.GetHead, decompress, compress)
	a.router.NotFound(func(w http.ResponseWriter, r *http.Request) { WriteDetail(w, http.StatusNotFound, "Not Found") })
	a.router.MethodNotAllowed(a.methodNotAllowed)
	a.router.Group(func(r chi.Router) {
		r.Use(a.authenticate, a.ownDataOnly, a.limitRate)
		a.huma, a.operations = humachi.New(r, a.config()), r
	})
	a.serveOpenAPI()
	return a
}

// Add registers operations. It is for the time before the first request.
func (a *API) Add(routes ...Route) {
	for _, rt := range routes {
		rt.register(a, a.operations)
	}
}

// Router lets the wiring mount other doors beside this one.
func (a *API) Router() chi.Router { return a.router }

func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.router.ServeHTTP(w, r) }

// OpenAPI is the description of everything registered.
func (a *API) OpenAPI() *huma.OpenAPI { return a.huma.OpenAPI() }

// Close waits for what still runs beside the requests.
func (a *API) Close() { a.background.Wait() }

type callerKey struct{}

// CallerOf is who sent the request: the one place where the team comes from.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}
