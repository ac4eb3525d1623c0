package webhooks_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/webhooks"
)

// A body that is damaged, or that a newer version wrote, delays no other delivery. The
// delivery is retried, in case a newer node starts, and fails after a day. It can be
// sent again when the body can be read. The feed shows the event without its body.
func TestUnreadableBodies(t *testing.T) {
	var ahead atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	storetest.EachAt(t, now, func(t *testing.T, db *store.DB) {
		ahead.Store(0)
		r := newTeamFixture(t, db)
		rc := newReceiver(t, nil)
		e := r.endpoint(webhooks.NewEndpoint{URL: rc.server.URL})
		ids := r.emit(5)
		was := r.spoil(ids[1], func(*store.Tx) ([]byte, error) { return []byte("\x01damaged beyond repair, and long enough"), nil })
		r.spoil(ids[3], func(tx *store.Tx) ([]byte, error) { return r.sealed(tx, ids[3], "\x09as a newer version writes it") })
		d := r.deliver(webhooks.Config{})
		waitFor(t, time.Minute, "the others are sent", func() bool { return r.states(e.ID)["sent"] == 3 })
		r.emit(1)
		waitFor(t, time.Minute, "what is new is sent", func() bool { return r.states(e.ID)["sent"] == 4 })
		if s := r.states(e.ID); s["pending"] != 2 || rc.total() != 4 {
			t.Errorf("%v after %d posts", s, rc.total())
		}
		r.unreadableInFeed(ids[1], ids[3])

		ahead.Store(int64(25 * time.Hour))
		waitFor(t, time.Minute, "the two have failed", func() bool { d.Wake(); return r.states(e.ID)["failed"] == 2 })
		resend := func(tx *store.Tx) error { return webhooks.Resend(system, tx, r.team, e.ID, ids[1]) }
		if err := db.Write(system, resend); !fault.Is(err, fault.Unprocessable) {
			t.Errorf("sending it again: %v", err)
		}
		r.spoil(ids[1], func(*store.Tx) ([]byte, error) { return was, nil })
		r.write(resend)
		waitFor(t, time.Minute, "it is sent", func() bool { return r.states(e.ID)["sent"] == 5 })
		if rc.total() != 5 || rc.tries[ids[1].String()] != 1 {
			t.Errorf("%d posts, %v", rc.total(), rc.tries)
		}
	})
}

// spoil replaces a stored body, and returns the earlier one.
func (r *fixture) spoil(id events.ID, by func(tx *store.Tx) ([]byte, error)) (was []byte) {
	r.t.Helper()
	r.write(func(tx *store.Tx) error {
		if err := tx.QueryRow(system, `SELECT body FROM events WHERE id = $1`, id).Scan(&was); err != nil {
			return err
		}
		body, err := by(tx)
		if err != nil {
			return err
		}
		_, err = tx.Exec(system, `UPDATE events SET body = $1 WHERE id = $2`, body, id)
		return err
	})
	return was
}

// sealed returns a stored body with the given contents.
func (r *fixture) sealed(tx *store.Tx, id events.ID, plain string) ([]byte, error) {
	m, err := events.Get(system, tx, r.team.UUID(), id)
	if err != nil {
		return nil, err
	}
	return tx.Seal(system, r.team.UUID(), m.User, "events.body:"+id.String(), []byte(plain))
}

// unreadableInFeed checks that the feed is complete and has no bodies of these events.
func (r *fixture) unreadableInFeed(ids ...events.ID) {
	r.t.Helper()
	err := r.db.Read(system, func(tx *store.Tx) error {
		page, err := events.ReadFeed(system, tx, r.team.UUID(), 0, 100, nil)
		for _, m := range page.Events {
			bad := m.ID == ids[0] || m.ID == ids[1]
			if errors.Is(m.Unreadable, events.ErrUnreadable) != bad || (m.Body == nil) != bad {
				r.t.Errorf("%s: %v, %d bytes", m.ID, m.Unreadable, len(m.Body))
			}
		}
		if len(page.Events) != 6 {
			r.t.Errorf("%d events in the feed", len(page.Events))
		}
		return err
	})
	if err != nil {
		r.t.Error(err)
	}
}
