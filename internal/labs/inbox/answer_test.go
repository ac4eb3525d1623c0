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

// picky is a lab that takes an order and refuses some of its tests in the answer.
type picky struct {
	refuses func(o networks.Order) []string
}

func (picky) Slug() string { return orders.SandboxNetwork }

func (p picky) Place(_ context.Context, o networks.Order) (networks.Receipt, error) {
	r := networks.Receipt{SampleID: "S-" + o.ID.String()[24:]}
	if tests := p.refuses(o); len(tests) > 0 {
		r.Answer = &networks.Message{Network: orders.SandboxNetwork, Key: "answer:" + o.ID.String(), Raw: []byte("no " + tests[0]), Reports: []networks.Report{
			{Placer: o.ID.String(), Lab: o.Lab, Refused: tests, Reason: "Not offered here"},
		}}
	}
	return r, nil
}

func (picky) Cancel(context.Context, networks.Order) error { return nil }

// place runs the jobs that place orders, until none waits.
func (r *rig) place(network networks.Network) {
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

// await waits until something is so.
func (r *rig) await(what string, so func() bool) {
	r.t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if so() {
			return
		}
	}
	r.t.Fatalf("waited in vain for %s", what)
}

// told are the has_missing_results of the events about an order, each with the
// status it tells of.
func (r *rig) told(o orders.Order) (all []string) {
	r.t.Helper()
	if err := (&events.Sequencer{DB: r.db}).Settle(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	err := r.db.Read(store.WithTeam(r.t.Context(), r.team.UUID()), func(tx *store.Tx) error {
		page, err := events.After(r.t.Context(), tx, r.team.UUID(), 0, 1000, nil)
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
			said := body.Data.LastEvent.Status[strings.LastIndexByte(body.Data.LastEvent.Status, '.')+1:]
			if d := body.Data.LastEvent.Detail; d != nil {
				said += " " + *d
			}
			if m := body.Data.Missing; m != nil && *m {
				said += ", something is missing"
			}
			all = append(all, said)
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return all
}

// Tests that the lab refuses in its answer are missing from the beginning: whoever
// hears of the requisition hears of them.
func TestTestsThatAnAnswerRefuses(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db)
		r.in.Handlers.Results = keeper{}
		picked, plain, over := orderstest.New(t, db, r.team, catalogue.WalkIn), orderstest.New(t, db, r.team, catalogue.WalkIn), orderstest.New(t, db, r.team, catalogue.TestKit)
		codes, _ := r.tests(picked)
		kitCodes, _ := r.tests(over)
		r.place(picky{func(o networks.Order) []string {
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
		if got, want := r.told(picked), []string{"ordered", "requisition_created, something is missing"}; !slices.Equal(got, want) {
			t.Errorf("told: %q", got)
		}
		if got, want := r.told(plain), []string{"ordered", "requisition_created"}; !slices.Equal(got, want) {
			t.Errorf("told of another: %q", got)
		}
		if n := r.count(`SELECT COUNT(*) FROM inbox_reports WHERE order_id = $1 AND state = 'applied'`, picked.ID); n != 1 {
			t.Errorf("%d reports are kept", n)
		}

		// What the answer refused counts when the lab cancels the rest.
		r.said(over, orders.Cancelled, kitCodes[1:]...)
		if now, _ := r.get(over); now.Status != orders.Cancelled {
			t.Errorf("a kit of which nothing is left stands at %s", now.Full())
		}
		r.erased(picked)
	})
}

// erased fails unless nothing in the inbox of an order outlives its person.
func (r *rig) erased(o orders.Order) {
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

// The same holds for an answer that comes by itself.
func TestTestsThatALaterAnswerRefuses(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db)
		r.in.Handlers.Results = keeper{}
		r.work()
		o := orderstest.New(t, db, r.team, catalogue.WalkIn)
		codes, _ := r.tests(o)
		r.put(uuid.NewString(), networks.Report{
			Placer: o.ID.String(), Status: string(orders.RequisitionCreated), Tests: codes[1:], Refused: codes[:1], Reason: "Not offered here",
		})
		r.settle()
		if got, want := r.told(o), []string{"ordered", "requisition_created, something is missing"}; !slices.Equal(got, want) {
			t.Errorf("told: %q", got)
		}
	})
}
