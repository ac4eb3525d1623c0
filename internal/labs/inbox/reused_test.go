package inbox_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// A lab that counts anew uses numbers again: another message under an earlier
// one's key is kept, once, and the log says so without its content.
func TestKeysThatAreUsedAgain(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db)
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
				t.Errorf("the order stands at %s", now.Full())
			}
		}
		if said := log.String(); strings.Count(said, "level=WARN") != 1 || strings.Contains(said, "canary") {
			t.Errorf("logged: %s", said)
		}
		// Nobody knows what a message from before the digests was.
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
