package cli

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/matching"
	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

func (s *shell) resultsCommand() *cobra.Command {
	review := noun(&cobra.Command{
		Use: "review", Short: "assign or reject results without an order",
		Long: `Assign or reject results without an order that need an operator: results of teams
without a queue, and results that a team passed on. See hale docs unmatched-results.
The commands work on the database directly, also while hale serve runs. list prints
no names of persons. show prints the name of the person on the report.`,
		Example: examples("hale results review list", "hale results review show RESULT", "hale results review accept RESULT --order ORDER",
			"hale results review reject RESULT --note 'not one of ours'"),
	}, s.reviewList(), s.reviewShow(), s.reviewAccept(), s.reviewReject(), s.reviewReturn())
	addSettings(review.PersistentFlags(), append([]string{"base-url", "listen"}, storageSettings...)...) // links to requisitions carry the former
	return noun(&cobra.Command{
		Use: "results", Short: "show lab results, and handle those that need a person",
		Long: `Show lab results, and handle those that need a person: critical ones, and those
without a certain order.`,
		Example: examples("hale results show --user anna", "hale results critical list --state open", "hale results inbox list", "hale results review list"),
	}, s.resultsShow(), s.criticalCommand(), s.inboxCommand(), review)
}

// reviewLine is a result in the queue, without names.
type reviewLine struct {
	ID         matching.ID           `json:"result_id"`
	Team       teams.ID              `json:"team_id"`
	TeamName   string                `json:"team"`
	Status     matching.Status       `json:"status"`
	Worst      orders.Interpretation `json:"interpretation"`
	Decision   matching.Decision     `json:"decision_code"`
	Reason     string                `json:"reason"`
	Lab        string                `json:"lab"`
	Candidates int                   `json:"candidates"`
	CreatedAt  time.Time             `json:"created_at"`
	ReviewedBy string                `json:"reviewed_by,omitempty"`
}

// reviewWhole is a result with all reasons for and against its orders.
type reviewWhole struct {
	reviewLine
	matching.Summary
	Report *matching.ReportText `json:"report,omitempty"`
	Orders []reviewOrder        `json:"orders"`
}

type reviewOrder struct {
	Order   orders.ID         `json:"order_id"`
	User    users.ID          `json:"user_id"`
	Status  orders.Status     `json:"status"`
	Score   float64           `json:"score"`
	Reasons []matching.Reason `json:"reasons"`
}

var reviewView = view{
	id: "result_id",
	columns: []column{
		{"result", "result_id"},
		{"team", "team"},
		{"lab", "lab"},
		{"value", "interpretation"},
		{"reason", "decision_code"},
		{"orders", "candidates"},
		{"status", "status"},
		{"received", "created_at"},
	},
	none: "no results need a decision",
}

func lineOfReview(ctx context.Context, tx *store.Tx, team teams.Team, i *matching.Item) (reviewLine, error) {
	offered, err := catalogue.Load(ctx, tx, team.ID)
	if err != nil {
		return reviewLine{}, err
	}
	lab, known := offered.Lab(i.Lab)
	if !known && i.Summary != nil {
		lab.Slug = i.Summary.LabSlug
	}
	return reviewLine{
		ID: i.ID, Team: team.ID, TeamName: team.Name, Status: i.Status, Worst: i.Interpretation, Decision: i.Decision, Reason: i.Decision.Sentence(), Lab: lab.Slug,
		Candidates: len(i.Candidates), CreatedAt: i.CreatedAt, ReviewedBy: i.ReviewedBy,
	}, nil
}

func (s *shell) reviewList() *cobra.Command {
	var name string
	var limit int
	c := &cobra.Command{
		Use: "list", Short: "list results that need a decision, critical ones first",
		Example: examples("hale results review list", "hale results review list --team Acme -o id"),
		Args:    wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			if limit < 1 {
				return badUsagef("--limit must be 1 or more")
			}
			return s.withDatabase(c, func(ctx context.Context, db *store.DB) error {
				all, err := s.someTeams(ctx, db, name)
				if err != nil {
					return err
				}
				lines, total := []reviewLine{}, 0
				for _, team := range all {
					some, n, err := waitingReviews(ctx, db, team, limit)
					if err != nil {
						return err
					}
					lines, total = append(lines, some...), total+n
				}
				slices.SortFunc(lines, compareReviews)
				lines = lines[:min(limit, len(lines))]
				if err := s.showValue(reviewView, lines); err != nil {
					return err
				}
				if more := total - len(lines); more > 0 {
					s.say("there are %d more results: --limit %d shows all", more, total)
				}
				return nil
			})
		},
	}
	c.Flags().StringVar(&name, "team", "", "id or name (default: all teams)")
	c.Flags().IntVar(&limit, "limit", 100, "maximum number of results")
	return c
}

// compareReviews sorts critical results first, then the oldest.
func compareReviews(a, b reviewLine) int {
	rank := func(l reviewLine) int {
		if l.Worst == orders.Critical {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), a.CreatedAt.Compare(b.CreatedAt))
}

// someTeams returns the team with a name, or all teams if the name is empty.
func (s *shell) someTeams(ctx context.Context, db *store.DB, name string) ([]teams.Team, error) {
	if name == "" {
		return readTeams(ctx, db)
	}
	team, err := findTeam(ctx, db, name)
	return []teams.Team{team}, err
}

// waitingReviews returns results of a team that wait for the operator, at most limit of them,
// critical ones first. total counts all of them.
func waitingReviews(ctx context.Context, db *store.DB, team teams.Team, limit int) (lines []reviewLine, total int, err error) {
	err = db.Read(ctx, func(tx *store.Tx) error {
		lines = nil
		var found []matching.Item
		filter := matching.Filter{Statuses: []matching.Status{matching.OperatorReview}, Limit: limit, CriticalFirst: true}
		if matching.WaitsForOperator(team, matching.TeamReview) {
			filter.Statuses = nil // also those that waited for the team
		}
		found, total, err = matching.List(ctx, tx, team.ID, filter)
		if err != nil {
			return err
		}
		for n := range found {
			line, err := lineOfReview(ctx, tx, team, &found[n])
			if err != nil {
				return err
			}
			lines = append(lines, line)
		}
		return nil
	})
	return lines, total, err
}

func (s *shell) reviewShow() *cobra.Command {
	return &cobra.Command{
		Use: "show RESULT", Short: "show a result, the person on the report and the candidate orders",
		Example: examples("hale results review show RESULT -o json"),
		Args:    wantArgs("RESULT"),
		RunE: func(c *cobra.Command, args []string) error {
			return s.onResult(c, args[0], func(ctx context.Context, db *store.DB, team teams.Team, id matching.ID) error {
				var whole reviewWhole
				err := db.Read(ctx, func(tx *store.Tx) error {
					i, err := matching.Get(ctx, tx, team.ID, id)
					if err != nil {
						return err
					}
					whole = reviewWhole{Orders: []reviewOrder{}}
					if i.Summary != nil {
						whole.Summary = *i.Summary
					}
					for _, o := range i.Candidates {
						whole.Orders = append(whole.Orders, reviewOrder{o.Order, o.User, o.Status, o.Score, o.Reasons})
					}
					if whole.Report, err = i.ReadText(ctx, tx); err != nil {
						return err
					}
					whole.reviewLine, err = lineOfReview(ctx, tx, team, &i)
					return err
				})
				if err != nil {
					return err
				}
				if s.format == formatTable {
					s.sayDone("-o json shows the person, the tests, the notes and the orders")
				}
				return s.showValue(reviewView, whole)
			})
		},
	}
}

// onResult finds the team of a result, so that an operator needs only the result's id.
func (s *shell) onResult(c *cobra.Command, word string, fn func(ctx context.Context, db *store.DB, team teams.Team, id matching.ID) error) error {
	id, err := ids.Parse[matching.Item](word)
	if err != nil {
		return badUsagef("RESULT must be an id; hale results review list shows it")
	}
	return s.withDatabase(c, func(ctx context.Context, db *store.DB) error {
		var team teams.Team
		err := db.Read(ctx, func(tx *store.Tx) error {
			all, err := teams.List(ctx, tx)
			if err != nil {
				return err
			}
			team, err = matching.TeamOf(ctx, tx, all, id)
			return err
		})
		if fault.Is(err, fault.NotFound) {
			return withHint(fault.New(fault.NotFound, "no such result"), "hale results review list shows them")
		}
		if err != nil {
			return err
		}
		return fn(ctx, db, team, id)
	})
}
