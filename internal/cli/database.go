package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"hale/internal/app"
	"hale/internal/labs/documents"
	"hale/internal/platform/config"
	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
)

// withDatabase runs fn on the configured database, which must exist and have the current
// schema. Commands that use it need no API key: a user who can read the data folder owns
// it anyway.
func (s *shell) withDatabase(c *cobra.Command, fn func(ctx context.Context, db *store.DB) error) error {
	cfg, err := s.settings(c)
	if err != nil {
		return err
	}
	if err := mustExist(cfg); err != nil {
		return err
	}
	ctx := store.AsSystem(c.Context())
	db, err := s.openDatabase(ctx, cfg)
	if err != nil {
		return err
	}
	err = mustBeMigrated(ctx, db)
	if err == nil {
		if err = db.LoadRetiredKeys(ctx); errors.Is(err, secrets.ErrSealed) {
			err = withHint(sayingf(err, "wrong root key: this database was encrypted with another one"), "set --root-key-file, or put the right %s into the data folder", secrets.RootFileName)
		}
	}
	if err == nil {
		err = s.withAuditRow(ctx, c, db, fn)
	}
	return errors.Join(err, db.Close())
}

func isPostgres(cfg *config.Config) bool { return store.IsPostgresURL(cfg.Database.Reveal()) }

// mustExist prevents a mistyped data folder from becoming an empty database.
func mustExist(cfg *config.Config) error {
	if isPostgres(cfg) {
		return nil
	}
	if err := app.RequireRestored(cfg.Data); err != nil {
		return err
	}
	_, err := os.Stat(filepath.Join(cfg.Data, store.FileName))
	if errors.Is(err, os.ErrNotExist) {
		return withHint(fault.Newf(fault.NotFound, "no database in %s", cfg.Data),
			"hale serve or hale migrate up creates one; set --data to use another folder")
	}
	return err
}

// openDatabase opens the configured database, and creates it if it is missing. It never
// creates a root key, because hale serve does that and informs the operator. It waits for
// locks of other processes as long as hale serve does.
func (s *shell) openDatabase(ctx context.Context, cfg *config.Config) (*store.DB, error) {
	return s.openWaiting(ctx, cfg, 0)
}

// openWaiting opens a database like openDatabase. lockWait is the time to wait for a lock
// of another process; 0 means the time of hale serve.
func (s *shell) openWaiting(ctx context.Context, cfg *config.Config, lockWait time.Duration) (*store.DB, error) {
	if err := app.RequireDatabase(cfg); err != nil {
		return nil, err
	}
	root, err := existingRoot(cfg)
	if err != nil {
		return nil, err
	}
	var links *documents.Links
	if root == nil {
		root = new(secrets.Root) // opens nothing, so reading a sealed value fails
	} else {
		links = documents.NewLinks(root, cfg.URL)
	}
	o := store.Options{
		URL: cfg.Database.Reveal(), Dir: cfg.Data, Root: root, Now: s.now,
		Synchronous: cfg.SQLiteSynchronous, NoMmap: !cfg.SQLiteMmap, Conns: cfg.DatabaseConnections,
		LockWait: lockWait,
	}
	if isPostgres(cfg) {
		o.Dir = ""
	}
	db, err := store.Open(ctx, o)
	var folder *fs.PathError
	switch {
	case errors.As(err, &folder) && folder.Path == cfg.Data:
		return nil, folderTrouble(folder)
	case isPostgres(cfg):
		err = databaseTrouble(err)
	}
	if err != nil {
		return nil, withHint(err, doctorLooks)
	}
	app.Register(db, links) // commands change orders and delete users, too
	return db, nil
}

// existingRoot returns the root key of the settings or of the data folder, or nil if
// there is none yet.
func existingRoot(cfg *config.Config) (*secrets.Root, error) {
	if cfg.RootKey != "" {
		return secrets.ParseRoot(cfg.RootKey.Reveal())
	}
	if _, err := os.Stat(rootKeyPath(cfg)); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	root, _, err := secrets.RootFile(cfg.Data)
	return root, err
}

// makeRootKey creates the root key of a database without sealed values, as the first hale
// serve does. API keys need a root key.
func (s *shell) makeRootKey(c *cobra.Command) error {
	cfg, err := s.settings(c)
	if err != nil {
		return err
	}
	if root, err := existingRoot(cfg); err != nil || root != nil {
		return err
	}
	if err := mustExist(cfg); err != nil {
		return err
	}
	ctx := store.AsSystem(c.Context())
	db, err := s.openDatabase(ctx, cfg)
	if err != nil {
		return err
	}
	sealed := true
	if err = mustBeMigrated(ctx, db); err == nil {
		sealed, err = anythingSealed(ctx, db)
	}
	if err = errors.Join(err, db.Close()); err != nil || sealed {
		return err // without its root key, a sealed database gets no API key
	}
	if err := os.MkdirAll(cfg.Data, 0o700); err != nil {
		return err
	}
	_, created, err := secrets.RootFile(cfg.Data)
	if created {
		s.say("created the root key %s: keep a copy in another place", absolutePath(rootKeyPath(cfg)))
	}
	return err
}

func rootKeyPath(cfg *config.Config) string { return filepath.Join(cfg.Data, secrets.RootFileName) }

// mustBeMigrated refuses a database whose schema is older or newer than this version's.
func mustBeMigrated(ctx context.Context, db *store.DB) error {
	if err := db.RefuseNewer(ctx); err != nil {
		return err
	}
	pending, err := pendingMigrations(ctx, db)
	if err != nil {
		return err
	}
	if len(pending) > 0 {
		return withHint(fault.Newf(fault.Unavailable, "the database needs %s", pluralOf(len(pending), "migration")),
			"apply with hale migrate up")
	}
	return nil
}

func pendingMigrations(ctx context.Context, db *store.DB) ([]store.Migration, error) {
	all, err := db.Migrations(ctx)
	if err != nil {
		return nil, err
	}
	var pending []store.Migration
	for _, m := range all {
		if !m.Applied {
			pending = append(pending, m)
		}
	}
	return pending, nil
}

func pluralOf(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// anythingSealed reports whether the database contains sealed values. They need the root
// key that sealed them.
func anythingSealed(ctx context.Context, db *store.DB) (sealed bool, err error) {
	err = db.Read(ctx, func(tx *store.Tx) error {
		var keys int64
		err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM sealing_keys`).Scan(&keys)
		sealed = keys > 0
		return err
	})
	return sealed, err
}
