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

// withDatabase runs fn on the configured database, which must exist and be up
// to date. Commands that use it need no API key: who can read the data folder
// owns it anyway.
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
		err = s.noted(ctx, c, db, fn)
	}
	return errors.Join(err, db.Close())
}

func isPostgres(cfg *config.Config) bool { return store.IsPostgresURL(cfg.Database.Reveal()) }

// mustExist keeps a mistyped data folder from becoming an empty database.
func mustExist(cfg *config.Config) error {
	if isPostgres(cfg) {
		return nil
	}
	_, err := os.Stat(filepath.Join(cfg.Data, store.FileName))
	if errors.Is(err, os.ErrNotExist) {
		return withHint(fault.Newf(fault.NotFound, "no database in %s", cfg.Data),
			"hale serve or hale migrate up creates one; set --data to use another folder")
	}
	return err
}

// openDatabase opens what the settings name and creates what is absent, but
// never a root key: that is for hale serve, which says so. Locks of another
// process are waited for as hale serve waits.
func (s *shell) openDatabase(ctx context.Context, cfg *config.Config) (*store.DB, error) {
	return s.openWaiting(ctx, cfg, 0)
}

// openWaiting is openDatabase for a command that waits so long for a lock of
// another process; 0 is as long as hale serve does.
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
		links = &documents.Links{Root: root, BaseURL: cfg.URL}
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

// existingRoot is the root key of the settings or of the data folder, nil when
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

// makeRootKey creates the root key of a database that has nothing sealed, as the first
// hale serve would. An API key needs one.
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
		s.say("created the root key %s: keep a copy in another place", absolute(rootKeyPath(cfg)))
	}
	return err
}

func rootKeyPath(cfg *config.Config) string { return filepath.Join(cfg.Data, secrets.RootFileName) }

// mustBeMigrated refuses a database that is behind this version or ahead of it.
func mustBeMigrated(ctx context.Context, db *store.DB) error {
	if err := db.RefuseNewer(ctx); err != nil {
		return err
	}
	pending, err := pendingMigrations(ctx, db)
	if err != nil {
		return err
	}
	if len(pending) > 0 {
		return withHint(fault.Newf(fault.Unavailable, "the database needs %s", plural(len(pending), "migration")),
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

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// anythingSealed tells whether the database holds sealed values, which need
// the root key that they were sealed with.
func anythingSealed(ctx context.Context, db *store.DB) (sealed bool, err error) {
	err = db.Read(ctx, func(tx *store.Tx) error {
		var keys int64
		err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM sealing_keys`).Scan(&keys)
		sealed = keys > 0
		return err
	})
	return sealed, err
}
