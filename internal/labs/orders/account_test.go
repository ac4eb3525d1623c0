package orders_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/jobs"
	"hale/internal/platform/ops"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// accountRecorder is a lab that accepts every order and records its account.
type accountRecorder struct {
	mu                     sync.Mutex
	placed, taken, shipped map[uuid.UUID]string
}

func (b *accountRecorder) Slug() string { return orders.SandboxNetwork }

func (b *accountRecorder) note(in *map[uuid.UUID]string, o networks.Order) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if *in == nil {
		*in = map[uuid.UUID]string{}
	}
	(*in)[o.ID] = o.Account.Number
}

func (b *accountRecorder) Place(_ context.Context, o networks.Order) (networks.Receipt, error) {
	b.note(&b.placed, o)
	return networks.Receipt{SampleID: "S-" + o.ID.String()[24:]}, nil
}

func (b *accountRecorder) Cancel(_ context.Context, o networks.Order) error {
	b.note(&b.taken, o)
	return nil
}

func (b *accountRecorder) Ship(_ context.Context, o networks.Order) error {
	b.note(&b.shipped, o)
	return nil
}

// runJobs runs the jobs of orders until none is left.
func runJobs(t *testing.T, db *store.DB, network networks.Network) {
	t.Helper()
	placer := &orders.Placer{DB: db, Networks: map[string]networks.Network{network.Slug(): network}, Log: ops.Discard()}
	ctx, stop := context.WithCancel(store.AsSystem(t.Context()))
	node, err := jobs.Join(ctx, db, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	runner := jobs.NewRunner(db, jobs.Config{Node: node, Kinds: placer.Jobs()})
	done := make(chan error, 1)
	go func() { done <- runner.Run(ctx) }()
	waiting := 1
	for end := time.Now().Add(90 * time.Second); waiting > 0 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			return tx.QueryRow(ctx, `SELECT COUNT(*) FROM jobs WHERE kind LIKE 'orders.%' AND status IN ('queued', 'running')`).Scan(&waiting)
		})
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if waiting > 0 {
		t.Fatalf("%d jobs wait", waiting)
	}
}

// lentAccount returns an account of another team under which this team can order.
func lentAccount(t *testing.T, db *store.DB, team teams.ID, lab catalogue.LabID, number string) (id catalogue.AccountID) {
	t.Helper()
	owner := userstest.Team(t, db).ID
	userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) (err error) {
		id, err = catalogue.AddAccount(ctx, tx, catalogue.NewAccount{
			Owner: &owner, Lab: lab, Status: catalogue.AccountActive, Flow: catalogue.NotDelegated, Number: number,
			AllowedBilling: map[catalogue.Billing][]string{catalogue.ClientBill: {"AZ"}},
		})
		if err != nil {
			return err
		}
		return catalogue.LinkAccount(ctx, tx, id, team)
	})
	return id
}

// An account that is unlinked accepts no new orders. Existing orders continue
// under it: to the lab, to the patient, and through registration.
func TestOrdersOfAnUnlinkedAccount(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := orderstest.Team(t, db)
		user := orderstest.User(t, db, team.ID)
		walkIn, kits := orderstest.Test(t, db, team.ID, catalogue.WalkIn), orderstest.Test(t, db, team.ID, catalogue.TestKit)
		ask := orderstest.Request(t, db, user, walkIn)
		account := lentAccount(t, db, team.ID, walkIn.Lab, "L-100")
		kitAccount := lentAccount(t, db, team.ID, kits.Lab, "L-200")
		ask.Account = &account
		var placed, cancelled, kit orders.Order
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) (err error) {
			for _, o := range []*orders.Order{&placed, &cancelled} {
				if *o, err = orders.Create(ctx, tx, team.ID, ask); err != nil {
					return err
				}
			}
			if _, _, err = orders.Cancel(ctx, tx, team.ID, cancelled.ID); err != nil {
				return err
			}
			kit, err = orders.CreateKit(ctx, tx, team.ID, orders.KitRequest{User: user.ID, LabTest: kits.ID, Shipping: orderstest.Address(), Account: &kitAccount})
			return err
		})
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			for _, id := range []catalogue.AccountID{account, kitAccount} {
				if err := catalogue.UnlinkAccount(ctx, tx, id, team.ID); err != nil {
					return err
				}
			}
			return nil
		})
		lab := &accountRecorder{}
		runJobs(t, db, lab)
		if lab.placed[placed.ID.UUID()] != "L-100" || lab.taken[cancelled.ID.UUID()] != "L-100" || lab.shipped[kit.ID.UUID()] != "L-200" {
			t.Errorf("placed %v, taken back %v, shipped %v", lab.placed, lab.taken, lab.shipped)
		}
		err := try(db, team.ID, func(ctx context.Context, tx *store.Tx) (err error) {
			if placed, err = orders.Get(ctx, tx, team.ID, placed.ID); err != nil {
				return err
			}
			kit, err = orders.Register(ctx, tx, team.ID, orders.Registration{SampleID: kit.SampleID, Patient: orderstest.Patient(), Address: orderstest.Address()})
			return err
		})
		if err != nil || placed.Status != orders.RequisitionCreated || kit.Status != orders.Registered {
			t.Errorf("the order has the status %s, the kit %s: %v", placed.Full(), kit.Full(), err)
		}
	})
}

// An order whose data is incomplete is not treated as erased: its job fails with
// the reason.
func TestAnOrderWithoutItsAccountIsNotErased(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := orderstest.Team(t, db)
		o := orderstest.New(t, db, team.ID, catalogue.WalkIn)
		o.Account = ids.FromUUID[catalogue.Account](uuid.New())
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			if _, err := orders.ForNetwork(ctx, tx, &o); err == nil || fault.Is(err, fault.NotFound) {
				t.Errorf("without its account: %v", err)
			}
			o.LabTest = ids.FromUUID[catalogue.Test](uuid.New())
			if _, err := orders.ForNetwork(ctx, tx, &o); err == nil || fault.Is(err, fault.NotFound) {
				t.Errorf("without its lab test: %v", err)
			}
			return nil
		})
	})
}
