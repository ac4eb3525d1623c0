package api

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"hale/internal/people/users/userstest"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// How long a request may run on a node that is alive does not depend on the
// clocks of nodes: another one whose clock is ahead leaves it alone, and so does
// one beside a node whose clock was behind when the request began.
func TestRequestsOfNodesWhoseClocksDiffer(t *testing.T) {
	for name, by := range map[string]time.Duration{"ahead": 2 * longestRun, "behind": -2 * longestRun} {
		t.Run(name, func(t *testing.T) {
			d := storetest.NewPostgres(t)
			wrong, right := d.Open(t, func() time.Time { return time.Now().Add(by) }), d.Open(t, nil)
			first, second := right, wrong
			if by < 0 {
				first, second = wrong, right
			}
			team := userstest.Team(t, right).ID
			ctx := store.WithTeam(t.Context(), team.UUID())
			begun := attemptOn(t, first, team.UUID())
			if err := first.Write(ctx, func(tx *store.Tx) error { return begun.take(ctx, tx) }); err != nil {
				t.Fatal(err)
			}
			again := attemptOn(t, second, team.UUID())
			if rec, err := (&API{db: second}).kept(ctx, again); !errors.Is(err, errRuns) || rec != nil {
				t.Errorf("%v, %v", rec, err)
			}
			if err := right.Write(ctx, func(tx *store.Tx) error { // as a minute later
				_, err := tx.Exec(ctx, `UPDATE idempotency_keys SET locked_until = locked_until - $1`, longestRun.Microseconds())
				return err
			}); err != nil {
				t.Fatal(err)
			}
			again.repeatable = true
			if rec, err := (&API{db: second}).kept(ctx, again); err != nil || rec != nil || !again.claimed {
				t.Errorf("after its time: %v, %v, claimed %t", rec, err, again.claimed)
			}
		})
	}
}

// attemptOn is an attempt of one and the same request on a living node of a
// database.
func attemptOn(t *testing.T, db *store.DB, team [16]byte) *attempt {
	t.Helper()
	ctx := store.AsSystem(t.Context())
	node, err := jobs.Join(ctx, db, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := node.Leave(store.AsSystem(context.Background())); err != nil {
			t.Error(err)
		}
	})
	return &attempt{claim: claim{team: team}, request: []byte("request"), node: node.ID(), success: http.StatusOK}
}
