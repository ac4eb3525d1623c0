package cli

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"hale/internal/app"
	"hale/internal/people/users"
	"hale/internal/platform/audit"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// withAuditRow runs fn and records in the audit log that a user of this machine ran the
// command. Without the root key it records nothing, because the code of a row needs that
// key. Such a command decrypts nothing either.
func (s *shell) withAuditRow(ctx context.Context, c *cobra.Command, db *store.DB, fn func(ctx context.Context, db *store.DB) error) error {
	if db.RootKeys() == "" || db.ProveRoot(ctx) != nil {
		return fn(ctx, db)
	}
	trail := audit.NewTrail(audit.Entry{At: db.Now(), ActorKind: audit.ActorOperator, Actor: strings.TrimPrefix(s.operatorName(""), "operator "), Action: c.CommandPath()}, http.StatusOK)
	err := fn(audit.InTransactions(audit.WithTrail(ctx, trail)), db)
	status := http.StatusOK
	if err != nil {
		status = http.StatusInternalServerError
	}
	rest := trail.Finish(status)
	if len(rest) == 0 {
		return err
	}
	return errors.Join(err, db.Write(ctx, func(tx *store.Tx) error { return audit.Insert(ctx, tx, rest) }))
}

func (s *shell) auditCommand() *cobra.Command {
	c := noun(&cobra.Command{
		Use: "audit", Short: "show who read or changed whose data, and check the audit log",
		Long: `Show who read or changed whose data, and check the audit log.

The log has a row for each request of a key, a phone or the portal, and for each
command that opens the database. Rows are chained with codes that need the root key.
The commands work on the database directly, also while hale serve runs.`,
		Example: examples("hale audit list --user USER", "hale audit export > accesses.jsonl", "hale audit verify"),
	}, s.auditList(), s.auditExport(), s.auditVerify())
	addSettings(c.PersistentFlags(), storageSettings...)
	return c
}

// auditLine is a row of the log.
type auditLine struct {
	Team uuid.UUID `json:"team_id"`
	audit.Entry
	Block int64 `json:"block"`
	N     int64 `json:"n"`
}

var auditView = view{id: "at", none: "no accesses", columns: []column{
	{"at", "at"},
	{"actor", "actor_kind"},
	{"id", "actor"},
	{"on behalf of", "on_behalf_of"},
	{"action", "action"},
	{"person", "user_id"},
	{"status", "status"},
	{"address", "address"},
}}

// auditFlags are the filters of list and export.
type auditFlags struct {
	team, user, actor, action string
	from, to                  string
}

func (f *auditFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.team, "team", "", "only this team, id or name; the default is all, and commands on the installation")
	c.Flags().StringVar(&f.user, "user", "", "only accesses to the data of this person: user_id or client_user_id")
	c.Flags().StringVar(&f.actor, "actor", "", "only this key, session or operator")
	c.Flags().StringVar(&f.action, "action", "", "only this operation or command")
	c.Flags().StringVar(&f.from, "from", "", "only from this time on, such as 2026-01-31T00:00:00Z")
	c.Flags().StringVar(&f.to, "to", "", "only up to this time, which is included")
}

// filter parses the flags that need no database.
func (f *auditFlags) filter() (filter audit.Filter, err error) {
	if f.actor != "" {
		filter.Actors = []string{f.actor}
	}
	if f.action != "" {
		filter.Actions = []string{f.action}
	}
	moment := func(name, text string) *time.Time {
		if text == "" {
			return nil
		}
		at, bad := time.Parse(time.RFC3339, text)
		if bad != nil {
			err = errors.Join(err, badUsagef("--%s must be a time such as 2026-01-31T00:00:00Z", name))
		}
		return &at
	}
	filter.From, filter.To = moment("from", f.from), moment("to", f.to)
	return filter, err
}

// find adds the team and the person of the flags to the filter. teams is nil for all of
// them. An id that is not here is taken as it is: the log outlives the person.
func (f *auditFlags) find(ctx context.Context, db *store.DB, filter *audit.Filter) (ids []uuid.UUID, err error) {
	all, err := readTeams(ctx, db)
	if err != nil {
		return nil, err
	}
	if id, bad := uuid.Parse(f.team); bad == nil {
		ids = []uuid.UUID{id}
	} else if f.team != "" {
		team, err := findTeam(ctx, db, f.team)
		if err != nil {
			return nil, err
		}
		ids = []uuid.UUID{team.ID.UUID()}
	}
	if f.user == "" {
		return ids, nil
	}
	var found []uuid.UUID
	err = db.Read(ctx, func(tx *store.Tx) error {
		found = nil
		for _, team := range all {
			if ids != nil && team.ID.UUID() != ids[0] {
				continue
			}
			user, err := users.Lookup(ctx, tx, team.ID, f.user)
			if fault.Is(err, fault.NotFound) {
				continue
			}
			if err != nil {
				return err
			}
			found = append(found, user.ID.UUID())
		}
		return nil
	})
	id, notID := uuid.Parse(f.user)
	switch {
	case err != nil:
		return nil, err
	case len(found) == 1:
		id = found[0]
	case len(found) > 1:
		return nil, withHint(fault.New(fault.Conflict, "several teams have a user of this name"), "add --team, or use the user_id")
	case notID != nil:
		return nil, withHint(fault.New(fault.NotFound, "no such user"), "a deleted user is found by the user_id only")
	}
	filter.Users = []uuid.UUID{id}
	return ids, nil
}

func (s *shell) auditList() *cobra.Command {
	var flags auditFlags
	limit := 100
	c := &cobra.Command{
		Use: "list", Short: "list accesses, newest first",
		Example: examples("hale audit list", "hale audit list --user USER --limit 1000", "hale audit list --action listOrders -o json"),
		Args:    wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			if limit < 1 {
				return badUsagef("--limit must be 1 or more")
			}
			return s.withAudit(c, &flags, func(ctx context.Context, db *store.DB, _ *audit.Log, filter audit.Filter, teams []uuid.UUID) error {
				filter.Limit = limit + 1 // the last one means that there are more
				lines := []auditLine{}
				err := db.Read(ctx, func(tx *store.Tx) error {
					for _, team := range teams {
						part := filter
						for {
							rows, next, err := audit.List(ctx, tx, team, part)
							if err != nil {
								return err
							}
							for _, row := range rows {
								lines = append(lines, auditLine{team, row.Entry, row.Block, row.N})
							}
							if next == nil || len(rows) >= part.Limit {
								break
							}
							part.Before, part.Limit = next, part.Limit-len(rows)
						}
					}
					return nil
				})
				if err != nil {
					return err
				}
				slices.SortStableFunc(lines, func(a, b auditLine) int { return b.At.Compare(a.At) })
				if len(lines) <= limit {
					return s.showValue(auditView, lines)
				}
				if err := s.showValue(auditView, lines[:limit]); err != nil {
					return err
				}
				s.say("there are older accesses: set a higher --limit, or write all of them with hale audit export")
				return nil
			})
		},
	}
	flags.add(c)
	c.Flags().IntVar(&limit, "limit", limit, "maximum number of accesses")
	return c
}

func (s *shell) auditExport() *cobra.Command {
	var flags auditFlags
	c := &cobra.Command{
		Use: "export", Short: "write accesses as JSON lines, newest first in each team",
		Example: examples("hale audit export > accesses.jsonl", "hale audit export --from 2026-01-01T00:00:00Z --to 2027-01-01T00:00:00Z > 2026.jsonl"),
		Args:    wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			return s.withAudit(c, &flags, func(ctx context.Context, db *store.DB, _ *audit.Log, filter audit.Filter, teams []uuid.UUID) error {
				out := bufio.NewWriter(s.out)
				for _, team := range teams {
					if err := exportAudit(ctx, db, team, filter, json.NewEncoder(out)); err != nil {
						return err
					}
				}
				return out.Flush()
			})
		},
	}
	flags.add(c)
	return c
}

func exportAudit(ctx context.Context, db *store.DB, team uuid.UUID, filter audit.Filter, out *json.Encoder) error {
	filter.Limit, filter.Before = 1000, nil
	for {
		var rows []audit.Row
		var next *audit.Position
		err := db.Read(ctx, func(tx *store.Tx) (err error) {
			rows, next, err = audit.List(ctx, tx, team, filter)
			return err
		})
		if err != nil {
			return err
		}
		for _, row := range rows {
			if err := out.Encode(auditLine{team, row.Entry, row.Block, row.N}); err != nil {
				return err
			}
		}
		if filter.Before = next; next == nil {
			return nil
		}
	}
}

// withAudit opens the log, writes what waits, and runs fn with the filter and teams of
// the flags.
func (s *shell) withAudit(c *cobra.Command, flags *auditFlags, fn func(ctx context.Context, db *store.DB, log *audit.Log, filter audit.Filter, teams []uuid.UUID) error) error {
	filter, err := flags.filter()
	if err != nil {
		return err
	}
	return s.withDatabase(c, func(ctx context.Context, db *store.DB) error {
		if db.RootKeys() == "" {
			return fault.New(fault.Invalid, "the audit log needs the root key")
		}
		log := audit.New(db, nil)
		known, err := s.knowsChains(c, db)
		if err == nil {
			err = log.Prepare(ctx, known)
		}
		if err == nil {
			err = log.Flush(ctx)
		}
		if err != nil {
			return err
		}
		teams, err := flags.find(ctx, db, &filter)
		if err != nil {
			return err
		}
		if teams == nil {
			if teams, err = log.Teams(ctx); err != nil {
				return err
			}
		}
		return fn(ctx, db, log, filter, teams)
	})
}

// knowsChains reports whether the data folder knows that the audit log has a list of
// chains.
func (s *shell) knowsChains(c *cobra.Command, db *store.DB) (bool, error) {
	cfg, err := s.settings(c)
	if err != nil {
		return false, err
	}
	return app.KnowsAuditChains(cfg.Data, db.Engine())
}

// auditReport is the result of hale audit verify for one team.
type auditReport struct {
	Team     uuid.UUID `json:"team_id"`
	Blocks   int64     `json:"blocks"`
	Accesses int64     `json:"accesses"`
	First    time.Time `json:"first"`
	Last     string    `json:"last"` // number and code of the last block, for --known
	Problems []string  `json:"problems"`
}

var auditReportView = view{id: "team_id", none: "the log is empty", columns: []column{
	{"team", "team_id"}, {"blocks", "blocks"}, {"accesses", "accesses"}, {"from", "first"}, {"last block", "last"}, {"problems", "problems"},
}}

func (s *shell) auditVerify() *cobra.Command {
	var flags auditFlags
	var known string
	c := &cobra.Command{
		Use: "verify", Short: "check that no row was changed, removed or added",
		Long: `Check that no row was changed, removed or added.

Keep the last block of each report in another place. --known with that block also
finds out whether an older copy of the log was put back since then.`,
		Example: examples("hale audit verify", "hale audit verify --team TEAM --known 17:5f3a…"),
		Args:    wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			at, err := parseKnown(known)
			if err == nil && at != nil && flags.team == "" {
				err = badUsagef("--known needs --team")
			}
			if err != nil {
				return err
			}
			return s.withAudit(c, &flags, func(ctx context.Context, db *store.DB, log *audit.Log, _ audit.Filter, teams []uuid.UUID) error {
				reports, problems := []auditReport{}, 0
				for _, team := range teams {
					r, err := log.Verify(ctx, team, at, func(int64) {})
					if err != nil {
						return err
					}
					problems += len(r.Problems)
					reports = append(reports, auditReport{team, r.Blocks, r.Entries, r.First, strconv.FormatInt(r.LastBlock, 10) + ":" + hex.EncodeToString(r.LastCode), append([]string{}, r.Problems...)})
				}
				known, err := s.knowsChains(c, db)
				if err != nil {
					return err
				}
				missing, _, err := log.Examine(ctx, known)
				if err != nil {
					return err
				}
				for _, problem := range missing {
					s.say("PROBLEM: %s", problem)
				}
				problems += len(missing)
				if err := s.showValue(auditReportView, reports); err != nil || problems == 0 {
					return err
				}
				return fault.New(fault.Conflict, "the audit log was changed")
			})
		},
	}
	c.Flags().StringVar(&flags.team, "team", "", "only this team; the default is all")
	c.Flags().StringVar(&known, "known", "", "the last block of an earlier report")
	return c
}

func parseKnown(text string) (*audit.KnownBlock, error) {
	if text == "" {
		return nil, nil
	}
	number, code, found := strings.Cut(text, ":")
	n, err1 := strconv.ParseInt(number, 10, 64)
	bytes, err2 := hex.DecodeString(code)
	if !found || err1 != nil || err2 != nil {
		return nil, badUsagef("--known must be the last block of a report, NUMBER:CODE")
	}
	return &audit.KnownBlock{Block: n, Code: bytes}, nil
}
