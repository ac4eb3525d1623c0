// Package app connects the parts of Hale and runs them: configuration, database, clock,
// handlers and workers. It knows every part and contains no domain rules.
//
// Tests and `hale serve` use it in the same way:
//
//	a, err := app.New(ctx, app.Options{Config: cfg, Log: log})
//	err = a.Start(ctx)      // listens and works
//	…
//	err = a.Stop(ctx)       // drains
//
// Read the files in this order: app.go, registry.go (what the domains register with a
// database), first_team.go (the first team and key), listen.go, workers.go, pages.go.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"hale/internal/api"
	"hale/internal/labs/documents"
	"hale/internal/labs/networks"
	"hale/internal/labs/reports"
	"hale/internal/people/messages"
	"hale/internal/people/users"
	"hale/internal/platform/audit"
	"hale/internal/platform/config"
	"hale/internal/platform/fault"
	"hale/internal/platform/ops"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Options configure an App.
type Options struct {
	Config *config.Config
	Log    *slog.Logger
	// Now is the only clock of the node; nil means time.Now.
	Now     func() time.Time
	Version string
	// Networks contains additional lab networks of this node.
	Networks []networks.Network
	// ReportReader reads uploaded lab reports; nil starts child processes of this
	// program.
	ReportReader reports.Reader
	// Committed, if set, is called after each commit and before the caller gets its
	// result. Tests kill the process there.
	Committed func()
	// Statement, when set, is called with each SQL statement. Tests collect them.
	Statement func(text string, args []any)
	// AnswerLimit limits the wait of a request for each answer of PostgreSQL. 0 means 30
	// seconds. Jobs have limits of their own.
	AnswerLimit time.Duration
	// AnyClock, if true, accepts any difference between Now and the database's clock,
	// and any jump. Tests change the time.
	AnyClock bool
}

// answerLimit is the default of Options.AnswerLimit.
const answerLimit = 30 * time.Second

// App is one running node.
type App struct {
	Options
	DB      *store.DB
	Metrics *ops.Metrics
	Health  *ops.Health
	// First is the team and key that Start made because there was no team; nil
	// otherwise.
	First *FirstTeam
	// RootKeyMade reports whether New created a root key file, of which the operator must
	// keep a copy.
	RootKeyMade bool
	// Held contains the time and the reason of an outgoing hold, as they were when New
	// returned.
	Held store.OutgoingHold

	api     *api.API
	links   *documents.Links
	audit   *audit.Log
	sending *messages.Service // to patients
	traces  *ops.Traces

	outgoing     outgoing
	verification verification
	clockDoubted atomic.Bool // at the last check before a deletion
	workers      workers

	attention attention
	lock      *os.File

	public, machines *http.Server
	publicAddr       net.Addr
	certificate      certificateSource // of the API; nil for plain HTTP
	machinesAddr     net.Addr
	serving          sync.WaitGroup
	failed           chan error
	stop             context.CancelFunc
	stopping         chan struct{} // closed when the first stop begins
	beginStop        func()        // closes it, once
}

// SettingError is returned when a setting has a value that only a start uses.
type SettingError struct{ Err error }

func (e *SettingError) Error() string { return e.Err.Error() }

func (e *SettingError) Unwrap() error { return e.Err }

// Check checks the first team's name and key, the protection of data in transit, and the
// networks file. New calls it first.
func Check(cfg *config.Config) error {
	return errors.Join(CheckFirstTeam(cfg), CheckExposure(cfg), CheckNetworks(cfg))
}

// CheckFirstTeam checks the name and the key of the first team.
func CheckFirstTeam(cfg *config.Config) error {
	if err := teams.CheckName(cfg.Team); err != nil {
		return &SettingError{fmt.Errorf("team (env HALE_TEAM): %w", withoutField(err))}
	}
	return CheckBootstrapKey(cfg)
}

// CheckBootstrapKey checks the key of the first team, if the settings contain one. A
// production installation that has a database may have a shorter key of an older version.
// For PostgreSQL, the creation of the first team checks this length.
func CheckBootstrapKey(cfg *config.Config) error {
	if cfg.BootstrapAPIKey == "" {
		return nil
	}
	err := teams.CheckKey(cfg.BootstrapAPIKey)
	if err == nil && cfg.Production() && !store.IsPostgresURL(cfg.Database.Reveal()) {
		if _, missing := os.Stat(filepath.Join(cfg.Data, store.FileName)); errors.Is(missing, fs.ErrNotExist) {
			err = teams.CheckProductionKey(cfg.BootstrapAPIKey)
		}
	}
	if err != nil {
		return bootstrapKeyError(err)
	}
	return nil
}

// bootstrapKeyError returns err as a SettingError about bootstrap-api-key.
func bootstrapKeyError(err error) error {
	return &SettingError{fmt.Errorf("bootstrap-api-key (env HALE_BOOTSTRAP_API_KEY): %w", withoutField(err))}
}

// withoutField returns only the message of a fault, which names a field of the API.
func withoutField(err error) error {
	var wrong *fault.Error
	if errors.As(err, &wrong) {
		return errors.New(wrong.Message())
	}
	return err
}

// New opens and migrates the database. It opens no address and starts no worker.
func New(ctx context.Context, o Options) (_ *App, err error) {
	if o.Log == nil {
		o.Log = ops.Discard()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	a := &App{Options: o, failed: make(chan error, 4), stopping: make(chan struct{})}
	a.beginStop = sync.OnceFunc(func() { close(a.stopping) })
	defer func() {
		if err != nil {
			a.close()
		}
	}()
	if err := Check(o.Config); err != nil { // before a root key is created
		return nil, err
	}
	ctx = store.AsSystem(ctx)
	if err := a.openStore(ctx); err != nil {
		return nil, err
	}
	if a.traces, err = ops.NewTraces(o.Config.OTLPEndpoint, o.Version, o.Log); err != nil {
		return nil, err
	}
	disk := ops.NewDisk(o.Config.Data)
	a.Health = ops.NewHealth(o.Log, o.Now,
		ops.Check{Name: "database", Run: func(ctx context.Context) error { return a.DB.Ping(store.AsSystem(ctx)) }},
		ops.Check{Name: "clock", Run: a.checkSkew},
		ops.Check{Name: "schema", Run: func(ctx context.Context) error { return a.DB.CheckSchema(store.AsSystem(ctx)) }},
		disk.Check())
	a.Metrics.Node(a.Health, disk)
	a.Health.Describe(append(a.attention.details(), ops.Detail{Name: "outgoing", Text: a.outgoing.detail}, ops.Detail{Name: "damage", Text: a.verification.detail})...)
	return a, nil
}

// openStore locks the data folder for this process, finds the root key, and opens and
// migrates the database.
func (a *App) openStore(ctx context.Context) error {
	cfg := a.Config
	if err := probeAddresses(ctx, cfg); err != nil {
		return err
	}
	if !exists(filepath.Join(cfg.Data, LockName)) { // no process uses the folder
		if err := requireParts(cfg); err != nil {
			return err // without creating the lock
		}
	}
	engine, err := a.lockData()
	if err != nil {
		return err
	}
	if err := requireParts(cfg); err != nil {
		return err
	}
	root, made, err := rootKey(cfg)
	if err != nil {
		return err
	}
	a.RootKeyMade = made
	a.links = documents.NewLinks(root, a.URL)
	a.Metrics = ops.NewMetrics(a.Version, string(engine))
	if err := a.openDatabase(ctx, root); err != nil {
		return a.withoutNewKey(err)
	}
	if err := a.checkInstallation(ctx); err != nil {
		return err
	}
	if err := a.openAudit(ctx); err != nil {
		return err
	}
	if err := a.openErasures(ctx, root); err != nil {
		return err
	}
	if err := a.examineOutgoing(ctx); err != nil {
		return err
	}
	if made { // a start that fails later shows no first screen
		a.Log.Warn("created a root key; keep a copy in another place: without it, personal data cannot be decrypted",
			"file", filepath.Join(cfg.Data, secrets.RootFileName))
	}
	return nil
}

// requireParts refuses a data folder that lacks its database, its root key or a key of its
// list of erasures. It creates nothing.
func requireParts(cfg *config.Config) error {
	if err := RequireDatabase(cfg); err != nil {
		return err
	}
	if err := requireRootKey(cfg, engineOf(cfg)); err != nil {
		return err
	}
	return requireErasuresKey(cfg, engineOf(cfg))
}

func engineOf(cfg *config.Config) store.Engine {
	if store.IsPostgresURL(cfg.Database.Reveal()) {
		return store.Postgres
	}
	return store.SQLite
}

// lockData makes the data folder, and locks it for SQLite. It returns the engine.
func (a *App) lockData() (store.Engine, error) {
	cfg := a.Config
	if err := os.MkdirAll(cfg.Data, 0o700); err != nil {
		return "", fmt.Errorf("app: making the data folder: %w", err)
	}
	if engineOf(cfg) == store.Postgres {
		return store.Postgres, nil
	}
	lock, err := HoldFolder(cfg.Data)
	if err != nil {
		return "", err
	}
	a.lock = lock
	return store.SQLite, nil
}

// openDatabase opens and migrates the database.
func (a *App) openDatabase(ctx context.Context, root *secrets.Root) (err error) {
	cfg := a.Config
	a.DB, err = store.Open(ctx, store.Options{
		URL: cfg.Database.Reveal(), Dir: cfg.Data, Root: root, Now: a.Now,
		Synchronous: cfg.SQLiteSynchronous, NoMmap: !cfg.SQLiteMmap, Conns: cfg.DatabaseConnections,
		Observe: a.committed, LockHeld: a.lockHeld, Statement: a.Statement,
		AnswerLimit: cmp.Or(a.AnswerLimit, answerLimit),
	})
	if err != nil {
		return err
	}
	Register(a.DB, a.links)
	if err := a.DB.RefuseUnfinished(ctx); err != nil {
		return err
	}
	if err := a.requireTables(ctx); err != nil {
		return err
	}
	if err := a.DB.Migrate(ctx); err != nil {
		return err
	}
	a.scrubOnce(ctx)
	above, err := a.DB.BypassesRowSecurity(ctx)
	if err != nil {
		return err
	}
	if above {
		a.Log.Warn("the database role bypasses row-level security, which also separates teams; use a role that owns its tables and is no superuser")
	}
	return nil
}

// checkInstallation compares the root key and the database with the data folder, and loads
// the other keys.
func (a *App) checkInstallation(ctx context.Context) error {
	if err := a.proveRootKey(ctx); err != nil {
		return err
	}
	if err := a.DB.LoadRetiredKeys(ctx); err != nil {
		return err
	}
	if err := a.recognize(ctx); err != nil {
		return err
	}
	return a.codeKeys(ctx)
}

// openErasures opens the list of erased people, and erases those that a restored database
// has again.
func (a *App) openErasures(ctx context.Context, root *secrets.Root) error {
	hold, err := a.DB.OutgoingHold(ctx)
	if err != nil {
		return err
	}
	list := users.OpenErasures(a.Config.Data, root)
	if err := CheckErasures(list, hold.Active()); err != nil {
		return err
	}
	if err := list.Reseal(); err != nil {
		return err
	}
	users.SetErasureList(a.DB, list)
	return a.eraseAgain(ctx, list)
}

// CheckErasures refuses a list of erasures that cannot be read: a restored backup would
// serve people who were erased. A line that is cut short is refused only for a restored
// database. A crash leaves such a line in the list of a running service.
func CheckErasures(list *users.Erasures, restored bool) error {
	t, err := list.Examine()
	if err != nil {
		return err
	}
	if len(t.Foreign) > 0 {
		return fmt.Errorf("%w (lines %v)", ErrErasures, t.Foreign)
	}
	damaged := t.Damaged
	if restored {
		damaged = append(damaged, t.Cut...)
	}
	if len(damaged) == 0 {
		return nil
	}
	return fmt.Errorf("%w: put a whole copy of the file back, or delete the lines %v to accept that erased people may come back", ErrErasuresDamaged, damaged)
}

// scrubOnce rewrites a SQLite file of an older version, whose free pages may contain
// the keys of erased people. A failure is tried again at the next start.
func (a *App) scrubOnce(ctx context.Context) {
	began := time.Now()
	done, err := a.DB.ScrubOnce(ctx)
	switch {
	case err != nil:
		a.Log.Error("could not rewrite the database, which may contain keys of erased people; make room for a copy in the data folder and SQLITE_TMPDIR, then restart", "error", err)
	case done:
		a.Log.Info("rewrote the database once, without the remains of deleted rows", "took", time.Since(began).Round(time.Millisecond))
	}
}

// eraseAgain erases the people of the list of erasures that a restored backup has.
func (a *App) eraseAgain(ctx context.Context, list *users.Erasures) error {
	all, unreadable, err := list.All()
	if err != nil {
		return err
	}
	if unreadable > 0 {
		a.Log.Warn("lines of the list of erasures are cut short: a crash during an erasure leaves such a line; otherwise put a whole copy of the file back", "file", users.ErasuresFile, "lines", unreadable)
	}
	n, err := users.EraseAgain(ctx, a.DB, all)
	if n > 0 {
		a.Log.Warn("erased people again that this database still had: it is a backup from before their erasure", "people", n)
	}
	return err
}

func (a *App) committed(took time.Duration, transactions int) {
	a.Metrics.Commit(took, transactions)
	if a.Committed != nil {
		a.Committed()
	}
}

// lockHeld logs that writes wait for another process. The store calls it at most once a
// minute.
func (a *App) lockHeld(waited time.Duration) {
	a.Log.Warn("writes wait: another process holds the write lock of the database; `fuser` on its file names it",
		"waited", waited.Round(time.Millisecond), "file", a.DB.Path())
}

// ErrRootKey is returned if the root key does not open the stored data. A start would
// seal new values with a key that opens none of the old ones.
var ErrRootKey = errors.New("app: wrong root key: this database was encrypted with another one; restore that key")

// ErrErasures is returned if the list of erasures needs a root key that is not here: a
// restored backup would serve people who were erased.
var ErrErasures = fmt.Errorf("app: the file %s has erasures that another root key sealed: add that key to the root keys, after the others", users.ErasuresFile)

// ErrErasuresDamaged is returned if lines of the list of erasures are damaged.
var ErrErasuresDamaged = fmt.Errorf("app: the file %s has damaged lines", users.ErasuresFile)

// ErrNoRootKey is returned if the data folder served a database and has no root key any
// more.
var ErrNoRootKey = fmt.Errorf("%s is missing", secrets.RootFileName)

// requireRootKey returns ErrNoRootKey instead of letting a start create another key.
func requireRootKey(cfg *config.Config, engine store.Engine) error {
	if cfg.RootKey != "" {
		return nil
	}
	if _, err := os.Stat(filepath.Join(cfg.Data, secrets.RootFileName)); !errors.Is(err, fs.ErrNotExist) {
		return nil // reading it reports other errors
	}
	served, err := servedBy(cfg.Data)
	if err == nil && served[engine] != "" {
		err = ErrNoRootKey
	}
	return err
}

// requireErasuresKey refuses a data folder that has a list of erasures that the root key
// does not open, and no embedded database yet. Such a start would create one.
func requireErasuresKey(cfg *config.Config, engine store.Engine) error {
	if engine == store.SQLite && exists(filepath.Join(cfg.Data, store.FileName)) {
		return nil // the wrong root key is reported first
	}
	root := new(secrets.Root)
	if cfg.RootKey != "" || exists(filepath.Join(cfg.Data, secrets.RootFileName)) {
		var err error
		if root, _, err = rootKey(cfg); err != nil {
			return err
		}
	}
	return CheckErasures(users.OpenErasures(cfg.Data, root), false)
}

// proveRootKey refuses a root key that does not open the stored data. If this start
// created the key because the right one is missing, proveRootKey removes it.
func (a *App) proveRootKey(ctx context.Context) error {
	err := a.DB.ProveRoot(ctx)
	if !errors.Is(err, secrets.ErrSealed) {
		return err
	}
	if a.RootKeyMade {
		err = os.Remove(filepath.Join(a.Config.Data, secrets.RootFileName))
		return errors.Join(ErrNoRootKey, err)
	}
	return ErrRootKey
}

// withoutNewKey removes the root key that this start created, if the database waits for a
// restore. The restored data has another key.
func (a *App) withoutNewKey(err error) error {
	if !a.RootKeyMade || !errors.Is(err, store.ErrUnfinished) {
		return err
	}
	return errors.Join(err, os.Remove(filepath.Join(a.Config.Data, secrets.RootFileName)))
}

// rootKey returns the configured key, or the key in the file of the data folder. made
// reports whether it created the file.
func rootKey(cfg *config.Config) (root *secrets.Root, made bool, err error) {
	if cfg.RootKey != "" {
		root, err = secrets.ParseRoot(cfg.RootKey.Reveal())
		return root, false, err
	}
	return secrets.RootFile(cfg.Data)
}

// URL returns the address under which callers reach this node.
func (a *App) URL() string {
	if a.Config.BaseURL == "" && !a.Config.UsesACME() && a.publicAddr != nil {
		return a.Config.ListenURL(a.publicAddr.String())
	}
	return a.Config.URL()
}

// close releases the resources that New acquired. Stop calls it last.
func (a *App) close() {
	var errs []error
	if a.traces != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		errs = append(errs, a.traces.Close(ctx))
	}
	if a.DB != nil {
		errs = append(errs, a.DB.Close())
	}
	if a.lock != nil {
		errs = append(errs, a.lock.Close())
	}
	if err := errors.Join(errs...); err != nil {
		a.Log.Error("a part of the server cannot be closed", "error", err)
	}
}
