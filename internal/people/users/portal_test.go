package users_test

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

func link(tb testing.TB, db *store.DB, user users.User, purpose users.LinkContext) (made users.PortalLink) {
	tb.Helper()
	userstest.Write(tb, db, func(ctx context.Context, tx *store.Tx) (err error) {
		made, err = users.CreatePortalLink(ctx, tx, user.Team, user.ID, purpose, nil)
		return err
	})
	return made
}

func enter(db *store.DB, token, device secrets.Text, proof users.Proof) (entry users.Entry, err error) {
	return enterFrom(db, token, device, "", proof)
}

func enterFrom(db *store.DB, token, device, page secrets.Text, proof users.Proof) (entry users.Entry, err error) {
	ctx := store.AsSystem(context.Background())
	err = db.Write(ctx, func(tx *store.Tx) (err error) {
		entry, err = users.Enter(ctx, tx, token, device, page, proof)
		return err
	})
	return entry, err
}

func resume(db *store.DB, token secrets.Text) (s users.Session, err error) {
	ctx := store.AsSystem(context.Background())
	err = db.Read(ctx, func(tx *store.Tx) (err error) {
		s, err = users.Resume(ctx, tx, token)
		return err
	})
	return s, err
}

func patient(tb testing.TB, db *store.DB) users.User {
	tb.Helper()
	user := userstest.New(tb, db, userstest.Team(tb, db).ID, users.NewUser{})
	userstest.WithInfo(tb, db, user, userstest.Info())
	return user
}

func TestPortalLinkNeedsDemographics(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{})
		err := write(db, user.Team, func(ctx context.Context, tx *store.Tx) error {
			_, err := users.CreatePortalLink(ctx, tx, user.Team, user.ID, users.Launch, nil)
			return err
		})
		wantFault(t, err, fault.Unprocessable, "User demographics data not found")
	})
}

func TestPortalTokenIsHashedAtRest(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := patient(t, db)
		made := link(t, db, user, users.Communications)
		var stored []byte
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			return tx.QueryRow(ctx, `SELECT token_hash FROM portal_links WHERE user_id = $1`, user.ID).Scan(&stored)
		})
		if len(stored) != 32 || bytes.Contains(stored, []byte(made.Token.Reveal())) || len(made.Token.Reveal()) != 43 {
			t.Errorf("token of %d characters stored in %d bytes", len(made.Token.Reveal()), len(stored))
		}
		if !strings.HasPrefix(made.Path(), "/p/") || !strings.HasPrefix(link(t, db, user, users.Launch).Path(), "/portal/enter/") {
			t.Errorf("paths %s", made.Path())
		}
	})
}

func TestLaunchLink(t *testing.T) {
	clk := newClock()
	storetest.EachAt(t, clk.Now, func(t *testing.T, db *store.DB) {
		user := patient(t, db)
		made := link(t, db, user, users.Launch)
		clk.Advance(10*time.Minute - time.Second)
		entry, err := enter(db, made.Token, "", users.Proof{})
		if err != nil || entry.Session == "" || entry.Device != "" {
			t.Fatalf("entry %+v, %v", entry, err)
		}
		s, err := resume(db, entry.Session)
		if err != nil || s.User != user.ID || s.Team != user.Team {
			t.Errorf("session %+v, %v", s, err)
		}
		_, err = enter(db, made.Token, "", users.Proof{})
		wantFault(t, err, fault.NotFound, "This link cannot be used")
		late := link(t, db, user, users.Launch)
		clk.Advance(10 * time.Minute)
		_, err = enter(db, late.Token, "", users.Proof{})
		wantFault(t, err, fault.NotFound, "This link cannot be used")
		_, err = enter(db, "no-such-token", "", users.Proof{})
		wantFault(t, err, fault.NotFound, "This link cannot be used")
	})
}

func TestLaunchLinkOpensOneSession(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		made := link(t, db, patient(t, db), users.Launch)
		var in atomic.Int64
		var wg sync.WaitGroup
		for range 12 {
			wg.Go(func() {
				if _, err := enter(db, made.Token, "", users.Proof{}); err == nil {
					in.Add(1)
				}
			})
		}
		wg.Wait()
		if in.Load() != 1 {
			t.Errorf("%d sessions were opened", in.Load())
		}
	})
}

func TestSessionEnds(t *testing.T) {
	clk := newClock()
	storetest.EachAt(t, clk.Now, func(t *testing.T, db *store.DB) {
		user := patient(t, db)
		begin := func() secrets.Text {
			entry, err := enter(db, link(t, db, user, users.Launch).Token, "", users.Proof{})
			if err != nil {
				t.Fatal(err)
			}
			return entry.Session
		}
		touch := func(s secrets.Text) {
			userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error { return users.Touch(ctx, tx, s) })
		}
		idle := begin()
		clk.Advance(users.SessionIdle - time.Second)
		if _, err := resume(db, idle); err != nil {
			t.Error(err)
		}
		clk.Advance(time.Second)
		_, err := resume(db, idle)
		wantFault(t, err, fault.Unauthenticated, "")

		busy := begin()
		for range 8*60/10 - 1 {
			clk.Advance(10 * time.Minute)
			touch(busy)
			if _, err := resume(db, busy); err != nil {
				t.Fatal(err)
			}
		}
		clk.Advance(10 * time.Minute)
		_, err = resume(db, busy)
		wantFault(t, err, fault.Unauthenticated, "")

		left := begin()
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error { return users.Leave(ctx, tx, left) })
		_, err = resume(db, left)
		wantFault(t, err, fault.Unauthenticated, "")

		deleted := begin()
		if err := del(db, user.Team, user.ID); err != nil {
			t.Fatal(err)
		}
		_, err = resume(db, deleted)
		wantFault(t, err, fault.Unauthenticated, "")
	})
}

func TestSessionNeedsTouchOnceAMinute(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s := users.Session{CreatedOn: now, SeenAt: now}
	if s.NeedsTouch(now.Add(59*time.Second)) || !s.NeedsTouch(now.Add(time.Minute)) {
		t.Error("a session is touched at the wrong time")
	}
}

// Links and sessions that are inserted during the user's deletion open nothing.
func TestDeletedUserHasNoPortal(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := patient(t, db)
		if err := del(db, user.Team, user.ID); err != nil {
			t.Fatal(err)
		}
		const token = secrets.Text("inserted-meanwhile")
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.Exec(ctx, `INSERT INTO portal_links (token_hash, team_id, user_id, context, created_on, expires_on, tries, order_id)
				VALUES ($1, $2, $3, 'launch', $4, $5, 0, NULL)`, secrets.Hash(token.Reveal()), user.Team, user.ID, tx.Now(), tx.Now().Add(time.Minute))
			if err != nil {
				return err
			}
			_, err = tx.Exec(ctx, `INSERT INTO portal_sessions (token_hash, team_id, user_id, created_on, seen_at) VALUES ($1, $2, $3, $4, $4)`,
				secrets.Hash(token.Reveal()), user.Team, user.ID, tx.Now())
			return err
		})
		_, err := enter(db, token, "", users.Proof{})
		wantFault(t, err, fault.NotFound, "This link cannot be used")
		_, err = resume(db, token)
		wantFault(t, err, fault.Unauthenticated, "")
	})
}
