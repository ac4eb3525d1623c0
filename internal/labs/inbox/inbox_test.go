package inbox_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/inbox"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/ids"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// fixture is an inbox with handlers that record their calls.
type fixture struct {
	t    *testing.T
	db   *store.DB
	in   *inbox.Service
	team teams.ID

	mu       sync.Mutex
	outcomes map[string]string // outcome of each report, by its key
}

func newFixture(t *testing.T, db *store.DB) *fixture {
	t.Helper()
	r := &fixture{t: t, db: db, team: orderstest.Team(t, db).ID, outcomes: map[string]string{}}
	r.in = &inbox.Service{DB: db, Handlers: inbox.Handlers{Results: r, Unmatched: r}}
	return r
}

// work handles reports until the test ends.
func (r *fixture) work() {
	r.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	node, err := jobs.Join(ctx, r.db, 0, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	runner := jobs.NewRunner(r.db, jobs.Config{Node: node, Kinds: []jobs.Handler{r.in.Job()}})
	done := make(chan error, 1)
	go func() { done <- runner.Run(ctx) }()
	r.t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			r.t.Error(err)
		}
	})
}

// note may be called again for the same report: a transaction may be retried.
func (r *fixture) note(a inbox.Arrival, what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outcomes[a.Key] = what
}

// outcome returns the outcome of the only report of a message.
func (r *fixture) outcome(key string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.outcomes[orders.SandboxNetwork+":"+key+":0"]
}

// TakeResults completes the order.
func (r *fixture) TakeResults(ctx context.Context, tx *store.Tx, o *orders.Order, a inbox.Arrival) error {
	r.note(a, "results")
	_, err := orders.Advance(ctx, tx, o, orders.Move{To: orders.Completed, By: orders.Lab, Key: a.Key})
	return err
}

// TakeUnmatched records the reason, and that the result waits for an operator.
func (r *fixture) TakeUnmatched(ctx context.Context, tx *store.Tx, a inbox.Arrival, why inbox.Reason, candidates []orders.Order) error {
	r.note(a, fmt.Sprintf("%s %d", why, len(candidates)))
	_, err := tx.Exec(ctx, `INSERT INTO unassigned_results (team_id, id, state, reason, lab, interpretation, received_at, decided_by, forgotten)
		VALUES ($1, $2, 'waiting', '', '', '', $3, '', FALSE)`, uuid.Nil, a.ID, a.ReceivedAt)
	return err
}

// TakeUnmatchedStatus records the reason and the status.
func (r *fixture) TakeUnmatchedStatus(_ context.Context, _ *store.Tx, a inbox.Arrival, why inbox.Reason) error {
	r.note(a, fmt.Sprintf("%s %s", why, a.Report.Status))
	return nil
}

// put sends reports of the labs that have the orders, about their patients,
// unless they name another lab or patient.
func (r *fixture) put(key string, reports ...networks.Report) {
	r.t.Helper()
	for i := range reports {
		if reports[i].Lab == "" {
			reports[i].Lab = r.lab(reports[i])
		}
		if reports[i].Patient == (networks.ReportedPatient{}) {
			reports[i].Patient = adaByron
		}
	}
	r.send(orders.SandboxNetwork, key, reports...)
}

// adaByron is the patient of the orders of package orderstest.
var adaByron = networks.ReportedPatient{FirstName: "Ada", LastName: "Byron", DOB: civil.MustParse("1984-12-10"), Gender: "female"}

// send sends a message as a network does.
func (r *fixture) send(network, key string, reports ...networks.Report) {
	r.t.Helper()
	err := r.in.Put(context.Background(), networks.Message{Network: network, Key: key, Raw: []byte("raw " + key), Reports: reports})
	if err != nil {
		r.t.Fatal(err)
	}
}

// lab returns the slug of the lab that has the order of a report.
func (r *fixture) lab(report networks.Report) (slug string) {
	r.t.Helper()
	userstest.Read(r.t, r.db, func(ctx context.Context, tx *store.Tx) error {
		var o orders.Order
		if found, err := orders.FindBySample(ctx, tx, report.SampleID); err == nil && len(found) > 0 {
			o = found[0]
		}
		if id, err := ids.Parse[orders.Order](report.Placer); err == nil {
			if found, err := orders.Find(ctx, tx, id); err == nil {
				o = found
			}
		}
		offered, err := catalogue.Load(ctx, tx, r.team)
		if err != nil {
			return err
		}
		lab, _ := offered.Lab(o.Lab)
		slug = lab.Slug
		return nil
	})
	return slug
}

// settle waits until no report is queued.
func (r *fixture) settle() {
	r.t.Helper()
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if r.count(`SELECT COUNT(*) FROM inbox_reports WHERE state = 'queued'`) == 0 {
			return
		}
	}
	r.t.Fatal("reports are still queued")
}

func (r *fixture) count(query string, args ...any) (n int) {
	r.t.Helper()
	userstest.Read(r.t, r.db, func(ctx context.Context, tx *store.Tx) error { return tx.QueryRow(ctx, query, args...).Scan(&n) })
	return n
}

// order orders a test of a method, with its requisition.
func (r *fixture) order(method orders.Method) orders.Order {
	r.t.Helper()
	o := orderstest.New(r.t, r.db, r.team, method)
	orderstest.MoveTo(r.t, r.db, &o, orders.RequisitionCreated)
	return o
}

func (r *fixture) get(o orders.Order) (now orders.Order, path []orders.Status) {
	r.t.Helper()
	userstest.Read(r.t, r.db, func(ctx context.Context, tx *store.Tx) (err error) {
		if now, err = orders.Get(ctx, tx, o.Team, o.ID); err != nil {
			return err
		}
		path = nil
		rows, err := orderstest.History(ctx, tx, &now)
		for _, e := range rows {
			path = append(path, e.Status)
		}
		return err
	})
	return now, path
}

// Reports about one order are handled in the order of their arrival, with
// other reports between them. A message that arrives twice counts once.
func TestReportsOfAnOrderKeepTheirOrder(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		steps := []orders.Status{
			orders.TransitCustomer, orders.OutForDelivery, orders.WithCustomer, orders.TransitLab, orders.DeliveredToLab, orders.Completed,
		}
		kits := []orders.Order{r.order(catalogue.TestKit), r.order(catalogue.TestKit), r.order(catalogue.TestKit)}
		for _, step := range steps {
			for i, kit := range kits {
				report := networks.Report{Placer: kit.ID.String(), Status: string(step)}
				if i == 1 { // known by its sample
					report.Placer, report.SampleID = "", kit.SampleID
				}
				r.put(fmt.Sprint(i, step), report)
				r.put(fmt.Sprint(i, step), report)
			}
		}
		if n := r.count(`SELECT COUNT(*) FROM inbox_messages`); n != len(kits)*len(steps) {
			t.Errorf("%d messages, want %d", n, len(kits)*len(steps))
		}
		r.work()
		r.settle()
		want := append([]orders.Status{orders.Ordered, orders.RequisitionCreated}, steps...)
		for i, kit := range kits {
			if _, path := r.get(kit); !slices.Equal(path, want) {
				t.Errorf("kit %d went %v", i, path)
			}
		}
	})
}

// A shipment is stored with its step, and without one. Each leg has its own.
func TestShipments(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		r.work()
		kit := r.order(catalogue.TestKit)
		out := networks.Shipment{Courier: "ups", TrackingNumber: "1Z1", TrackingURL: "https://carrier.example/1Z1"}
		r.put("out", networks.Report{Placer: kit.ID.String(), Status: string(orders.TransitCustomer), Shipment: &out})
		r.settle()
		first, _ := r.get(kit)
		if s := first.Shipment; s == nil || s.Outbound != (orders.Leg{Courier: "ups", TrackingNumber: "1Z1", TrackingURL: "https://carrier.example/1Z1"}) || s.ID != kit.Details {
			t.Fatalf("the shipment is %+v", s)
		}
		r.put("label", networks.Report{Placer: kit.ID.String(), Shipment: &networks.Shipment{Inbound: true, Courier: "usps", TrackingNumber: "94"}})
		r.settle()
		second, path := r.get(kit)
		s := second.Shipment
		if s == nil || s.Inbound.TrackingNumber != "94" || s.Outbound != first.Shipment.Outbound || s.ID != first.Shipment.ID || !s.CreatedAt.Equal(first.Shipment.CreatedAt) {
			t.Errorf("the shipment is %+v", s)
		}
		if len(path) != 3 || second.Status != orders.TransitCustomer {
			t.Errorf("the label moved the order: %v", path)
		}
		// A late scan moves nothing, and its number is kept all the same.
		orderstest.MoveTo(t, db, &second, orders.WithCustomer)
		r.put("late", networks.Report{Placer: kit.ID.String(), Status: string(orders.TransitCustomer), Shipment: &networks.Shipment{Courier: "ups", TrackingNumber: "1Z2"}})
		r.settle()
		if now, _ := r.get(kit); now.Status != orders.WithCustomer || now.Shipment.Outbound.TrackingNumber != "1Z2" {
			t.Errorf("%s, %+v", now.Full(), now.Shipment)
		}
	})
}

// Results go to their order, or to the queue with the reason.
func TestResultsFindTheirOrder(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		r.work()
		good, cancelled, other := r.order(catalogue.WalkIn), r.order(catalogue.WalkIn), r.order(catalogue.WalkIn)
		early := orderstest.Kit(t, db, r.team) // not registered
		unconfirmed, elsewhere := orderstest.New(t, db, r.team, catalogue.WalkIn), orderstest.New(t, db, r.team, catalogue.WalkIn)
		orderstest.MoveTo(t, db, &cancelled, orders.Cancelled)
		for _, c := range []struct {
			report networks.Report
			want   string
		}{
			{networks.Report{Placer: uuid.NewString()}, "no_order 0"},
			{networks.Report{SampleID: "unknown"}, "no_order 0"},
			{networks.Report{Placer: cancelled.ID.String()}, "was_cancelled 1"},
			{networks.Report{Placer: early.ID.String()}, "wrong_moment 1"},
			{networks.Report{Placer: unconfirmed.ID.String(), SampleID: "S1"}, "results"},
			{networks.Report{Placer: other.ID.String(), Lab: "another lab"}, "other_lab 1"},
			{networks.Report{SampleID: other.SampleID, Patient: networks.ReportedPatient{LastName: "Hopper"}}, "last_name_mismatch 1"},
			{networks.Report{SampleID: good.SampleID, Patient: networks.ReportedPatient{FirstName: "A.", LastName: "BY-RON", DOB: adaByron.DOB}}, "results"},
		} {
			c.report.Results = &networks.ResultSet{}
			key := uuid.NewString()
			r.put(key, c.report)
			r.settle()
			if got := r.outcome(key); got != c.want {
				t.Errorf("%+v: %q, want %q", c.report, got, c.want)
			}
		}
		if now, _ := r.get(good); now.Status != orders.Completed {
			t.Errorf("the order is %s", now.Full())
		}
		// The lab has the order, although its receipt was not recorded.
		now, path := r.get(unconfirmed)
		if want := []orders.Status{orders.Ordered, orders.RequisitionCreated, orders.Completed}; !slices.Equal(path, want) || now.SampleID != "S1" {
			t.Errorf("the order without a receipt went %v with the sample %q", path, now.SampleID)
		}
		// A report of another network is not enough.
		key := uuid.NewString()
		report := networks.Report{Placer: elsewhere.ID.String(), Patient: adaByron, Results: &networks.ResultSet{}}
		report.Lab = r.lab(report)
		r.send(orders.HL7Network, key, report)
		r.settle()
		if got := r.outcomes[orders.HL7Network+":"+key+":0"]; got != "other_network 1" {
			t.Errorf("results from elsewhere: %q", got)
		}
		for _, o := range []orders.Order{other, early, elsewhere} {
			if now, _ := r.get(o); now.Status != o.Status {
				t.Errorf("an order without a report is %s", now.Full())
			}
		}
	})
}

// A report of a sender that is no known lab waits for review and moves no
// order: it may come from anyone.
func TestUnknownSenders(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		r.work()
		o := r.order(catalogue.WalkIn)
		patient := networks.ReportedPatient{FirstName: o.Body.Patient.FirstName, LastName: o.Body.Patient.LastName, DOB: o.Body.Patient.BirthDate}
		r.send(orders.SandboxNetwork, "cancelled", networks.Report{Placer: o.ID.String(), Status: string(orders.Cancelled)})
		r.send(orders.SandboxNetwork, "results", networks.Report{Placer: o.ID.String(), SampleID: o.SampleID, Patient: patient, Results: &networks.ResultSet{}})
		r.settle()
		if got := r.outcome("results"); got != "other_lab 1" {
			t.Errorf("the results were found to be %q", got)
		}
		if now, _ := r.get(o); now.Status != o.Status {
			t.Errorf("the order is %s", now.Full())
		}
	})
}

// Once its user is known, a message can only be read with that user's key.
func TestMessagesAreSealedForTheUser(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		r.work()
		one, two := r.order(catalogue.WalkIn), r.order(catalogue.WalkIn)
		r.put("alone", networks.Report{Placer: one.ID.String()})
		r.put("both", networks.Report{Placer: one.ID.String()}, networks.Report{Placer: two.ID.String()})
		r.settle()
		of := func(query string) int { return r.count(query, r.team, one.User) }
		if n := of(`SELECT COUNT(*) FROM inbox_messages WHERE team_id = $1 AND user_id = $2`); n != 1 {
			t.Errorf("%d messages are the user's, want 1", n)
		}
		if n := of(`SELECT COUNT(*) FROM inbox_reports WHERE team_id = $1 AND user_id = $2`); n != 2 {
			t.Errorf("%d reports are the user's, want 2", n)
		}
		var report uuid.UUID
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			err := tx.QueryRow(ctx, `SELECT r.id FROM inbox_reports r JOIN inbox_messages m ON m.id = r.message_id WHERE m.key = $1`, "alone").Scan(&report)
			if err != nil {
				return err
			}
			raw, err := inbox.RawOf(ctx, tx, report)
			if string(raw) != "raw alone" {
				t.Errorf("the message is %q", raw)
			}
			return err
		})
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error { return tx.Shred(ctx, r.team.UUID(), one.User.UUID()) })
		ctx := store.AsSystem(t.Context())
		if err := db.Read(ctx, func(tx *store.Tx) error { _, err := inbox.RawOf(ctx, tx, report); return err }); err == nil {
			t.Error("the message is readable without the user's key")
		}
	})
}

// A lab that restarts its counter reuses numbers. A different message under a
// used key is stored, once, and the log says so without its content.
func TestReusedMessageKeys(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		var log bytes.Buffer
		r.in.Log = slog.New(slog.NewTextHandler(&log, nil))
		first, second := r.order(catalogue.TestKit), r.order(catalogue.TestKit)
		put := func(o orders.Order, raw string) {
			t.Helper()
			err := r.in.Put(t.Context(), networks.Message{Network: orders.SandboxNetwork, Key: "LAB|SITE|1", Raw: []byte(raw), Reports: []networks.Report{
				{Placer: o.ID.String(), Lab: r.lab(networks.Report{Placer: o.ID.String()}), Status: string(orders.TransitCustomer)},
			}})
			if err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			put(first, "canary one")
			put(second, "canary two")
		}
		if n := r.count(`SELECT COUNT(*) FROM inbox_messages`); n != 2 {
			t.Errorf("%d messages", n)
		}
		r.work()
		r.settle()
		for _, o := range []orders.Order{first, second} {
			if now, _ := r.get(o); now.Status != orders.TransitCustomer {
				t.Errorf("the order is %s", now.Full())
			}
		}
		if text := log.String(); strings.Count(text, "level=WARN") != 1 || strings.Contains(text, "canary") {
			t.Errorf("logged: %s", text)
		}
		// A message that was stored before digests existed cannot be compared.
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE inbox_messages SET digest = NULL`)
			return err
		})
		put(first, "canary three")
		if n := r.count(`SELECT COUNT(*) FROM inbox_messages`); n != 2 {
			t.Errorf("%d messages", n)
		}
	})
}
