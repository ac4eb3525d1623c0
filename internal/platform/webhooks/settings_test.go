package webhooks_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/webhooks"
)

func TestRotationOverlap(t *testing.T) {
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	storetest.EachAt(t, func() time.Time { return now }, func(t *testing.T, db *store.DB) {
		r := teamRig(t, db)
		first, second := webhooks.NewSecret(), webhooks.NewSecret()
		e := r.endpoint(webhooks.NewEndpoint{URL: "http://127.0.0.1:9", Secret: &first})
		rotate := func(s *webhooks.Secret, overlap time.Duration) {
			r.write(func(tx *store.Tx) error { return webhooks.RotateSecret(system, tx, r.team, e.ID, s, overlap) })
		}
		rotate(&second, 24*time.Hour)
		rotate(&second, 24*time.Hour) // the same request once more
		if got := r.signing(e.ID, now); !slices.Equal(got, []string{second.Reveal(), first.Reveal()}) {
			t.Errorf("during the overlap %d secrets sign", len(got))
		}
		if got := r.signing(e.ID, now.Add(24*time.Hour)); !slices.Equal(got, []string{second.Reveal()}) {
			t.Errorf("after the overlap %d secrets sign", len(got))
		}
		for range 12 {
			rotate(nil, 7*24*time.Hour)
		}
		if got := r.signing(e.ID, now); len(got) != 10 {
			t.Errorf("%d secrets sign at once", len(got))
		}
		err := db.Write(system, func(tx *store.Tx) error {
			return webhooks.RotateSecret(system, tx, r.team, e.ID, nil, 8*24*time.Hour)
		})
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("an overlap of eight days: %v", err)
		}
	})
}

// signing lists the secrets that sign at a moment, by asking the signer.
func (r *rig) signing(id webhooks.EndpointID, at time.Time) (all []string) {
	r.t.Helper()
	err := r.db.Read(system, func(tx *store.Tx) error {
		valid, err := webhooks.ValidSecrets(system, tx, r.team, id, at)
		for _, v := range valid {
			all = append(all, v.Secret.Reveal())
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return all
}

func TestRateLimit(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db, webhooks.Config{})
		rc := newReceiver(t, nil)
		rate := 50
		r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL, RateLimit: &rate})
		began := time.Now()
		r.emit(100) // a second's worth at once, the rest at 50 a second
		eventually(t, time.Minute, "all", func() bool { return rc.total() == 100 })
		if took := time.Since(began); took < 900*time.Millisecond {
			t.Errorf("100 posts at 50 a second took %v", took)
		}
	})
}

func TestCreateRefusesAllBadFieldsAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db, webhooks.Config{})
		rate := 0
		err := db.Write(system, func(tx *store.Tx) error {
			_, err := webhooks.Create(system, tx, webhooks.Rules{}, r.team, webhooks.NewEndpoint{
				URL: "http://10.0.0.1/", Types: []string{"no.such.type"}, RateLimit: &rate, Description: "a\x00b",
			})
			return err
		})
		var list fault.List
		if !errors.As(err, &list) || len(list) != 4 {
			t.Fatalf("%v", err)
		}
		if n := r.count(`SELECT COUNT(*) FROM webhook_endpoints`); n != 0 {
			t.Errorf("%d endpoints were made", n)
		}
	})
}
