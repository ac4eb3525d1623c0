package messages_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"hale/internal/people/messages"
	"hale/internal/people/users"
	"hale/internal/platform/jobs"
	"hale/internal/platform/jobs/jobstest"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// The order of a deleted user goes on; the person hears nothing of it until the
// deletion is undone.
func TestDeletedUserHearsNothing(t *testing.T) {
	eachRig(t, teams.Production, func(t *testing.T, r *rig) {
		r.settings(messages.Settings{SMS: true, Email: true, Reminders: true})
		r.write(func(ctx context.Context, tx *store.Tx) error { return users.Delete(ctx, tx, r.team, r.user.ID) })
		r.moved(r.event("walk_in_test", "requisition_created"))
		r.visit("at_home_phlebotomy", "confirmed", r.clock.Now().Add(72*time.Hour))
		r.moved(r.event("walk_in_test", "completed"))
		if got := r.stored(); got != "" {
			t.Errorf("queued: %s", got)
		}
		r.write(func(ctx context.Context, tx *store.Tx) error {
			return users.Undo(ctx, tx, r.team, users.Ref{ID: &r.user.ID})
		})
		r.moved(r.event("walk_in_test", "completed"))
		if got := r.stored(); got != "queued" {
			t.Errorf("after the undo: %s", got)
		}
	})
}

// What failed and waits to be tried again is said no more to whoever is deleted,
// or wants no more of it, meanwhile.
func TestWhatIsTriedAgainAsksAgain(t *testing.T) {
	for name, c := range map[string]struct {
		event  string
		change func(r *rig)
	}{
		"the person is deleted": {"ordered", func(r *rig) {
			r.write(func(ctx context.Context, tx *store.Tx) error { return users.Delete(ctx, tx, r.team, r.user.ID) })
		}},
		"the order's switch is turned": {"ordered", func(r *rig) {
			r.write(func(ctx context.Context, tx *store.Tx) error { return messages.SilenceSMS(ctx, tx, r.team, r.order) })
		}},
		"the team's switch is turned": {"ordered", func(r *rig) { r.settings(messages.Settings{Email: true}) }},
		"a reminder's reason is gone": {"with_customer", func(r *rig) {
			r.moved(r.event("testkit", "transit_lab"))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			eachRig(t, teams.Production, func(t *testing.T, r *rig) {
				r.settings(messages.Settings{SMS: true, Email: true, Reminders: true})
				r.sent.answer = func() error { return &messages.Problem{Word: "deferred"} }
				r.moved(r.event("testkit", c.event))
				r.clock.turn(48 * time.Hour) // a reminder is due
				r.work(func(all []messages.Shown) bool { return all[0].Attempts == 1 })
				c.change(r)
				r.clock.turn(time.Minute)
				r.work(func([]messages.Shown) bool { return !strings.Contains(r.stored(), "queued") })
				if sent := r.sent.all(); len(sent) != 1 || !strings.HasPrefix(r.stored(), "cleared") {
					t.Errorf("%s, after %d attempts", r.stored(), len(sent))
				}
			})
		})
	}
}

// A process that is to stop lets an attempt end that it has begun: whoever broke
// it off would not know whether the message had arrived.
func TestAStopWaitsForAnAttempt(t *testing.T) {
	eachRig(t, teams.Production, func(t *testing.T, r *rig) {
		begun := make(chan struct{})
		r.service.SMS = senderFunc(func(ctx context.Context) error {
			close(begun)
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(200 * time.Millisecond):
				return nil
			}
		})
		r.moved(r.event("testkit", "ordered"))
		system := store.AsSystem(context.Background())
		node, err := jobs.Join(system, r.db, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		loop := jobstest.NewLoop(jobs.NewRunner(r.db, jobs.Config{Node: node, Kinds: r.service.Jobs()}).Run)
		loop.Start(system)
		<-begun
		if err := errors.Join(loop.Stop(system), node.Stop(system)); err != nil {
			t.Fatal(err)
		}
		if got := r.states(); got != "ordered.sms sent" {
			t.Error(got)
		}
	})
}

// senderFunc is a Sender that looks at its context alone.
type senderFunc func(ctx context.Context) error

func (f senderFunc) Send(ctx context.Context, _ messages.Outgoing) error { return f(ctx) }

// A message that is written while its person is being deleted is not sent.
func TestWrittenWhileTheDeletionWasUnderWay(t *testing.T) {
	eachRig(t, teams.Production, func(t *testing.T, r *rig) {
		r.write(func(ctx context.Context, tx *store.Tx) error { return users.Delete(ctx, tx, r.team, r.user.ID) })
		r.write(func(ctx context.Context, tx *store.Tx) error {
			_, err := messages.Queue(ctx, tx, messages.Message{
				Team: r.team, User: r.user.ID, Order: r.order, Channel: messages.SMS, Template: "ordered.sms", Recipient: ada.Phone, FirstName: ada.FirstName,
			})
			return err
		})
		r.work(func([]messages.Shown) bool { return r.stored() != "queued" })
		if sent := r.sent.all(); len(sent) != 0 || r.stored() != "cleared" {
			t.Errorf("%s, %d sent", r.stored(), len(sent))
		}
	})
}

// What went out while it was being cleared went out.
func TestSentAndClearedAtOnce(t *testing.T) {
	eachRig(t, teams.Production, func(t *testing.T, r *rig) {
		r.service.SMS = senderFunc(func(context.Context) error {
			r.write(func(ctx context.Context, tx *store.Tx) error { return messages.SilenceSMS(ctx, tx, r.team, r.order) })
			return nil
		})
		r.moved(r.event("testkit", "ordered"))
		r.work(func([]messages.Shown) bool { return r.stored() == "sent" })
	})
}
