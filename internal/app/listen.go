package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/acme"

	"hale/internal/api"
	"hale/internal/api/routes"
	"hale/internal/platform/config"
	"hale/internal/platform/ops"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/wearables/providers"
)

// Start opens the addresses, creates the first team if there is none, starts the workers
// and returns. Failed reports later errors that end the node.
func (a *App) Start(ctx context.Context) error {
	public, machines, err := a.listen(ctx)
	if err != nil {
		return err
	}
	work, stop := context.WithCancel(store.AsSystem(context.WithoutCancel(ctx)))
	a.stop = stop
	err = a.build(work)
	if err == nil {
		err = a.bootstrap(store.AsSystem(ctx))
	}
	if err != nil {
		stop()
		return errors.Join(err, closeAll(public, machines))
	}
	a.workers.start(work, a.failed)
	a.public = a.newServer(a.traces.Middleware(a.Metrics.InFlight(a.api)))
	a.serve(a.public, public, "api")
	if machines != nil {
		a.machines = ops.MachineServer(a.Metrics, a.Health)
		a.machines.ErrorLog = a.public.ErrorLog
		a.serve(a.machines, machines, "metrics")
	}
	return nil
}

// listen opens the addresses. machines is nil if there is no listener for metrics.
func (a *App) listen(ctx context.Context) (public, machines net.Listener, err error) {
	public, err = new(net.ListenConfig).Listen(ctx, "tcp", a.Config.Listen)
	if err != nil {
		return nil, nil, &ListenError{"listen", a.Config.Listen, err}
	}
	a.publicAddr = public.Addr()
	if machines, err = a.listenMachines(ctx); err != nil {
		return nil, nil, errors.Join(err, public.Close())
	}
	return public, machines, nil
}

// probeAddresses checks the addresses of a node that is about to create a root key or a
// database. A start that fails later leaves them behind. Packages and images create the
// data folder before, so an existing folder says nothing.
func probeAddresses(ctx context.Context, cfg *config.Config) error {
	first := store.FileName
	if store.IsPostgresURL(cfg.Database.Reveal()) {
		first = secrets.RootFileName
	}
	if _, err := os.Stat(filepath.Join(cfg.Data, first)); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	addresses := [][2]string{{"listen", cfg.Listen}}
	if cfg.MetricsListen != "" && !cfg.IsDefault("metrics-listen") {
		addresses = append(addresses, [2]string{"metrics-listen", cfg.MetricsListen})
	}
	for _, a := range addresses {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", a[1])
		if err != nil {
			return &ListenError{a[0], a[1], err}
		}
		if err := l.Close(); err != nil {
			return &ListenError{a[0], a[1], err}
		}
	}
	return nil
}

// ListenError is the error for an address on which the node cannot listen.
type ListenError struct {
	Setting string // listen or metrics-listen
	Address string // as it was set
	Cause   error
}

func (e *ListenError) Error() string {
	return fmt.Sprintf("app: listening at %s (%s): %v", e.Address, e.Setting, e.Cause)
}

func (e *ListenError) Unwrap() error { return e.Cause }

func closeAll(listeners ...net.Listener) (err error) {
	for _, l := range listeners {
		if l != nil {
			err = errors.Join(err, l.Close())
		}
	}
	return err
}

// build makes the handlers once the address is known, because links contain it.
func (a *App) build(ctx context.Context) error {
	providers.ServeLogos(a.DB, providers.Logos(a.URL()))
	if err := a.useCertificate(); err != nil {
		return err
	}
	services, err := a.services(ctx)
	if err != nil {
		return err
	}
	services.EventTypes = EventTypes()
	cfg := a.Config
	api.SetUpHuma()
	a.api = routes.New(api.Deps{
		DB: a.DB, Log: a.Log, Metrics: a.Metrics, BaseURL: a.URL(), Version: a.Version, NoDocs: !cfg.Docs,
		KeyHeaders: cfg.APIKeyHeaders, TrustedProxies: cfg.ProxyNetworks(), CORSOrigins: cfg.PageOrigins(), Audit: a.audit, RatePerSecond: cfg.RateLimit, RateBurst: cfg.RateBurst, WrongKeys: cfg.WrongKeyLimit, LinksPerMinute: linksPerMinute(cfg),
		RateSandbox: !cfg.Production() || !cfg.IsDefault("rate-limit"), // a limit that is set applies to all teams
		MaxBody:     int64(cfg.BodyLimit), MaxPush: int64(cfg.IngestLimit),
		Stopping: a.stopping, Node: a.workers.node,
	}, services)
	a.api.Router().Get("/livez", a.Health.Live)
	a.api.Router().Get("/readyz", a.Health.Ready)
	a.mount(a.api.Router())
	return nil
}

// newServer serves HTTP/1.1 and, if requested, HTTP/2 without TLS on one port. Uploads
// may take hours. So this server sets a deadline only for headers and idle connections.
// The API limits bodies by size and by their own read deadline.
func (a *App) newServer(h http.Handler) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(a.Config.HTTP2Cleartext)
	var secure *tls.Config
	if a.certificate != nil {
		secure = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: a.certificate.get}
		if a.Config.UsesACME() {
			secure.NextProtos = []string{acme.ALPNProto} // the authority's check of a domain
		}
		protocols.SetHTTP2(true)
	}
	return &http.Server{
		TLSConfig: secure,
		Handler:   h, Protocols: protocols,
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(acceptErrors{a.Log.Handler()}, slog.LevelWarn),
	}
}

// acceptErrors logs that a server cannot accept connections, for example because too many
// files are open. It drops other messages, which are about the requests of single
// clients.
type acceptErrors struct{ slog.Handler }

func (h acceptErrors) Handle(ctx context.Context, r slog.Record) error {
	what, ok := strings.CutPrefix(r.Message, "http: Accept error: ")
	if !ok {
		return nil
	}
	record := slog.NewRecord(r.Time, r.Level, "a connection could not be accepted", r.PC)
	record.AddAttrs(slog.String("error", what))
	return h.Handler.Handle(ctx, record)
}

// listenMachines opens the address of the metrics. If the default address cannot be
// opened, for example because the port is taken, only the metrics are missing.
func (a *App) listenMachines(ctx context.Context) (net.Listener, error) {
	if a.Config.MetricsListen == "" {
		return nil, nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", a.Config.MetricsListen)
	if err != nil {
		if a.Config.IsDefault("metrics-listen") {
			a.Log.Warn("the metrics cannot be served at the default address", "listen", a.Config.MetricsListen, "error", err)
			return nil, nil
		}
		return nil, &ListenError{"metrics-listen", a.Config.MetricsListen, err}
	}
	a.machinesAddr = listener.Addr()
	return listener, nil
}

// MetricsURL returns the URL to which /metrics is appended, or "" if there is no listener
// for metrics.
func (a *App) MetricsURL() string {
	if a.machinesAddr == nil {
		return ""
	}
	return "http://" + a.machinesAddr.String()
}

func (a *App) serve(s *http.Server, l net.Listener, name string) {
	a.serving.Go(func() {
		serve := s.Serve
		if s.TLSConfig != nil {
			serve = func(l net.Listener) error { return s.ServeTLS(l, "", "") }
		}
		if err := serve(l); !errors.Is(err, http.ErrServerClosed) {
			a.failed <- fmt.Errorf("app: serving %s: %w", name, err)
		}
	})
}

// Failed returns a channel that receives an error after which the node must stop.
func (a *App) Failed() <-chan error { return a.failed }

// Retire makes the node not ready and waits for the time LameDuck, so that load balancers
// notice before the node refuses requests. Work continues meanwhile.
func (a *App) Retire(ctx context.Context) {
	a.Health.Drain()
	if a.Config.LameDuck == 0 {
		return
	}
	a.Log.InfoContext(ctx, "not ready any more; requests are still taken", "lame-duck", a.Config.LameDuck)
	select {
	case <-ctx.Done():
	case <-time.After(a.Config.LameDuck):
	}
}

// Stop makes the node not ready, waits for requests and deliveries, interrupts jobs,
// releases leases, and closes the database. Acknowledged writes are on disk before
// that.
func (a *App) Stop(ctx context.Context) error {
	a.Health.Drain()
	ctx, cancel := context.WithTimeout(ctx, a.Config.ShutdownDrain)
	defer cancel()
	a.beginStop()
	var errs []error
	var halted sync.WaitGroup
	halted.Go(func() { a.workers.halt(ctx) })
	if a.public != nil {
		errs = append(errs, a.drain(ctx, a.public))
	}
	halted.Wait()
	errs = append(errs, a.workers.leave(ctx))
	if a.stop != nil {
		a.stop()
	}
	if a.api != nil {
		a.api.Close()
	}
	if a.machines != nil {
		errs = append(errs, a.drain(ctx, a.machines))
	}
	a.serving.Wait()
	errs = append(errs, a.flushAudit(ctx))
	a.close()
	return errors.Join(errs...)
}

// flushAudit writes the last accesses, even after the time limit of the stop.
func (a *App) flushAudit(ctx context.Context) error {
	if a.audit == nil || a.api == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	return a.audit.Flush(ctx)
}

// drain waits for the requests of a server, and closes the connections of those that
// have not ended in time. Their callers got no answer.
func (a *App) drain(ctx context.Context, s *http.Server) error {
	err := s.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		a.Log.Warn("some requests did not end in time", "drain", a.Config.ShutdownDrain)
		return s.Close()
	}
	return err
}

// Handler returns the handler of the API, for calls without the network. It may be called
// after Start.
func (a *App) Handler() http.Handler { return a.api }

// linksPerMinute returns the number of requests with links to requisitions that an address
// may send. Patients of a clinic may share an address. The tests of a sandbox need no limit.
func linksPerMinute(cfg *config.Config) int {
	if cfg.Production() {
		return 60
	}
	return 0
}
