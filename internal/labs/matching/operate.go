package matching

import (
	"context"

	"hale/internal/labs/orders"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Those who run the service decide about the results of teams that do not do
// so themselves, and about what a team was unsure of. Their decisions end in
// the same way as a team's; a team that has a queue of its own is told.

// OperatorAccept is AcceptFor, for a result that is pending_ops_review.
func OperatorAccept(ctx context.Context, tx *store.Tx, team teams.ID, id ID, c Choice) (orders.Order, error) {
	return accept(ctx, tx, team, id, c, ByOps)
}

// OperatorReject decides that a result is nobody's.
func OperatorReject(ctx context.Context, tx *store.Tx, team teams.ID, id ID, note *string) (Item, error) {
	return resolve(ctx, tx, team, id, Reject, note, ByOps, Resolved)
}

// HandBack leaves the decision about a result to its team, which must have a
// queue of its own: what waited before the team had one gets there so.
func HandBack(ctx context.Context, tx *store.Tx, team teams.ID, id ID, note *string) (Item, error) {
	if err := Enabled(ctx, tx, team); err != nil {
		return Item{}, err
	}
	i, err := reviewable(ctx, tx, team, id, note, ByOps)
	if err != nil {
		return Item{}, err
	}
	told := i.Action == Unsure // the team has had it before
	i.decided(tx, "", note)
	i.Status, i.ReviewedAt = ByTeam, nil
	if err := save(ctx, tx, &i, ByOps, true); err != nil {
		return Item{}, err
	}
	if told {
		return i, tell(ctx, tx, &i, UpdatedEvent)
	}
	return i, tell(ctx, tx, &i, CreatedEvent)
}

// TeamOf finds whose result an id is, for an operator who has only that.
func TeamOf(ctx context.Context, tx *store.Tx, all []teams.Team, id ID) (teams.Team, error) {
	for _, team := range all {
		_, err := Get(ctx, tx, team.ID, id)
		if err == nil {
			return team, nil
		}
		if !fault.Is(err, fault.NotFound) {
			return teams.Team{}, err
		}
	}
	return teams.Team{}, notThere()
}
