package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hale/internal/cli/progress"
	"hale/internal/platform/config"
	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
)

// manifestFile describes a backup. It is written last: a folder without one
// is no backup.
const manifestFile = "backup.json"

// manifest describes a backup, in the backup.
type manifest struct {
	Path      string    `json:"path,omitempty"`
	MadeAt    time.Time `json:"made_at"`
	MadeBy    string    `json:"made_by"`
	Schema    int64     `json:"schema"`
	SHA256    string    `json:"sha256,omitempty"` // of the embedded database
	Bytes     int64     `json:"bytes"`
	RootKey   bool      `json:"root_key"` // whether it is in the backup
	Integrity string    `json:"integrity,omitempty"`
	// Postgres describes the tables of a backup of PostgreSQL; nil for the embedded database.
	Postgres *store.PostgresCopy `json:"postgres,omitempty"`
}

var backupView = view{
	id: "path",
	columns: []column{
		{"backup", "path"},
		{"created", "made_at"},
		{"database bytes", "bytes"},
		{"root key inside", "root_key"},
		{"integrity", "integrity"},
	},
}

func (s *shell) backupCommand() *cobra.Command {
	var withRootKey bool
	c := &cobra.Command{
		Use: "backup FOLDER", Short: "copy the database, also while hale serve runs",
		Long: `Copy the database, embedded or PostgreSQL, to a new folder, also while hale serve runs. The copy
is the database at one moment, with every acknowledged upload. An upload that has
not finished starts again.

Personal data in the copy is encrypted. The copy contains the root key only with
--with-root-key. Keep backup and key in different places. With both, all data can
be read. Without the key, no personal data can be read.

Inside the data folder, which may be the only storage of a container, backups must
be in its folder backups. A backup does not contain that folder.

From PostgreSQL every table is streamed from one snapshot. The role must see all rows,
as the owner of the tables does. hale docs operations describes base backups and
point-in-time recovery with PostgreSQL's own tools.`,
		Example: examples("hale backup /backups/hale-$(date +%F)", "hale backup /data/backups/$(date +%F)", "hale backup ./copy --data /var/lib/hale -o json", "hale backup verify ./copy"),
		Args:    wantArgs("FOLDER"),
	}
	addSettings(c.Flags(), storageSettings...)
	c.Flags().BoolVar(&withRootKey, "with-root-key", false, "copy the root key into the backup; with it, all data of the backup can be read")
	c.RunE = func(c *cobra.Command, args []string) error {
		cfg, err := s.settings(c)
		if err != nil {
			return err
		}
		if err := mustExist(cfg); err != nil {
			return err
		}
		return s.backup(c.Context(), cfg, args[0], withRootKey)
	}
	c.AddCommand(s.backupVerifyCommand())
	return c
}

func (s *shell) backup(ctx context.Context, cfg *config.Config, target string, withRootKey bool) (err error) {
	if err := makeTarget(cfg.Data, target); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(target) // made above; half a backup is none
		}
	}()
	m := manifest{MadeAt: s.now().UTC().Truncate(time.Second), MadeBy: version(), RootKey: withRootKey}
	if isPostgres(cfg) {
		err = s.backupPostgres(ctx, cfg, target, &m)
	} else {
		err = s.backupEmbedded(ctx, cfg, target, &m)
	}
	if err != nil {
		return err
	}
	if withRootKey {
		err := copyFile(rootKeyPath(cfg), filepath.Join(target, secrets.RootFileName))
		if errors.Is(err, os.ErrNotExist) {
			return fault.Newf(fault.NotFound, "no root key in %s to copy into the backup", cfg.Data)
		}
		if err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := writeDurably(filepath.Join(target, manifestFile), append(text, '\n')); err != nil {
		return err
	}
	if _, err := os.Stat(rootKeyPath(cfg)); err == nil && !withRootKey {
		s.say("the root key is not in the backup: keep a copy of %s in another place", absolutePath(rootKeyPath(cfg)))
	}
	m.Path, m.Integrity = absolutePath(target), "copied"
	return s.showValue(backupView, m)
}

// backupsFolder holds the backups that are made inside the data folder, which
// may be the only one that a container has. It is in no backup, and restoring
// leaves it where it is.
const backupsFolder = "backups"

// makeTarget makes the new folder of a backup. Anywhere else in the data folder
// it would be part of itself and of every later one.
func makeTarget(data, target string) error {
	if way, ok := pathInside(data, target); ok && way != "." {
		if !strings.HasPrefix(way, backupsFolder+string(filepath.Separator)) {
			return withHint(badUsagef("%s is in the data folder", target), "put backups there into %s: %s",
				filepath.Join(data, backupsFolder), filepath.Join(data, backupsFolder, filepath.Base(target)))
		}
		if err := os.MkdirAll(filepath.Join(data, backupsFolder), 0o700); err != nil {
			return err
		}
	}
	err := os.Mkdir(target, 0o700)
	switch {
	case errors.Is(err, os.ErrExist):
		return withHint(fault.Newf(fault.Conflict, "%s already exists", target), "name a new folder")
	case errors.Is(err, os.ErrNotExist):
		return withHint(fault.Newf(fault.NotFound, "%s: no such folder", filepath.Dir(target)), "create it first; hale backup creates only FOLDER itself")
	}
	return fileTrouble(target, err)
}

// pathInside returns the relative path from a folder to a path below it. The path need
// not exist.
func pathInside(folder, path string) (way string, ok bool) {
	way, err := filepath.Rel(resolvePath(folder), resolvePath(path))
	return way, err == nil && filepath.IsLocal(way)
}

// resolvePath follows the links in that part of a path which is there.
func resolvePath(path string) string {
	path = absolutePath(path)
	if full, err := filepath.EvalSymlinks(path); err == nil {
		return full
	}
	if path == filepath.Dir(path) {
		return path
	}
	return filepath.Join(resolvePath(filepath.Dir(path)), filepath.Base(path))
}

// backupEmbedded copies the embedded database to the folder.
func (s *shell) backupEmbedded(ctx context.Context, cfg *config.Config, target string, m *manifest) (err error) {
	path := filepath.Join(target, store.FileName)
	if m.Schema, err = s.backupDatabase(ctx, cfg, path); err == nil {
		m.SHA256, m.Bytes, err = digest(path)
	}
	return err
}

// backupDatabase copies the database of this moment and returns its schema.
func (s *shell) backupDatabase(ctx context.Context, cfg *config.Config, target string) (schema int64, err error) {
	db, err := s.openDatabase(ctx, cfg)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	all, err := db.Migrations(ctx)
	if err != nil {
		return 0, err
	}
	for _, m := range all {
		if m.Applied {
			schema = max(schema, m.Version)
		}
	}
	info, err := os.Stat(db.Path())
	if err != nil {
		return 0, err
	}
	meter := progress.Start(s.err, progress.Options{Label: "database", Unit: progress.Bytes, Total: info.Size(), Terminal: s.terminal})
	watching, stop := context.WithCancel(ctx)
	go watchSize(watching, target, info.Size(), meter)
	err = db.Backup(ctx, target)
	stop()
	if made, statErr := os.Stat(target); statErr == nil {
		meter.Set(made.Size(), made.Size(), "")
	}
	meter.Finish(err == nil)
	return schema, err
}

// watchSize moves a progress bar while another process writes a file.
func watchSize(ctx context.Context, path string, total int64, meter *progress.Meter) {
	ticker := time.NewTicker(250 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if info, err := os.Stat(path); err == nil {
				meter.Set(info.Size(), total, "")
			}
		}
	}
}
