package messages_test

import (
	"context"
	"sync"
	"testing"

	"hale/internal/people/messages"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// Two people who each turn another switch at the same time both get their way.
func TestSwitchesTurnedAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newRig(t, db, teams.Production, nil)
		for range 20 {
			r.settings(messages.Settings{SMS: true, Email: true})
			var both sync.WaitGroup
			for _, turn := range []func(s *messages.Settings){
				func(s *messages.Settings) { s.SMS = false }, func(s *messages.Settings) { s.Email = false },
			} {
				both.Go(func() {
					r.write(func(ctx context.Context, tx *store.Tx) error {
						_, err := messages.Change(ctx, tx, r.team, turn)
						return err
					})
				})
			}
			both.Wait()
			r.write(func(ctx context.Context, tx *store.Tx) error {
				s, err := messages.SettingsOf(ctx, tx, r.team)
				if s.SMS || s.Email {
					t.Errorf("%+v", s)
				}
				return err
			})
		}
	})
}
