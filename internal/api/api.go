package api

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"hale/internal/platform/audit"
	"hale/internal/platform/jobs"
	"hale/internal/platform/ops"
	"hale/internal/platform/store"
)

// Deps are the dependencies and settings of the API.
type Deps struct {
	DB  *store.DB
	Log *slog.Logger
	// BaseURL is the address of the API for callers, without a trailing slash.
	BaseURL string
	// KeyHeaders are the request headers that may contain an API key. Error texts name
	// the first one. Authorization: Bearer is always accepted too.
	KeyHeaders []string
	// Audit is the log of accesses; nil notes none.
	Audit *audit.Log
	// TrustedProxies are the networks of proxies whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix
	// CORSOrigins are the origins whose pages may call the operations from a browser.
	CORSOrigins []string
	// NoDocs does not serve the OpenAPI document.
	NoDocs bool
	// Version is the version in the OpenAPI document.
	Version string
	// RatePerSecond and RateBurst limit the requests of a production key. 0 means no
	// limit.
	RatePerSecond float64
	RateBurst     int
	// RateSandbox applies the limit to sandbox keys too.
	RateSandbox bool
	// WrongKeys is the number of wrong API keys per minute that an address may send
	// before it must wait. 0 means no limit.
	WrongKeys int
	// LinksPerMinute is the number of requests per minute that an address may send with
	// links to requisitions. 0 means no limit.
	LinksPerMinute int
	// MaxBody and MaxPush limit JSON bodies and pushed batches, in bytes after
	// decompression. 0 means 1 MiB and 64 MiB.
	MaxBody, MaxPush int64
	// Metrics counts requests. nil counts nothing.
	Metrics *ops.Metrics
	// Stopping is closed when the node is about to stop. Requests that wait for events
	// are then answered. nil means never.
	Stopping <-chan struct{}
	// Node is the membership of this process among the nodes; nil if it is the only
	// one.
	Node *jobs.Node
}

// API is the HTTP API. It is an http.Handler.
type API struct {
	Deps
	router chi.Router
	huma   huma.API

	operations chi.Router // the operations, after authentication and limits
	keys       *keyCache
	limits     *rateLimits
	wrongKeys  *addressLimit
	links      *addressLimit // requests with links in place of keys
	running    claims        // idempotency keys with a request that runs on this node

	audits map[string]auditedOperation // by requestName

	ownDataOperations, openOperations map[string]bool // operations that phones may call; operations without a key

	reads, creates map[string]bool // operations that change nothing; operations with Idempotency-Key

	needs map[string]need // by requestName

	requestHeaders, answerHeaders func() string // of pages of other origins

	currents map[string]CurrentVersion // the records of operations with conditions
	tagged   map[string]bool           // operations whose answers have an ETag

	background sync.WaitGroup // small writes that no request waits for
}

// New returns an API without operations. Add registers them. It panics if SetUpHuma was
// not called, since errors would have other shapes.
func New(d Deps) *API {
	if !humaIsSetUp.Load() {
		panic("api: New needs SetUpHuma")
	}
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
		Deps: d, router: chi.NewRouter(), keys: newKeyCache(), limits: newRateLimits(d),
		wrongKeys: newAddressLimit(d.WrongKeys), links: newAddressLimit(d.LinksPerMinute), running: claims{running: map[claim]bool{}},
		audits: map[string]auditedOperation{}, ownDataOperations: map[string]bool{}, openOperations: map[string]bool{}, reads: map[string]bool{}, creates: map[string]bool{}, needs: map[string]need{},
		currents: map[string]CurrentVersion{}, tagged: map[string]bool{},
	}
	a.requestHeaders, a.answerHeaders = sync.OnceValue(a.requestHeadersOf), sync.OnceValue(a.answerHeadersOf)
	a.router.Use(extendReadDeadline, a.clientAddress, a.protect, a.observe, a.crossOrigin, a.checkURL, trimSlash, middleware.GetHead, a.decompress, compress)
	a.router.NotFound(a.counted(func(w http.ResponseWriter, _ *http.Request) { WriteDetail(w, http.StatusNotFound, "Not Found") }))
	a.router.MethodNotAllowed(a.counted(a.methodNotAllowed))
	a.router.Group(func(r chi.Router) {
		r.Use(a.authenticate, a.audited, a.limitRate, a.withinRights, a.ownDataOnly, a.numberReads, a.oneIdempotencyKey, a.conditional)
		a.huma, a.operations = humachi.New(r, a.config()), r
	})
	if !d.NoDocs {
		a.serveOpenAPI()
	}
	return a
}

// Add registers operations. Call it before the first request.
func (a *API) Add(routes ...Route) {
	for _, rt := range routes {
		rt.register(a, a.operations)
	}
}

// Router returns the router, for handlers outside the API such as the portal.
func (a *API) Router() chi.Router { return a.router }

func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.router.ServeHTTP(w, r) }

// OpenAPI returns the description of all registered operations.
func (a *API) OpenAPI() *huma.OpenAPI { return a.huma.OpenAPI() }

// Close waits for background writes.
func (a *API) Close() { a.background.Wait() }

type callerKey struct{}

// CallerOf returns the sender of the request. It is the only source of the team.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}
