package webhooks_test

import (
	"sync"
	"testing"
	"time"

	"hale/internal/platform/events"
	"hale/internal/platform/patch"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/webhooks"
)

// What is handed over as it is written arrives once, whoever else claims
// meanwhile, and no claim has to find it.
func TestHandedOverArrivesOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		const each, producers = 60, 8
		stranded := 0
		r := newRig(t, db, webhooks.Config{Stranded: func(n int) { stranded += n }})
		rc := newReceiver(t, nil)
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
		other := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL, Types: []string{"daily.data.weight.created"}})
		var wait sync.WaitGroup
		for i := range producers {
			wait.Go(func() {
				for range each / 3 {
					if i%2 == 0 {
						r.crowd([]string{"daily.data.steps.created", "daily.data.weight.created", "daily.data.steps.created"})
					} else {
						r.announce([]string{"daily.data.steps.created", "daily.data.weight.created", "daily.data.steps.created"}, true)
					}
				}
			})
		}
		wait.Wait()
		all := each * producers
		eventually(t, time.Minute, "everything recorded", func() bool {
			return r.states(e.ID)["sent"] == all && r.states(other.ID)["sent"] == all/3
		})
		if n := rc.total(); n != all+all/3 {
			t.Errorf("%d posts for %d deliveries", n, all+all/3)
		}
		if stranded != 0 {
			t.Errorf("%d deliveries were stranded", stranded)
		}
	})
}

// An endpoint that changes between the writing and the posting gets what is
// handed over at its new address.
func TestHandedOverAfterAChange(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db, webhooks.Config{})
		before, after := newReceiver(t, nil), newReceiver(t, nil)
		e := r.endpoint(webhooks.NewEndpoint{URL: before.server.URL})
		r.crowd([]string{"daily.data.steps.created"})
		eventually(t, time.Minute, "the first one", func() bool { return r.states(e.ID)["sent"] == 1 })
		r.move(e.ID, after.server.URL)
		r.crowd([]string{"daily.data.steps.created"})
		eventually(t, time.Minute, "the second one", func() bool { return r.states(e.ID)["sent"] == 2 })
		if before.total() != 1 || after.total() != 1 {
			t.Errorf("%d posts before and %d after", before.total(), after.total())
		}
	})
}

// crowd writes events as many phones at once do: numbered and handed over in
// the transaction that writes them.
func (r *rig) crowd(types []string) {
	r.t.Helper()
	r.write(func(tx *store.Tx) error {
		all := make([]events.New, len(types))
		for i, kind := range types {
			all[i] = r.event(i)
			all[i].Type = kind
		}
		var b store.Batch
		drafts, err := events.Draft(system, tx, all)
		if err != nil {
			return err
		}
		if err := drafts.Add(system, tx, &b); err != nil {
			return err
		}
		return tx.Run(system, &b)
	})
}

func (r *rig) move(id webhooks.EndpointID, url string) {
	r.t.Helper()
	r.write(func(tx *store.Tx) error {
		_, err := webhooks.Update(system, tx, open, r.team, id, webhooks.Changes{URL: patch.Field[string]{Set: true, Value: url}})
		return err
	})
}

// What is in hand already goes where the endpoint points now, as fast as it
// allows now.
func TestQueueFollowsAChange(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := teamRig(t, db)
		d := r.deliver(webhooks.Config{})
		before, after := newReceiver(t, nil), newReceiver(t, nil)
		slow, fast := 1, 1000
		e := r.endpoint(webhooks.NewEndpoint{URL: before.server.URL, RateLimit: &slow})
		r.emit(30)
		eventually(t, time.Minute, "all in hand", func() bool { return before.total() > 0 && d.InHand() >= 28 })
		r.update(e.ID, webhooks.Changes{URL: patch.Of(after.server.URL), RateLimit: patch.Of(fast)})
		eventually(t, 10*time.Second, "all sent", func() bool { return r.states(e.ID)["sent"] == 30 })
		if n := after.total(); n < 25 || before.total()+n != 30 {
			t.Errorf("%d posts before and %d after", before.total(), n)
		}
	})
}
