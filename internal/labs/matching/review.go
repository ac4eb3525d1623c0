package matching

import (
	"context"
	"unicode/utf8"

	"hale/internal/labs/critical"
	"hale/internal/labs/identity"
	"hale/internal/labs/orders"
	"hale/internal/labs/results"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Choice names the order that a result is accepted for; empty means the
// default order.
type Choice struct {
	Order *orders.ID
	User  *users.ID
	Note  *string
	By    string // the person or key that decides
	// ConfirmIdentity confirms that the report is about the order's patient
	// although the person on it differs, or lacks a name or the birth date.
	ConfirmIdentity bool
}

// AcceptResult gives a result to an order. It uses the chosen order if that order can
// have results, otherwise a new one in its place. It returns that order. A report whose
// person is not certainly the order's patient needs Choice.ConfirmIdentity.
//
// Reference 1.17, POST …/accept.
func AcceptResult(ctx context.Context, tx *store.Tx, team teams.ID, id ID, c Choice) (orders.Order, error) {
	return acceptResult(ctx, tx, team, id, c, TeamReview)
}

// acceptResult implements AcceptResult and OperatorAccept. by is TeamReview or
// OperatorReview.
func acceptResult(ctx context.Context, tx *store.Tx, team teams.ID, id ID, c Choice, by Status) (orders.Order, error) {
	i, err := readReviewable(ctx, tx, team, id, c.Note, by)
	if err != nil {
		return orders.Order{}, err
	}
	r, err := i.report(ctx, tx)
	if err != nil {
		return orders.Order{}, err
	}
	t := target{item: &i, report: r}
	o, err := t.choose(ctx, tx, c)
	if err != nil {
		return orders.Order{}, err
	}
	differences := identity.Compare(identity.Person(patientOf(&o)), identity.Person(r.Patient)).Problems()
	if len(differences) > 0 && !c.ConfirmIdentity {
		return orders.Order{}, identity.UnconfirmedError("patient of the order", differences)
	}
	from, seen := i.Status, i.seenByTeam()
	i.setDecision(tx, Accept, c.Note, c.By)
	i.Status = Resolved
	review := results.Review{Result: i.ID.UUID(), Decision: string(i.Decision), By: i.ReviewedBy, At: tx.Now(), Patient: r.Patient, Confirmed: differences}
	if c.Note != nil {
		review.Note = *c.Note
	}
	if err := recordResult(ctx, tx, &i, from, &o, r, &review); err != nil {
		return orders.Order{}, err
	}
	if err := critical.CloseReview(ctx, tx, team, id.UUID()); err != nil {
		return orders.Order{}, err
	}
	return o, announceToReviewers(ctx, tx, &i, UpdatedEvent, seen)
}

// choose finds or creates the order for the result.
func (t target) choose(ctx context.Context, tx *store.Tx, c Choice) (orders.Order, error) {
	if c.User != nil {
		// A result can be accepted until the grace period of a deleted user ends.
		if _, err := users.ClientUserID(ctx, tx, t.item.Team, *c.User); err != nil {
			return orders.Order{}, err
		}
	}
	switch {
	case c.Order != nil:
		return t.namedOrder(ctx, tx, *c.Order, c.User)
	case c.User != nil:
		return t.orderOfUser(ctx, tx, *c.User)
	}
	one, ok := t.item.defaultCandidate()
	if !ok {
		return orders.Order{}, inconsistentChoice("There is no default order for this result: choose one with order_id or user_id")
	}
	return t.namedOrder(ctx, tx, one.Order, nil)
}

// namedOrder returns the named order, or one in its place.
func (t target) namedOrder(ctx context.Context, tx *store.Tx, id orders.ID, user *users.ID) (orders.Order, error) {
	o, err := orders.Get(ctx, tx, t.item.Team, id)
	if err != nil {
		return orders.Order{}, err
	}
	if user != nil && o.User != *user {
		return orders.Order{}, inconsistentChoice("The order is of another user")
	}
	if _, err := users.ClientUserID(ctx, tx, t.item.Team, o.User); err != nil {
		return orders.Order{}, err
	}
	return t.usableOrder(ctx, tx, &o)
}

// orderOfUser returns the order of the user's best candidate. If several candidates have
// the best score, the reviewer must choose. Without a candidate orderOfUser creates a new
// order. An order of another person stays unchanged, even if the report names it, because
// that person still waits for a result.
func (t target) orderOfUser(ctx context.Context, tx *store.Tx, user users.ID) (orders.Order, error) {
	var own []Candidate
	for _, c := range t.item.Candidates {
		if c.User == user {
			own = append(own, c)
		}
	}
	switch {
	case len(own) == 1, len(own) > 1 && own[0].Score > own[1].Score:
		return t.namedOrder(ctx, tx, own[0].Order, &user)
	case len(own) > 1:
		return orders.Order{}, inconsistentChoice("Several orders of this user fit: choose one with order_id")
	}
	return t.createOrder(ctx, tx, user)
}

// defaultCandidate returns the candidate that a result is accepted for if the reviewer
// names no order. It is the only order of the same person. If there are several, it is
// the only one that the report names. There is none if the decision is OtherPerson or
// SeveralPeople.
func (i *Item) defaultCandidate() (Candidate, bool) {
	if i.Decision == OtherPerson || i.Decision == SeveralPeople {
		return Candidate{}, false
	}
	var same, named []Candidate
	for _, c := range i.Candidates {
		if c.SamePerson {
			same = append(same, c)
		}
		if c.SamePerson && c.Kind == Provenance {
			named = append(named, c)
		}
	}
	switch {
	case len(same) == 1:
		return same[0], true
	case len(named) == 1:
		return named[0], true
	}
	return Candidate{}, false
}

func inconsistentChoice(msg string) error { return fault.New(fault.Unprocessable, msg) }

// in characters
const maxNote = 1000

// RequireQueue returns an error if the team does not decide about its results itself.
func RequireQueue(ctx context.Context, tx *store.Tx, team teams.ID) error {
	t, err := teams.Get(ctx, tx, team)
	if err != nil {
		return err
	}
	return requireQueue(t)
}

func requireQueue(team teams.Team) error {
	if !team.ReviewsResults() {
		return fault.New(fault.Refused, "Unmatched results are not enabled for this team")
	}
	return nil
}

// Resolve rejects a result, which then belongs to no user, or forwards it to
// the operators.
//
// Reference 1.17, POST …/resolve.
func Resolve(ctx context.Context, tx *store.Tx, team teams.ID, id ID, action Action, note *string, person string) (Item, error) {
	switch action {
	case Reject:
		return resolveItem(ctx, tx, team, id, action, note, person, TeamReview, Resolved)
	case Unsure:
		return resolveItem(ctx, tx, team, id, action, note, person, TeamReview, OperatorReview)
	case Accept:
	}
	return Item{}, fault.NotInEnum([]Action{Reject, Unsure}).At("body", "action")
}

// resolveItem stores a decision about a result, which moves it to the status to.
// by says whether the team or an operator decides. person made the decision.
func resolveItem(ctx context.Context, tx *store.Tx, team teams.ID, id ID, action Action, note *string, person string, by, to Status) (Item, error) {
	i, err := readReviewable(ctx, tx, team, id, note, by)
	if err != nil {
		return Item{}, err
	}
	from, seen := i.Status, i.seenByTeam()
	i.Status = to
	i.setDecision(tx, action, note, person)
	if err := save(ctx, tx, &i, from, true); err != nil {
		return Item{}, err
	}
	if to == Resolved {
		if err := critical.CloseReview(ctx, tx, team, id.UUID()); err != nil {
			return Item{}, err
		}
	}
	return i, announceToReviewers(ctx, tx, &i, UpdatedEvent, seen)
}

// readReviewable reads a result that waits for a decision of the team (by is
// TeamReview) or of an operator (OperatorReview). If a team turned its queue off,
// operators also decide about the results that waited for the team.
func readReviewable(ctx context.Context, tx *store.Tx, team teams.ID, id ID, note *string, by Status) (Item, error) {
	settings, err := teams.Get(ctx, tx, team)
	if err != nil {
		return Item{}, err
	}
	if by == TeamReview {
		if err := requireQueue(settings); err != nil {
			return Item{}, err
		}
	}
	if note != nil && utf8.RuneCountInString(*note) > maxNote {
		return Item{}, fault.Newf(fault.Invalid, "String should have at most %d characters", maxNote).At("body", "note").WithType("string_too_long")
	}
	i, err := Get(ctx, tx, team, id)
	if err == nil && i.Status != by && (by != OperatorReview || !WaitsForOperator(settings, i.Status)) {
		err = notFound()
	}
	return i, err
}

// WaitsForOperator reports whether an operator decides about results of a team with
// a status.
func WaitsForOperator(team teams.Team, status Status) bool {
	return status == OperatorReview || status == TeamReview && !team.ReviewsResults()
}

// seenByTeam reports whether the team got an event about a result that waits. Call it
// before setDecision.
func (i *Item) seenByTeam() bool { return i.Status == TeamReview || i.Action == Unsure }

func (i *Item) setDecision(tx *store.Tx, action Action, note *string, by string) {
	now := tx.Now()
	i.Action, i.ReviewedAt, i.UpdatedAt, i.ReviewedBy = action, &now, now, by
	if note != nil && i.Summary != nil {
		i.Summary.Note = *note
	}
}

// Operators decide about the results of teams without a queue of their own, and
// about results that a team was unsure of. Their decisions have the same effect
// as a team's. A team with its own queue gets the events. Any team gets those about a
// result that it got an event about before.

// OperatorAccept accepts a result that waits for an operator, as AcceptResult does for a
// team.
func OperatorAccept(ctx context.Context, tx *store.Tx, team teams.ID, id ID, c Choice) (orders.Order, error) {
	return acceptResult(ctx, tx, team, id, c, OperatorReview)
}

// OperatorReject decides that a result belongs to no user.
func OperatorReject(ctx context.Context, tx *store.Tx, team teams.ID, id ID, note *string, person string) (Item, error) {
	return resolveItem(ctx, tx, team, id, Reject, note, person, OperatorReview, Resolved)
}

// ReturnToTeam leaves the decision about a result to its team, which must have
// its own queue. It moves results that were waiting before the team had a
// queue.
func ReturnToTeam(ctx context.Context, tx *store.Tx, team teams.ID, id ID, note *string, person string) (Item, error) {
	if err := RequireQueue(ctx, tx, team); err != nil {
		return Item{}, err
	}
	i, err := readReviewable(ctx, tx, team, id, note, OperatorReview)
	if err != nil {
		return Item{}, err
	}
	from, seen := i.Status, i.seenByTeam()
	i.setDecision(tx, "", note, person)
	i.Status, i.ReviewedAt = TeamReview, nil
	if err := save(ctx, tx, &i, from, true); err != nil {
		return Item{}, err
	}
	kind := CreatedEvent
	if seen {
		kind = UpdatedEvent
	}
	return i, announce(ctx, tx, &i, kind)
}

// TeamOf finds the team of a result, for an operator who has only its id.
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
	return teams.Team{}, notFound()
}
