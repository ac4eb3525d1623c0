package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/people/users/person"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// ordersPerUser counts the orders of each patient.
const ordersPerUser = 20

// seeding holds a team and the parts of its orders.
type seeding struct {
	db    *store.DB
	rng   *rand.Rand
	team  teams.ID
	tests []catalogue.Test
	lab   map[catalogue.LabID]catalogue.AccountID
	some  []orders.Order // a few of them
}

// A tenth of all patients have each first name and each beginning of a last name. Few
// patients have both in common.
var (
	firstNames = []string{"Ada", "Grace", "Alan", "Edsger", "Barbara", "Donald", "Frances", "John", "Radia", "Ken"}
	lastNames  = []string{"Example", "Sample", "Byron", "Hopper", "Liskov", "Knuth", "Allen", "Perlman", "Turing", "Hoare"}
	syllables  = []string{"ba", "cor", "den", "fel", "gar", "hol", "jen", "kin", "lund", "mar", "nor", "pet", "quist", "ros", "sten", "tor", "ulf", "vik", "wen", "zim"}
)

// run fills the team up to a number of orders.
func (s *seeding) run(ctx context.Context, count int) error {
	if err := s.db.Write(ctx, s.begin(ctx)); err != nil {
		return err
	}
	done, err := s.there(ctx)
	for err == nil && done < count {
		n := min(1000, count-done)
		err = s.db.Write(ctx, func(tx *store.Tx) error {
			batch, err := s.batch(ctx, tx, n)
			if err != nil {
				return err
			}
			if s.some == nil {
				s.some = batch
			}
			return orders.Load(ctx, tx, batch)
		})
		done += n
	}
	return err
}

// there counts the orders of an earlier run, and reads some.
func (s *seeding) there(ctx context.Context) (count int, err error) {
	err = s.db.Read(ctx, func(tx *store.Tx) error {
		if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM orders WHERE team_id = $1`, s.team).Scan(&count); err != nil || count == 0 {
			return err
		}
		var user users.ID
		if err := tx.QueryRow(ctx, `SELECT user_id FROM orders WHERE team_id = $1 ORDER BY user_id LIMIT 1`, s.team).Scan(&user); err != nil {
			return err
		}
		s.some, err = orders.OrdersOfUser(ctx, tx, s.team, user, ordersPerUser)
		return err
	})
	return count, err
}

// begin finds the team, its lab tests and their accounts.
func (s *seeding) begin(ctx context.Context) func(tx *store.Tx) error {
	return func(tx *store.Tx) error {
		all, err := teams.List(ctx, tx)
		if err != nil {
			return err
		}
		s.team, s.lab = all[0].ID, map[catalogue.LabID]catalogue.AccountID{}
		if s.tests, err = catalogue.ListTests(ctx, tx, s.team, catalogue.TestFilter{}); err != nil {
			return err
		}
		for _, t := range s.tests {
			account, err := catalogue.ChooseAccount(ctx, tx, s.team, t.Lab, nil, false)
			if err != nil {
				return err
			}
			s.lab[t.Lab] = account.ID
		}
		return nil
	}
}

func (s *seeding) batch(ctx context.Context, tx *store.Tx, n int) ([]orders.Order, error) {
	batch := make([]orders.Order, n)
	var user users.User
	var patient orders.Patient
	for i := range batch {
		if i%ordersPerUser == 0 {
			var err error
			if user, err = users.Create(ctx, tx, s.team, users.NewUser{ClientUserID: "seeded-" + tx.NewUUID().String()}); err != nil {
				return nil, err
			}
			patient = s.patient()
		}
		batch[i] = s.order(user, patient, tx.Now())
	}
	return batch, nil
}

func (s *seeding) patient() orders.Patient {
	one := func(of []string) string { return of[s.rng.IntN(len(of))] }
	return orders.Patient{
		FirstName: one(firstNames), LastName: one(lastNames) + one(syllables) + one(syllables) + one(syllables),
		BirthDate: civil.MustParse("1950-01-01").AddDays(s.rng.IntN(20_000)), Gender: "female", PhoneNumber: "+14155550132", Email: "p@example.org",
	}
}

// order returns an order at any point of its course, within the last year. One in fifty
// of the orders that have not begun is scheduled for later.
func (s *seeding) order(user users.User, patient orders.Patient, now time.Time) orders.Order {
	test := s.tests[s.rng.IntN(len(s.tests))]
	course := orders.CourseOf(test.Method, false)
	arrows := orders.Arrows(course)
	at := now.Add(-time.Duration(s.rng.Int64N(int64(365 * 24 * time.Hour)))).Truncate(time.Microsecond)
	o := orders.Order{
		Team: s.team, User: user.ID, Origin: orders.Initial, Lab: test.Lab, LabTest: test.ID, Account: s.lab[test.Lab], Network: orders.SandboxNetwork,
		Method: test.Method, Status: arrows[s.rng.IntN(len(arrows))].To, StatusAt: at.Add(time.Hour), CreatedAt: at, UpdatedAt: at.Add(time.Hour),
		Billing: catalogue.ClientBill, SMSEnabled: true, SampleID: fmt.Sprintf("B%X", s.rng.Uint64()),
		Body: orders.Body{Patient: &patient, Address: &orders.Address{
			Address:  person.Address{FirstLine: "1 Example Street", City: "Phoenix", State: "AZ", Zip: "85004", Country: "US"},
			Receiver: patient.FirstName + " " + patient.LastName,
		}},
	}
	if s.rng.IntN(50) == 0 {
		day := civil.DateOf(now).AddDays(1 + s.rng.IntN(60))
		o.Status, o.ActivateBy, o.Scheduled = orders.Ordered, &day, true
	}
	if o.Status == orders.Completed {
		o.Interpretation = orders.Interpretations[s.rng.IntN(len(orders.Interpretations))]
		o.IsCritical = o.Interpretation == orders.Critical
	}
	return o
}
