package webhooks_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"hale/internal/platform/events"
	"hale/internal/platform/patch"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/webhooks"
)

// What is damaged of one attempt is left out of it, and said; the others are
// shown as ever.
func TestDamagedAttempts(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db, webhooks.Config{})
		rc := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) { _, _ = w.Write([]byte("thanks")) })
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
		ids := r.emit(3)
		eventually(t, time.Minute, "sent", func() bool { return r.states(e.ID)["sent"] == 3 })
		for _, damage := range []string{"\x01damaged beyond repair, and long enough", "\x07of a key that is not there", ""} {
			r.write(func(tx *store.Tx) error {
				_, err := tx.Exec(system, `UPDATE webhook_attempts SET answer = $1 WHERE event_id = $2`, []byte(damage), ids[1])
				return err
			})
			r.attemptsAre(e.ID, rc.server.URL, map[events.ID][]webhooks.Part{ids[1]: {webhooks.Response}})
		}
		r.write(func(tx *store.Tx) error { // the attempts were made to what the endpoint was before
			_, err := webhooks.Update(system, tx, open, r.team, e.ID, webhooks.Changes{URL: patch.Field[string]{Set: true, Value: rc.server.URL + "/new"}})
			if err == nil {
				_, err = tx.Exec(system, `UPDATE webhook_targets SET headers = $1 WHERE endpoint_id = $2 AND number = 1`,
					[]byte("\x01damaged beyond repair, and long enough"), e.ID)
			}
			return err
		})
		r.attemptsAre(e.ID, "", map[events.ID][]webhooks.Part{
			ids[0]: {webhooks.Request}, ids[1]: {webhooks.Request, webhooks.Response}, ids[2]: {webhooks.Request},
		})
	})
}

// attemptsAre checks the three attempts in the list, and each with its delivery:
// the address, the answer unless it is damaged, and what else is.
func (r *rig) attemptsAre(id webhooks.EndpointID, address string, damaged map[events.ID][]webhooks.Part) {
	r.t.Helper()
	err := r.db.Read(system, func(tx *store.Tx) error {
		all, _, err := webhooks.Attempts(system, tx, r.team, id, webhooks.AttemptFilter{Limit: 10})
		if err != nil {
			return err
		}
		if len(all) != 3 {
			r.t.Errorf("%d attempts", len(all))
		}
		for _, a := range all {
			_, one, err := webhooks.GetDelivery(system, tx, r.team, id, a.Event)
			if err != nil {
				return err
			}
			for _, a := range append(one, a) {
				want := "thanks"
				if slices.Contains(damaged[a.Event], webhooks.Response) {
					want = ""
				}
				if a.Answer != want || a.URL != address ||
					a.Headers["webhook-id"] != a.Event.String() || !slices.Equal(a.Unreadable, damaged[a.Event]) {
					r.t.Errorf("%+v, want %q and %v", a, want, damaged[a.Event])
				}
			}
		}
		return nil
	})
	if err != nil {
		r.t.Error(err)
	}
}
