package users_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/patch"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

func ptr[T any](v T) *T { return &v }

// write runs fn as the team and returns its error.
func write(db *store.DB, team teams.ID, fn func(ctx context.Context, tx *store.Tx) error) error {
	ctx := store.WithTeam(context.Background(), team.UUID())
	return db.Write(ctx, func(tx *store.Tx) error { return fn(ctx, tx) })
}

func get(tb testing.TB, db *store.DB, team teams.ID, id users.ID) (user users.User, err error) {
	tb.Helper()
	err = write(db, team, func(ctx context.Context, tx *store.Tx) (err error) {
		user, err = users.Get(ctx, tx, team, id)
		return err
	})
	return user, err
}

func wantFault(t *testing.T, err error, kind fault.Kind, text string) {
	t.Helper()
	if !fault.Is(err, kind) || !strings.Contains(err.Error(), text) {
		t.Errorf("error %v, want kind %d with %q", err, kind, text)
	}
}

func TestCreateAndGet(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := userstest.Team(t, db).ID
		bare := userstest.New(t, db, team, users.NewUser{ClientUserID: "bare"})
		full := userstest.New(t, db, team, users.NewUser{
			ClientUserID: "full", TimeZone: ptr("Europe/Helsinki"), BirthDate: ptr(civil.MustParse("1984-12-10")),
			IngestionStart: ptr(civil.MustParse("2026-01-01")), IngestionEnd: ptr(civil.MustParse("2026-01-01")),
		})
		got, err := get(t, db, team, bare.ID)
		if err != nil || got.ClientUserID != "bare" || got.TimeZone != nil || got.BirthDate != nil || got.IngestionStart != nil || !got.CreatedOn.Equal(bare.CreatedOn) {
			t.Errorf("bare user read back as %+v, %v", got, err)
		}
		got, err = get(t, db, team, full.ID)
		if err != nil {
			t.Fatal(err)
		}
		if got.TimeZone.Name != "Europe/Helsinki" || got.TimeZone.SourceSlug != users.Manual || !got.TimeZone.UpdatedAt.Equal(full.CreatedOn) {
			t.Errorf("time zone %+v", got.TimeZone)
		}
		if got.BirthDate.Value.String() != "1984-12-10" || got.BirthDate.SourceSlug != users.Manual || !got.BirthDate.UpdatedAt.Equal(full.CreatedOn) {
			t.Errorf("birth date %+v", got.BirthDate)
		}
		if got.IngestionStart.String() != "2026-01-01" || got.IngestionEnd.String() != "2026-01-01" {
			t.Errorf("bounds %v %v", got.IngestionStart, got.IngestionEnd)
		}
	})
}

func TestBirthDateIsSealed(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := userstest.Team(t, db).ID
		user := userstest.New(t, db, team, users.NewUser{BirthDate: ptr(civil.MustParse("1984-12-10"))})
		var stored []byte
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			return tx.QueryRow(ctx, `SELECT birth_date FROM users WHERE user_id = $1`, user.ID).Scan(&stored)
		})
		if len(stored) == 0 || strings.Contains(string(stored), "1984") {
			t.Errorf("stored as %q", stored)
		}
	})
}

func TestCreateRefusesTakenClientUserID(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team, other := userstest.Team(t, db).ID, userstest.Team(t, db).ID
		holder := userstest.New(t, db, team, users.NewUser{ClientUserID: "same"})
		err := write(db, team, func(ctx context.Context, tx *store.Tx) error {
			_, err := users.Create(ctx, tx, team, users.NewUser{ClientUserID: "same"})
			return err
		})
		var taken *users.TakenError
		if !errors.As(err, &taken) || taken.User != holder.ID || !taken.CreatedOn.Equal(holder.CreatedOn) || !fault.Is(err, fault.Refused) {
			t.Errorf("error %#v", err)
		}
		userstest.New(t, db, other, users.NewUser{ClientUserID: "same"})
		userstest.New(t, db, team, users.NewUser{ClientUserID: "Same"}) // byte for byte
		if n := count(t, db, team); n != 2 {
			t.Errorf("count %d after a refused creation, want 2", n)
		}
	})
}

func TestCreateRules(t *testing.T) {
	day := func(s string) *civil.Date { return ptr(civil.MustParse(s)) }
	cases := []struct {
		rule string
		user users.NewUser
		loc  string
	}{
		{"no client_user_id", users.NewUser{}, "body.client_user_id"},
		{"257 characters", users.NewUser{ClientUserID: strings.Repeat("ä", 257)}, "body.client_user_id"},
		{"NUL", users.NewUser{ClientUserID: "a\x00b"}, "body.client_user_id"},
		{"not UTF-8", users.NewUser{ClientUserID: "a\xff"}, "body.client_user_id"},
		{"no such zone", users.NewUser{ClientUserID: "a", TimeZone: ptr("Mars/Olympus")}, "body.fallback_time_zone: Value error, Invalid IANA time zone: Mars/Olympus"},
		{"empty zone", users.NewUser{ClientUserID: "a", TimeZone: ptr("")}, "body.fallback_time_zone"},
		{"zone of the machine", users.NewUser{ClientUserID: "a", TimeZone: ptr("Local")}, "body.fallback_time_zone"},
		{"born tomorrow and a half", users.NewUser{ClientUserID: "a", BirthDate: day("2100-01-01")}, "body.fallback_birth_date"},
		{"ends before it starts", users.NewUser{ClientUserID: "a", IngestionStart: day("2026-01-02"), IngestionEnd: day("2026-01-01")}, "body.ingestion_end"},
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := userstest.Team(t, db).ID
		for _, c := range cases {
			t.Run(c.rule, func(t *testing.T) {
				err := write(db, team, func(ctx context.Context, tx *store.Tx) error {
					_, err := users.Create(ctx, tx, team, c.user)
					return err
				})
				wantFault(t, err, fault.Invalid, c.loc)
			})
		}
		if n := count(t, db, team); n != 0 {
			t.Errorf("refused creations left %d users", n)
		}
		userstest.New(t, db, team, users.NewUser{ClientUserID: strings.Repeat("ä", 256), TimeZone: ptr("UTC")})
	})
}

func TestOtherTeamsUserIsUnknown(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		mine, theirs := userstest.Team(t, db).ID, userstest.Team(t, db).ID
		user := userstest.New(t, db, theirs, users.NewUser{ClientUserID: "x"})
		unknown := ids.FromUUID[users.User](uuid.New())
		for name, call := range map[string]func(context.Context, *store.Tx, users.ID) error{
			"get": func(ctx context.Context, tx *store.Tx, id users.ID) error {
				_, err := users.Get(ctx, tx, mine, id)
				return err
			},
			"exists": func(ctx context.Context, tx *store.Tx, id users.ID) error { return users.Exists(ctx, tx, mine, id) },
			"change": func(ctx context.Context, tx *store.Tx, id users.ID) error {
				_, err := users.Change(ctx, tx, mine, id, users.Update{ClientUserID: patch.Set("y")})
				return err
			},
			"delete": func(ctx context.Context, tx *store.Tx, id users.ID) error { return users.Delete(ctx, tx, mine, id) },
			"undo": func(ctx context.Context, tx *store.Tx, id users.ID) error {
				return users.UndoDelete(ctx, tx, mine, users.Ref{ID: &id})
			},
			"info": func(ctx context.Context, tx *store.Tx, id users.ID) error {
				_, err := users.LatestInfo(ctx, tx, mine, id)
				return err
			},
			"put info": func(ctx context.Context, tx *store.Tx, id users.ID) error {
				_, err := users.PutInfo(ctx, tx, mine, id, userstest.Info())
				return err
			},
			"portal link": func(ctx context.Context, tx *store.Tx, id users.ID) error {
				_, err := users.CreatePortalLink(ctx, tx, mine, id, users.Launch, nil)
				return err
			},
		} {
			t.Run(name, func(t *testing.T) {
				foreign := write(db, mine, func(ctx context.Context, tx *store.Tx) error { return call(ctx, tx, user.ID) })
				none := write(db, mine, func(ctx context.Context, tx *store.Tx) error { return call(ctx, tx, unknown) })
				if !fault.Is(foreign, fault.NotFound) || foreign.Error() != none.Error() {
					t.Errorf("foreign: %v, unknown: %v", foreign, none)
				}
			})
		}
	})
}

func TestChangeOfAbsentNullAndSetFields(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := userstest.Team(t, db).ID
		user := userstest.New(t, db, team, users.NewUser{
			TimeZone: ptr("UTC"), BirthDate: ptr(civil.MustParse("1984-12-10")), IngestionStart: ptr(civil.MustParse("2026-01-05")),
		})
		change := func(u users.Update) (users.User, error) {
			err := write(db, team, func(ctx context.Context, tx *store.Tx) error {
				_, err := users.Change(ctx, tx, team, user.ID, u)
				return err
			})
			got, readErr := get(t, db, team, user.ID)
			return got, errors.Join(err, readErr)
		}
		got, err := change(users.Update{IngestionEnd: patch.Set(civil.MustParse("2026-02-01"))})
		if err != nil || got.TimeZone == nil || got.BirthDate == nil || got.IngestionStart == nil || got.IngestionEnd.String() != "2026-02-01" {
			t.Errorf("absent fields changed: %+v, %v", got, err)
		}
		got, err = change(users.Update{TimeZone: patch.Null[string](), BirthDate: patch.Null[civil.Date](), IngestionStart: patch.Null[civil.Date]()})
		if err != nil || got.TimeZone != nil || got.BirthDate != nil || got.IngestionStart != nil || got.IngestionEnd == nil {
			t.Errorf("null did not clear: %+v, %v", got, err)
		}
		got, err = change(users.Update{TimeZone: patch.Set("Asia/Tokyo"), BirthDate: patch.Set(civil.MustParse("1990-01-01")), ClientUserID: patch.Set("renamed")})
		if err != nil || got.TimeZone.Name != "Asia/Tokyo" || got.BirthDate.Value.String() != "1990-01-01" || got.ClientUserID != "renamed" {
			t.Errorf("values not set: %+v, %v", got, err)
		}
		_, err = change(users.Update{IngestionStart: patch.Set(civil.MustParse("2026-02-02"))})
		wantFault(t, err, fault.Invalid, "body.ingestion_end")
		for _, nothing := range []users.Update{{}, {ClientUserID: patch.Null[string]()}} {
			same, err := change(nothing)
			if err != nil || same.ClientUserID != "renamed" || same.TimeZone.Name != "Asia/Tokyo" {
				t.Errorf("an update without a value changed the user: %+v, %v", same, err)
			}
		}
		_, err = change(users.Update{ClientUserID: patch.Set("")})
		wantFault(t, err, fault.Invalid, "body.client_user_id")
		userstest.New(t, db, team, users.NewUser{ClientUserID: "held"})
		_, err = change(users.Update{ClientUserID: patch.Set("held")})
		wantFault(t, err, fault.Conflict, "Client user id already exists")
		if got, err = change(users.Update{ClientUserID: patch.Set("renamed")}); err != nil || got.ClientUserID != "renamed" {
			t.Errorf("setting the same value again: %+v, %v", got, err)
		}
	})
}

func TestResolveAndLookup(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := userstest.Team(t, db).ID
		user := userstest.New(t, db, team, users.NewUser{ClientUserID: "a/b c?"})
		lookalike := userstest.New(t, db, team, users.NewUser{ClientUserID: uuid.NewString()})
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			for name, want := range map[string]users.ID{"a/b c?": user.ID, user.ID.String(): user.ID, lookalike.ClientUserID: lookalike.ID} {
				if got, err := users.Lookup(ctx, tx, team, name); err != nil || got.ID != want {
					t.Errorf("Lookup(%q) = %v, %v", name, got.ID, err)
				}
			}
			_, err := users.Resolve(ctx, tx, team, "A/B C?")
			wantFault(t, err, fault.NotFound, "User not found")
			return nil
		})
	})
}

func count(tb testing.TB, db *store.DB, team teams.ID) (n int64) {
	tb.Helper()
	userstest.Read(tb, db, func(ctx context.Context, tx *store.Tx) (err error) {
		n, err = users.Count(ctx, tx, team)
		return err
	})
	return n
}

func TestConcurrentCreation(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := userstest.Team(t, db).ID
		const writers, each = 16, 20
		var created, refused sync.Map
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range each {
					name := fmt.Sprintf("shared-%d", i) // every writer tries every name
					err := write(db, team, func(ctx context.Context, tx *store.Tx) error {
						_, err := users.Create(ctx, tx, team, users.NewUser{ClientUserID: name})
						return err
					})
					var taken *users.TakenError
					switch {
					case err == nil:
						if _, duplicate := created.LoadOrStore(name, true); duplicate {
							t.Errorf("%s created twice", name)
						}
					case errors.As(err, &taken):
						refused.Store(fmt.Sprint(w, name), true)
					default:
						t.Errorf("creating %s: %v", name, err)
					}
				}
			})
		}
		wg.Wait()
		if n := count(t, db, team); n != each {
			t.Errorf("count %d, want %d", n, each)
		}
	})
}

// A value that stays the same keeps its time, and the user has no event of it.
func TestUpdatedAtIsTheTimeOfTheChange(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	storetest.EachAt(t, func() time.Time { return now }, func(t *testing.T, db *store.DB) {
		team := userstest.Team(t, db).ID
		day := civil.MustParse("1990-01-02")
		user := userstest.New(t, db, team, users.NewUser{TimeZone: ptr("UTC"), BirthDate: &day})
		latest := func() int64 {
			n, err := events.LatestNumber(store.WithTeam(t.Context(), team.UUID()), db, team.UUID())
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		created, seq := now, latest()
		now = now.Add(time.Hour)
		change := func(u users.Update) {
			userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
				_, err := users.Change(ctx, tx, team, user.ID, u)
				return err
			})
		}
		change(users.Update{TimeZone: patch.Set("UTC"), BirthDate: patch.Set(day), ClientUserID: patch.Set(user.ClientUserID)})
		if got, _ := get(t, db, team, user.ID); !got.TimeZone.UpdatedAt.Equal(created) || !got.BirthDate.UpdatedAt.Equal(created) || latest() != seq {
			t.Errorf("the same values: %+v, %+v, %d events", got.TimeZone, got.BirthDate, latest()-seq)
		}
		change(users.Update{TimeZone: patch.Set("Asia/Tokyo")})
		if got, _ := get(t, db, team, user.ID); !got.TimeZone.UpdatedAt.Equal(now) || !got.BirthDate.UpdatedAt.Equal(created) || !got.CreatedOn.Equal(user.CreatedOn) {
			t.Errorf("updated at %v and %v, created %v", got.TimeZone.UpdatedAt, got.BirthDate.UpdatedAt, got.CreatedOn)
		}
	})
}
