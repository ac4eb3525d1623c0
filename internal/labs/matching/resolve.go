package matching

import (
	"context"
	"unicode/utf8"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// longestNote is in characters.
const longestNote = 1000

// Enabled refuses when the team does not decide about its results itself.
func Enabled(ctx context.Context, tx *store.Tx, team teams.ID) error {
	t, err := teams.Get(ctx, tx, team)
	if err == nil && !t.ReviewsResults() {
		err = fault.New(fault.Refused, "Unmatched results are not enabled for this team")
	}
	return err
}

// Resolve rejects a result, which is then nobody's, or passes it on to those
// who run the service.
//
// Reference 1.17, POST …/resolve.
func Resolve(ctx context.Context, tx *store.Tx, team teams.ID, id ID, action Action, note *string) (Item, error) {
	switch action {
	case Reject:
		return resolve(ctx, tx, team, id, action, note, ByTeam, Resolved)
	case Unsure:
		return resolve(ctx, tx, team, id, action, note, ByTeam, ByOps)
	case Accept:
	}
	return Item{}, fault.New(fault.Invalid, "Input should be 'reject' or 'unsure'").At("body", "action").WithType("enum")
}

// resolve moves a result that waits for one side to a status.
func resolve(ctx context.Context, tx *store.Tx, team teams.ID, id ID, action Action, note *string, by, to Status) (Item, error) {
	i, err := reviewable(ctx, tx, team, id, note, by)
	if err != nil {
		return Item{}, err
	}
	i.Status = to
	i.decided(tx, action, note)
	if err := save(ctx, tx, &i, by, true); err != nil {
		return Item{}, err
	}
	return i, tell(ctx, tx, &i, UpdatedEvent)
}

// reviewable reads a result that waits for one side to decide: the team, as far
// as it does so itself, or those who run the service.
func reviewable(ctx context.Context, tx *store.Tx, team teams.ID, id ID, note *string, by Status) (Item, error) {
	if by == ByTeam {
		if err := Enabled(ctx, tx, team); err != nil {
			return Item{}, err
		}
	}
	if note != nil && utf8.RuneCountInString(*note) > longestNote {
		return Item{}, fault.Newf(fault.Invalid, "String should have at most %d characters", longestNote).At("body", "note").WithType("string_too_long")
	}
	i, err := Get(ctx, tx, team, id)
	if err == nil && i.Status != by {
		err = notThere()
	}
	return i, err
}

func (i *Item) decided(tx *store.Tx, action Action, note *string) {
	now := tx.Now()
	i.Action, i.ReviewedAt, i.UpdatedAt = action, &now, now
	if note != nil && i.Summary != nil {
		i.Summary.Note = *note
	}
}
