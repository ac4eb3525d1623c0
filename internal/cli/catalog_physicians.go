package cli

import (
	"context"

	"github.com/spf13/cobra"

	"hale/internal/labs/catalogue"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

func (s *shell) catalogPhysicians() *cobra.Command {
	var team string
	c := noun(&cobra.Command{
		Use: "physicians", Short: "manage a team's ordering physicians",
		Example: examples("hale catalog physicians list --team Acme",
			"hale catalog physicians add Jane Example 1234567893 --states AZ,CA --team Acme"),
	}, s.physiciansList(&team), s.physiciansAdd(&team), s.physiciansRemove(&team))
	c.PersistentFlags().StringVar(&team, "team", "", "id or name; not needed if there is only one team")
	return c
}

var physicianView = view{
	id:      "npi",
	columns: []column{{"npi", "npi"}, {"first name", "first_name"}, {"last name", "last_name"}, {"states", "licensed_states"}},
	none:    "no physicians yet: hale catalog physicians add adds one",
}

// forTeam opens the database for one team.
func (s *shell) forTeam(c *cobra.Command, name string, fn func(ctx context.Context, db *store.DB, team teams.Team) error) error {
	return s.withDatabase(c, func(ctx context.Context, db *store.DB) error {
		team, err := findTeam(ctx, db, name)
		if err != nil {
			return err
		}
		return fn(ctx, db, team)
	})
}

func (s *shell) physiciansList(team *string) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "list a team's physicians, oldest first",
		Example: examples("hale catalog physicians list --team Acme"),
		Args:    wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			return s.forTeam(c, *team, func(ctx context.Context, db *store.DB, owner teams.Team) error {
				var all []catalogue.Physician
				err := db.Read(ctx, func(tx *store.Tx) (err error) {
					all, err = catalogue.Physicians(ctx, tx, owner.ID)
					return err
				})
				if err != nil {
					return err
				}
				return s.showValue(physicianView, all)
			})
		},
	}
}

func (s *shell) physiciansAdd(team *string) *cobra.Command {
	var p catalogue.Physician
	c := &cobra.Command{
		Use: "add FIRST_NAME LAST_NAME NPI", Short: "add a physician, or replace the one with this NPI",
		Example: examples("hale catalog physicians add Jane Example 1234567893 --states AZ,CA --team Acme"),
		Args:    wantArgs("FIRST_NAME", "LAST_NAME", "NPI"),
		RunE: func(c *cobra.Command, args []string) error {
			p.FirstName, p.LastName, p.NPI = args[0], args[1], args[2]
			return s.forTeam(c, *team, func(ctx context.Context, db *store.DB, owner teams.Team) error {
				var added catalogue.Physician
				err := db.Write(ctx, func(tx *store.Tx) (err error) {
					added, err = catalogue.AddPhysician(ctx, tx, owner.ID, p)
					return err
				})
				if err != nil {
					return err
				}
				return s.showValue(physicianView, added)
			})
		},
	}
	c.Flags().StringSliceVar(&p.States, "states", nil, "states of the license, such as AZ,CA")
	return c
}

func (s *shell) physiciansRemove(team *string) *cobra.Command {
	return &cobra.Command{
		Use: "remove NPI", Short: "remove a physician; existing orders do not change",
		Example: examples("hale catalog physicians remove 1234567893 --team Acme"),
		Args:    wantArgs("NPI"),
		RunE: func(c *cobra.Command, args []string) error {
			return s.forTeam(c, *team, func(ctx context.Context, db *store.DB, owner teams.Team) error {
				err := db.Write(ctx, func(tx *store.Tx) error { return catalogue.RemovePhysician(ctx, tx, owner.ID, args[0]) })
				if err == nil {
					s.sayDone("removed")
				}
				return err
			})
		},
	}
}
