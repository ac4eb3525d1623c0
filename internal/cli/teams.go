package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hale/internal/labs/catalogue"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

func (s *shell) teamsCommand() *cobra.Command {
	c := noun(&cobra.Command{
		Use: "teams", Short: "create, list and change teams",
		Long: `Create and list teams. A team owns its users, keys, events and all other data. The
commands work on the database directly, also while hale serve runs, and need no
API key.`,
		Example: examples("hale teams list", `hale teams create "Acme Health"`),
	}, s.teamsCreate(), s.teamsList(), s.teamsShow(), s.teamsRename(), s.teamsSettings())
	addSettings(c.PersistentFlags(), storageSettings...)
	return c
}

type teamLine struct {
	ID          teams.ID          `json:"team_id"`
	Name        string            `json:"name"`
	Environment teams.Environment `json:"environment"`
	CreatedAt   time.Time         `json:"created_at"`
}

func lineOfTeam(t teams.Team) teamLine {
	return teamLine{t.ID, t.Name, t.Environment, t.CreatedAt}
}

var teamView = view{
	id:      "team_id",
	columns: []column{{"team", "team_id"}, {"name", "name"}, {"environment", "environment"}, {"created", "created_at"}},
	none:    "no teams yet: hale teams create creates one",
}

func (s *shell) teamsCreate() *cobra.Command {
	var environment string
	c := &cobra.Command{
		Use: "create NAME", Short: "create a team",
		Example: examples(
			`hale teams create "Acme Health"`,
			`hale teams create "Acme Health" --environment production`,
			`hale keys create --team $(hale teams create Acme -o id)`,
		),
		Args: wantArgs("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			env, err := teams.ParseEnvironment(environment)
			if err != nil {
				return err
			}
			return s.withDatabase(c, func(ctx context.Context, db *store.DB) error {
				var team teams.Team
				var others []teams.Team
				err := db.Write(ctx, func(tx *store.Tx) (err error) {
					if others, err = teams.List(ctx, tx); err != nil {
						return err
					}
					if team, err = teams.Create(ctx, tx, args[0], env); err != nil {
						return err
					}
					return catalogue.Seed(ctx, tx, team)
				})
				if err != nil {
					return err
				}
				s.warnOfName(others, team)
				s.sayDone("created; hale keys create --team %s creates its API key", team.ID)
				return s.showValue(teamView, lineOfTeam(team))
			})
		},
	}
	c.Flags().StringVar(&environment, "environment", string(teams.Sandbox), "sandbox or production")
	return c
}

// warnOfName warns if another team has the name of a team: the name then selects
// neither of them.
func (s *shell) warnOfName(others []teams.Team, team teams.Team) {
	for _, other := range others {
		if other.Name == team.Name && other.ID != team.ID {
			s.say("warning: another team has this name (%s); commands need the id instead of the name", other.ID)
			return
		}
	}
}

func (s *shell) teamsList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "list all teams, oldest first",
		Example: examples("hale teams list", "hale teams list -o id"),
		Args:    wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			return s.withDatabase(c, func(ctx context.Context, db *store.DB) error {
				all, err := readTeams(ctx, db)
				if err != nil {
					return err
				}
				lines := make([]teamLine, len(all))
				for i, t := range all {
					lines[i] = lineOfTeam(t)
				}
				return s.showValue(teamView, lines)
			})
		},
	}
}

func (s *shell) teamsShow() *cobra.Command {
	return &cobra.Command{
		Use: "show TEAM", Short: "show one team, by id or name",
		Example: examples("hale teams show 'Acme Health'"),
		Args:    wantArgs("TEAM"),
		RunE: func(c *cobra.Command, args []string) error {
			return s.withDatabase(c, func(ctx context.Context, db *store.DB) error {
				team, err := findTeam(ctx, db, args[0])
				if err != nil {
					return err
				}
				return s.showValue(teamView, lineOfTeam(team))
			})
		},
	}
}

func (s *shell) teamsRename() *cobra.Command {
	return &cobra.Command{
		Use: "rename TEAM NAME", Short: "rename a team",
		Example: examples("hale teams rename 'Your care team' 'Acme Health'"),
		Args:    wantArgs("TEAM", "NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			return s.withDatabase(c, func(ctx context.Context, db *store.DB) error {
				found, err := findTeam(ctx, db, args[0])
				if err != nil {
					return err
				}
				var team teams.Team
				var others []teams.Team
				err = db.Write(ctx, func(tx *store.Tx) (err error) {
					if others, err = teams.List(ctx, tx); err != nil {
						return err
					}
					if team, err = teams.Get(ctx, tx, found.ID); err != nil {
						return err
					}
					team.Name = strings.TrimSpace(args[1])
					return teams.Update(ctx, tx, team)
				})
				if err != nil {
					return err
				}
				s.warnOfName(others, team)
				return s.showValue(teamView, lineOfTeam(team))
			})
		},
	}
}

func readTeams(ctx context.Context, db *store.DB) (all []teams.Team, err error) {
	err = db.Read(ctx, func(tx *store.Tx) (err error) {
		all, err = teams.List(ctx, tx)
		return err
	})
	return all, err
}

// findTeam finds a team by id or by its name. An empty name means the only
// team there is.
func findTeam(ctx context.Context, db *store.DB, name string) (teams.Team, error) {
	all, err := readTeams(ctx, db)
	if err != nil {
		return teams.Team{}, err
	}
	id, notID := ids.Parse[teams.Team](name)
	var found []teams.Team
	for _, t := range all {
		if name == "" || notID == nil && t.ID == id || t.Name == name {
			found = append(found, t)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0:
		return teams.Team{}, withHint(fault.New(fault.NotFound, "no such team"), "hale teams list shows them")
	case name == "":
		return teams.Team{}, withHint(badUsagef("there are %d teams: name one with --team", len(all)), "--team takes an id or a name; hale teams list shows them")
	}
	return teams.Team{}, withHint(fault.New(fault.Conflict, "several teams have this name"), "use the id of the team; hale teams list shows it")
}
