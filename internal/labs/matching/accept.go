package matching

import (
	"context"

	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Choice is which order a result is accepted for; empty means the default one.
type Choice struct {
	Order *orders.ID
	User  *users.ID
	Note  *string
}

// AcceptFor makes a result that of an order: of the chosen one when it can have
// results, else of one that is made in its place. It returns that order.
//
// Reference 1.17, POST …/accept.
func AcceptFor(ctx context.Context, tx *store.Tx, team teams.ID, id ID, c Choice) (orders.Order, error) {
	return accept(ctx, tx, team, id, c, ByTeam)
}

// accept is AcceptFor by whoever the result waits for.
func accept(ctx context.Context, tx *store.Tx, team teams.ID, id ID, c Choice, by Status) (orders.Order, error) {
	i, err := reviewable(ctx, tx, team, id, c.Note, by)
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
	i.decided(tx, Accept, c.Note)
	i.Status = Resolved
	if err := record(ctx, tx, &i, by, &o, r); err != nil {
		return orders.Order{}, err
	}
	return o, tell(ctx, tx, &i, UpdatedEvent)
}

// choose finds or makes the order.
func (t target) choose(ctx context.Context, tx *store.Tx, c Choice) (orders.Order, error) {
	if c.User != nil {
		if err := users.Exists(ctx, tx, t.item.Team, *c.User); err != nil {
			return orders.Order{}, err
		}
	}
	switch {
	case c.Order != nil:
		return t.chosen(ctx, tx, *c.Order, c.User)
	case c.User != nil:
		return t.ofUser(ctx, tx, *c.User)
	}
	one, ok := t.item.usual()
	if !ok {
		return orders.Order{}, inconsistent("There is no default order for this result: choose one with order_id or user_id")
	}
	return t.chosen(ctx, tx, one.Order, nil)
}

// chosen is the order that was named, or one in its place.
func (t target) chosen(ctx context.Context, tx *store.Tx, id orders.ID, user *users.ID) (orders.Order, error) {
	o, err := orders.Get(ctx, tx, t.item.Team, id)
	if err != nil {
		return orders.Order{}, err
	}
	if user != nil && o.User != *user {
		return orders.Order{}, inconsistent("The order is of another user")
	}
	if err := users.Exists(ctx, tx, t.item.Team, o.User); err != nil {
		return orders.Order{}, err
	}
	return t.fitting(ctx, tx, &o)
}

// ofUser is the user's only candidate; else, when another person's order has
// brought the result here, that order anew for the user; else a new order.
func (t target) ofUser(ctx context.Context, tx *store.Tx, user users.ID) (orders.Order, error) {
	var own, named []Candidate
	for _, c := range t.item.Candidates {
		switch {
		case c.User == user:
			own = append(own, c)
		case c.Kind == Provenance:
			named = append(named, c)
		}
	}
	switch {
	case len(own) == 1, len(own) > 1 && own[0].Score > own[1].Score:
		return t.chosen(ctx, tx, own[0].Order, &user)
	case len(own) > 1:
		return orders.Order{}, inconsistent("Several orders of this user fit: choose one with order_id")
	case len(named) > 0:
		return t.forAnother(ctx, tx, named[0].Order, user)
	}
	return t.anew(ctx, tx, user)
}

// usual is the candidate that a result is accepted for unless another one is
// named: the only order of the very person, when nothing else speaks against it.
func (i *Item) usual() (Candidate, bool) {
	if i.Decision == OtherPerson || i.Decision == SeveralPeople {
		return Candidate{}, false
	}
	var alike []Candidate
	for _, c := range i.Candidates {
		if c.Alike {
			alike = append(alike, c)
		}
	}
	switch {
	case len(alike) == 1:
		return alike[0], true
	case len(alike) > 1 && alike[0].Kind == Provenance && alike[1].Kind != Provenance:
		return alike[0], true
	}
	return Candidate{}, false
}

func inconsistent(msg string) error { return fault.New(fault.Unprocessable, msg) }
