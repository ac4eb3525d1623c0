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

// fixture is a user. Its methods are calls of a phone and of a team's server.
type fixture struct {
	t    *testing.T
	db   *store.DB
	now  *time.Time
	team teams.ID
	user users.User
}

func eachFixture(t *testing.T, fn func(f fixture)) {
	t.Helper()
	var now time.Time
	storetest.EachAt(t, func() time.Time { return now }, func(t *testing.T, db *store.DB) {
		now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		users.Register(db, tokens.UserRecords()...)
		team := userstest.Team(t, db).ID
		fn(fixture{t, db, &now, team, userstest.New(t, db, team, users.NewUser{})})
	})
}

func (f fixture) write(fn func(ctx context.Context, tx *store.Tx) error) error {
	ctx := store.AsSystem(f.t.Context())
	return f.db.Write(ctx, func(tx *store.Tx) error { return fn(ctx, tx) })
}

func (f fixture) signIn() (text secrets.Text) {
	f.t.Helper()
	if err := f.write(func(ctx context.Context, tx *store.Tx) (err error) {
		text, err = tokens.CreateSignIn(ctx, tx, f.team, f.user.ID)
		return err
	}); err != nil {
		f.t.Fatal(err)
	}
	return text
}

func (f fixture) code(until *time.Time) (code tokens.Code, err error) {
	err = f.write(func(ctx context.Context, tx *store.Tx) (err error) {
		code, err = tokens.CreateCode(ctx, tx, f.team, f.user.ID, until)
		return err
	})
	return code, err
}

func (f fixture) exchange(text secrets.Text) (s tokens.Session, err error) {
	return f.exchangeAs(tokens.SignInToken, text)
}

func (f fixture) exchangeCode(text secrets.Text) (s tokens.Session, err error) {
	return f.exchangeAs(tokens.LinkCode, text)
}

func (f fixture) exchangeAs(kind tokens.Kind, text secrets.Text) (s tokens.Session, err error) {
	err = f.write(func(ctx context.Context, tx *store.Tx) (err error) {
		s, err = tokens.Exchange(ctx, tx, kind, text)
		return err
	})
	return s, err
}

func (f fixture) open() tokens.Session {
	f.t.Helper()
	s, err := f.exchange(f.signIn())
	if err != nil {
		f.t.Fatal(err)
	}
	return s
}

// refresh returns ErrInvalid for an ended session, like the API.
func (f fixture) refresh(text secrets.Text) (s tokens.Session, err error) {
	ended := false
	err = f.write(func(ctx context.Context, tx *store.Tx) (err error) {
		s, ended, err = tokens.Refresh(ctx, tx, text)
		return err
	})
	if err == nil && ended {
		err = tokens.ErrInvalid
	}
	return s, err
}

func (f fixture) resolve(text secrets.Text) (a tokens.Access, err error) {
	ctx := store.AsSystem(f.t.Context())
	err = f.db.Read(ctx, func(tx *store.Tx) (err error) {
		a, err = tokens.Resolve(ctx, tx, text.Reveal())
		return err
	})
	return a, err
}

func (f fixture) wantAccess(text secrets.Text) {
	f.t.Helper()
	a, err := f.resolve(text)
	if err != nil || a.User != f.user.ID || a.Team != f.team || a.Environment != teams.Sandbox {
		f.t.Errorf("an access token gives %+v, %v", a, err)
	}
}

func (f fixture) wantInvalid(err error) {
	f.t.Helper()
	if !errors.Is(err, tokens.ErrInvalid) {
		f.t.Errorf("got %v, want %v", err, tokens.ErrInvalid)
	}
}

func TestSignInTokenWorksOnceAndExpires(t *testing.T) {
	eachFixture(t, func(f fixture) {
		text := f.signIn()
		s, err := f.exchange(text)
		if err != nil || s.User != f.user.ID || s.Team != f.team {
			t.Fatalf("%+v, %v", s, err)
		}
		f.wantAccess(s.Access)
		_, err = f.exchange(text)
		f.wantInvalid(err)
		_, err = f.exchange("si_nobody_has_this")
		f.wantInvalid(err)

		late := f.signIn()
		*f.now = f.now.Add(tokens.SignInLife)
		_, err = f.exchange(late)
		f.wantInvalid(err)
	})
}

var codeForm = regexp.MustCompile(`^(sk|pk)(eu|us)[\da-f]{8}$`)

func TestLinkCodes(t *testing.T) {
	eachFixture(t, func(f fixture) {
		code, err := f.code(nil)
		if err != nil || !codeForm.MatchString(code.Text.Reveal()) || !code.ExpiresOn.Equal(f.now.Add(time.Hour)) {
			t.Fatalf("%s until %v, %v", code.Text.Reveal(), code.ExpiresOn, err)
		}
		typed := code.Text.Reveal()
		if _, err := f.exchangeCode(tokens.NormalizeCode("SK" + typed[2:4] + " " + typed[4:8] + " " + typed[8:])); err != nil {
			t.Error(err)
		}
		_, err = f.exchangeCode(code.Text)
		f.wantInvalid(err)

		soon := f.now.Add(time.Minute)
		short, err := f.code(&soon)
		if err != nil {
			t.Fatal(err)
		}
		*f.now = soon
		_, err = f.exchangeCode(short.Text)
		f.wantInvalid(err)

		far := f.now.Add(tokens.MaxCodeLife + time.Second)
		for _, until := range []*time.Time{f.now, &far} {
			if _, err := f.code(until); !fault.Is(err, fault.Invalid) {
				t.Errorf("a code until %v: %v", until, err)
			}
		}
	})
}

func TestAccessTokenExpiresAndIsRenewed(t *testing.T) {
	eachFixture(t, func(f fixture) {
		first := f.open()
		*f.now = f.now.Add(tokens.AccessLife)
		_, err := f.resolve(first.Access)
		f.wantInvalid(err)

		second, err := f.refresh(first.Refresh)
		if err != nil || second.ID != first.ID || second.Access == first.Access || second.Refresh == first.Refresh {
			t.Fatalf("%+v, %v", second, err)
		}
		f.wantAccess(second.Access)
		_, err = f.exchange(second.Refresh)
		f.wantInvalid(err)
		_, err = f.resolve(second.Refresh)
		f.wantInvalid(err)

		*f.now = f.now.Add(tokens.RefreshLife)
		_, err = f.refresh(second.Refresh)
		f.wantInvalid(err)
	})
}

// A lost answer does not sign the phone out. A copy of an old token does.
func TestLostAnswerAndStolenCopy(t *testing.T) {
	eachFixture(t, func(f fixture) {
		first := f.open()
		lost, err := f.refresh(first.Refresh)
		if err != nil {
			t.Fatal(err)
		}
		*f.now = f.now.Add(59 * time.Minute)
		second, err := f.refresh(first.Refresh)
		if err != nil || second.Refresh != lost.Refresh || second.Access == lost.Access {
			t.Fatal("another renewal", err)
		}
		third, err := f.refresh(second.Refresh)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.refresh(first.Refresh) // replaced by two renewals
		f.wantInvalid(err)
		f.wantAccess(third.Access)

		*f.now = f.now.Add(61 * time.Minute)
		last, err := f.refresh(third.Refresh)
		if err != nil {
			t.Fatal(err)
		}
		*f.now = f.now.Add(61 * time.Minute)
		_, err = f.refresh(third.Refresh)
		f.wantInvalid(err)
		_, err = f.refresh(last.Refresh)
		f.wantInvalid(err)
	})
}

// The hour of a used refresh token begins with its first use. Retries do not extend
// it.
func TestUsedRefreshTokenWorksForOneHour(t *testing.T) {
	eachFixture(t, func(f fixture) {
		first := f.open()
		phone, err := f.refresh(first.Refresh)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			*f.now = f.now.Add(20 * time.Minute)
			if _, err := f.refresh(first.Refresh); err != nil {
				t.Fatal(err)
			}
		}
		*f.now = f.now.Add(time.Second)
		_, err = f.refresh(first.Refresh)
		f.wantInvalid(err)
		_, err = f.refresh(phone.Refresh)
		f.wantInvalid(err)
	})
}

// A retried renewal during SignOutAll leaves no valid token.
func TestRenewalDuringSignOutAll(t *testing.T) {
	eachFixture(t, func(f fixture) {
		t := f.t
		if f.db.Engine() == store.SQLite {
			t.Skip("SQLite has one writer")
		}
		first := f.open()
		if _, err := f.refresh(first.Refresh); err != nil {
			t.Fatal(err)
		}
		var again tokens.Session
		ended := make(chan error, 1)
		if err := f.write(func(ctx context.Context, tx *store.Tx) (err error) {
			if again, _, err = tokens.Refresh(ctx, tx, first.Refresh); err != nil {
				return err
			}
			go func() {
				ended <- f.write(func(ctx context.Context, tx *store.Tx) error { return tokens.SignOutAll(ctx, tx, f.team, f.user.ID) })
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
		_, err := f.resolve(again.Access)
		f.wantInvalid(err)
	})
}

// A session without a renewal key, from an older version, ends.
func TestSessionWithoutRenewalKeyEnds(t *testing.T) {
	eachFixture(t, func(f fixture) {
		t, s := f.t, f.open()
		if err := f.write(func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE phone_sessions SET renewal_key = NULL`)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		_, err := f.refresh(s.Refresh)
		f.wantInvalid(err)
		_, err = f.resolve(s.Access)
		f.wantInvalid(err)
	})
}

// Exchange accepts only the kind that the caller names, so that every guess at a
// code is counted.
func TestCodeIsNotASignInToken(t *testing.T) {
	eachFixture(t, func(f fixture) {
		code, err := f.code(nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.exchange(code.Text)
		f.wantInvalid(err)
		_, err = f.exchangeCode(f.signIn())
		f.wantInvalid(err)
		if _, err := f.exchangeCode(code.Text); err != nil {
			t.Error(err)
		}
	})
}

func TestSigningOut(t *testing.T) {
	eachFixture(t, func(f fixture) {
		phone, tablet := f.open(), f.open()
		var id tokens.SessionID
		out := func(text secrets.Text) {
			t.Helper()
			if err := f.write(func(ctx context.Context, tx *store.Tx) (err error) {
				id, err = tokens.SignOut(ctx, tx, text)
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		if out(phone.Refresh); id != phone.ID {
			t.Errorf("signed out %v", id)
		}
		_, err := f.resolve(phone.Access)
		f.wantInvalid(err)
		f.wantAccess(tablet.Access)
		if out(phone.Refresh); !id.IsZero() {
			t.Errorf("signed out %v again", id)
		}

		open, err := f.code(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.write(func(ctx context.Context, tx *store.Tx) error { return tokens.SignOutAll(ctx, tx, f.team, f.user.ID) }); err != nil {
			t.Fatal(err)
		}
		_, err = f.resolve(tablet.Access)
		f.wantInvalid(err)
		_, err = f.exchangeCode(open.Text)
		f.wantInvalid(err)
	})
}

func TestLimitOfPhones(t *testing.T) {
	eachFixture(t, func(f fixture) {
		var all []tokens.Session
		for range 22 {
			*f.now = f.now.Add(time.Second)
			all = append(all, f.open())
		}
		for i, s := range all {
			_, err := f.resolve(s.Access)
			if gone := errors.Is(err, tokens.ErrInvalid); gone != (i < 2) {
				t.Errorf("phone %d of %d: %v", i, len(all), err)
			}
		}
	})
}

func TestDeletedUserHasNoAccess(t *testing.T) {
	eachFixture(t, func(f fixture) {
		phone, open := f.open(), f.signIn()
		if err := f.write(func(ctx context.Context, tx *store.Tx) error { return users.Delete(ctx, tx, f.team, f.user.ID) }); err != nil {
			t.Fatal(err)
		}
		_, err := f.resolve(phone.Access)
		f.wantInvalid(err)
		_, err = f.exchange(open)
		f.wantInvalid(err)
		if _, err := f.code(nil); !fault.Is(err, fault.NotFound) {
			t.Error(err)
		}
	})
}

func TestAnotherTeamsUserIsUnknown(t *testing.T) {
	eachFixture(t, func(f fixture) {
		other := f
		other.team = userstest.Team(t, f.db).ID
		if _, err := other.code(nil); !fault.Is(err, fault.NotFound) {
			t.Error(err)
		}
		err := f.write(func(ctx context.Context, tx *store.Tx) error {
			return tokens.SignOutAll(ctx, tx, other.team, f.user.ID)
		})
		if !fault.Is(err, fault.NotFound) {
			t.Error(err)
		}
	})
}

// The tables contain hashes only.
func TestTokensAreStoredAsHashes(t *testing.T) {
	eachFixture(t, func(f fixture) {
		s := f.open()
		code, err := f.code(nil)
		if err != nil {
			t.Fatal(err)
		}
		for table, column := range map[string]string{"sign_ins": "secret_hash", "phone_sessions": "refresh_hash", "access_tokens": "token_hash"} {
			ctx := store.AsSystem(t.Context())
			if err := f.db.Read(ctx, func(tx *store.Tx) error {
				var stored []byte
				if err := tx.QueryRow(ctx, `SELECT `+column+` FROM `+table).Scan(&stored); err != nil {
					return err
				}
				for _, text := range []secrets.Text{s.Access, s.Refresh, code.Text} {
					if string(stored) == text.Reveal() {
						t.Errorf("%s contains a token", table)
					}
				}
				if len(stored) != 32 {
					t.Errorf("%s contains %d bytes", table, len(stored))
				}
				return nil
			}); err != nil {
				t.Error(err)
			}
		}
	})
}
