package webhooks_test

import (
	"net/http"
	"testing"
	"time"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/webhooks"
)

// A user who is erased while a delivery is with its receiver gets no key again:
// of the answer nothing is kept, and a failure for good is not announced.
func TestErasedWhileADeliveryIsInHand(t *testing.T) {
	for code, state := range map[int]string{http.StatusOK: "sent", http.StatusInternalServerError: "failed"} {
		t.Run(state, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				r := newRig(t, db, webhooks.Config{Schedule: webhooks.Schedule{Waits: []time.Duration{}}})
				about := r.event(1)
				rc := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
					r.write(func(tx *store.Tx) error { return tx.Shred(system, r.team.UUID(), about.User) })
					w.WriteHeader(code)
					_, _ = w.Write([]byte("thanks for patient <1>"))
				})
				e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
				r.write(func(tx *store.Tx) error {
					_, err := events.Emit(system, tx, about)
					return err
				})
				eventually(t, time.Minute, state, func() bool { return r.states(e.ID)[state] == 1 })
				count := func(query string, args ...any) (n int) {
					t.Helper()
					err := db.Read(system, func(tx *store.Tx) error { return tx.QueryRow(system, query, args...).Scan(&n) })
					if err != nil {
						t.Fatal(err)
					}
					return n
				}
				if n := count(`SELECT COUNT(*) FROM sealing_keys WHERE subject_id = $1`, about.User); n != 0 {
					t.Errorf("%d keys", n)
				}
				if n := count(`SELECT COUNT(*) FROM webhook_attempts WHERE answer IS NULL`); n != 1 {
					t.Errorf("%d attempts without an answer", n)
				}
				if n := count(`SELECT COUNT(*) FROM events`); n != 1 {
					t.Errorf("%d events", n)
				}
			})
		})
	}
}
