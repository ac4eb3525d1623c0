package cli

import (
	"context"

	"github.com/spf13/cobra"

	"hale/internal/labs/catalogue"
	"hale/internal/people/users/person"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

func (s *shell) catalogPractice() *cobra.Command {
	var team, account string
	c := noun(&cobra.Command{
		Use: "practice", Short: "manage the clinic that a team orders for",
		Long: `The clinic that a team orders for: name, address and telephone numbers. They are on
requisitions, reports and notices, and in messages to laboratories. A lab account
can have its own clinic (--account); others have that of the team.`,
		Example: examples("hale catalog practice list --team Acme",
			"hale catalog practice set --team Acme --name 'Acme Clinic' --address '1 Main Street' --city Phoenix --state AZ --zip 85004 --phone +16025550100"),
	}, s.practiceList(&team), s.practiceSet(&team, &account), s.practiceRemove(&team, &account))
	c.PersistentFlags().StringVar(&team, "team", "", "id or name; not needed if there is only one team")
	return c
}

// practiceLine is a practice for the operator.
type practiceLine struct {
	Account *catalogue.AccountID `json:"lab_account_id"`
	catalogue.Practice
}

var practiceView = view{
	id: "lab_account_id",
	columns: []column{
		{"account", "lab_account_id"},
		{"name", "name"},
		{"address", "address.first_line"},
		{"city", "address.city"},
		{"state", "address.state"},
		{"phone", "phone_number"},
		{"fax", "fax_number"},
		{"after hours", "after_hours_number"},
	},
	none: "no clinic yet: hale catalog practice set sets one",
}

func (s *shell) practiceList(team *string) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "list the clinics of a team",
		Example: examples("hale catalog practice list --team Acme"),
		Args:    wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			return s.forTeam(c, *team, s.showPractices)
		},
	}
}

func (s *shell) showPractices(ctx context.Context, db *store.DB, owner teams.Team) error {
	lines := []practiceLine{}
	err := db.Read(ctx, func(tx *store.Tx) error {
		all, err := catalogue.Practices(ctx, tx, owner.ID)
		lines = lines[:0]
		for _, p := range all {
			lines = append(lines, practiceLine(p))
		}
		return err
	})
	if err != nil {
		return err
	}
	return s.showValue(practiceView, lines)
}

// practiceAccount reads --account; nil for all accounts.
func practiceAccount(text string) (*catalogue.AccountID, error) {
	if text == "" {
		return nil, nil
	}
	id, err := accountArg(text)
	return &id, err
}

func (s *shell) practiceSet(team, account *string) *cobra.Command {
	var p catalogue.Practice
	c := &cobra.Command{
		Use: "set", Short: "set the clinic of a team, or of one lab account",
		Example: examples("hale catalog practice set --name 'Acme Clinic' --address '1 Main Street' --city Phoenix --state AZ --zip 85004 --phone +16025550100",
			"hale catalog practice set --account 019f0000-0000-7000-8000-000000000000 --name 'Acme North' --address '2 Main Street' --city Phoenix --state AZ --zip 85004 --phone +16025550100 --after-hours +16025550199"),
		Args: wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			id, err := practiceAccount(*account)
			if err != nil {
				return err
			}
			p.Address.Country = person.US
			return s.forTeam(c, *team, func(ctx context.Context, db *store.DB, owner teams.Team) error {
				err := db.Write(ctx, func(tx *store.Tx) error {
					_, err := catalogue.SetPractice(ctx, tx, owner.ID, id, p)
					return err
				})
				if err != nil {
					return err
				}
				return s.showPractices(ctx, db, owner)
			})
		},
	}
	c.Flags().StringVar(account, "account", "", "lab account; without it, all accounts that have no clinic of their own")
	c.Flags().StringVar(&p.Name, "name", "", "name of the clinic")
	c.Flags().StringVar(&p.Address.FirstLine, "address", "", "first line of the address")
	c.Flags().StringVar(&p.Address.SecondLine, "second-line", "", "second line of the address")
	c.Flags().StringVar(&p.Address.City, "city", "", "city")
	c.Flags().StringVar(&p.Address.State, "state", "", "state, two letters")
	c.Flags().StringVar(&p.Address.Zip, "zip", "", "ZIP code")
	c.Flags().StringVar(&p.Phone, "phone", "", "telephone number")
	c.Flags().StringVar(&p.Fax, "fax", "", "fax number")
	c.Flags().StringVar(&p.AfterHours, "after-hours", "", "number for critical results when the clinic is closed")
	return c
}

func (s *shell) practiceRemove(team, account *string) *cobra.Command {
	c := &cobra.Command{
		Use: "remove", Short: "remove the clinic of a team, or of one lab account",
		Example: examples("hale catalog practice remove --team Acme"),
		Args:    wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			id, err := practiceAccount(*account)
			if err != nil {
				return err
			}
			return s.forTeam(c, *team, func(ctx context.Context, db *store.DB, owner teams.Team) error {
				err := db.Write(ctx, func(tx *store.Tx) error { return catalogue.RemovePractice(ctx, tx, owner.ID, id) })
				if err != nil {
					return err
				}
				return s.showPractices(ctx, db, owner)
			})
		},
	}
	c.Flags().StringVar(account, "account", "", "lab account; without it, the clinic of the team")
	return c
}
