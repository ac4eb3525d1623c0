package cli

import (
	"context"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"hale/internal/platform/config"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

func (s *shell) keysCommand() *cobra.Command {
	var team string
	c := noun(&cobra.Command{
		Use: "keys", Short: "create, rotate and revoke API keys",
		Long: `Create, rotate and revoke API keys. A key is shown once, when it is created; the
database stores only a code of it. Running servers notice a change within five seconds.
The commands work on the database directly and need no API key. Commands that change
keys need the root key of the database.`,
		Example: examples("hale keys create --label laptop", "hale keys list", "hale keys rotate KEY_ID --overlap 24h"),

		Annotations: map[string]string{absentHint: "hale keys list --all shows the ids"},
	}, s.keysCreate(&team), s.keysList(&team), s.keysRotate(&team), s.keysExpire(&team), s.keysRevoke(&team))
	addSettings(c.PersistentFlags(), storageSettings...)
	c.PersistentFlags().StringVar(&team, "team", "", "team: id or name; not needed if there is only one")
	return c
}

type keyLine struct {
	ID        teams.KeyID `json:"key_id"`
	Team      teams.ID    `json:"team_id"`
	Key       string      `json:"key,omitempty"` // only when it was just made
	Hint      string      `json:"hint"`
	Label     string      `json:"label"`
	State     string      `json:"state"`
	CreatedAt time.Time   `json:"created_at"`
	ExpiresAt *time.Time  `json:"expires_at"`
	UsedAt    *time.Time  `json:"last_used_at"`
	// The limits of the key.
	Scopes       []teams.Scope  `json:"scopes"`
	Addresses    []netip.Prefix `json:"addresses"`
	PersonalData bool           `json:"personal_data"`
}

func (s *shell) lineOfKey(k teams.Key, text secrets.Text) keyLine {
	state := "live"
	switch {
	case !k.Live(s.now()):
		state = "ended"
	case k.ExpiresAt != nil:
		state = "ending"
	}
	scopes := k.Rights.Scopes
	if len(scopes) == 0 {
		scopes = teams.Scopes
	}
	return keyLine{
		k.ID, k.Team, text.Reveal(), k.Hint, k.Label, state, k.CreatedAt, k.ExpiresAt, k.UsedAt,
		scopes, append([]netip.Prefix{}, k.Rights.Addresses...), k.Rights.PersonalData,
	}
}

var keyView = view{
	id: "key_id",
	columns: []column{
		{"id", "key_id"},
		{"key", "hint"},
		{"label", "label"},
		{"state", "state"},
		{"scopes", "scopes"},
		{"last used", "last_used_at"},
		{"ends", "expires_at"},
		{"created", "created_at"},
	},
	none: "no keys: hale keys create creates one",
}

var newKeyView = view{
	id:      "key",
	columns: []column{{"key", "key"}, {"id", "key_id"}, {"team", "team_id"}, {"label", "label"}},
}

// withTeam runs fn in a write transaction with the team of --team.
func (s *shell) withTeam(c *cobra.Command, name string, fn func(ctx context.Context, tx *store.Tx, team teams.Team) error) error {
	return s.withDatabase(c, func(ctx context.Context, db *store.DB) error {
		team, err := findTeam(ctx, db, name)
		if err != nil {
			return err
		}
		return db.Write(ctx, func(tx *store.Tx) error { return fn(ctx, tx, team) })
	})
}

func (s *shell) keysCreate(name *string) *cobra.Command {
	var label, scopes, expires string
	var addresses []string
	var noPersonalData bool
	c := &cobra.Command{
		Use: "create", Short: "create a key and print it once",
		Example: examples(
			"hale keys create --label laptop",
			"hale keys create --team Acme",
			"hale keys create --label reports --scopes read --no-personal-data --expires 90d",
			"hale keys create --label orders --scopes read,orders --addresses 10.0.0.0/8",
			"export HALE_API_KEY=$(hale keys create -o id)   # -o id prints the key itself",
		),
		Args: wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			n := teams.NewKey{Label: label, Rights: teams.Rights{PersonalData: !noPersonalData}}
			var err error
			if n.Rights.Scopes, err = teams.ParseScopes(scopes); err != nil {
				return badUsagef("--scopes: %w", err)
			}
			if n.Rights.Addresses, err = config.ParseNetworks(addresses); err != nil {
				return badUsagef("--addresses %w", err)
			}
			if expires != "" {
				span, err := config.ParseDuration(expires)
				if err != nil || span <= 0 {
					return badUsagef("--expires must be a time span, such as 72h or 90d")
				}
				end := s.now().Add(span)
				n.ExpiresAt = &end
			}
			if err := s.makeRootKey(c); err != nil {
				return err
			}
			var key teams.Key
			var text secrets.Text
			err = s.withTeam(c, *name, func(ctx context.Context, tx *store.Tx, team teams.Team) (err error) {
				key, text, err = teams.CreateKey(ctx, tx, team, n)
				return err
			})
			if err != nil {
				return err
			}
			s.sayDone("created; this is the only time the key is shown")
			return s.showValue(newKeyView, s.lineOfKey(key, text))
		},
	}
	c.Flags().StringVar(&label, "label", "", "purpose of the key")
	c.Flags().StringVar(&scopes, "scopes", "", "what the key may do, separated by commas: read, write, orders, webhooks, portal, admin; all if empty")
	c.Flags().StringSliceVar(&addresses, "addresses", nil, "addresses and networks from which the key may be used; all if empty")
	c.Flags().BoolVar(&noPersonalData, "no-personal-data", false, "refuse operations with names, contact data, birth dates, orders or results")
	c.Flags().StringVar(&expires, "expires", "", "time until the key ends, such as 90d; never if empty")
	return c
}

func (s *shell) keysList(name *string) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "list", Short: "list keys, oldest first",
		Example: examples("hale keys list", "hale keys list --all --team Acme"),
		Args:    wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			return s.withDatabase(c, func(ctx context.Context, db *store.DB) error {
				team, err := findTeam(ctx, db, *name)
				if err != nil {
					return err
				}
				lines := []keyLine{}
				err = db.Read(ctx, func(tx *store.Tx) error {
					lines = lines[:0]
					keys, err := teams.Keys(ctx, tx, team.ID)
					for _, k := range keys {
						if line := s.lineOfKey(k, ""); all || line.State != "ended" {
							lines = append(lines, line)
						}
					}
					return err
				})
				if err != nil {
					return err
				}
				return s.showValue(keyView, lines)
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "also list ended keys")
	return c
}

func (s *shell) keysRotate(name *string) *cobra.Command {
	var overlap string
	c := &cobra.Command{
		Use: "rotate KEY_ID", Short: "create a successor; the old key stays valid for the overlap",
		Example: examples("hale keys rotate 0198… --overlap 24h", "hale keys rotate 0198… --overlap 0s -o id"),
		Args:    wantArgs("KEY_ID"),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := keyID(args[0])
			if err != nil {
				return err
			}
			span, err := config.ParseDuration(overlap)
			if err != nil {
				return badUsagef("--overlap %w", err)
			}
			var key teams.Key
			var text secrets.Text
			err = s.withTeam(c, *name, func(ctx context.Context, tx *store.Tx, team teams.Team) (err error) {
				key, text, err = teams.RotateKey(ctx, tx, team, id, span)
				return err
			})
			if err != nil {
				return err
			}
			s.sayDone("created; the old key ends in %s", overlap)
			return s.showValue(newKeyView, s.lineOfKey(key, text))
		},
	}
	c.Flags().StringVar(&overlap, "overlap", "24h", "time for which the old key stays valid, at most 7d")
	return c
}

func (s *shell) keysExpire(name *string) *cobra.Command {
	var after string
	c := &cobra.Command{
		Use: "expire KEY_ID", Short: "end a key after a time, without a successor",
		Example: examples("hale keys expire 0198… --in 72h"),
		Args:    wantArgs("KEY_ID"),
		RunE: func(c *cobra.Command, args []string) error {
			span, err := config.ParseDuration(after)
			if err != nil || span < 0 {
				return badUsagef("--in must be a time span, such as 72h or 30d")
			}
			return s.endKey(c, *name, args[0], false, func(now time.Time) time.Time { return now.Add(span) })
		},
	}
	c.Flags().StringVar(&after, "in", "24h", "time until the key ends")
	return c
}

func (s *shell) keysRevoke(name *string) *cobra.Command {
	var dryRun bool
	c := &cobra.Command{
		Use: "revoke KEY_ID", Short: "end a key now",
		Example: examples("hale keys revoke 0198…", "hale keys revoke 0198… --dry-run"),
		Args:    wantArgs("KEY_ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return s.endKey(c, *name, args[0], dryRun, func(now time.Time) time.Time { return now })
		},
	}
	c.Flags().BoolVar(&dryRun, "dry-run", false, "show the key without revoking it")
	return c
}

// endKey lets a key end at a moment, and shows it.
func (s *shell) endKey(c *cobra.Command, name, text string, dryRun bool, at func(now time.Time) time.Time) error {
	id, err := keyID(text)
	if err != nil {
		return err
	}
	var key teams.Key
	err = s.withTeam(c, name, func(ctx context.Context, tx *store.Tx, team teams.Team) (err error) {
		if !dryRun {
			if err := teams.EndKey(ctx, tx, team.ID, id, at(tx.Now())); err != nil {
				return err
			}
		}
		key, err = teams.GetKey(ctx, tx, team.ID, id)
		return err
	})
	if err != nil {
		return err
	}
	if dryRun {
		s.sayDone("nothing was changed")
	}
	return s.showValue(keyView, s.lineOfKey(key, ""))
}

func keyID(text string) (teams.KeyID, error) {
	id, err := ids.Parse[teams.Key](text)
	if err != nil {
		return id, withHint(fault.New(fault.Invalid, "KEY_ID must be the id of a key, such as "+exampleID+", not the key itself"),
			"hale keys list shows the ids")
	}
	return id, nil
}
