package users_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

var birthDate = civil.MustParse("1984-12-10") // as in userstest.Info

func bornOn(date civil.Date) users.Proof { return users.Proof{BirthDate: &date} }

func acceptBirthDate(tb testing.TB, db *store.DB, id teams.ID) {
	tb.Helper()
	userstest.Write(tb, db, func(ctx context.Context, tx *store.Tx) error {
		team, err := teams.Get(ctx, tx, id)
		if err != nil {
			return err
		}
		team.Settings.PortalBirthDate = true
		return teams.Update(ctx, tx, team)
	})
}

func createCode(db *store.DB, token secrets.Text) (code users.NewCode, err error) {
	ctx := store.AsSystem(context.Background())
	err = db.Write(ctx, func(tx *store.Tx) (err error) {
		code, err = users.CreateCode(ctx, tx, token, users.CodeByEmail)
		return err
	})
	return code, err
}

func mustCreateCode(tb testing.TB, db *store.DB, token secrets.Text) users.Proof {
	tb.Helper()
	code, err := createCode(db, token)
	if err != nil {
		tb.Fatal(err)
	}
	return users.Proof{Code: code.Digits}
}

// wrongCode returns a code other than the right one. n distinguishes several.
func wrongCode(right users.Proof, n int) users.Proof {
	number, err := strconv.Atoi(right.Code.Reveal())
	if err != nil {
		panic(err)
	}
	return users.Proof{Code: secrets.Text(fmt.Sprintf("%06d", (number+n)%1_000_000))}
}

func wantRefusal(tb testing.TB, entry users.Entry, err error, refusal users.Refusal, left int64) {
	tb.Helper()
	if err != nil || entry.Refusal != refusal || entry.TriesLeft != left || entry.Session != "" || entry.Device != "" {
		tb.Errorf("refusal %q with %d tries left, %v; want %q with %d", entry.Refusal, entry.TriesLeft, err, refusal, left)
	}
}

func TestNewDeviceNeedsCode(t *testing.T) {
	clk := newClock()
	storetest.EachAt(t, clk.Now, func(t *testing.T, db *store.DB) {
		user := patient(t, db)
		made := link(t, db, user, users.Communications)
		entry, err := enter(db, made.Token, "", users.Proof{})
		wantRefusal(t, entry, err, users.NeedsCheck, 0)
		entry, err = enter(db, made.Token, "", users.Proof{Code: "123456"})
		wantRefusal(t, entry, err, users.CodeOver, 0)

		code, err := createCode(db, made.Token)
		if err != nil || len(code.Digits.Reveal()) != 6 || !code.ExpiresOn.Equal(clk.Now().Add(10*time.Minute)) {
			t.Fatalf("%d digits until %v, %v", len(code.Digits.Reveal()), code.ExpiresOn, err)
		}
		right := users.Proof{Code: code.Digits}
		entry, err = enter(db, made.Token, "", wrongCode(right, 1))
		wantRefusal(t, entry, err, users.WrongCode, 4)
		first, err := enter(db, made.Token, "", right)
		if err != nil || first.Session == "" || first.Device == "" || first.Refusal != "" {
			t.Fatalf("right code: %+v, %v", first, err)
		}
		entry, err = enter(db, made.Token, "", right)
		wantRefusal(t, entry, err, users.CodeOver, 0)

		clk.Advance(13 * 24 * time.Hour)
		again, err := enter(db, made.Token, first.Device, users.Proof{})
		if err != nil || again.Session == "" || again.Device != "" {
			t.Errorf("known device: %+v, %v", again, err)
		}
		for name, made := range map[string]users.PortalLink{
			"another link": link(t, db, user, users.Communications), "another person's link": link(t, db, patient(t, db), users.Communications),
		} {
			if entry, err := enter(db, made.Token, first.Device, users.Proof{}); err != nil || entry.Refusal != users.NeedsCheck {
				t.Errorf("the device is known to %s: %+v, %v", name, entry, err)
			}
		}
		clk.Advance(24 * time.Hour)
		_, err = enter(db, made.Token, first.Device, users.Proof{})
		wantFault(t, err, fault.NotFound, "This link cannot be used")
	})
}

func TestForgedDevices(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		made := link(t, db, patient(t, db), users.Communications)
		first, err := enter(db, made.Token, "", mustCreateCode(t, db, made.Token))
		if err != nil || first.Device == "" {
			t.Fatalf("%+v, %v", first, err)
		}
		device := first.Device.Reveal()
		for _, forged := range []string{"", "x", "AA", device[:len(device)-2], device + "AA", "B" + device[1:], made.Token.Reveal()} {
			entry, err := enter(db, made.Token, secrets.Text(forged), users.Proof{})
			wantRefusal(t, entry, err, users.NeedsCheck, 0)
		}
	})
}

func TestCodeExpires(t *testing.T) {
	clk := newClock()
	storetest.EachAt(t, clk.Now, func(t *testing.T, db *store.DB) {
		user := patient(t, db)
		for _, c := range []struct {
			after   time.Duration
			refusal users.Refusal
		}{{users.CodeLifetime - time.Second, ""}, {users.CodeLifetime, users.CodeOver}} {
			made := link(t, db, user, users.Communications)
			right := mustCreateCode(t, db, made.Token)
			clk.Advance(c.after)
			if entry, err := enter(db, made.Token, "", right); err != nil || entry.Refusal != c.refusal {
				t.Errorf("after %v: %q, %v", c.after, entry.Refusal, err)
			}
			clk.Advance(time.Minute)
		}
	})
}

// Of simultaneous guesses at any node, five are judged. The link survives: the
// person gets a new code, and only that one works.
func TestFiveWrongCodesEndTheCode(t *testing.T) {
	clk := newClock()
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		nodes := []*store.DB{d.Open(t, clk.Now), d.Open(t, clk.Now)}
		db := nodes[0]
		made := link(t, db, patient(t, db), users.Communications)
		right := mustCreateCode(t, db, made.Token)
		var judged, over atomic.Int64
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				entry, err := enter(nodes[i%2], made.Token, "", wrongCode(right, i+1))
				switch {
				case err == nil && entry.Refusal == users.WrongCode:
					judged.Add(1)
				case err == nil && entry.Refusal == users.CodeOver:
					over.Add(1)
				default:
					t.Errorf("guess %d: %+v, %v", i, entry, err)
				}
			})
		}
		wg.Wait()
		if judged.Load() != 5 || over.Load() != 15 {
			t.Errorf("%d guesses judged, %d not", judged.Load(), over.Load())
		}
		entry, err := enter(db, made.Token, "", right)
		wantRefusal(t, entry, err, users.CodeOver, 0)

		clk.Advance(time.Minute)
		second := mustCreateCode(t, db, made.Token)
		if entry, err = enter(db, made.Token, "", right); err != nil || entry.Refusal != users.WrongCode {
			t.Errorf("the code before: %+v, %v", entry, err)
		}
		if entry, err = enter(nodes[1], made.Token, "", second); err != nil || entry.Session == "" {
			t.Errorf("the new code: %+v, %v", entry, err)
		}
	})
}

// A right code signs in once, however many requests carry it at once.
func TestCodeWorksOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		made := link(t, db, patient(t, db), users.Communications)
		right := mustCreateCode(t, db, made.Token)
		var in atomic.Int64
		var wg sync.WaitGroup
		for range 12 {
			wg.Go(func() {
				if entry, err := enter(db, made.Token, "", right); err == nil && entry.Session != "" {
					in.Add(1)
				}
			})
		}
		wg.Wait()
		if in.Load() != 1 {
			t.Errorf("%d signed in", in.Load())
		}
	})
}

// A person gets one code a minute, whichever links and nodes ask for it.
func TestOneCodeAMinute(t *testing.T) {
	clk := newClock()
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		nodes := []*store.DB{d.Open(t, clk.Now), d.Open(t, clk.Now)}
		db := nodes[0]
		user := patient(t, db)
		links := []users.PortalLink{link(t, db, user, users.Communications), link(t, db, user, users.Communications)}
		other := link(t, db, patient(t, db), users.Communications)
		var made atomic.Int64
		var wg sync.WaitGroup
		for i := range 12 {
			wg.Go(func() {
				_, err := createCode(nodes[i%2], links[i/2%2].Token)
				var early *users.CodeWaitError
				switch {
				case err == nil:
					made.Add(1)
				case !errors.As(err, &early) || !fault.Is(err, fault.TooMany) || early.RetryAfter() != 60:
					t.Errorf("%v", err)
				}
			})
		}
		wg.Wait()
		if made.Load() != 1 {
			t.Errorf("%d codes in a minute", made.Load())
		}
		if _, err := createCode(db, other.Token); err != nil {
			t.Errorf("another person: %v", err)
		}
		clk.Advance(time.Minute - 100*time.Millisecond)
		var early *users.CodeWaitError
		if _, err := createCode(db, links[0].Token); !errors.As(err, &early) || early.RetryAfter() != 1 {
			t.Errorf("%v", err)
		}
		clk.Advance(100 * time.Millisecond)
		if _, err := createCode(db, links[1].Token); err != nil {
			t.Errorf("after a minute: %v", err)
		}
	})
}

// Only wrong answers are counted, also after the right one.
func TestWrongAnswersAreCounted(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := patient(t, db)
		acceptBirthDate(t, db, user.Team)
		made := link(t, db, user, users.Communications)
		right := mustCreateCode(t, db, made.Token)
		want := int64(0)
		for _, step := range []struct {
			proof users.Proof
			wrong int64
		}{{wrongCode(right, 1), 1}, {wrongCode(right, 2), 1}, {right, 0}, {right, 0}, {bornOn(birthDate), 0}, {bornOn(civil.MustParse("1984-12-11")), 1}} {
			if _, err := enter(db, made.Token, "", step.proof); err != nil {
				t.Fatal(err)
			}
			want += step.wrong
			userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
				access, err := users.ListPortalAccess(ctx, tx, user.Team, user.ID)
				if err == nil && (len(access.Links) != 1 || access.Links[0].WrongAnswers != want) {
					t.Errorf("%+v, want %d wrong answers", access.Links, want)
				}
				return err
			})
		}
	})
}

// A corrected address ends the codes that were sent to the old one, on all links.
func TestCorrectedAddressEndsCodes(t *testing.T) {
	clk := newClock()
	storetest.EachAt(t, clk.Now, func(t *testing.T, db *store.DB) {
		for _, c := range []struct {
			name   string
			change func(*users.Info)
			ends   bool
		}{
			{"nothing", func(*users.Info) {}, false},
			{"the name", func(i *users.Info) { i.FirstName = "Augusta" }, false},
			{"the phone number, codes go by e-mail", func(i *users.Info) { i.PhoneNumber = "+14155550199" }, false},
			{"the e-mail address", func(i *users.Info) { i.Email = "countess@example.org" }, true},
		} {
			user, other := patient(t, db), patient(t, db)
			first, second, foreign := link(t, db, user, users.Communications), link(t, db, user, users.Communications), link(t, db, other, users.Communications)
			codes := map[secrets.Text]users.Proof{first.Token: mustCreateCode(t, db, first.Token), foreign.Token: mustCreateCode(t, db, foreign.Token)}
			clk.Advance(time.Minute)
			codes[second.Token] = mustCreateCode(t, db, second.Token)
			info := userstest.Info()
			c.change(&info)
			userstest.WithInfo(t, db, user, info)
			for token, code := range codes {
				entry, err := enter(db, token, "", code)
				if c.ends && token != foreign.Token {
					wantRefusal(t, entry, err, users.CodeOver, 0)
				} else if err != nil || entry.Session == "" {
					t.Errorf("%s: a code ended: %q, %v", c.name, entry.Refusal, err)
				}
			}
		}
	})
}

func TestLinkGetsTenCodes(t *testing.T) {
	clk := newClock()
	storetest.EachAt(t, clk.Now, func(t *testing.T, db *store.DB) {
		made := link(t, db, patient(t, db), users.Communications)
		for range 10 {
			mustCreateCode(t, db, made.Token)
			clk.Advance(time.Minute)
		}
		if _, err := createCode(db, made.Token); !errors.Is(err, users.ErrNoMoreCodes) {
			t.Errorf("the eleventh: %v", err)
		}
	})
}

func TestCodesOfBadLinks(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		_, err := createCode(db, "no-such-token")
		wantFault(t, err, fault.NotFound, "This link cannot be used")
		user := patient(t, db)
		made := link(t, db, user, users.Communications)
		if err := del(db, user.Team, user.ID); err != nil {
			t.Fatal(err)
		}
		_, err = createCode(db, made.Token)
		wantFault(t, err, fault.NotFound, "This link cannot be used")
	})
}

// Without the link's token, the row does not help to guess the code.
func TestCodeIsHashedAtRest(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := patient(t, db)
		made := link(t, db, user, users.Communications)
		right := mustCreateCode(t, db, made.Token)
		var stored []byte
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			return tx.QueryRow(ctx, `SELECT code_hash FROM portal_links WHERE user_id = $1`, user.ID).Scan(&stored)
		})
		if len(stored) != 32 || bytes.Equal(stored, secrets.Hash(right.Code.Reveal())) || bytes.Contains(stored, []byte(right.Code.Reveal())) {
			t.Errorf("the code is stored as %x", stored)
		}
	})
}

// The first answer to a right code may be lost when its button is pressed twice.
func TestCodeSentTwiceByOnePage(t *testing.T) {
	clk := newClock()
	storetest.EachAt(t, clk.Now, func(t *testing.T, db *store.DB) {
		made := link(t, db, patient(t, db), users.Communications)
		right := mustCreateCode(t, db, made.Token)
		page := users.NewPage()
		first, err := enterFrom(db, made.Token, "", page, right)
		if err != nil || first.Session == "" {
			t.Fatalf("%+v, %v", first, err)
		}
		entry, err := enterFrom(db, made.Token, "", page, right)
		wantRefusal(t, entry, err, users.CodeOver, 0)
		again, err := enterAgain(db, made.Token, page)
		if err != nil || again.Session != first.Session || again.Device == "" {
			t.Errorf("%+v, %v", again, err)
		}
		if entry, err = enter(db, made.Token, again.Device, users.Proof{}); err != nil || entry.Session == "" {
			t.Errorf("the device is not known: %+v, %v", entry, err)
		}
		_, err = enterAgain(db, made.Token, users.NewPage())
		wantFault(t, err, fault.NotFound, "This link cannot be used")
		clk.Advance(time.Minute + time.Second)
		_, err = enterAgain(db, made.Token, page)
		wantFault(t, err, fault.NotFound, "This link cannot be used")
	})
}

func enterAgain(db *store.DB, token, page secrets.Text) (entry users.Entry, err error) {
	ctx := store.AsSystem(context.Background())
	err = db.Read(ctx, func(tx *store.Tx) (err error) {
		entry, err = users.EnterAgain(ctx, tx, token, page)
		return err
	})
	return entry, err
}

func TestBirthDateCheckNeedsItsSwitch(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := patient(t, db)
		made := link(t, db, user, users.Communications)
		entry, err := enter(db, made.Token, "", bornOn(birthDate))
		wantRefusal(t, entry, err, users.NeedsCheck, 0)
		acceptBirthDate(t, db, user.Team)
		for left := int64(4); left >= 3; left-- {
			entry, err := enter(db, made.Token, "", bornOn(birthDate.AddDays(1)))
			wantRefusal(t, entry, err, users.WrongBirthDate, left)
		}
		first, err := enter(db, made.Token, "", bornOn(birthDate))
		if err != nil || first.Session == "" || first.Device == "" {
			t.Fatalf("right date: %+v, %v", first, err)
		}
		entry, err = enter(db, made.Token, "", bornOn(birthDate.AddDays(1)))
		wantRefusal(t, entry, err, users.WrongBirthDate, 2) // the right date gave its own try back, and no other
	})
}

// The link survives: a code opens it.
func TestFiveWrongDatesEndTheBirthDate(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := patient(t, db)
		acceptBirthDate(t, db, user.Team)
		made := link(t, db, user, users.Communications)
		var wrong, over atomic.Int64
		var wg sync.WaitGroup
		for i := range 20 { // at once, as a guesser would
			wg.Go(func() {
				entry, err := enter(db, made.Token, "", bornOn(birthDate.AddDays(i+1)))
				switch {
				case err == nil && entry.Refusal == users.BirthDateOver:
					over.Add(1)
				case err == nil && entry.Refusal == users.WrongBirthDate:
					wrong.Add(1)
				default:
					t.Errorf("guess %d: %+v, %v", i, entry, err)
				}
			})
		}
		wg.Wait()
		if wrong.Load() != 5 || over.Load() != 15 {
			t.Errorf("%d guesses judged, %d refused", wrong.Load(), over.Load())
		}
		entry, err := enter(db, made.Token, "", bornOn(birthDate))
		wantRefusal(t, entry, err, users.BirthDateOver, 0)
		if entry, err = enter(db, made.Token, "", mustCreateCode(t, db, made.Token)); err != nil || entry.Session == "" {
			t.Errorf("a right code: %+v, %v", entry, err)
		}
	})
}

// A holder of several links of one person has no more tries than of one link.
func TestWrongAnswersCountForThePerson(t *testing.T) {
	clk := newClock()
	storetest.EachAt(t, clk.Now, func(t *testing.T, db *store.DB) {
		user := patient(t, db)
		acceptBirthDate(t, db, user.Team)
		first, second := link(t, db, user, users.Communications), link(t, db, user, users.Communications)
		for left := int64(4); left >= 2; left-- {
			entry, err := enter(db, first.Token, "", bornOn(birthDate.AddDays(1)))
			wantRefusal(t, entry, err, users.WrongBirthDate, left)
		}
		for left := int64(1); left >= 0; left-- {
			entry, err := enter(db, second.Token, "", bornOn(birthDate.AddDays(1)))
			wantRefusal(t, entry, err, users.WrongBirthDate, left)
		}
		for _, made := range []users.PortalLink{first, second, link(t, db, user, users.Communications)} {
			entry, err := enter(db, made.Token, "", bornOn(birthDate))
			wantRefusal(t, entry, err, users.BirthDateOver, 0)
		}
		// The other way of the same person still works.
		right := mustCreateCode(t, db, second.Token)
		if entry, err := enter(db, second.Token, "", right); err != nil || entry.Session == "" {
			t.Errorf("a right code: %+v, %v", entry, err)
		}
	})
}
