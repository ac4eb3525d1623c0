package api

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users/userstest"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// The clocks of the nodes do not affect how long a request may run on a living node. A
// node whose clock is ahead does not take over the request. Neither does a node with
// the right time if the clock was behind when the request started.
func TestRequestsOfNodesWhoseClocksDiffer(t *testing.T) {
	for name, by := range map[string]time.Duration{"ahead": 2 * maxRunTime, "behind": -2 * maxRunTime} {
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
			if err := first.Write(ctx, func(tx *store.Tx) error { return begun.claimRow(ctx, tx) }); err != nil {
				t.Fatal(err)
			}
			again := attemptOn(t, second, team.UUID())
			if rec, err := (&API{Deps: Deps{DB: second}}).findAnswer(ctx, again); !errors.Is(err, errRunning) || rec != nil {
				t.Errorf("%v, %v", rec, err)
			}
			if err := right.Write(ctx, func(tx *store.Tx) error { // like one minute later
				_, err := tx.Exec(ctx, `UPDATE idempotency_keys SET locked_until = locked_until - $1`, maxRunTime.Microseconds())
				return err
			}); err != nil {
				t.Fatal(err)
			}
			again.repeatable = true
			if rec, err := (&API{Deps: Deps{DB: second}}).findAnswer(ctx, again); err != nil || rec != nil || !again.claimed {
				t.Errorf("after its time: %v, %v, claimed %t", rec, err, again.claimed)
			}
		})
	}
}

// attemptOn returns an attempt of the same request on a living node of a database.
func attemptOn(t *testing.T, db *store.DB, team [16]byte) *Attempt {
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
	return &Attempt{claim: claim{team: team}, request: []byte("request"), node: node.ID(), success: http.StatusOK}
}

// A stored answer that cannot be opened is lost. The request does not run again.
func TestADamagedAnswerIsLost(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		a := &API{Deps: Deps{DB: db}}
		team := userstest.Team(t, db).ID
		ctx := store.WithTeam(t.Context(), team.UUID())
		at := attemptOn(t, db, team.UUID())
		if err := a.storeSeparately(ctx, at, &answerBuffer{header: http.Header{}, status: http.StatusNotFound}); err != nil {
			t.Fatal(err)
		}
		for _, damaged := range []string{"\x01damaged beyond repair, and long enough", "\x07of a key that is not there", ""} {
			if err := db.Write(ctx, func(tx *store.Tx) error {
				_, err := tx.Exec(ctx, `UPDATE idempotency_keys SET body = $1`, []byte(damaged))
				return err
			}); err != nil {
				t.Fatal(err)
			}
			again := *at
			if rec, err := a.findAnswer(ctx, &again); !errors.Is(err, errLost) {
				t.Errorf("%q: %v, %v", damaged, rec, err)
			}
		}
	})
}

// The answer is stored even if its caller has disconnected meanwhile.
func TestAnAnswerIsKeptForACallerWhoHungUp(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		a := &API{Deps: Deps{DB: db}}
		team := userstest.Team(t, db).ID
		ctx, hangUp := context.WithCancel(store.WithTeam(t.Context(), team.UUID()))
		at := &Attempt{claim: claimOf(Caller{Team: team}, "key"), request: []byte("request"), node: uuid.New(), success: http.StatusOK}
		rec := &answerBuffer{header: http.Header{}, status: http.StatusNotFound}
		rec.body.WriteString(`{"detail":"Order not found"}`)
		hangUp()
		if err := a.storeSeparately(ctx, at, rec); err != nil {
			t.Fatal(err)
		}
		again := *at
		kept, err := a.findAnswer(context.WithoutCancel(ctx), &again)
		if err != nil || kept == nil || kept.status != http.StatusNotFound || kept.body.String() != `{"detail":"Order not found"}` {
			t.Errorf("%+v, %v", kept, err)
		}
	})
}
