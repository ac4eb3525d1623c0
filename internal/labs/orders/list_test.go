package orders_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// Every filter, search and sort gives the same list as a scan of all orders,
// while orders are added and changed.
func TestListEqualsScan(t *testing.T) {
	moment := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { moment = moment.Add(time.Minute); return moment }
	storetest.EachAt(t, clock, func(t *testing.T, db *store.DB) {
		team, index := orderstest.Team(t, db), orders.NewIndex()
		rng := rand.New(rand.NewPCG(5, 6))
		var all []orders.Order
		for round := range 12 {
			all = append(all, newOrders(t, db, team.ID, rng, round)...)
			change(t, db, all, rng)
			for range 25 {
				f := filter(rng, all)
				var got orders.Page
				ctx := store.WithTeam(t.Context(), team.ID.UUID())
				err := db.Read(ctx, func(tx *store.Tx) (err error) {
					got, err = index.List(ctx, tx, team.ID, f)
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				want, count := scanAll(all, f, orders.Today(moment))
				if got.Total != count || !slices.Equal(idsOf(got.Orders), idsOf(want)) {
					t.Fatalf("%+v\ngave %d: %v\nwant %d: %v", f, got.Total, idsOf(got.Orders), count, idsOf(want))
				}
				if more := count > f.Page*f.Size; more != (got.Next != nil) {
					t.Fatalf("%+v\nhas %d orders, and a next page: %v", f, count, got.Next != nil)
				}
			}
		}
	})
}

var people = []string{"Ada Byron", "Grace O'Hopper", "Alan Mathison-Turing", "Jean de la Fontaine", "Byron Adams"}

func newOrders(t *testing.T, db *store.DB, team teams.ID, rng *rand.Rand, round int) []orders.Order {
	t.Helper()
	if round%4 == 3 {
		return []orders.Order{orderstest.Kit(t, db, team)}
	}
	user := orderstest.User(t, db, team)
	r := orderstest.Request(t, db, user, orderstest.Test(t, db, team, catalogue.Methods[rng.IntN(len(catalogue.Methods))]))
	r.Patient.FirstName, r.Patient.LastName, _ = strings.Cut(people[rng.IntN(len(people))], " ")
	r.Patient.BirthDate = civil.MustParse("1984-12-10").AddDays(rng.IntN(3))
	r.Address.Receiver = people[rng.IntN(len(people))]
	if rng.IntN(2) == 0 {
		day := civil.MustParse("2026-03-01").AddDays(rng.IntN(3))
		r.ActivateBy = &day
	}
	var made []orders.Order
	userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
		made = nil
		for range 1 + rng.IntN(3) {
			o, err := orders.Create(ctx, tx, team, r)
			if err != nil {
				return err
			}
			made = append(made, o)
		}
		return nil
	})
	return made
}

// change moves some orders and sets the interpretation of some.
func change(t *testing.T, db *store.DB, all []orders.Order, rng *rand.Rand) {
	t.Helper()
	for i := range all {
		switch rng.IntN(4) {
		case 0:
			arrows := orders.Arrows(all[i].Course())
			a := arrows[rng.IntN(len(arrows))]
			orderstest.Move(t, db, &all[i], orders.Move{To: a.To, By: a.By})
		case 1:
			userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
				return orders.Amend(ctx, tx, &all[i], func(o *orders.Order) {
					o.Interpretation = orders.Interpretations[rng.IntN(len(orders.Interpretations))]
					o.IsCritical = o.Interpretation == orders.Critical
				})
			})
		}
	}
}

// filter returns a random filter with one or two conditions.
func filter(rng *rand.Rand, all []orders.Order) orders.Filter {
	f := orders.Filter{Page: 1 + rng.IntN(2), Size: 1 + rng.IntN(8), Ascending: rng.IntN(2) == 0}
	f.Key = append([]orders.SortKey{""}, orders.SortKeys...)[rng.IntN(5)]
	o := all[rng.IntN(len(all))]
	for range rng.IntN(3) {
		switch rng.IntN(13) {
		case 0:
			f.Search = []string{o.ID.String(), o.User.String()[:13], "BYRON", "ada byron", "byron ada", "1984-12-11", "o'h", "nobody"}[rng.IntN(8)]
		case 1:
			f.PatientName = []string{"ada", "Jean de", "turing", "la fon"}[rng.IntN(4)]
		case 2:
			f.Recipient = []string{"byron", "hopper"}[rng.IntN(2)]
		case 3:
			f.Created.From = &o.CreatedAt
		case 4:
			f.Updated.To = &o.UpdatedAt
		case 5:
			f.Statuses = []orders.Status{o.Status, orders.Cancelled}
		case 6:
			f.Methods = []orders.Method{o.Method}
		case 7:
			yes := rng.IntN(2) == 0
			f.Critical = &yes
		case 8:
			f.Interpretations = orders.Interpretations[rng.IntN(len(orders.Interpretations)):]
		case 9:
			f.Activations = orders.Activations[rng.IntN(2):][:1]
		case 10:
			f.Users = []users.ID{o.User, all[0].User}
		case 11:
			if o.Body.Patient != nil {
				f.BirthDate = o.Body.Patient.BirthDate
			}
		case 12:
			f.IDs, f.Transactions = []orders.ID{o.ID, all[0].ID}, []orders.TransactionID{o.Transaction, all[0].Transaction}
		}
	}
	return f
}

// scanAll returns the list from a scan of all orders.
func scanAll(all []orders.Order, f orders.Filter, today civil.Date) (page []orders.Order, total int) {
	var found []orders.Order
	for _, o := range all {
		if passesFilter(o, f, today) {
			found = append(found, o)
		}
	}
	key := func(o orders.Order) string {
		switch p := o.Body.Patient; {
		case f.Key == orders.ByLastStatus:
			return o.Full()
		case f.Key == orders.ByUpdate:
			return o.UpdatedAt.UTC().Format("2006-01-02T15:04:05.000000")
		case f.Key == orders.ByPatientName && p != nil:
			return strings.ToLower(p.LastName + "\x00" + p.FirstName)
		}
		return ""
	}
	slices.SortFunc(found, func(a, b orders.Order) int {
		for _, c := range []int{strings.Compare(key(a), key(b)), a.CreatedAt.Compare(b.CreatedAt), slices.Compare(a.ID[:], b.ID[:])} {
			if c != 0 {
				return c
			}
		}
		return 0
	})
	if !f.Ascending {
		slices.Reverse(found)
	}
	from := min((f.Page-1)*f.Size, len(found))
	return found[from:min(from+f.Size, len(found))], len(found)
}

func passesFilter(o orders.Order, f orders.Filter, today civil.Date) bool {
	name, birth, recipient := "", "", ""
	if p := o.Body.Patient; p != nil {
		name, birth = strings.ToLower(p.FirstName+" "+p.LastName+" "+p.FirstName), p.BirthDate.String()
	}
	if a := o.Body.Shipping; a != nil {
		recipient = strings.ToLower(a.Receiver)
	} else if a := o.Body.Address; a != nil {
		recipient = strings.ToLower(a.Receiver)
	}
	search := strings.ToLower(f.Search)
	scheduled := o.ActivateBy != nil && o.ActivateBy.After(today)
	switch {
	case f.Search != "" && !strings.HasPrefix(o.ID.String(), search) && !strings.HasPrefix(o.User.String(), search) &&
		!strings.Contains(name, search) && birth != search && !strings.Contains(recipient, search),
		!strings.Contains(name, strings.ToLower(f.PatientName)), !strings.Contains(recipient, strings.ToLower(f.Recipient)),
		!f.BirthDate.IsZero() && birth != f.BirthDate.String(),
		f.Created.From != nil && o.CreatedAt.Before(*f.Created.From), f.Updated.To != nil && o.UpdatedAt.After(*f.Updated.To),
		len(f.Statuses) > 0 && !slices.Contains(f.Statuses, o.Status), len(f.Methods) > 0 && !slices.Contains(f.Methods, o.Method),
		f.Critical != nil && o.IsCritical != *f.Critical, f.Interpretations != nil && !slices.Contains(f.Interpretations, o.Interpretation),
		len(f.Activations) == 1 && scheduled != (f.Activations[0] == orders.ScheduledOrders),
		f.Users != nil && !slices.Contains(f.Users, o.User), f.IDs != nil && !slices.Contains(f.IDs, o.ID), f.Transactions != nil && !slices.Contains(f.Transactions, o.Transaction):
		return false
	}
	return true
}

func idsOf(all []orders.Order) []string {
	var ids []string
	for _, o := range all {
		ids = append(ids, fmt.Sprint(o.ID.String()[24:], " ", o.Status))
	}
	return ids
}
