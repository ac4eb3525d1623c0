package cli

import (
	"context"

	"github.com/spf13/cobra"

	"hale/internal/labs/matching"
	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

func (s *shell) reviewAccept() *cobra.Command {
	var order, user, note, by string
	var choice matching.Choice
	c := &cobra.Command{
		Use: "accept RESULT", Short: "assign the result to an order",
		Long: `Assign the result to an order. --order selects the order, or --user selects the
order of a user. Without both, exactly one order of the same person must match. If
the order cannot take results anymore, Hale creates a new order like it. The
command prints the order that has the result.

The person on the report must be the patient of the order. --confirm-identity
skips this check after you have clarified the difference.`,
		Example: examples("hale results review accept RESULT", "hale results review accept RESULT --order ORDER", "hale results review accept RESULT --user USER"),
		Args:    wantArgs("RESULT"),
		RunE: func(c *cobra.Command, args []string) error {
			choice.Note, choice.By = noteOf(note), s.operatorName(by)
			if order != "" {
				id, err := idArg[orders.Order]("--order", "an order", order, "hale results review show RESULT lists the candidate orders")
				if err != nil {
					return err
				}
				choice.Order = &id
			}
			return s.decide(c, args[0], func(ctx context.Context, tx *store.Tx, team teams.ID, id matching.ID) (string, error) {
				if user != "" {
					found, err := users.Lookup(ctx, tx, team, user)
					if fault.Is(err, fault.NotFound) {
						return "", badUsagef("--user must be a user_id or client_user_id of the team")
					}
					if err != nil {
						return "", err
					}
					choice.User = &found.ID
				}
				o, err := matching.OperatorAccept(ctx, tx, team, id, choice)
				return "assigned to the order " + o.ID.String(), err
			})
		},
	}
	c.Flags().StringVar(&order, "order", "", "assign the result to this order")
	c.Flags().StringVar(&user, "user", "", "assign the result to an order of this user: user_id or client_user_id")
	addConfirmIdentity(c, &choice.ConfirmIdentity)
	addNote(c, &note)
	addBy(c, &by)
	return c
}

func addConfirmIdentity(c *cobra.Command, confirmed *bool) {
	c.Flags().BoolVar(confirmed, "confirm-identity", false, "the report is about the patient of the order although the person on it differs")
}

func (s *shell) reviewReject() *cobra.Command {
	var note, by string
	c := &cobra.Command{
		Use: "reject RESULT", Short: "reject a result; its data is destroyed after 90 days",
		Example: examples("hale results review reject RESULT --note 'a sample of the lab itself'"),
		Args:    wantArgs("RESULT"),
		RunE: func(c *cobra.Command, args []string) error {
			return s.decide(c, args[0], func(ctx context.Context, tx *store.Tx, team teams.ID, id matching.ID) (string, error) {
				_, err := matching.OperatorReject(ctx, tx, team, id, noteOf(note), s.operatorName(by))
				return "rejected", err
			})
		},
	}
	addNote(c, &note)
	addBy(c, &by)
	return c
}

func (s *shell) reviewReturn() *cobra.Command {
	var note, by string
	c := &cobra.Command{
		Use: "return RESULT", Short: "return a result to its team for a decision (needs result_reviews_enabled)",
		Example: examples("hale results review return RESULT --note 'the name is that of a sister, please ask'"),
		Args:    wantArgs("RESULT"),
		RunE: func(c *cobra.Command, args []string) error {
			return s.decide(c, args[0], func(ctx context.Context, tx *store.Tx, team teams.ID, id matching.ID) (string, error) {
				_, err := matching.ReturnToTeam(ctx, tx, team, id, noteOf(note), s.operatorName(by))
				return "returned to the team", err
			})
		},
	}
	addNote(c, &note)
	addBy(c, &by)
	return c
}

func addNote(c *cobra.Command, note *string) {
	c.Flags().StringVar(note, "note", "", "reason; the team can read it")
}

func noteOf(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// decide makes a decision about a result and shows what became of it.
func (s *shell) decide(c *cobra.Command, word string, fn func(ctx context.Context, tx *store.Tx, team teams.ID, id matching.ID) (string, error)) error {
	return s.onResult(c, word, func(ctx context.Context, db *store.DB, team teams.Team, id matching.ID) error {
		var done string
		var line reviewLine
		err := db.Write(store.WithTeam(ctx, team.ID.UUID()), func(tx *store.Tx) (err error) {
			if done, err = fn(ctx, tx, team.ID, id); err != nil {
				return err
			}
			i, err := matching.Get(ctx, tx, team.ID, id)
			if err != nil {
				return err
			}
			line, err = lineOfReview(ctx, tx, team, &i)
			return err
		})
		if fault.Is(err, fault.NotFound) {
			return withHint(fault.New(fault.Refused, "this result needs no decision here"), "hale results review list shows the results that do")
		}
		if err != nil {
			return err
		}
		s.sayDone("%s", done)
		return s.showValue(reviewView, line)
	})
}
