package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"hale/internal/app"
	"hale/internal/labs/reports/reader"
	"hale/internal/people/users"
	"hale/internal/platform/config"
	"hale/internal/platform/fault"
	"hale/internal/platform/ops"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
)

func (s *shell) serveCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "serve", Short: "run the service: API, portal and workers",
		Long: `Run the whole service: API, portal and workers. It creates the data folder and
migrates the database. If there is no team yet, it creates one with an API key,
and prints the key once. In production the key is in the file first-api-key of the
data folder instead.

SIGTERM or Ctrl-C stops the service. Its readiness turns 503. After --lame-duck it
refuses new requests and finishes running ones within --shutdown-drain. A second
signal stops it at once. No acknowledged change is lost.`,
		Example: examples(
			"hale serve",
			"hale serve --listen :8080 --behind-proxy --data /var/lib/hale --environment production --team 'Acme Health'",
			"hale serve --database postgres://hale@db.example/hale",
			"hale serve --webhook-allow-private   # for tests: allow webhooks to this machine",
		),
		Args: wantArgs(),
	}
	addSettings(c.Flags())
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := s.settings(c)
		if err != nil {
			return err
		}
		return s.runApp(c.Context(), cfg)
	}
	return c
}

// runApp runs one node until a signal or a failure ends it.
func (s *shell) runApp(ctx context.Context, cfg *config.Config) error {
	log := ops.NewLogger(s.err, cfg.LogFormat, cfg.LogLevel)
	for _, name := range config.UnknownVariables(s.environ) {
		log.Warn("unknown variable: check the spelling", "variable", name)
	}
	// The node outlives the signal: Stop drains it.
	running := context.WithoutCancel(ctx)
	ops.LimitMemory(log)
	a, err := app.New(running, app.Options{Config: cfg, Log: log, Now: s.now, Version: version()})
	if err != nil {
		return explainStart(err, cfg)
	}
	if err := a.Start(running); err != nil {
		return explainStart(errors.Join(err, a.Stop(running)), cfg)
	}
	s.welcome(a, cfg)
	s.notify("READY=1")
	var failure error
	select {
	case <-ctx.Done():
		s.notify("STOPPING=1")
		a.Retire(running)
		log.Info("stopping", "drain", cfg.ShutdownDrain)
	case failure = <-a.Failed():
		log.Error("the server failed", "error", failure)
		s.notify("STOPPING=1")
	}
	err = errors.Join(failure, a.Stop(running))
	log.Info("stopped")
	return err
}

// doctorLooks is the hint to run the doctor.
const doctorLooks = "hale doctor shows more"

// conflict is an error about the state of an object, or about a folder or an address
// in use.
type conflict struct{ error }

func (e *conflict) Unwrap() error { return e.error }

// Kind returns the kind of a conflict.
func (*conflict) Kind() fault.Kind { return fault.Conflict }

// explainStart returns an error that states in plain words why the node does not start.
func explainStart(err error, cfg *config.Config) error {
	var address *app.ListenError
	var setting *app.SettingError
	var folder *fs.PathError
	switch {
	case errors.Is(err, app.ErrInUse):
		return withHint(&conflict{errors.New("the data folder is in use")}, "another hale serve uses %s; set --data to use another folder", cfg.Data)
	case errors.Is(err, app.ErrNoRootKey):
		return withHint(sayingf(err, "%s is missing in %s", secrets.RootFileName, cfg.Data),
			"put your copy back, or set --root-key-file; another key cannot decrypt this database")
	case errors.Is(err, app.ErrErasures):
		return withHint(sayingf(err, "the file %s has erasures that another root key sealed", filepath.Join(cfg.Data, users.ErasuresFile)),
			"add that root key after the others, in %s or the root-key setting; without it a restored backup would serve erased people", secrets.RootFileName)
	case errors.Is(err, app.ErrErasuresDamaged):
		return withHint(err, "the erased people of these lines are in backups from before; hale docs users has the steps")
	case isPostgres(cfg) && store.IsFull(err):
		return withHint(sayingf(err, "the disk of the PostgreSQL server is full"), "make room there, and start again; nothing is lost")
	case isDiskFull(err, cfg.Data):
		return withHint(sayingf(err, "the disk of the data folder %s is full", cfg.Data), "make room, or set --data to a folder on another disk; nothing is lost")
	case store.IsDamaged(err):
		return withHint(sayingf(err, "the database %s is damaged", filepath.Join(cfg.Data, store.FileName)),
			"restore a backup with hale restore FOLDER --force; hale docs operations has the steps")
	case errors.As(err, &setting):
		return badUsage(withHint(err, "hale docs operations describes the settings, hale docs hl7 the networks file"))
	case errors.As(err, &address):
		return addressTrouble(address.Setting, address.Address, err)
	case errors.As(err, &folder) && folder.Path == cfg.Data:
		return folderTrouble(folder)
	case isPostgres(cfg):
		return withHint(databaseTrouble(err), doctorLooks)
	}
	return withHint(err, doctorLooks)
}

// isDiskFull reports whether a start failed because the data folder has no room. SQLite
// fails to open its files with another error then.
func isDiskFull(err error, data string) bool {
	if store.IsFull(err) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return true
	}
	free, _, unknown := ops.DiskSpace(data)
	return store.IsIOError(err) && unknown == nil && free < 64<<10
}

// folderTrouble returns an error that states why the data folder cannot be used.
func folderTrouble(err *fs.PathError) error {
	return withHint(sayingf(err, "the data folder %s cannot be used: %s", err.Path, reasonOf(err)), "%s", "set --data to another folder; "+doctorLooks)
}

// addressTrouble returns an error that states why the node cannot listen on an address.
// All causes except a taken address are mistakes in the setting.
func addressTrouble(setting, address string, err error) error {
	if addressInUse(err) {
		free := "--listen 127.0.0.1:0 picks a free port"
		if setting != "listen" {
			free = "set --" + setting + " to another address or off"
		}
		return withHint(sayingf(&conflict{err}, "the address %s is taken", address), "another program listens there; %s", free)
	}
	hint := "set --" + setting + " to another address; :8080 means all addresses of this machine"
	var name *net.DNSError
	switch {
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return withHint(badUsage(sayingf(err, "%s is not an address of this machine", address)), "%s", hint)
	case errors.Is(err, fs.ErrPermission):
		return withHint(badUsage(sayingf(err, "this user may not listen at %s", address)), "%s", "ports below 1024 are reserved for root; "+hint)
	case errors.As(err, &name):
		return withHint(badUsage(sayingf(err, "cannot listen at %s: %s", address, reasonOf(err))), "%s", hint)
	}
	return withHint(sayingf(err, "cannot listen at %s: %s", address, reasonOf(err)), "%s", hint)
}

// welcome prints the first screen: the addresses, the API key, and commands to try.
func (s *shell) welcome(a *app.App, cfg *config.Config) {
	line := func(name, value string) { fmt.Fprintf(s.out, "  %-10s %s\n", name, value) }
	fmt.Fprintf(s.out, "\nhale %s is ready at %s\n\n", version(), a.URL())
	key, steps := "sk_…", firstSteps
	if cfg.Production() {
		key, steps = "pk_…", productionSteps
	}
	switch {
	case a.First == nil:
		line("api key", "unchanged; hale keys create creates another")
	case a.First.Given:
		line("api key", "set by bootstrap-api-key")
	case a.First.File != "":
		line("api key", "in "+absolutePath(a.First.File))
		line("", "readable by its owner only: read the key, and remove the file")
	default:
		key = a.First.Key.Reveal()
		line("api key", key)
		line("", "shown only once: save it now")
	}
	line("docs", a.URL()+"/docs")
	if metrics := a.MetricsURL(); metrics != "" {
		line("metrics", metrics+"/metrics")
	}
	if a.First != nil {
		line("team", a.First.Team.Name+"   patients read it; hale teams rename changes it")
	}
	line("data", dataPlace(cfg))
	if cfg.RootKey == "" && (a.RootKeyMade || a.First != nil) { // a start that failed may have created the key
		line("root key", absolutePath(rootKeyPath(cfg)))
		line("", "new: keep a copy in another place; without it, personal data in")
		line("", "this database cannot be decrypted")
	}
	if a.Held.Active() {
		line("outgoing", "held, "+a.Held.Reason+": no webhooks, orders or messages")
		line("", "leave before hale resume-outgoing; its --dry-run counts them")
	}
	if !cfg.WebhookAllowPrivate && !cfg.Production() {
		line("webhooks", "allowed to public addresses only; for this machine use hale listen,")
		line("", "or start with --webhook-allow-private")
	}
	fmt.Fprintf(s.out, `
try next, in another terminal:

  export HALE_URL=%s HALE_API_KEY=%s
%s

`, a.URL(), key, steps)
}

// dataPlace returns the place of the data, without the password of a database.
func dataPlace(cfg *config.Config) string {
	folder := absolutePath(cfg.Data)
	if isPostgres(cfg) {
		return "PostgreSQL; uploads in " + folder
	}
	return folder + " (embedded SQLite)"
}

func absolutePath(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// notify informs systemd about this service (Type=notify) through the socket that it
// names. Without one nothing happens. It ignores failures: systemd then times out and
// reports them.
func (s *shell) notify(state string) {
	path, ok := s.lookupEnv("NOTIFY_SOCKET")
	if !ok || path == "" {
		return
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = conn.Write([]byte(state))
}

func addressInUse(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }

// readReportsCommand returns the command of the child process in which hale serve reads
// uploaded lab reports. Its standard input carries requests and its standard output
// answers. It has no settings.
func (s *shell) readReportsCommand() *cobra.Command {
	return &cobra.Command{
		Use: app.ReaderCommand, Short: "read lab reports for hale serve", Hidden: true, Args: wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			signal.Ignore(os.Interrupt, syscall.SIGTERM) // the parent ends it
			return reader.Serve(c.Context(), s.in, s.out, nil)
		},
	}
}
