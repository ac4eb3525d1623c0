package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"hale/internal/platform/store"
)

func (s *shell) migrateCommand() *cobra.Command {
	c := noun(&cobra.Command{
		Use: "migrate", Short: "apply database migrations",
		Long: `Apply the database migrations of this version. hale serve also applies them at
start. With several nodes on PostgreSQL, one node applies them and the others
wait. Migrations cannot be reverted.`,
		Example: examples("hale migrate status", "hale migrate up --database postgres://hale@db.example/hale"),
	}, s.migrateStatus(), s.migrateUp())
	addSettings(c.PersistentFlags(), storageSettings...)
	return c
}

type migrationLine struct {
	Version int64  `json:"version"`
	Name    string `json:"name"`
	State   string `json:"state"`
}

var migrationView = view{
	id:      "version",
	columns: []column{{"version", "version"}, {"name", "name"}, {"state", "state"}},
	none:    "no migrations",
}

func (s *shell) migrateStatus() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "list the migrations and whether each is applied",
		Example: examples("hale migrate status", "hale migrate status -o json"),
		Args:    wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := s.settings(c)
			if err != nil {
				return err
			}
			if err := mustExist(cfg); err != nil {
				return err
			}
			db, err := s.openDatabase(c.Context(), cfg)
			if err != nil {
				return err
			}
			return errors.Join(s.showMigrations(c.Context(), db), db.Close())
		},
	}
}

func (s *shell) showMigrations(ctx context.Context, db *store.DB) error {
	all, err := db.Migrations(ctx)
	if err != nil {
		return err
	}
	lines := make([]migrationLine, len(all))
	for i, m := range all {
		lines[i] = migrationLine{m.Version, m.Name, "pending"}
		if m.Applied {
			lines[i].State = "applied"
		}
	}
	return s.showValue(migrationView, lines)
}

func (s *shell) migrateUp() *cobra.Command {
	return &cobra.Command{
		Use: "up", Short: "apply pending migrations; create the database if there is none",
		Example: examples("hale migrate up", "hale migrate up --data /var/lib/hale"),
		Args:    wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := s.settings(c)
			if err != nil {
				return err
			}
			ctx := store.AsSystem(c.Context())
			db, err := s.openDatabase(ctx, cfg)
			if err != nil {
				return err
			}
			if err := errors.Join(s.applyMigrations(ctx, db), db.Close()); err != nil || isPostgres(cfg) {
				return err
			}
			return ownByFolder(cfg.Data, store.FileName) // it may have been made just now
		},
	}
}

func (s *shell) applyMigrations(ctx context.Context, db *store.DB) error {
	pending, err := pendingMigrations(ctx, db)
	if err != nil {
		return err
	}
	if err := db.Migrate(ctx); err != nil {
		return err
	}
	lines := make([]migrationLine, len(pending))
	for i, m := range pending {
		lines[i] = migrationLine{m.Version, m.Name, "applied now"}
	}
	v := migrationView
	v.none = fmt.Sprintf("nothing to do: the %s database is up to date", db.Engine())
	return s.showValue(v, lines)
}
