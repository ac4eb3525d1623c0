package webhooks_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/webhooks"
)

// A result that the database refuses does not delay results of other endpoints. Its
// delivery is not posted again, and is recorded when the database accepts it.
func TestRefusedResults(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newTeamFixture(t, db)
		rc := newReceiver(t, nil)
		e, other := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL + "/refused"}), r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
		allow := r.refuse(`webhook_deliveries`, `UPDATE`, `NEW.state = 'sent' AND NEW.endpoint_id = `+literal(db, e.ID))
		d := r.deliver(webhooks.Config{RecordRetry: 500 * time.Millisecond})
		r.emit(3)
		waitFor(t, time.Minute, "the other's are recorded", func() bool { return r.states(other.ID)["sent"] == 3 })
		r.emit(2)
		waitFor(t, time.Minute, "the other's are recorded again", func() bool { return r.states(other.ID)["sent"] == 5 })
		waitFor(t, time.Minute, "all are posted", func() bool { return rc.total() == 10 })
		time.Sleep(700 * time.Millisecond)
		if s := r.states(e.ID); s["pending"] != 5 || d.Claimed() != 5 {
			t.Errorf("%v, %d claimed", s, d.Claimed())
		}
		allow()
		waitFor(t, time.Minute, "it is recorded", func() bool { return r.states(e.ID)["sent"] == 5 })
		if rc.total() != 10 {
			t.Errorf("%d posts", rc.total())
		}
	})
}

// If the database refuses only an addition to a result, such as the announcement of a
// failure, the result itself is recorded.
func TestResultsWithoutAdditions(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newTeamFixture(t, db)
		rc := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(http.StatusTeapot) })
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
		defer r.refuse(`events`, `INSERT`, `NEW.type = 'message.attempt.exhausted'`)()
		r.deliver(webhooks.Config{Schedule: webhooks.Schedule{Waits: []time.Duration{}}})
		r.emit(2)
		waitFor(t, time.Minute, "both have failed", func() bool { return r.states(e.ID)["failed"] == 2 })
		if n := r.count(`SELECT COUNT(*) FROM webhook_attempts WHERE code = 418`); n != 2 || rc.total() != 2 {
			t.Errorf("%d attempts for %d posts", n, rc.total())
		}
	})
}

// refuse makes the database refuse changes of a table until allow is called.
func (r *fixture) refuse(table, change, when string) (allow func()) {
	run := func(texts ...string) {
		r.write(func(tx *store.Tx) error {
			for _, text := range texts {
				if _, err := tx.Exec(system, text); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if r.db.Engine() == store.SQLite {
		run(`CREATE TRIGGER refusal BEFORE ` + change + ` ON ` + table + ` WHEN ` + when + ` BEGIN SELECT RAISE(ABORT, 'refused'); END`)
		return func() { run(`DROP TRIGGER refusal`) }
	}
	run(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$`,
		`CREATE TRIGGER refusal BEFORE `+change+` ON `+table+` FOR EACH ROW WHEN (`+when+`) EXECUTE FUNCTION refuse()`)
	return func() { run(`DROP TRIGGER refusal ON ` + table) }
}

// literal returns an endpoint's id in SQL.
func literal(db *store.DB, id webhooks.EndpointID) string {
	text := uuid.UUID(id)
	if db.Engine() == store.SQLite {
		return fmt.Sprintf(`X'%x'`, text[:])
	}
	return `'` + text.String() + `'`
}
