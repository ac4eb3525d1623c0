package messages_test

import (
	"context"
	"testing"
	"time"

	"hale/internal/messages"
	"hale/internal/store"
	"hale/internal/teams"
	"hale/internal/users"
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
