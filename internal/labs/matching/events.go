package matching

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// The types of event.
const (
	CreatedEvent = "labtest.match_review.created"
	UpdatedEvent = "labtest.match_review.updated"
)

// payload is the data of both events.
//
// Reference 8.3, MatchReviewWebhookPayload.
type payload struct {
	ID             ID         `json:"id"`
	Status         Status     `json:"status"`
	Decision       Decision   `json:"decision_code"`
	SubReasons     []string   `json:"sub_reason_codes"`
	Action         *Action    `json:"resolution_action"`
	ResolvedUserID *users.ID  `json:"resolved_user_id"`
	ResolvedOrder  *orders.ID `json:"resolved_order_id"`
	// Interpretation is an addition: a critical result must not wait.
	Interpretation orders.Interpretation `json:"interpretation"`
}

// SubReasons returns the reasons below the decision.
func (i *Item) SubReasons() []string {
	if i.AccountDiffers {
		return []string{AccountMismatch}
	}
	return []string{}
}

func (i *Item) payload() payload {
	p := payload{ID: i.ID, Status: i.Status, Decision: i.Decision, SubReasons: i.SubReasons(), ResolvedUserID: i.User, ResolvedOrder: i.Order, Interpretation: i.Interpretation}
	if i.Action != "" {
		p.Action = &i.Action
	}
	return p
}

// announceToReviewers emits an event for a team with its own queue, or for a team that
// got an event about this result before. Any other team was shown nothing, and the
// events of the order suffice.
func announceToReviewers(ctx context.Context, tx *store.Tx, i *Item, kind string, seen bool) error {
	team, err := teams.Get(ctx, tx, i.Team)
	if err != nil || !seen && !team.ReviewsResults() {
		return err
	}
	return announce(ctx, tx, i, kind)
}

// announce emits an event about a result in the team's queue. The event belongs
// to the user of the result, or to the only user it can be of. When that user is
// being erased, the event belongs to the team alone.
func announce(ctx context.Context, tx *store.Tx, i *Item, kind string) error {
	data, err := json.Marshal(i.payload())
	if err != nil {
		return fmt.Errorf("matching: marshalling a %s: %w", kind, err)
	}
	e := events.New{Team: i.Team.UUID(), Type: kind, Data: data}
	if id := i.aboutUser(); id != nil {
		name, err := users.ClientUserID(ctx, tx, i.Team, *id)
		switch {
		case err == nil:
			e.User, e.ClientUserID = id.UUID(), name
		case !fault.Is(err, fault.NotFound):
			return err
		}
	}
	_, err = events.Emit(ctx, tx, e)
	return err
}

// aboutUser returns the user of the result, or the only candidate's.
func (i *Item) aboutUser() *users.ID {
	if i.User != nil {
		return i.User
	}
	for _, c := range i.Candidates {
		if c.User != i.Candidates[0].User {
			return nil
		}
	}
	if len(i.Candidates) == 0 || !i.Candidates[0].SamePerson {
		return nil
	}
	return &i.Candidates[0].User
}

// EventTypes returns the types of events that this package emits.
func EventTypes() []events.Type {
	id := uuid.MustParse("00000000-0000-4000-8000-000000000009")
	order := orders.ID(uuid.MustParse("00000000-0000-4000-8000-000000000005"))
	example := func(change func(i *Item, user users.ID)) func(uuid.UUID) json.RawMessage {
		return func(user uuid.UUID) json.RawMessage {
			i := Item{ID: ID(id), Status: TeamReview, Decision: PersonMatch, Interpretation: orders.Abnormal}
			change(&i, users.ID(user))
			doc, err := json.Marshal(i.payload())
			if err != nil {
				panic(err) // a plain struct
			}
			return doc
		}
	}
	return []events.Type{
		{Name: CreatedEvent, Sentence: "A result could not be matched to an order and waits for a decision.", Example: example(func(*Item, users.ID) {})},
		{Name: UpdatedEvent, Sentence: "A decision on an unmatched result was made.", Example: example(func(i *Item, user users.ID) {
			i.Status, i.Action, i.User, i.Order = Resolved, Accept, &user, &order
		})},
	}
}
