package sandboxlab_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/networks/sandboxlab"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/jobs"
	"hale/internal/platform/ops"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// recordingInbox keeps the messages that it gets.
type recordingInbox struct {
	sync.Mutex
	messages []networks.Message
	keys     map[string]int
	onReport func(r networks.Report) // called before a report is stored; nil for none
}

func (h *recordingInbox) Put(_ context.Context, m networks.Message) error {
	for _, r := range m.Reports {
		if h.onReport != nil {
			h.onReport(r)
		}
	}
	h.Lock()
	defer h.Unlock()
	if h.keys == nil {
		h.keys = map[string]int{}
	}
	if h.keys[m.Key]++; h.keys[m.Key] == 1 {
		h.messages = append(h.messages, m)
	}
	return nil
}

func (h *recordingInbox) reports() (all []networks.Report) {
	h.Lock()
	defer h.Unlock()
	for _, m := range h.messages {
		all = append(all, m.Reports...)
	}
	return all
}

// reportsOf returns the reports of an order.
func (h *recordingInbox) reportsOf(o orders.Order) []networks.Report {
	return slices.DeleteFunc(h.reports(), func(r networks.Report) bool { return r.Placer != o.ID.String() })
}

// testLab is a lab with running jobs, and a team that orders there.
type testLab struct {
	*sandboxlab.Lab
	*recordingInbox
	t    *testing.T
	db   *store.DB
	team teams.ID
}

func open(t *testing.T, db *store.DB) *testLab {
	t.Helper()
	s := openStopped(t, db)
	ctx, stop := context.WithCancel(store.AsSystem(context.Background()))
	node, err := jobs.Join(ctx, db, 0, ops.Discard())
	if err != nil {
		t.Fatal(err)
	}
	runner := jobs.NewRunner(db, jobs.Config{Node: node, Log: ops.Discard(), Kinds: s.Jobs()})
	done := make(chan struct{})
	go func() { defer close(done); _ = runner.Run(ctx) }()
	t.Cleanup(func() { stop(); <-done })
	return s
}

// openStopped returns the same as open, without running jobs.
func openStopped(t *testing.T, db *store.DB) *testLab {
	t.Helper()
	s := &testLab{recordingInbox: &recordingInbox{}, t: t, db: db, team: orderstest.Team(t, db).ID}
	s.Lab = &sandboxlab.Lab{DB: db, Inbox: s.recordingInbox, Log: ops.Discard()}
	return s
}

// place places an order, as the order engine does.
func (s *testLab) place(o orders.Order) networks.Order {
	s.t.Helper()
	var whole networks.Order
	userstest.Read(s.t, s.db, func(ctx context.Context, tx *store.Tx) (err error) {
		whole, err = orders.ForNetwork(ctx, tx, &o)
		return err
	})
	receipt, err := s.Place(s.t.Context(), whole)
	if err != nil || !receipt.Pending {
		s.t.Fatalf("placed: %+v, %v", receipt, err)
	}
	return whole
}

func (s *testLab) advance(by time.Duration) {
	s.t.Helper()
	userstest.Write(s.t, s.db, func(ctx context.Context, tx *store.Tx) error {
		_, err := s.Advance(ctx, tx, s.team, by)
		return err
	})
	for deadline := time.Now().Add(90 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		n := 1
		userstest.Read(s.t, s.db, func(ctx context.Context, tx *store.Tx) (err error) {
			n, _, err = sandboxlab.CountDue(ctx, tx, s.team)
			return err
		})
		if n == 0 {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatal("what is due is not done")
		}
	}
}

func (s *testLab) runScript(id orders.ID, script sandboxlab.Script) {
	s.t.Helper()
	userstest.Write(s.t, s.db, func(ctx context.Context, tx *store.Tx) error {
		_, err := s.RunScript(ctx, tx, s.team, id, script)
		return err
	})
}

// Nothing happens before the clock is advanced; then the due steps run.
func TestAdvance(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := open(t, db)
		o := orderstest.New(t, db, s.team, catalogue.TestKit)
		s.place(o)
		s.place(o) // the engine may repeat the call
		s.advance(0)
		if n := len(s.reports()); n != 0 {
			t.Fatalf("%d reports before anything is due", n)
		}
		s.advance(time.Hour)
		s.advance(7 * time.Hour)
		s.advance(30 * 24 * time.Hour)
		want := []string{"requisition_created", "transit_customer", "out_for_delivery", "with_customer", "transit_lab", "delivered_to_lab", ""}
		got := s.reports()
		if len(got) != len(want) {
			t.Fatalf("%d reports, want %d", len(got), len(want))
		}
		for i, r := range got {
			if r.Status != want[i] || r.Placer != o.ID.String() {
				t.Errorf("report %d says %q", i, r.Status)
			}
			if i > 0 && r.At.Before(got[i-1].At) {
				t.Errorf("report %d is older than the previous one", i)
			}
		}
		if got[0].SampleID == "" || got[1].Shipment == nil || got[1].Shipment.Inbound || !got[4].Shipment.Inbound {
			t.Errorf("%+v", got)
		}
	})
}

// A redraw begins at the time of the results that caused it, also if its job has not placed
// it.
func TestAdvanceAcceptsTheRedraw(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := open(t, db)
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			_, err := teams.Change(ctx, tx, s.team, func(team *teams.Team) error { team.Settings.Redraws = true; return nil })
			return err
		})
		o := orderstest.New(t, db, s.team, catalogue.WalkIn)
		orderstest.MoveTo(t, db, &o, orders.PartialResults)
		var redraw orders.Order
		s.onReport = func(r networks.Report) {
			if r.Results == nil || !redraw.ID.IsZero() {
				return
			}
			userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
				facts, err := orders.ReadFacts(ctx, tx, s.team, []orders.Order{o})
				if err != nil {
					return err
				}
				redraw, _, err = orders.Redraw(ctx, tx, &o, []catalogue.MarkerID{facts[0].Markers[0].ID}, orders.Move{})
				return err
			})
		}
		s.place(o)
		s.advance(20 * 24 * time.Hour)
		if redraw.ID.IsZero() {
			t.Fatal("the report caused no redraw")
		}
		if all := s.reportsOf(redraw); len(all) == 0 || all[0].Status != "requisition_created" || all[len(all)-1].Results == nil {
			t.Errorf("the redraw has the reports %+v", all)
		}
	})
}

// Concurrent advances of a clock add up.
func TestConcurrentAdvances(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := open(t, db)
		var once sync.Once
		begun, done := make(chan struct{}), make(chan error, 1)
		go func() {
			ctx := store.AsSystem(t.Context())
			done <- db.Write(ctx, func(tx *store.Tx) error {
				_, err := s.Advance(ctx, tx, s.team, time.Hour)
				once.Do(func() { close(begun) })
				time.Sleep(100 * time.Millisecond) // the other one is under way
				return err
			})
		}()
		<-begun
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			_, err := s.Advance(ctx, tx, s.team, 2*time.Hour)
			return err
		})
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			now, err := sandboxlab.TimeOf(ctx, tx, s.team)
			if ahead := now.Sub(tx.Now()); ahead != 3*time.Hour {
				t.Errorf("the clock is %s ahead", ahead)
			}
			return err
		})
	})
}

// A cancelled order gets no reports, and another team's clock does not move.
func TestCancelAndTeams(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := open(t, db)
		whole := s.place(orderstest.New(t, db, s.team, catalogue.WalkIn))
		if err := s.Cancel(t.Context(), whole); err != nil {
			t.Fatal(err)
		}
		other := *s
		other.team = orderstest.Team(t, db).ID
		kept := other.place(orderstest.New(t, db, other.team, catalogue.WalkIn))
		s.advance(90 * 24 * time.Hour)
		if n := len(s.reports()); n != 0 {
			t.Fatalf("%d reports", n)
		}
		other.advance(90 * 24 * time.Hour)
		for _, r := range s.reports() {
			if r.Placer != kept.ID.String() {
				t.Error("a report of the wrong order")
			}
		}
	})
}

// Results are within the catalogue's ranges, and the same each time. An abnormal
// order has one beyond them, and a critical order one with a critical flag.
func TestResultsFollowTheCatalogue(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := open(t, db)
		for script, flags := range map[sandboxlab.Script][]string{
			sandboxlab.Success: {""}, sandboxlab.Abnormal: {"A", "H", "L"}, sandboxlab.Critical: {"HH", "LL", "AA"},
		} {
			o := orderstest.New(t, db, s.team, catalogue.WalkIn)
			s.place(o)
			s.runScript(o.ID, script)
			s.advance(30 * 24 * time.Hour)
			final := s.last(o.ID)
			if final == nil || final.Partial || len(final.PDF) < 500 || string(final.PDF[:5]) != "%PDF-" {
				t.Fatalf("%s: no final results with a document", script)
			}
			odd := 0
			for _, r := range final.Results {
				if r.Flag != "" {
					odd++
					if !contains(flags, r.Flag) {
						t.Errorf("%s: a result is flagged %s", script, r.Flag)
					}
				} else if !isInRange(r) {
					t.Errorf("%s: %s is %s, not within %s", script, r.Name, r.Value, r.Range)
				}
				if r.ProviderID == "" || r.LOINC == "" {
					t.Errorf("a result without its codes: %s", r.Name)
				}
			}
			if want := len(flags); odd != min(1, want-1) {
				t.Errorf("%s: %d results are abnormal", script, odd)
			}
			if len(final.Results) < 10 {
				t.Errorf("%s: %d results", script, len(final.Results))
			}
		}
	})
}

func (s *testLab) last(order orders.ID) (set *networks.ResultSet) {
	for _, r := range s.reports() {
		if r.Placer == order.String() && r.Results != nil {
			set = r.Results
		}
	}
	return set
}

func contains(all []string, one string) bool {
	for _, s := range all {
		if s == one {
			return true
		}
	}
	return false
}

// isInRange reports whether a value is in its printed range. It returns true for a value
// that is not a number.
func isInRange(r networks.Result) bool {
	v, err := strconv.ParseFloat(r.Value, 64)
	if err != nil {
		return true
	}
	low, high := math.Inf(-1), math.Inf(1)
	if _, err := fmt.Sscanf(r.Range, "%f-%f", &low, &high); err != nil {
		low, high = math.Inf(-1), math.Inf(1)
		_, _ = fmt.Sscanf(r.Range, "<=%f", &high)
		_, _ = fmt.Sscanf(r.Range, ">=%f", &low)
	}
	return v >= low && v <= high
}

// Requested faults reach the Inbox as a lab would send them.
func TestFaults(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := open(t, db)
		run := func(script sandboxlab.Script) (all []networks.Report) {
			o := orderstest.New(t, db, s.team, catalogue.WalkIn)
			s.place(o)
			s.runScript(o.ID, script)
			s.advance(60 * 24 * time.Hour)
			for _, r := range s.reports() {
				if r.Placer == o.ID.String() {
					all = append(all, r)
				}
			}
			return all
		}
		last := func(all []networks.Report) networks.Report { return all[len(all)-1] }
		if r := last(run(sandboxlab.Hemolyzed)); r.Status != "sample_error" || r.Detail != "sample_hemolyzed" {
			t.Errorf("haemolysed: %s %s", r.Status, r.Detail)
		}
		if r := last(run(sandboxlab.Insufficient)); r.Status != "sample_error" || r.Detail != "sample_quantity_not_sufficient" {
			t.Errorf("too small: %s %s", r.Status, r.Detail)
		}
		if r := last(run(sandboxlab.WrongPatient)); r.Patient.LastName != "Elsewhere" {
			t.Error("the report is about the right patient")
		}
		if r := last(run(sandboxlab.Missing)); len(r.Results.Missing) != 1 {
			t.Errorf("%d results are missing", len(r.Results.Missing))
		}
		corrected := run(sandboxlab.Corrected)
		if len(corrected) != 4 || !corrected[1].Results.Partial || !corrected[3].Results.Corrected || corrected[2].Results.Partial {
			t.Errorf("%d reports of a correction", len(corrected))
		}
		changed := false
		for i, r := range corrected[3].Results.Results {
			changed = changed || r.Value != corrected[2].Results.Results[i].Value
		}
		if !changed {
			t.Error("the correction corrects nothing")
		}
		if n := len(run(sandboxlab.Duplicated)); n != 6 { // three messages, each again under a new number
			t.Errorf("%d reports of three things", n)
		}
		if !containsTwice(s.keys) {
			t.Error("no message came under its own number again")
		}
	})
}

func containsTwice(keys map[string]int) bool {
	for n := range maps.Values(keys) {
		if n > 1 {
			return true
		}
	}
	return false
}

// An order of a production team is refused.
func TestOnlySandboxOrders(t *testing.T) {
	lab := &sandboxlab.Lab{}
	for _, err := range []error{
		func() error { _, err := lab.Place(t.Context(), networks.Order{}); return err }(),
		lab.Ship(t.Context(), networks.Order{}),
		func() error {
			_, err := lab.Book(t.Context(), uuid.New(), networks.Order{}, networks.Slot{})
			return err
		}(),
	} {
		if err != sandboxlab.ErrNotSandbox { //nolint:errorlint // it is returned as it is
			t.Errorf("answered %v", err)
		}
	}
}

// plans counts the planned steps of an order.
func (s *testLab) plans(o orders.Order) (n int) {
	s.t.Helper()
	userstest.Read(s.t, s.db, func(ctx context.Context, tx *store.Tx) error {
		all, err := sandboxlab.PlannedSteps(ctx, tx, s.team, &o.ID, 100)
		n = len(all)
		return err
	})
	return n
}

func (s *testLab) await(what string, ok func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(90 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("timed out: %s", what)
		}
	}
}

// The draw of an on-site order whose requisition is late is not lost: it waits
// without a limit, and other orders continue.
func TestDrawWaitsForItsRequisition(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := open(t, db)
		late, other := orderstest.New(t, db, s.team, catalogue.OnSite), orderstest.New(t, db, s.team, catalogue.WalkIn)
		s.place(late)
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			_, err := s.Advance(ctx, tx, s.team, 10*24*time.Hour)
			return err
		})
		s.await("the lab confirms the order", func() bool { return len(s.reports()) > 0 })
		s.place(other)
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			_, err := s.Advance(ctx, tx, s.team, 20*24*time.Hour)
			return err
		})
		s.await("the other order is through", func() bool { return s.plans(other) == 0 })
		if s.plans(late) < 2 {
			t.Fatal("the draw was dropped")
		}
		orderstest.MoveTo(t, db, &late, orders.RequisitionCreated)
		s.await("the draw is made up for", func() bool { return s.plans(late) == 0 })
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) (err error) {
			late, err = orders.Get(ctx, tx, s.team, late.ID)
			return err
		})
		if late.Status != orders.DrawCompleted {
			t.Errorf("the order is %s", late.Status)
		}
	})
}
