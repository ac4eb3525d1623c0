package matching

import (
	"context"
	"unicode/utf8"

	"hale/internal/fault"
	"hale/internal/store"
	"hale/internal/teams"
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
	i, err := reviewable(ctx, tx, team, id, note)
	if err != nil {
		return Item{}, err
	}
	switch action {
	case Reject:
		i.Status = Resolved
	case Unsure:
		i.Status = ByOps
	case Accept:
		return Item{}, fault.New(fault.Invalid, "Input should be 'reject' or 'unsure'").At("body", "action").WithType("enum")
	}
	i.decided(tx, action, note)
	if err := save(ctx, tx, &i, ByTeam, true); err != nil {
		return Item{}, err
	}
	return i, announce(ctx, tx, &i, UpdatedEvent)
}

// reviewable reads a result that the team may decide about.
func reviewable(ctx context.Context, tx *store.Tx, team teams.ID, id ID, note *string) (Item, error) {
	if err := Enabled(ctx, tx, team); err != nil {
		return Item{}, err
	}
	if note != nil && utf8.RuneCountInString(*note) > longestNote {
		return Item{}, fault.Newf(fault.Invalid, "String should have at most %d characters", longestNote).At("body", "note").WithType("string_too_long")
	}
	i, err := Get(ctx, tx, team, id)
	if err == nil && !i.Reviewable() {
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
