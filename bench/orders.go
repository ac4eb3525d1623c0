package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"hale/internal/civil"
	"hale/internal/harness/lean"
	"hale/internal/harness/load"
	"hale/internal/harness/proc"
	labinbox "hale/internal/inbox"
	"hale/internal/labs"
	"hale/internal/networks"
	"hale/internal/orders"
	"hale/internal/store"
	"hale/internal/teams"
	"hale/internal/users"
)

var seededOrders = flag.Int("orders", 1_000_000, "orders that are there before lists are measured")

var (
	ordersIn       = flag.String("orders-in", "", "folder of an installation for orders that is kept; it is filled the first time")
	ordersDatabase = flag.String("orders-database", "", "address of the PostgreSQL database that goes with -orders-in")
)

// ordersPerUser is how often a patient came back.
const ordersPerUser = 20

// measureOrders fills a team with orders, beside the service and without its
// events, starts the service on them, and then measures through it: the first
// list, each list, and the creation of orders while labs report on others.
func measureOrders(ctx context.Context, b *bench) (err error) {
	ctx = store.AsSystem(ctx)
	if *ordersIn != "" {
		if err := b.moveTo(ctx, *ordersIn, *ordersDatabase); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, b.server.Close()) }()
	}
	db, err := store.Open(ctx, store.Options{Dir: b.dir, URL: b.database})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := b.server.Stop(); err != nil {
		return err
	}
	s := &seeding{db: db, rng: rand.New(rand.NewPCG(1, 1))} //nolint:gosec // a repeatable clinic
	began := time.Now()
	if err := s.run(ctx, *seededOrders); err != nil {
		return err
	}
	b.report.line("orders there", fmt.Sprintf("%d", *seededOrders), "seeded in "+time.Since(began).Round(time.Second).String(), "")
	if _, err := b.server.Start(ctx); err != nil {
		return err
	}
	if err := firstList(ctx, b); err != nil {
		return err
	}
	for _, l := range s.lists() {
		if err := listOrders(ctx, b, l.name, l.query); err != nil {
			return err
		}
	}
	return s.busy(ctx, b)
}

// moveTo goes on with an installation that is kept.
func (b *bench) moveTo(ctx context.Context, dir, database string) error {
	if err := b.server.Close(); err != nil {
		return err
	}
	binary, err := proc.Build(ctx, b.dir)
	if err != nil {
		return err
	}
	b.dir, b.database = dir, database
	if b.server, err = proc.New(proc.Options{Binary: binary, Dir: dir, Database: database, APIKey: b.key}); err != nil {
		return err
	}
	_, err = b.server.Start(ctx)
	return err
}

// seeding is a team and what its orders are made of.
type seeding struct {
	db    *store.DB
	rng   *rand.Rand
	team  teams.ID
	tests []labs.Test
	lab   map[labs.LabID]labs.AccountID
	some  []orders.Order // a few of them
}

var (
	firstNames = []string{"Ada", "Grace", "Alan", "Edsger", "Barbara", "Donald", "Frances", "John", "Radia", "Ken"}
	lastNames  = []string{"Example", "Sample", "Byron", "Hopper", "Liskov", "Knuth", "Allen", "Perlman", "Turing", "Hoare"}
)

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
			s.some = batch
			return orders.Load(ctx, tx, batch)
		})
		done += n
	}
	return err
}

// there counts the orders that an earlier run left, and reads some.
func (s *seeding) there(ctx context.Context) (count int, err error) {
	err = s.db.Read(ctx, func(tx *store.Tx) error {
		if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM orders WHERE team_id = $1`, s.team).Scan(&count); err != nil || count == 0 {
			return err
		}
		var user users.ID
		if err := tx.QueryRow(ctx, `SELECT user_id FROM orders WHERE team_id = $1 ORDER BY user_id DESC LIMIT 1`, s.team).Scan(&user); err != nil {
			return err
		}
		s.some, err = orders.OfUser(ctx, tx, s.team, user, ordersPerUser)
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
		s.team, s.lab = all[0].ID, map[labs.LabID]labs.AccountID{}
		if s.tests, err = labs.ListTests(ctx, tx, s.team, labs.TestFilter{}); err != nil {
			return err
		}
		for _, t := range s.tests {
			account, err := labs.ChooseAccount(ctx, tx, s.team, t.Lab, nil, false)
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
	for i := range batch {
		if i%ordersPerUser == 0 {
			var err error
			if user, err = users.Create(ctx, tx, s.team, users.NewUser{ClientUserID: "seeded-" + tx.NewUUID().String()}); err != nil {
				return nil, err
			}
		}
		batch[i] = s.order(user, tx.Now())
	}
	return batch, nil
}

func (s *seeding) order(user users.User, now time.Time) orders.Order {
	test := s.tests[s.rng.IntN(len(s.tests))]
	course := orders.CourseOf(test.Method, false)
	arrows := orders.Arrows(course)
	at := now.Add(-time.Duration(s.rng.Int64N(int64(365 * 24 * time.Hour)))).Truncate(time.Microsecond)
	o := orders.Order{
		Team: s.team, User: user.ID, Origin: orders.Initial, Lab: test.Lab, LabTest: test.ID, Account: s.lab[test.Lab], Network: orders.SandboxNetwork,
		Method: test.Method, Status: arrows[s.rng.IntN(len(arrows))].To, StatusAt: at.Add(time.Hour), CreatedAt: at, UpdatedAt: at.Add(time.Hour),
		Billing: labs.ClientBill, SMSEnabled: true, SampleID: fmt.Sprintf("B%X", s.rng.Uint64()),
		Body: orders.Body{Patient: &orders.Patient{
			FirstName: firstNames[s.rng.IntN(len(firstNames))], LastName: lastNames[s.rng.IntN(len(lastNames))],
			BirthDate: civil.MustParse("1950-01-01").AddDays(s.rng.IntN(20_000)), Gender: "female", PhoneNumber: "+14155550132", Email: "p@example.org",
		}},
	}
	if o.Status == orders.Completed {
		o.Interpretation = orders.Interpretations[s.rng.IntN(len(orders.Interpretations))]
		o.IsCritical = o.Interpretation == orders.Critical
	}
	return o
}

type listCase struct {
	name  string
	query url.Values
}

// lists are the filters, searches and sorts, one by one and some together.
func (s *seeding) lists() []listCase {
	o := s.some[0]
	name := o.Body.Patient.FirstName + " " + o.Body.Patient.LastName
	return []listCase{
		{"newest first", url.Values{}},
		{"page 5,000", url.Values{"page": {"5000"}}},
		{"by status", url.Values{"status": {"completed", "partial_results"}}},
		{"by method, oldest first", url.Values{"order_type": {"testkit"}, "order_direction": {"asc"}}},
		{"created in a month", url.Values{"start_date": {o.CreatedAt.AddDate(0, -1, 0).Format(time.DateOnly)}, "end_date": {o.CreatedAt.Format(time.DateOnly)}}},
		{"critical", url.Values{"is_critical": {"true"}}},
		{"interpretation", url.Values{"interpretation": {"abnormal"}}},
		{"scheduled", url.Values{"order_activation_types": {"scheduled"}}},
		{"of a user", url.Values{"user_id": {o.User.String()}}},
		{"of a transaction", url.Values{"order_transaction_id": {o.Transaction.String()}}},
		{"by patient's name", url.Values{"patient_name": {name}}},
		{"search, an id", url.Values{"search_input": {o.ID.String()}}},
		{"search, a name", url.Values{"search_input": {o.Body.Patient.LastName}}},
		{"search, nobody", url.Values{"search_input": {"zzyzx"}}},
		{"sorted by name", url.Values{"order_key": {"patient_name"}, "page": {"3000"}}},
		{"sorted by status", url.Values{"order_key": {"last_status"}, "page": {"3000"}}},
		{"five at once", url.Values{"status": {"completed"}, "interpretation": {"normal"}, "patient_name": {"ada"}, "order_type": {"walk_in_test"}, "order_key": {"patient_name"}}},
	}
}

// firstList times the first list of a process, which has to read all orders,
// and looks at the memory that it takes.
func firstList(ctx context.Context, b *bench) error {
	before, err := b.server.Memory()
	if err != nil {
		return err
	}
	began := time.Now()
	for status := 0; status != http.StatusOK; {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+b.server.Address()+"/v3/orders?patient_name=x", nil)
		if err != nil {
			return err
		}
		r.Header.Set("x-service-api-key", b.key)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		if status = answer.StatusCode; status != http.StatusOK && status != http.StatusServiceUnavailable {
			return fmt.Errorf("the first list was answered %d", status)
		}
	}
	took := time.Since(began)
	after, err := b.server.Memory()
	if err != nil {
		return err
	}
	b.report.line("orders, first list after the start", millis(took), "", "")
	b.report.line("memory, then", fmt.Sprintf("%d MiB", after.Now>>20), fmt.Sprintf("%d MiB after the start, %d MiB at its highest", before.Now>>20, after.Peak>>20), "")
	return nil
}

// listOrders measures one list, by callers that do not wait for each other's
// processor: one for each of two cores.
func listOrders(ctx context.Context, b *bench, name string, query url.Values) error {
	head := lean.Head("GET", "/v3/orders?"+query.Encode(), b.server.Address(), "x-service-api-key: "+b.key)
	result, err := load.Run(ctx, load.Plan{Address: b.server.Address(), Conns: 1, For: b.period / 5}, func(w *load.Worker, _ int) error {
		answer, err := w.Do(head, nil)
		if err == nil && answer.Status != 200 {
			err = fmt.Errorf("%s was answered %d: %.200s", name, answer.Status, answer.Body)
		}
		return err
	})
	if err != nil {
		return err
	}
	b.report.line("orders, "+name, millis(result.Quantile(.99))+" p99", millis(result.Quantile(.5))+" p50", "p99 ≤ 20 ms")
	return nil
}

// busyOrders is the rate of creation that is asked for.
const busyOrders = 200

// busy creates orders at a rate while labs report on others.
func (s *seeding) busy(ctx context.Context, b *bench) error {
	body, err := s.request()
	if err != nil {
		return err
	}
	head := lean.Head("POST", "/v3/order", b.server.Address(), "x-service-api-key: "+b.key)
	reporting, stop := context.WithCancel(ctx)
	defer stop()
	reports := make(chan int, 1)
	go func() { reports <- s.report(reporting) }()
	const conns = 16
	tick := time.Second * conns / busyOrders
	result, err := load.Run(ctx, load.Plan{Address: b.server.Address(), Conns: conns, For: b.period}, func(w *load.Worker, _ int) error {
		next := time.After(tick)
		answer, err := w.Do(head, body)
		if err == nil && answer.Status != 200 {
			err = fmt.Errorf("ordering was answered %d: %.300s", answer.Status, answer.Body)
		}
		<-next
		return err
	})
	stop()
	if err != nil {
		return err
	}
	b.report.line("orders created while labs report", perSecond(result.PerSecond()), fmt.Sprintf("%d reports meanwhile", <-reports), fmt.Sprintf("%d/s", busyOrders))
	return nil
}

// request is the body of an order of the walk-in test, answered for.
func (s *seeding) request() ([]byte, error) {
	for _, t := range s.tests {
		if t.Method != labs.OnSite {
			continue
		}
		return json.Marshal(map[string]any{
			"user_id": s.some[0].User, "lab_test_id": t.ID,
			"patient_details": map[string]any{
				"first_name": "Ada", "last_name": "Example", "dob": "1984-12-10", "gender": "female", "phone_number": "+14155550132", "email": "a@example.org",
			},
			"patient_address": map[string]any{"first_line": "1 Example Street", "city": "Phoenix", "state": "AZ", "zip": "85004", "country": "US"},
		})
	}
	return nil, errors.New("the team has no lab test for on-site collection")
}

// report puts lab messages about the seeded orders into the inbox until ctx
// ends, and counts them.
func (s *seeding) report(ctx context.Context) (n int) {
	in := &labinbox.Service{DB: s.db}
	for ; ctx.Err() == nil; n++ {
		o := s.some[n%len(s.some)]
		err := in.Put(ctx, networks.Message{
			Network: orders.SandboxNetwork, Key: fmt.Sprint("bench-", n), Raw: []byte("bench"),
			Reports: []networks.Report{{Placer: o.ID.String(), Status: string(orders.LabProcessingBlocked)}},
		})
		if err != nil {
			return n
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return n
}
