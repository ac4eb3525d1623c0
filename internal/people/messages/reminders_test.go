package messages_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"hale/internal/people/messages"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

var allMessages = messages.Settings{SMS: true, Email: true, Reminders: true}

// remindersSent advances the clock from one due message to the next for a number of
// hours. It returns the reminders, each with the hour at which it was sent.
func (r *fixture) remindersSent(hours int) string {
	r.t.Helper()
	begin := r.clock.Now()
	end := begin.Add(time.Duration(hours) * time.Hour)
	var at []string
	seen := len(r.reminders())
	for due := r.nextDue(); !due.IsZero() && !due.After(end); due = r.nextDue() {
		r.clock.Advance(max(0, due.Sub(r.clock.Now())))
		r.work(nil)
		for _, m := range r.reminders()[seen:] {
			seen++
			at = append(at, strings.TrimSuffix(m, " sent")+"@"+strings.TrimSuffix(r.clock.Now().Sub(begin).String(), "0m0s"))
		}
	}
	r.clock.Advance(end.Sub(r.clock.Now()))
	return strings.Join(at, " ")
}

// nextDue returns the due time of the next message; zero if none waits.
func (r *fixture) nextDue() (due time.Time) {
	for _, m := range r.list(messages.Filter{}) {
		waits := m.State == messages.Scheduled || m.State == messages.Queued
		if waits && (due.IsZero() || m.Due.Before(due)) {
			due = m.Due
		}
	}
	return due
}

// reminders returns the sent reminders, oldest first.
func (r *fixture) reminders() []string {
	var all []string
	for _, m := range r.list(messages.Filter{States: []messages.State{messages.Sent}}) {
		if strings.HasPrefix(m.Template, "reminder_") {
			all = append(all, m.Template+" sent")
		}
	}
	return all
}

func TestKitReminders(t *testing.T) {
	eachFixture(t, teams.Production, func(t *testing.T, r *fixture) {
		r.settings(allMessages)
		r.moved(r.event("testkit", "with_customer"))
		if got := r.remindersSent(24 * 8); got != "reminder_kit.sms@48h reminder_kit.sms@168h" {
			t.Error(got)
		}
	})
}

func TestReturnedKitEndsReminders(t *testing.T) {
	eachFixture(t, teams.Production, func(t *testing.T, r *fixture) {
		r.settings(allMessages)
		r.moved(r.event("testkit", "with_customer"))
		first := r.remindersSent(50)
		r.moved(r.event("testkit", "transit_lab"))
		if rest := r.remindersSent(24 * 8); first != "reminder_kit.sms@48h" || rest != "" {
			t.Errorf("%q, then %q", first, rest)
		}
		if got := r.stored(); got != "sent cleared" {
			t.Error(got)
		}
	})
}

func TestBookingReminders(t *testing.T) {
	eachFixture(t, teams.Production, func(t *testing.T, r *fixture) {
		r.settings(allMessages)
		r.moved(r.event("walk_in_test", "requisition_created"))
		if got := r.remindersSent(24 * 8); got != "reminder_booking.sms@24h reminder_booking.sms@72h reminder_booking.sms@168h" {
			t.Error(got)
		}
	})
}

func TestBookingEndsBookingReminders(t *testing.T) {
	eachFixture(t, teams.Production, func(t *testing.T, r *fixture) {
		r.settings(allMessages)
		r.moved(r.event("walk_in_test", "requisition_created"))
		r.moved(r.event("walk_in_test", "appointment_pending")) // without a time
		first := r.remindersSent(30)
		r.moved(r.event("walk_in_test", "appointment_scheduled"))
		if rest := r.remindersSent(24 * 8); first != "reminder_booking.sms@24h" || rest != "" {
			t.Errorf("%q, then %q", first, rest)
		}
	})
}

func TestVisitReminders(t *testing.T) {
	for name, c := range map[string]struct {
		ahead time.Duration
		want  string
	}{
		"in three days":  {72 * time.Hour, "reminder_visit_24h.email@48h reminder_visit_2h.email@70h"},
		"in five hours":  {5 * time.Hour, "reminder_visit_2h.email@3h"},
		"in an hour":     {time.Hour, ""},
		"in a day":       {24 * time.Hour, "reminder_visit_2h.email@22h"}, // due now: no reminder is needed
		"an hour ago":    {-time.Hour, ""},
		"without a time": {0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c0 := storetest.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
			r := newFixture(t, storetest.NewSQLite(t).Open(t, c0.Now), teams.Production, c0)
			r.settings(allMessages)
			var start time.Time
			if c.ahead != 0 {
				start = r.clock.Now().Add(c.ahead)
			}
			r.visit("at_home_phlebotomy", "confirmed", start)
			if got := r.remindersSent(80); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestRemindersFollowTheVisit(t *testing.T) {
	eachFixture(t, teams.Production, func(t *testing.T, r *fixture) {
		r.settings(allMessages)
		start := r.clock.Now()
		r.visit("walk_in_test", "confirmed", start.Add(48*time.Hour))
		r.visit("walk_in_test", "confirmed", start.Add(96*time.Hour))
		if got := r.remindersSent(80); got != "reminder_visit_24h.sms@72h" {
			t.Errorf("after it was moved: %q", got)
		}
		r.visit("walk_in_test", "cancelled", start.Add(96*time.Hour))
		if got := r.remindersSent(40); got != "" {
			t.Errorf("after it was cancelled: %q", got)
		}
	})
}

func TestEndedOrderEndsReminders(t *testing.T) {
	for _, status := range []string{"cancelled", "completed", "sample_error", "draw_completed", "partial_results"} {
		t.Run(status, func(t *testing.T) {
			r := newFixture(t, storetest.SQLite(t), teams.Production, new(storetest.Clock))
			r.settings(allMessages)
			r.visit("at_home_phlebotomy", "confirmed", time.Now().Add(100*time.Hour))
			r.moved(r.event("at_home_phlebotomy", status))
			for _, m := range r.list(messages.Filter{States: []messages.State{messages.Scheduled}}) {
				t.Errorf("still planned: %s", m.Template)
			}
		})
	}
}

func TestRemindersAreOptIn(t *testing.T) {
	eachFixture(t, teams.Production, func(t *testing.T, r *fixture) {
		r.moved(r.event("testkit", "with_customer"))
		r.moved(r.event("walk_in_test", "requisition_bypassed"))
		if got := r.states(); got != "" {
			t.Error(got)
		}
	})
}

// Switches apply when a reminder is due, too.
func TestSwitchesChangedAfterPlanning(t *testing.T) {
	for name, turn := range map[string]func(r *fixture){
		"reminders off": func(r *fixture) { r.settings(messages.Settings{SMS: true, Email: true}) },
		"SMS off":       func(r *fixture) { r.settings(messages.Settings{Email: true, Reminders: true}) },
		"the order's is off": func(r *fixture) {
			r.write(func(ctx context.Context, tx *store.Tx) error { return messages.SilenceSMS(ctx, tx, r.team, r.order) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachFixture(t, teams.Production, func(t *testing.T, r *fixture) {
				r.settings(allMessages)
				r.moved(r.event("testkit", "with_customer"))
				turn(r)
				r.clock.Advance(8 * 24 * time.Hour)
				r.work(nil)
				if got := r.stored(); got != "cleared cleared" || len(r.sent.all()) != 0 {
					t.Errorf("%s, %d sent", got, len(r.sent.all()))
				}
			})
		})
	}
}

// A late reminder is not sent after the visit.
func TestLateReminder(t *testing.T) {
	eachFixture(t, teams.Production, func(t *testing.T, r *fixture) {
		r.settings(allMessages)
		r.visit("walk_in_test", "confirmed", r.clock.Now().Add(30*time.Hour))
		r.work(nil)
		r.clock.Advance(31 * time.Hour)
		r.work(nil)
		if got := r.stored(); got != "sent cleared cleared" {
			t.Error(got)
		}
	})
}

// A reminder needs a portal link, which needs demographics.
func TestReminderWithoutPortal(t *testing.T) {
	eachFixture(t, teams.Production, func(t *testing.T, r *fixture) {
		r.settings(allMessages)
		r.user = userstest.New(t, r.db, r.team, users.NewUser{ClientUserID: "stranger"})
		r.moved(r.event("testkit", "with_customer"))
		r.clock.Advance(49 * time.Hour)
		r.work(nil)
		if m := r.list(messages.Filter{States: []messages.State{messages.Failed}}); len(m) != 1 || m[0].Problem != "no_portal" {
			t.Errorf("%s", r.states())
		}
	})
}

// undo_delete restores the reminders that are still to come and not obsolete, once.
func TestUndoDeleteRestoresReminders(t *testing.T) {
	for name, c := range map[string]struct {
		deleted  time.Duration // how long
		meantime string        // status of the order while the user is deleted
		want     string
	}{
		"at once":            {0, "", "reminder_kit.sms@48h reminder_kit.sms@168h"},
		"after the first":    {50 * time.Hour, "", "reminder_kit.sms@118h"},
		"kit sent meanwhile": {time.Hour, "transit_lab", ""},
	} {
		t.Run(name, func(t *testing.T) {
			eachFixture(t, teams.Production, func(t *testing.T, r *fixture) {
				r.settings(allMessages)
				r.moved(r.event("testkit", "with_customer"))
				for range 2 {
					r.write(func(ctx context.Context, tx *store.Tx) error { return users.Delete(ctx, tx, r.team, r.user.ID) })
					if got := r.stored(); got != "cleared cleared" {
						t.Errorf("after the deletion: %s", got)
					}
					r.clock.Advance(c.deleted / 2)
					if c.meantime != "" {
						r.moved(r.event("testkit", c.meantime))
					}
					r.clock.Advance(c.deleted - c.deleted/2)
					r.write(func(ctx context.Context, tx *store.Tx) error {
						return users.UndoDelete(ctx, tx, r.team, users.Ref{ID: &r.user.ID})
					})
					if c.deleted > 0 {
						break
					}
				}
				if got := r.remindersSent(24 * 8); got != c.want {
					t.Error(got)
				}
			})
		})
	}
}
