package cli

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"hale/internal/app"
	"hale/internal/cli/progress"
	"hale/internal/people/users"
	"hale/internal/platform/config"
	"hale/internal/platform/fault"
	"hale/internal/platform/jobs"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

func (s *shell) rootKeyCommand() *cobra.Command {
	c := noun(&cobra.Command{
		Use: "root-key", Short: "replace the root key",
		Long: `Replace the root key, for example because it may be known to others.

  1. hale root-key add        adds a key that opens and does not seal yet
  2. restart every server     each learns the new key
  3. hale root-key replace ID makes the new key seal, and seals the keys of the
                              database again, while servers run
  4. restart every server     each seals with the new key
  5. hale root-key retire OLD_ID removes the old key
  6. restart every server     links that were made with the old key end

Steps 3 and 5 can be repeated. Keep the old key as long as you keep backups from before:
a restore of one of them needs it. After step 6 the old key alone opens nothing in
the database. Copies from before stay readable with it.`,
		Example: examples("hale root-key list", "hale root-key add -o id"),

		Annotations: map[string]string{absentHint: "hale root-key list shows the ids"},
	}, s.rootKeyList(), s.rootKeyAdd(), s.rootKeyReplace(), s.rootKeyRetire())
	addSettings(c.PersistentFlags(), storageSettings...)
	return c
}

// rootKeyLine is one root key.
type rootKeyLine struct {
	ID    string `json:"root_key_id"`
	Seals bool   `json:"seals"`
	// Teams is the number of keys of teams that it wraps, Erasures the number of lines in
	// the list of erasures of this data folder.
	Teams    int `json:"team_keys"`
	Erasures int `json:"erasures"`
	// Line is the key itself, for a setting; only when it was just made.
	Line string `json:"line,omitempty"`
}

var rootKeyView = view{id: "root_key_id", columns: []column{{"id", "root_key_id"}, {"seals", "seals"}, {"team keys", "team_keys"}, {"erasures", "erasures"}}}

func (s *shell) rootKeyList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "list the root keys and how much each of them seals",
		Example: examples("hale root-key list -o json"),
		Args:    wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, root, err := s.rootKeys(c)
			if err != nil {
				return err
			}
			return s.withDatabase(c, func(ctx context.Context, db *store.DB) error {
				var use map[secrets.KeyID]int
				err := db.Read(ctx, func(tx *store.Tx) (err error) {
					use, err = tx.RootKeyUse(ctx)
					return err
				})
				if err != nil {
					return err
				}
				lines := []rootKeyLine{}
				for i, id := range root.IDs() {
					line := rootKeyLine{ID: id.String(), Seals: i == 0, Teams: use[id]}
					if line.Erasures, err = users.OpenErasures(cfg.Data, root).CountSealedWith(id); err != nil {
						return err
					}
					lines = append(lines, line)
				}
				return s.showValue(rootKeyView, lines)
			})
		},
	}
}

// rootKeys reads the settings and the root keys, which must exist.
func (s *shell) rootKeys(c *cobra.Command) (*config.Config, *secrets.Root, error) {
	cfg, err := s.settings(c)
	if err != nil {
		return nil, nil, err
	}
	root, err := existingRoot(cfg)
	if err == nil && root == nil {
		err = withHint(fault.Newf(fault.NotFound, "no root key in %s", cfg.Data), "hale serve creates one; set --data to use another folder")
	}
	return cfg, root, err
}

func (s *shell) rootKeyAdd() *cobra.Command {
	return &cobra.Command{
		Use: "add", Short: "add a root key that opens and does not seal yet",
		Long: `Add a root key that opens and does not seal yet. It is added to root.key in the data
folder. If the setting root-key names the keys, the new key is printed instead: add it
there, after the other keys.`,
		Example: examples("hale root-key add", "hale root-key add -o id"),
		Args:    wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, _, err := s.rootKeys(c)
			if err != nil {
				return err
			}
			if cfg.RootKey != "" {
				id, line := secrets.NewRootKey()
				view := rootKeyView
				view.columns = []column{{"id", "root_key_id"}, {"line", "line"}}
				s.say("add this line to the root-key setting (%s), after the other keys, and restart every server; then run hale root-key replace %s", cfg.Origin("root-key"), id)
				return s.showValue(view, rootKeyLine{ID: id.String(), Line: line})
			}
			var id secrets.KeyID
			err = editRootKeyFile(cfg, func(text string) (_ string, err error) {
				text, id = secrets.AddRootKey(text)
				return text, nil
			})
			if err != nil {
				return err
			}
			s.say("keep a new copy of %s in another place, and restart every server with it; then run hale root-key replace %s", absolutePath(rootKeyPath(cfg)), id)
			return s.showValue(rootKeyView, rootKeyLine{ID: id.String()})
		},
	}
}

// editRootKeyFile replaces the file in the data folder.
func editRootKeyFile(cfg *config.Config, edit func(text string) (string, error)) error {
	text, err := os.ReadFile(rootKeyPath(cfg))
	if err != nil {
		return err
	}
	edited, err := edit(string(text))
	if err != nil {
		return err
	}
	return store.ReplaceFile(rootKeyPath(cfg), []byte(edited))
}

// rootKey reads the settings, the root keys, and the id of one of them.
func (s *shell) rootKey(c *cobra.Command, text string) (*config.Config, *secrets.Root, secrets.KeyID, error) {
	cfg, root, err := s.rootKeys(c)
	if err != nil {
		return nil, nil, secrets.KeyID{}, err
	}
	id, err := secrets.ParseKeyID(text)
	if err != nil || !slices.Contains(root.IDs(), id) {
		err = withHint(fault.Newf(fault.NotFound, "no root key %s", text), "hale root-key list shows the ids")
	}
	return cfg, root, id, err
}

// checkServers calls check with the root keys of each server that runs, the one that
// seals first.
func checkServers(ctx context.Context, cfg *config.Config, db *store.DB, check func(known []string) error) error {
	if !isPostgres(cfg) {
		lock, err := app.HoldFolder(cfg.Data)
		if err == nil { // no server runs; the row of one that was killed may remain
			return lock.Close()
		}
	}
	var all [][]string
	err := db.Read(ctx, func(tx *store.Tx) (err error) {
		all, err = jobs.RootKeys(ctx, tx)
		return err
	})
	for _, known := range all {
		if err == nil {
			err = check(known)
		}
	}
	return err
}

func (s *shell) rootKeyReplace() *cobra.Command {
	return &cobra.Command{
		Use: "replace ID", Short: "make a root key seal, and seal the stored keys again",
		Long: `Make a root key seal, and seal the stored keys again. Each team gets a new key, which
the root key wraps; the keys of the team's users are wrapped with it. Values stay as
they are, so the command takes seconds per 100,000 users. Servers may run. An
interrupted command continues when it is repeated.`,
		Example: examples("hale root-key replace 1f0c9a2b"),
		Args:    wantArgs("the ID of a root key"),
		RunE: func(c *cobra.Command, args []string) error {
			cfg, root, id, err := s.rootKey(c, args[0])
			if err != nil {
				return err
			}
			if cfg.RootKey != "" && root.IDs()[0] != id {
				return withHint(fault.Newf(fault.Conflict, "root key %s is not the first of the root-key setting", id),
					"make its line the first one, restart every server, and repeat the command")
			}
			err = s.withDatabase(c, func(ctx context.Context, db *store.DB) error {
				return checkServers(ctx, cfg, db, func(known []string) error {
					if slices.Contains(known, id.String()) {
						return nil
					}
					return withHint(fault.Newf(fault.Conflict, "a running server does not know root key %s", id), "restart every server, and repeat the command")
				})
			})
			if err != nil {
				return err
			}
			if cfg.RootKey == "" {
				if err := editRootKeyFile(cfg, func(text string) (string, error) { return secrets.PromoteRootKey(text, id) }); err != nil {
					return err
				}
			}
			return s.withDatabase(c, func(ctx context.Context, db *store.DB) error {
				return s.reseal(ctx, db, id, "; restart every server, then retire the old root key")
			})
		},
	}
}

// reseal seals the keys of the database with the first root key. next is what to do then.
func (s *shell) reseal(ctx context.Context, db *store.DB, id secrets.KeyID, next string) error {
	meter := progress.Start(s.err, progress.Options{Label: "keys", Unit: progress.Items, Terminal: s.terminal})
	done, err := db.Reseal(ctx, func(done store.Resealed) { meter.Set(int64(done.Teams+done.Users), 0, "") })
	meter.Finish(err == nil)
	if err != nil {
		return err
	}
	proofs := 0
	if err := db.Write(ctx, func(tx *store.Tx) (err error) {
		proofs, err = teams.ProveAgain(ctx, tx)
		return err
	}); err != nil {
		return err
	}
	if err := db.Scrub(ctx); errors.Is(err, store.ErrScrubBusy) {
		s.say("other transactions still read the former keys, so they stay in free pages; repeat the command later")
	} else if err != nil {
		return err
	}
	s.sayDone("root key %s seals: %s with a new key, %s and %s sealed again%s",
		id, pluralOf(done.Teams, "team"), pluralOf(done.Users, "user key"), pluralOf(proofs, "API key"), next)
	return nil
}

func (s *shell) rootKeyRetire() *cobra.Command {
	return &cobra.Command{
		Use: "retire ID", Short: "remove a root key that seals nothing any more",
		Long: `Remove a root key that seals nothing any more. The command refuses while something
needs the key, or a server still seals with it. Requisition links that were made with
the key end. Keep a copy of the key for backups from before.`,
		Example: examples("hale root-key retire 77ab01c4"),
		Args:    wantArgs("the ID of a root key"),
		RunE: func(c *cobra.Command, args []string) error {
			cfg, root, id, err := s.rootKey(c, args[0])
			if err != nil {
				return err
			}
			if root.IDs()[0] == id {
				return withHint(fault.Newf(fault.Conflict, "root key %s seals", id), "hale root-key replace ID makes another one seal")
			}
			if err := s.withDatabase(c, func(ctx context.Context, db *store.DB) error { return s.retire(ctx, cfg, root, db, id) }); err != nil {
				return err
			}
			if cfg.RootKey != "" {
				s.sayDone("root key %s seals nothing any more: remove its line from the root-key setting (%s), and restart every server", id, cfg.Origin("root-key"))
				return nil
			}
			if err := editRootKeyFile(cfg, func(text string) (string, error) { return secrets.RemoveRootKey(text, id) }); err != nil {
				return err
			}
			s.sayDone("root key %s is removed from %s: give each server this file, and restart it", id, absolutePath(rootKeyPath(cfg)))
			return nil
		},
	}
}

// retire checks that nothing needs a root key, and keeps what remains of it.
func (s *shell) retire(ctx context.Context, cfg *config.Config, root *secrets.Root, db *store.DB, id secrets.KeyID) error {
	err := checkServers(ctx, cfg, db, func(known []string) error {
		if len(known) > 0 && known[0] == root.IDs()[0].String() {
			return nil
		}
		return withHint(fault.Newf(fault.Conflict, "a running server does not seal with root key %s", root.IDs()[0]), "restart every server, and repeat the command")
	})
	if err != nil {
		return err
	}
	lines, err := users.OpenErasures(cfg.Data, root).CountSealedWith(id)
	if err != nil {
		return err
	}
	if lines > 0 {
		return withHint(fault.Newf(fault.Conflict, "root key %s seals %s of the list of erasures", id, pluralOf(lines, "line")), "restart the server of this data folder, and repeat the command")
	}
	if err := s.reseal(ctx, db, root.IDs()[0], ""); err != nil { // what was sealed before the restart
		return err
	}
	return db.Write(ctx, func(tx *store.Tx) error { return tx.RetireRootKey(ctx, id) })
}
