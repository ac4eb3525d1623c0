// Package userstest builds teams and users for tests of any domain.
package userstest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"hale/internal/people/users"
	"hale/internal/people/users/person"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Team creates a sandbox team.
func Team(tb testing.TB, db *store.DB) teams.Team {
	tb.Helper()
	var team teams.Team
	Write(tb, db, func(ctx context.Context, tx *store.Tx) (err error) {
		team, err = teams.Create(ctx, tx, "Test team", teams.Sandbox)
		return err
	})
	return team
}

var serial atomic.Int64

// New creates a user of the team. It replaces an empty client_user_id by a unique
// one.
func New(tb testing.TB, db *store.DB, team teams.ID, n users.NewUser) users.User {
	tb.Helper()
	if n.ClientUserID == "" {
		n.ClientUserID = fmt.Sprintf("user-%d", serial.Add(1))
	}
	var user users.User
	Write(tb, db, func(ctx context.Context, tx *store.Tx) (err error) {
		user, err = users.Create(ctx, tx, team, n)
		return err
	})
	return user
}

// Info returns valid demographics.
func Info() users.Info {
	return users.Info{
		FirstName: "Ada", LastName: "Byron", Email: "ada@example.org", PhoneNumber: "+14155550132", Gender: "female",
		BirthDate: civil.MustParse("1984-12-10"),
		Address:   person.Address{FirstLine: "1 Main Street", City: "Springfield", State: "IL", Zip: "62704", Country: person.US},
	}
}

// WithInfo stores demographics of a user.
func WithInfo(tb testing.TB, db *store.DB, user users.User, info users.Info) {
	tb.Helper()
	Write(tb, db, func(ctx context.Context, tx *store.Tx) error {
		_, err := users.PutInfo(ctx, tx, user.Team, user.ID, info)
		return err
	})
}

// Write runs fn as the system and fails the test if fn fails.
func Write(tb testing.TB, db *store.DB, fn func(ctx context.Context, tx *store.Tx) error) {
	tb.Helper()
	ctx := store.AsSystem(context.Background())
	if err := db.Write(ctx, func(tx *store.Tx) error { return fn(ctx, tx) }); err != nil {
		tb.Fatal(err)
	}
}

// Read runs fn in a read transaction as the system, and fails the test if fn fails.
func Read(tb testing.TB, db *store.DB, fn func(ctx context.Context, tx *store.Tx) error) {
	tb.Helper()
	ctx := store.AsSystem(context.Background())
	if err := db.Read(ctx, func(tx *store.Tx) error { return fn(ctx, tx) }); err != nil {
		tb.Fatal(err)
	}
}
