package cli

import (
	"context"
	"os/user"
	"time"

	"github.com/spf13/cobra"

	"hale/internal/labs/inbox"
	"hale/internal/labs/matching"
	"hale/internal/labs/orders"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

func (s *shell) inboxCommand() *cobra.Command {
	c := noun(&cobra.Command{
		Use: "inbox", Short: "assign or reject results that belong to no team yet",
		Long: `Assign or reject results for which no team could be found: the order number is
unknown, and several teams share the lab account. The list also has reports without
results that no order takes: rejected samples, cancellations and blocks. Act on such
a report, then reject it with what you did. See hale docs unmatched-results.
The commands work on the database directly, also while hale serve runs. list prints
no names of persons. show prints the name of the person on the report.`,
		Example: examples("hale results inbox list", "hale results inbox show RESULT -o json", "hale results inbox assign RESULT --order ORDER",
			"hale results inbox reject RESULT --reason 'a sample of the lab itself'"),
	}, s.inboxList(), s.inboxShow(), s.inboxAssign(), s.inboxReject())
	addSettings(c.PersistentFlags(), append([]string{"base-url", "listen"}, storageSettings...)...)
	return c
}

// inboxLine is a result without a team, without names.
type inboxLine struct {
	ID         matching.ID              `json:"result_id"`
	State      matching.AssignmentState `json:"state"`
	Reason     inbox.Reason             `json:"reason"`
	Lab        string                   `json:"lab"`
	Status     string                   `json:"report_status"` // of a report without results
	Worst      orders.Interpretation    `json:"interpretation"`
	ReceivedAt time.Time                `json:"received_at"`
	DecidedAt  *time.Time               `json:"decided_at"`
	DecidedBy  string                   `json:"decided_by,omitempty"`
	Team       *teams.ID                `json:"team_id"`
	Order      *orders.ID               `json:"order_id"`
}

// inboxWhole adds the person and the tests on the report.
type inboxWhole struct {
	inboxLine
	*matching.Summary
	Report *matching.ReportText `json:"report,omitempty"`
	Note   string               `json:"decision_note,omitempty"`
}

var inboxView = view{
	id: "result_id",
	columns: []column{
		{"result", "result_id"},
		{"lab", "lab"},
		{"value", "interpretation"},
		{"status", "report_status"},
		{"reason", "reason"},
		{"state", "state"},
		{"received", "received_at"},
		{"decided by", "decided_by"},
	},
	none: "no results are without a team",
}

func lineOfInbox(u *matching.UnassignedResult) inboxLine {
	return inboxLine{u.ID, u.State, u.Reason, u.Lab, u.Status, u.Interpretation, u.ReceivedAt, u.DecidedAt, u.DecidedBy, u.Team, u.Order}
}

func (s *shell) inboxList() *cobra.Command {
	var state string
	var limit int
	c := &cobra.Command{
		Use: "list", Short: "list results without a team, critical ones first",
		Example: examples("hale results inbox list", "hale results inbox list --state rejected"),
		Args:    wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			if limit < 1 {
				return badUsagef("--limit must be 1 or more")
			}
			switch matching.AssignmentState(state) {
			case matching.Waiting, matching.Assigned, matching.RejectedByOps:
			default:
				return badUsagef("--state must be waiting, assigned or rejected")
			}
			return s.withDatabase(c, func(ctx context.Context, db *store.DB) error {
				lines := []inboxLine{}
				var total int
				err := db.Read(ctx, func(tx *store.Tx) error {
					all, n, err := matching.ListUnassigned(ctx, tx, matching.AssignmentState(state), limit)
					lines, total = lines[:0], n
					for i := range all {
						lines = append(lines, lineOfInbox(&all[i]))
					}
					return err
				})
				if err != nil {
					return err
				}
				if err := s.showValue(inboxView, lines); err != nil {
					return err
				}
				if more := total - len(lines); more > 0 {
					s.say("there are %d more results: --limit %d shows all", more, total)
				}
				return nil
			})
		},
	}
	c.Flags().StringVar(&state, "state", "waiting", "waiting, assigned or rejected")
	c.Flags().IntVar(&limit, "limit", 100, "maximum number of results")
	return c
}

const listsInbox = "hale results inbox list shows them"

func inboxArg(word string) (matching.ID, error) {
	return idArg[matching.Item]("RESULT", "a result", word, listsInbox)
}

func (s *shell) inboxShow() *cobra.Command {
	return &cobra.Command{
		Use: "show RESULT", Short: "show a result without a team, with the person on the report",
		Example: examples("hale results inbox show RESULT -o json"),
		Args:    wantArgs("RESULT"),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := inboxArg(args[0])
			if err != nil {
				return err
			}
			return s.withDatabase(c, func(ctx context.Context, db *store.DB) error {
				whole, err := readInbox(ctx, db, id)
				if err != nil {
					return err
				}
				if s.format == formatTable {
					s.sayDone("-o json shows the person, the tests and the notes")
				}
				return s.showValue(inboxView, whole)
			})
		},
	}
}

func readInbox(ctx context.Context, db *store.DB, id matching.ID) (whole inboxWhole, err error) {
	err = db.Read(ctx, func(tx *store.Tx) error {
		u, summary, err := matching.GetUnassigned(ctx, tx, id)
		whole = inboxWhole{lineOfInbox(&u), summary, u.Report, u.Note}
		return err
	})
	if fault.Is(err, fault.NotFound) {
		err = withHint(fault.New(fault.NotFound, "no such result"), listsInbox)
	}
	return whole, err
}

func (s *shell) inboxAssign() *cobra.Command {
	var order, team string
	var d matching.OperatorDecision
	c := &cobra.Command{
		Use: "assign RESULT", Short: "assign a result to an order, or to a team",
		Long: `Assign a result to an order or to a team. With --team the team's orders are
searched, as for any other result of the team. With --order that order gets the
result. The person on the report must be the patient of the order;
--confirm-identity skips this check after you have clarified the difference.`,
		Example: examples("hale results inbox assign RESULT --order ORDER", "hale results inbox assign RESULT --team Acme --note 'their courier'"),
		Args:    wantArgs("RESULT"),
		RunE: func(c *cobra.Command, args []string) error {
			if (order == "") == (team == "") {
				return badUsagef("assign needs --order or --team")
			}
			return s.decideInbox(c, args[0], &d, func(ctx context.Context, db *store.DB, id matching.ID) (string, error) {
				if order == "" {
					to, err := findTeam(ctx, db, team)
					if err != nil {
						return "", err
					}
					err = db.Write(ctx, func(tx *store.Tx) error { return matching.AssignToTeam(ctx, tx, id, to.ID, d) })
					return "assigned to the team " + to.Name, err
				}
				to, err := orderArg(order)
				if err != nil {
					return "", err
				}
				var o orders.Order
				err = db.Write(ctx, func(tx *store.Tx) (err error) {
					o, err = matching.AssignToOrder(ctx, tx, id, to, d)
					return err
				})
				return "assigned to the order " + o.ID.String(), err
			})
		},
	}
	c.Flags().StringVar(&order, "order", "", "assign the result to this order")
	c.Flags().StringVar(&team, "team", "", "assign the result to this team: id or name")
	addConfirmIdentity(c, &d.ConfirmIdentity)
	c.Flags().StringVar(&d.Note, "note", "", "reason")
	addBy(c, &d.By)
	return c
}

func (s *shell) inboxReject() *cobra.Command {
	var d matching.OperatorDecision
	c := &cobra.Command{
		Use: "reject RESULT", Short: "reject a result; its data is destroyed after 90 days",
		Example: examples("hale results inbox reject RESULT --reason 'a sample of the lab itself'"),
		Args:    wantArgs("RESULT"),
		RunE: func(c *cobra.Command, args []string) error {
			if d.Note == "" {
				return badUsagef("reject needs --reason")
			}
			return s.decideInbox(c, args[0], &d, func(ctx context.Context, db *store.DB, id matching.ID) (string, error) {
				return "rejected", db.Write(ctx, func(tx *store.Tx) error { return matching.RejectUnassigned(ctx, tx, id, d) })
			})
		},
	}
	c.Flags().StringVar(&d.Note, "reason", "", "reason")
	addBy(c, &d.By)
	return c
}

// decideInbox makes a decision about a result without a team and shows it.
func (s *shell) decideInbox(c *cobra.Command, word string, d *matching.OperatorDecision, fn func(ctx context.Context, db *store.DB, id matching.ID) (string, error)) error {
	id, err := inboxArg(word)
	if err != nil {
		return err
	}
	d.By = s.operatorName(d.By)
	return s.withDatabase(c, func(ctx context.Context, db *store.DB) error {
		done, err := fn(ctx, db, id)
		if fault.Is(err, fault.NotFound) {
			return withHint(fault.New(fault.NotFound, err.Error()), listsInbox)
		}
		if err != nil {
			return err
		}
		u, err := readInbox(ctx, db, id)
		if err != nil {
			return err
		}
		s.sayDone("%s", done)
		return s.showValue(inboxView, u.inboxLine)
	})
}

func addBy(c *cobra.Command, by *string) {
	c.Flags().StringVar(by, "by", "", "name of the person who decides (default: the user of this machine)")
}

// operatorName returns the name that a command records: the given one, else the
// user who called sudo, else the user of the process. Only root is believed to run under
// sudo, because any other user can set the variable.
func (s *shell) operatorName(given string) string {
	if given != "" {
		return given
	}
	if name, _ := s.lookupEnv("SUDO_USER"); name != "" && s.isRoot {
		return "operator " + name
	}
	if u, err := user.Current(); err == nil {
		return "operator " + u.Username
	}
	return "operator"
}
