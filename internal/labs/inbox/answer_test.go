package inbox_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/events"
	"hale/internal/platform/jobs"
	"hale/internal/platform/ops"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// refusingLab is a lab that accepts an order and refuses some of its tests in
// the answer.
type refusingLab struct {
	refuses func(o networks.Order) []string
}

func (refusingLab) Slug() string { return orders.SandboxNetwork }

func (p refusingLab) Place(_ context.Context, o networks.Order) (networks.Receipt, error) {
	r := networks.Receipt{SampleID: "S-" + o.ID.String()[24:]}
	if tests := p.refuses(o); len(tests) > 0 {
		r.Answer = &networks.Message{Network: orders.SandboxNetwork, Key: "answer:" + o.ID.String(), Raw: []byte("no " + tests[0]), Reports: []networks.Report{
			{Placer: o.ID.String(), Lab: o.Lab, Refused: tests, Reason: "Not offered here"},
		}}
	}
	return r, nil
}

func (refusingLab) Cancel(context.Context, networks.Order) error { return nil }

// place runs the jobs that place orders until the test ends.
func (r *fixture) place(network networks.Network) {
	r.t.Helper()
	placer := &orders.Placer{DB: r.db, Networks: map[string]networks.Network{network.Slug(): network}, Answers: r.in, Log: ops.Discard()}
	ctx, stop := context.WithCancel(context.Background())
	node, err := jobs.Join(ctx, r.db, 0, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	runner := jobs.NewRunner(r.db, jobs.Config{Node: node, Kinds: append(placer.Jobs(), r.in.Job())})
	done := make(chan error, 1)
	go func() { done <- runner.Run(ctx) }()
	r.t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			r.t.Error(err)
		}
	})
}

// await waits until a condition holds.
func (r *fixture) await(what string, so func() bool) {
	r.t.Helper()
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if so() {
			return
		}
	}
	r.t.Fatalf("waited in vain for %s", what)
}

// events lists the steps of an order's events, each with its
// has_missing_results.
func (r *fixture) events(o orders.Order) (all []string) {
	r.t.Helper()
	if err := (&events.Sequencer{DB: r.db}).Settle(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	err := r.db.Read(store.WithTeam(r.t.Context(), r.team.UUID()), func(tx *store.Tx) error {
		page, err := events.ReadFeed(r.t.Context(), tx, r.team.UUID(), 0, 1000, nil)
		for _, e := range page.Events {
			var body struct {
				Data struct {
					ID        string
					Missing   *bool `json:"has_missing_results"`
					LastEvent struct {
						Status string
						Detail *string `json:"status_detail"`
					} `json:"last_event"`
				} `json:"data"`
			}
			if err := json.Unmarshal(e.Body, &body); err != nil {
				return err
			}
			if body.Data.ID != o.ID.String() {
				continue
			}
			step := body.Data.LastEvent.Status[strings.LastIndexByte(body.Data.LastEvent.Status, '.')+1:]
			if d := body.Data.LastEvent.Detail; d != nil {
				step += " " + *d
			}
			if m := body.Data.Missing; m != nil && *m {
				step += ", something is missing"
			}
			all = append(all, step)
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return all
}

// Tests that the lab refuses in its answer are missing from the start: the
// event of the requisition shows them.
func TestAnswerRefusesTests(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		r.in.Handlers.Results = resultsHandler{}
		picked, plain, over := orderstest.New(t, db, r.team, catalogue.WalkIn), orderstest.New(t, db, r.team, catalogue.WalkIn), orderstest.New(t, db, r.team, catalogue.TestKit)
		codes, _ := r.tests(picked)
		kitCodes, _ := r.tests(over)
		r.place(refusingLab{func(o networks.Order) []string {
			switch o.ID {
			case picked.ID.UUID():
				return codes[1:2]
			case over.ID.UUID():
				return kitCodes[:1]
			}
			return nil
		}})
		r.await("the receipts", func() bool {
			return r.count(`SELECT COUNT(*) FROM orders WHERE status = 'requisition_created'`) == 3
		})

		if tests, why := r.missing(picked); !slices.Equal(tests, codes[1:2]) || why[0] != "order_entry_failure" {
			t.Errorf("missing are %v, %v", tests, why)
		}
		if got, want := r.events(picked), []string{"ordered", "ordered, something is missing", "requisition_created, something is missing"}; !slices.Equal(got, want) {
			t.Errorf("events: %q", got)
		}
		if got, want := r.events(plain), []string{"ordered", "requisition_created"}; !slices.Equal(got, want) {
			t.Errorf("events of the other order: %q", got)
		}
		if n := r.count(`SELECT COUNT(*) FROM inbox_reports WHERE order_id = $1 AND state = 'applied'`, picked.ID); n != 1 {
			t.Errorf("%d reports are kept", n)
		}

		// The tests that the answer refused count when the lab cancels the rest.
		r.reportStatus(over, orders.Cancelled, kitCodes[1:]...)
		if now, _ := r.get(over); now.Status != orders.Cancelled {
			t.Errorf("a kit without any test left is %s", now.Full())
		}
		r.wantErased(picked)
	})
}

// wantErased fails unless the inbox rows of an order are erased with its user.
func (r *fixture) wantErased(o orders.Order) {
	r.t.Helper()
	userstest.Write(r.t, r.db, func(ctx context.Context, tx *store.Tx) error {
		for _, table := range []string{"inbox_reports", "inbox_messages"} {
			if _, err := users.EraseRows(table)(ctx, tx, o.Team, o.User); err != nil {
				return err
			}
		}
		return nil
	})
	if n := r.count(`SELECT COUNT(*) FROM inbox_messages WHERE key = $1`, "answer:"+o.ID.String()); n != 0 {
		r.t.Errorf("%d answers of an erased person are left", n)
	}
}

// The same holds for an answer in a message of its own.
func TestLaterAnswerRefusesTests(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		r.in.Handlers.Results = resultsHandler{}
		r.work()
		o := orderstest.New(t, db, r.team, catalogue.WalkIn)
		codes, _ := r.tests(o)
		r.put(uuid.NewString(), networks.Report{
			Placer: o.ID.String(), Status: string(orders.RequisitionCreated), Tests: codes[1:], Refused: codes[:1], Reason: "Not offered here",
		})
		r.settle()
		if got, want := r.events(o), []string{"ordered", "ordered, something is missing", "requisition_created, something is missing"}; !slices.Equal(got, want) {
			t.Errorf("events: %q", got)
		}
	})
}
