package events_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// A delivery that ends while old events are being forgotten keeps its event, or
// goes with it.
func TestForgetWhileADeliveryEnds(t *testing.T) {
	db := storetest.Postgres(t)
	team := newTeam(t, db)
	write(t, db, func(tx *store.Tx) error {
		_, err := tx.Exec(system, `INSERT INTO webhook_endpoints (team_id, id, description, state, reason, filtered, target, revision, created_at, updated_at)
			VALUES ($1, $2, '', 'on', '', FALSE, 1, 1, 0, 0)`, team, uuid.New())
		return err
	})
	for range 3 {
		emit(t, db, stepsEvent(team, `{}`))
	}
	waitForEvents(t, db, team, 3)
	const of = ` WHERE event_id = (SELECT id FROM events WHERE team_id = $1 AND seq = $2)`
	write(t, db, func(tx *store.Tx) error { // the first has arrived, the second is on its way
		_, err := tx.Exec(system, `UPDATE webhook_deliveries SET state = 'sent', ended_at = 1`+of, team, 1)
		return err
	})
	holds, forgot := make(chan struct{}), make(chan error)
	go func() {
		<-holds
		_, err := events.Forget(system, db, team, time.Now().Add(time.Hour))
		forgot <- err
	}()
	write(t, db, func(tx *store.Tx) error {
		if _, err := tx.Exec(system, `UPDATE webhook_deliveries SET code = 200`+of, team, 1); err != nil {
			return err
		}
		if _, err := tx.Exec(system, `UPDATE webhook_deliveries SET state = 'sent', ended_at = 1`+of, team, 2); err != nil {
			return err
		}
		close(holds)
		time.Sleep(300 * time.Millisecond) // forgetting waits for the first delivery's row
		return nil
	})
	if err := <-forgot; err != nil {
		t.Fatal(err)
	}
	var alone, left int
	err := db.Read(system, func(tx *store.Tx) error {
		return tx.QueryRow(system, `SELECT COUNT(*) FILTER (WHERE v.id IS NULL), COUNT(v.id)
			FROM webhook_deliveries d LEFT JOIN events v ON v.id = d.event_id`).Scan(&alone, &left)
	})
	if err != nil || alone != 0 || left != 2 {
		t.Errorf("%d deliveries without their event, %d with it, %v", alone, left, err)
	}
}
