package tokens_test

import (
	"context"
	"errors"
	"regexp"
	"testing"
	"time"

	"hale/internal/people/tokens"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// ways is a user, and what a phone and a team's server do.
type ways struct {
	t    *testing.T
	db   *store.DB
	now  *time.Time
	team teams.ID
	user users.User
}

func each(t *testing.T, fn func(w ways)) {
	t.Helper()
	var now time.Time
	storetest.EachAt(t, func() time.Time { return now }, func(t *testing.T, db *store.DB) {
		now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		users.Register(db, tokens.UserRecords()...)
		team := userstest.Team(t, db).ID
		fn(ways{t, db, &now, team, userstest.New(t, db, team, users.NewUser{})})
	})
}

func (w ways) write(fn func(ctx context.Context, tx *store.Tx) error) error {
	ctx := store.AsSystem(w.t.Context())
	return w.db.Write(ctx, func(tx *store.Tx) error { return fn(ctx, tx) })
}

func (w ways) signIn() (text secrets.Text) {
	w.t.Helper()
	if err := w.write(func(ctx context.Context, tx *store.Tx) (err error) {
		text, err = tokens.CreateSignIn(ctx, tx, w.team, w.user.ID)
		return err
	}); err != nil {
		w.t.Fatal(err)
	}
	return text
}

func (w ways) code(until *time.Time) (code tokens.Code, err error) {
	err = w.write(func(ctx context.Context, tx *store.Tx) (err error) {
		code, err = tokens.CreateCode(ctx, tx, w.team, w.user.ID, until)
		return err
	})
	return code, err
}

func (w ways) exchange(text secrets.Text) (s tokens.Session, err error) {
	return w.exchangeAs(tokens.SignInToken, text)
}

func (w ways) exchangeCode(text secrets.Text) (s tokens.Session, err error) {
	return w.exchangeAs(tokens.LinkCode, text)
}

func (w ways) exchangeAs(kind tokens.Kind, text secrets.Text) (s tokens.Session, err error) {
	err = w.write(func(ctx context.Context, tx *store.Tx) (err error) {
		s, err = tokens.Exchange(ctx, tx, kind, text)
		return err
	})
	return s, err
}

func (w ways) open() tokens.Session {
	w.t.Helper()
	s, err := w.exchange(w.signIn())
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// refresh is what the door does: an ended session is an invalid token.
func (w ways) refresh(text secrets.Text) (s tokens.Session, err error) {
	ended := false
	err = w.write(func(ctx context.Context, tx *store.Tx) (err error) {
		s, ended, err = tokens.Refresh(ctx, tx, text)
		return err
	})
	if err == nil && ended {
		err = tokens.ErrInvalid
	}
	return s, err
}

func (w ways) resolve(text secrets.Text) (a tokens.Access, err error) {
	ctx := store.AsSystem(w.t.Context())
	err = w.db.Read(ctx, func(tx *store.Tx) (err error) {
		a, err = tokens.Resolve(ctx, tx, text.Reveal())
		return err
	})
	return a, err
}

func (w ways) works(text secrets.Text) {
	w.t.Helper()
	a, err := w.resolve(text)
	if err != nil || a.User != w.user.ID || a.Team != w.team || a.Environment != teams.Sandbox {
		w.t.Errorf("an access token gives %+v, %v", a, err)
	}
}

func (w ways) isGone(err error) {
	w.t.Helper()
	if !errors.Is(err, tokens.ErrInvalid) {
		w.t.Errorf("got %v, want %v", err, tokens.ErrInvalid)
	}
}

func TestASignInIsGoodForOneExchangeWithinItsTime(t *testing.T) {
	each(t, func(w ways) {
		text := w.signIn()
		s, err := w.exchange(text)
		if err != nil || s.User != w.user.ID || s.Team != w.team {
			t.Fatalf("%+v, %v", s, err)
		}
		w.works(s.Access)
		_, err = w.exchange(text)
		w.isGone(err)
		_, err = w.exchange("si_nobody_has_this")
		w.isGone(err)

		late := w.signIn()
		*w.now = w.now.Add(tokens.SignInLife)
		_, err = w.exchange(late)
		w.isGone(err)
	})
}

var codeForm = regexp.MustCompile(`^(sk|pk)(eu|us)[\da-f]{8}$`)

func TestLinkCodes(t *testing.T) {
	each(t, func(w ways) {
		code, err := w.code(nil)
		if err != nil || !codeForm.MatchString(code.Text.Reveal()) || !code.ExpiresOn.Equal(w.now.Add(time.Hour)) {
			t.Fatalf("%s until %v, %v", code.Text.Reveal(), code.ExpiresOn, err)
		}
		typed := code.Text.Reveal()
		if _, err := w.exchangeCode(tokens.TypedCode("SK" + typed[2:4] + " " + typed[4:8] + " " + typed[8:])); err != nil {
			t.Error(err)
		}
		_, err = w.exchangeCode(code.Text)
		w.isGone(err)

		soon := w.now.Add(time.Minute)
		short, err := w.code(&soon)
		if err != nil {
			t.Fatal(err)
		}
		*w.now = soon
		_, err = w.exchangeCode(short.Text)
		w.isGone(err)

		far := w.now.Add(tokens.LongestCodeLife + time.Second)
		for _, until := range []*time.Time{w.now, &far} {
			if _, err := w.code(until); !fault.Is(err, fault.Invalid) {
				t.Errorf("a code until %v: %v", until, err)
			}
		}
	})
}

func TestAccessEndsAndIsRenewed(t *testing.T) {
	each(t, func(w ways) {
		first := w.open()
		*w.now = w.now.Add(tokens.AccessLife)
		_, err := w.resolve(first.Access)
		w.isGone(err)

		second, err := w.refresh(first.Refresh)
		if err != nil || second.ID != first.ID || second.Access == first.Access || second.Refresh == first.Refresh {
			t.Fatalf("%+v, %v", second, err)
		}
		w.works(second.Access)
		_, err = w.exchange(second.Refresh)
		w.isGone(err)
		_, err = w.resolve(second.Refresh)
		w.isGone(err)

		*w.now = w.now.Add(tokens.RefreshLife)
		_, err = w.refresh(second.Refresh)
		w.isGone(err)
	})
}

// An answer that never reached the phone must not sign it out; a copy of an
// old token must.
func TestALostAnswerAndAStolenCopy(t *testing.T) {
	each(t, func(w ways) {
		first := w.open()
		lost, err := w.refresh(first.Refresh)
		if err != nil {
			t.Fatal(err)
		}
		*w.now = w.now.Add(59 * time.Minute)
		second, err := w.refresh(first.Refresh)
		if err != nil || second.Refresh != lost.Refresh || second.Access == lost.Access {
			t.Fatal("another renewal", err)
		}
		third, err := w.refresh(second.Refresh)
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.refresh(first.Refresh) // two renewals ago: of no session any more
		w.isGone(err)
		w.works(third.Access)

		*w.now = w.now.Add(61 * time.Minute)
		last, err := w.refresh(third.Refresh)
		if err != nil {
			t.Fatal(err)
		}
		*w.now = w.now.Add(61 * time.Minute)
		_, err = w.refresh(third.Refresh)
		w.isGone(err)
		_, err = w.refresh(last.Refresh)
		w.isGone(err)
	})
}

// The hour of a used refresh token begins with its first use, whatever is asked
// for in it.
func TestACopyIsGoodForOneHour(t *testing.T) {
	each(t, func(w ways) {
		first := w.open()
		phone, err := w.refresh(first.Refresh)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			*w.now = w.now.Add(20 * time.Minute)
			if _, err := w.refresh(first.Refresh); err != nil {
				t.Fatal(err)
			}
		}
		*w.now = w.now.Add(time.Second)
		_, err = w.refresh(first.Refresh)
		w.isGone(err)
		_, err = w.refresh(phone.Refresh)
		w.isGone(err)
	})
}

// A renewal that is asked for again, while every phone is signed out, leaves no
// way in.
func TestARenewalAgainAndTheEndOfAll(t *testing.T) {
	each(t, func(w ways) {
		t := w.t
		if w.db.Engine() == store.SQLite {
			t.Skip("SQLite has one writer")
		}
		first := w.open()
		if _, err := w.refresh(first.Refresh); err != nil {
			t.Fatal(err)
		}
		var again tokens.Session
		ended := make(chan error, 1)
		if err := w.write(func(ctx context.Context, tx *store.Tx) (err error) {
			if again, _, err = tokens.Refresh(ctx, tx, first.Refresh); err != nil {
				return err
			}
			go func() {
				ended <- w.write(func(ctx context.Context, tx *store.Tx) error { return tokens.EndAll(ctx, tx, w.team, w.user.ID) })
			}()
			for waits := false; !waits && len(ended) == 0 && err == nil; {
				err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_locks
					WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid)))`).Scan(&waits)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		_, err := w.resolve(again.Access)
		w.isGone(err)
	})
}

// A phone that signed in at a node which knew no renewal keys signs in anew.
func TestASessionWithoutARenewalKeyEnds(t *testing.T) {
	each(t, func(w ways) {
		t, s := w.t, w.open()
		if err := w.write(func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE phone_sessions SET renewal_key = NULL`)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		_, err := w.refresh(s.Refresh)
		w.isGone(err)
		_, err = w.resolve(s.Access)
		w.isGone(err)
	})
}

// A text is taken for what it is said to be: guesses at codes are counted where
// codes are taken.
func TestACodeIsNoSignInToken(t *testing.T) {
	each(t, func(w ways) {
		code, err := w.code(nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.exchange(code.Text)
		w.isGone(err)
		_, err = w.exchangeCode(w.signIn())
		w.isGone(err)
		if _, err := w.exchangeCode(code.Text); err != nil {
			t.Error(err)
		}
	})
}

func TestSigningOut(t *testing.T) {
	each(t, func(w ways) {
		phone, tablet := w.open(), w.open()
		var id tokens.SessionID
		out := func(text secrets.Text) {
			t.Helper()
			if err := w.write(func(ctx context.Context, tx *store.Tx) (err error) {
				id, err = tokens.SignOut(ctx, tx, text)
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		if out(phone.Refresh); id != phone.ID {
			t.Errorf("signed out %v", id)
		}
		_, err := w.resolve(phone.Access)
		w.isGone(err)
		w.works(tablet.Access)
		if out(phone.Refresh); !id.IsZero() {
			t.Errorf("signed out %v again", id)
		}

		open, err := w.code(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.write(func(ctx context.Context, tx *store.Tx) error { return tokens.EndAll(ctx, tx, w.team, w.user.ID) }); err != nil {
			t.Fatal(err)
		}
		_, err = w.resolve(tablet.Access)
		w.isGone(err)
		_, err = w.exchangeCode(open.Text)
		w.isGone(err)
	})
}

func TestOnlySoManyPhones(t *testing.T) {
	each(t, func(w ways) {
		var all []tokens.Session
		for range 22 {
			*w.now = w.now.Add(time.Second)
			all = append(all, w.open())
		}
		for i, s := range all {
			_, err := w.resolve(s.Access)
			if gone := errors.Is(err, tokens.ErrInvalid); gone != (i < 2) {
				t.Errorf("phone %d of %d: %v", i, len(all), err)
			}
		}
	})
}

func TestTheDeletedHaveNoWayIn(t *testing.T) {
	each(t, func(w ways) {
		phone, open := w.open(), w.signIn()
		if err := w.write(func(ctx context.Context, tx *store.Tx) error { return users.Delete(ctx, tx, w.team, w.user.ID) }); err != nil {
			t.Fatal(err)
		}
		_, err := w.resolve(phone.Access)
		w.isGone(err)
		_, err = w.exchange(open)
		w.isGone(err)
		if _, err := w.code(nil); !fault.Is(err, fault.NotFound) {
			t.Error(err)
		}
	})
}

func TestAnotherTeamsUserIsUnknown(t *testing.T) {
	each(t, func(w ways) {
		other := w
		other.team = userstest.Team(t, w.db).ID
		if _, err := other.code(nil); !fault.Is(err, fault.NotFound) {
			t.Error(err)
		}
		err := w.write(func(ctx context.Context, tx *store.Tx) error { return tokens.EndAll(ctx, tx, other.team, w.user.ID) })
		if !fault.Is(err, fault.NotFound) {
			t.Error(err)
		}
	})
}

// Nothing that lets anybody in is kept as it is.
func TestTextsAreNotKept(t *testing.T) {
	each(t, func(w ways) {
		s := w.open()
		code, err := w.code(nil)
		if err != nil {
			t.Fatal(err)
		}
		for table, column := range map[string]string{"sign_ins": "secret_hash", "phone_sessions": "refresh_hash", "access_tokens": "token_hash"} {
			ctx := store.AsSystem(t.Context())
			if err := w.db.Read(ctx, func(tx *store.Tx) error {
				var kept []byte
				if err := tx.QueryRow(ctx, `SELECT `+column+` FROM `+table).Scan(&kept); err != nil {
					return err
				}
				for _, text := range []secrets.Text{s.Access, s.Refresh, code.Text} {
					if string(kept) == text.Reveal() {
						t.Errorf("%s keeps a text", table)
					}
				}
				if len(kept) != 32 {
					t.Errorf("%s keeps %d bytes", table, len(kept))
				}
				return nil
			}); err != nil {
				t.Error(err)
			}
		}
	})
}
