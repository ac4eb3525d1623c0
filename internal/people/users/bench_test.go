package users_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// These benchmarks create and read users from 64 goroutines, on SQLite as in
// production, except for the last fsync:
//
//	go test ./internal/people/users -run xxx -bench . -benchtime 3s
func BenchmarkCreate(b *testing.B) {
	db := storetest.SQLite(b)
	team := userstest.Team(b, db).ID
	ctx := store.WithTeam(context.Background(), team.UUID())
	var n atomic.Int64
	b.SetParallelism(64)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			name := fmt.Sprintf("bench-%d", n.Add(1))
			err := db.Write(ctx, func(tx *store.Tx) error {
				_, err := users.Create(ctx, tx, team, users.NewUser{ClientUserID: name})
				return err
			})
			if err != nil {
				b.Error(err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "users/s")
}

func BenchmarkGet(b *testing.B) {
	db := storetest.SQLite(b)
	team := userstest.Team(b, db).ID
	ids := fill(b, db, team, 10_000)
	ctx := store.WithTeam(context.Background(), team.UUID())
	var n atomic.Int64
	b.SetParallelism(64)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			id := ids[int(n.Add(7919))%len(ids)]
			err := db.Read(ctx, func(tx *store.Tx) error {
				_, err := users.Get(ctx, tx, team, id)
				return err
			})
			if err != nil {
				b.Error(err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "users/s")
}

func BenchmarkListDeep(b *testing.B) {
	db := storetest.SQLite(b)
	team := userstest.Team(b, db).ID
	fill(b, db, team, 100_000)
	for _, offset := range []int64{0, 50_000, 99_900} {
		b.Run(fmt.Sprint(offset), func(b *testing.B) {
			for b.Loop() {
				if page := list(b, db, team, offset, 100); len(page.Users) != 100 {
					b.Fatal("short page")
				}
			}
		})
	}
}

// BenchmarkFirstSearch measures a team's first search by name. It searches 50,000 people
// whose keys the process has not read yet. Use -benchtime 1x.
func BenchmarkFirstSearch(b *testing.B) {
	d := storetest.NewSQLite(b)
	for range b.N {
		b.StopTimer()
		db := d.Open(b, nil)
		team := userstest.Team(b, db).ID
		userstest.Write(b, db, func(ctx context.Context, tx *store.Tx) error {
			for i := range 50_000 {
				user, err := users.Create(ctx, tx, team, users.NewUser{ClientUserID: fmt.Sprint("first-", i)})
				if err != nil {
					return err
				}
				info := userstest.Info()
				info.LastName = fmt.Sprint("Example", i)
				if _, err := users.PutInfo(ctx, tx, team, user.ID, info); err != nil {
					return err
				}
			}
			return nil
		})
		cold := d.Open(b, nil)
		b.StartTimer()
		userstest.Read(b, cold, func(ctx context.Context, tx *store.Tx) error {
			found, err := users.Search(ctx, tx, team, "example49999")
			if len(found) != 1 {
				b.Errorf("found %d", len(found))
			}
			return err
		})
	}
}
