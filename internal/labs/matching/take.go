package matching

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/inbox"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/results"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Queue takes what the inbox could not bring to an order.
type Queue struct {
	Log *slog.Logger
}

var _ inbox.Unmatched = (*Queue)(nil)

type matchArgs struct {
	Team teams.ID `json:"team"`
	ID   ID       `json:"id"`
}

var matchKind = jobs.Named[matchArgs]("matching.match").With(jobs.Limits{Concurrency: 4, Timeout: 5 * time.Minute, Attempts: 100})

// Jobs are the kinds of job that a runner needs.
func (q *Queue) Jobs() []jobs.Handler {
	return []jobs.Handler{
		matchKind.Do(func(ctx context.Context, run *jobs.Run, args matchArgs) error {
			return Match(ctx, run.DB(), args.Team, args.ID, false)
		}),
		ForgetJob,
	}
}

// TakeUnmatched stores a report for judging. One of which not even the team is
// known stays in the inbox, where those who run the service find it.
func (q *Queue) TakeUnmatched(ctx context.Context, tx *store.Tx, a inbox.Arrival, why inbox.Reason, candidates []orders.Order) error {
	team, ok, err := teamOf(ctx, tx, a.Report, candidates)
	if err != nil {
		return err
	}
	if !ok {
		q.Log.WarnContext(ctx, "a result is of no team that is known; it stays in the inbox", "report", a.ID, "reason", string(why))
		return nil
	}
	id, err := Put(ctx, tx, team, a)
	if err != nil {
		return err
	}
	if err := inbox.Give(ctx, tx, a.ID, team.UUID(), id.UUID()); err != nil {
		return err
	}
	_, err = matchKind.Enqueue(ctx, tx, matchArgs{team, id}, jobs.Options{Team: team.UUID(), Key: id.String()})
	return err
}

// Put stores a report of a team as arrived.
func Put(ctx context.Context, tx *store.Tx, team teams.ID, a inbox.Arrival) (ID, error) {
	offered, err := catalogue.For(ctx, tx, team)
	if err != nil {
		return ID{}, err
	}
	lab, _ := offered.LabNamed(a.Report.Lab) // zero for one that we do not have
	if a.Report.At.IsZero() {
		a.Report.At = a.ReceivedAt
	}
	summary := summarise(a.Report)
	set := cmp.Or(a.Report.Results, &networks.ResultSet{})
	i := Item{
		ID: ID(a.ID), Team: team, Status: Arrived, Lab: lab.ID, Network: a.Network, Key: a.Key,
		Partial: set.Partial, Interpretation: results.AtFirstSight(lab, set.Results),
		CreatedAt: tx.Now(), UpdatedAt: tx.Now(), Summary: &summary,
	}
	return i.ID, insert(ctx, tx, &i, a.Report)
}

// teamOf is whose result a report is: the team of the orders that it names, or
// the only one that has the account it was reported for. An account that
// several teams share says nothing; one that is linked to nobody any more is its
// owner's.
func teamOf(ctx context.Context, tx *store.Tx, r networks.Report, named []orders.Order) (teams.ID, bool, error) {
	found := map[teams.ID]bool{}
	for _, o := range named {
		found[o.Team] = true
	}
	if len(found) == 0 && r.Account != "" && r.Lab != "" {
		accounts, err := catalogue.StoredAccounts(ctx, tx)
		if err != nil {
			return teams.ID{}, false, err
		}
		for _, a := range accounts {
			if a.Number != r.Account || a.Lab.Slug != r.Lab {
				continue
			}
			if a.Platform() {
				return teams.ID{}, false, nil
			}
			if len(a.Teams) == 0 {
				found[*a.Owner] = true
			}
			for _, team := range a.Teams {
				found[team] = true
			}
		}
	}
	for team := range found {
		return team, len(found) == 1, nil
	}
	return teams.ID{}, false, nil
}
