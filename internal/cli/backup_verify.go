package cli

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"hale/internal/app"
	"hale/internal/platform/config"
	"hale/internal/platform/store"
)

// verifiedBackup describes a backup that was checked.
type verifiedBackup struct {
	restoredBackup
	Events int64 `json:"events"`
	Blocks int64 `json:"blocks"`
	Rows   int64 `json:"rows"`
}

var verifiedView = view{
	id: "path",
	columns: append(backupView.columns[:len(backupView.columns):len(backupView.columns)], column{"root key", "root_key_check"},
		column{"rows", "rows"}, column{"events", "events"}, column{"blocks of samples", "blocks"}),
}

func (s *shell) backupVerifyCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "verify FOLDER", Short: "check a backup and count its rows",
		Long: `Check a backup and count its rows, events and blocks of samples. A backup of the
embedded database is copied beside the data folder, and every page is read. Of a
backup of PostgreSQL the digest and the rows of every table are compared. In both,
the root key must open the key of every team.`,
		Example: examples("hale backup verify /backups/hale-2026-03-01", "hale backup verify ./copy --root-key-file ./root.key"),
		Args:    wantArgs("FOLDER"),
	}
	addSettings(c.Flags(), storageSettings...)
	c.RunE = func(c *cobra.Command, args []string) error {
		cfg, err := s.settings(c)
		if err != nil {
			return err
		}
		m, err := readManifest(args[0])
		if err != nil {
			return err
		}
		return s.verifyBackup(c.Context(), cfg, args[0], m)
	}
	return c
}

func (s *shell) verifyBackup(ctx context.Context, cfg *config.Config, from string, m manifest) error {
	v := verifiedBackup{restoredBackup: restoredBackup{manifest: m}}
	var err error
	if m.Postgres != nil {
		v.RootKeyCheck, err = s.proveTables(cfg, from, &m)
		v.Events, v.Blocks = m.Postgres.Rows(eventsTable), m.Postgres.Rows(blocksTable)
		for _, t := range m.Postgres.Tables {
			v.Rows += t.Rows
		}
	} else {
		embedded := *cfg
		embedded.Database = ""
		err = s.withStaged(ctx, &embedded, from, func(ctx context.Context, key keyCheck, db *store.DB) error {
			v.RootKeyCheck = key
			return v.count(ctx, db)
		})
	}
	if err != nil {
		return err
	}
	v.Path, v.Integrity = absolutePath(from), "checked"
	return s.showValue(verifiedView, v)
}

const (
	eventsTable = "events"
	blocksTable = "sample_blocks"
)

// count counts the rows of every table of the embedded database.
func (v *verifiedBackup) count(ctx context.Context, db *store.DB) error {
	return db.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Query(ctx, `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
		if err != nil {
			return err
		}
		defer rows.Close()
		var names []string
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			names = append(names, name)
		}
		if err := rows.Err(); err != nil {
			return err
		}
		for _, name := range names {
			var n int64
			if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM "`+name+`"`).Scan(&n); err != nil {
				return err
			}
			v.Rows += n
			switch name {
			case eventsTable:
				v.Events = n
			case blocksTable:
				v.Blocks = n
			}
		}
		return nil
	})
}

// withStaged copies a backup beside the data folder, checks the copy and opens it.
func (s *shell) withStaged(ctx context.Context, cfg *config.Config, from string, fn func(ctx context.Context, key keyCheck, db *store.DB) error) error {
	staging, err := os.MkdirTemp(existingParent(cfg.Data), app.StagingFolder+"-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(staging)
	key, err := s.stage(ctx, cfg, from, staging)
	if err != nil {
		return err
	}
	staged := *cfg
	staged.Data = staging
	ctx = store.AsSystem(ctx)
	db, err := s.openDatabase(ctx, &staged)
	if err != nil {
		return err
	}
	return errors.Join(fn(ctx, key, db), db.Close())
}
