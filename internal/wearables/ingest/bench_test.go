package ingest_test

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/ingest"
	"hale/internal/wearables/storage"
)

func benchEach(b *testing.B, fn func(b *testing.B, db *store.DB, in *ingest.Ingester, user users.User, ctx context.Context)) {
	for name, database := range map[string]func(testing.TB) storetest.Database{"sqlite": storetest.NewSQLite, "postgres": storetest.NewPostgres} {
		b.Run(name, func(b *testing.B) {
			db := database(b).Open(b, clock)
			team := userstest.Team(b, db)
			user := userstest.New(b, db, team.ID, users.NewUser{})
			fn(b, db, ingest.New(db), user, store.WithTeam(context.Background(), team.ID.UUID()))
		})
	}
}

func mustIngest(b *testing.B, in *ingest.Ingester, ctx context.Context, user users.User, batch wearables.Batch) {
	batch.Provider = "apple_health_kit"
	if _, err := in.Ingest(ctx, user, batch); err != nil {
		b.Fatal(err)
	}
}

// minutes returns n heart rates, one a minute, along a daily wave.
func minutes(from time.Time, n int) wearables.Samples {
	values := make([]float64, n)
	for i := range values {
		values[i] = math.Round(70 - 12*math.Cos(2*math.Pi*float64(i)/1440) + 3*math.Sin(float64(i*i)))
	}
	return heartRates(from, values...)
}

// BenchmarkOneSample stores one new sample after another, as a watch sends them. Each has
// an event and its own transaction.
func BenchmarkOneSample(b *testing.B) {
	benchEach(b, func(b *testing.B, _ *store.DB, in *ingest.Ingester, user users.User, ctx context.Context) {
		i := 0
		for b.Loop() {
			one := heartRates(day.Add(time.Duration(i%1440)*time.Minute), float64(40+i%97))
			mustIngest(b, in, ctx, user, wearables.Batch{Stage: wearables.Daily, Samples: []wearables.Samples{one}})
			i++
		}
	})
}

// BenchmarkDays stores whole new days with one sample a minute, without events.
func BenchmarkDays(b *testing.B) {
	benchEach(b, func(b *testing.B, _ *store.DB, in *ingest.Ingester, user users.User, ctx context.Context) {
		i, samples := 0, minutes(day, 1440)
		for b.Loop() {
			s := samples
			s.Time = slices.Clone(samples.Time)
			for k := range s.Time { // 24 years, then other values
				s.Time[k] -= int64(i%9000) * 86_400_000_000
			}
			if i++; i%9000 == 0 {
				samples.Value = append(samples.Value[1:], samples.Value[0])
			}
			mustIngest(b, in, ctx, user, wearables.Batch{Stage: wearables.Historical, Samples: []wearables.Samples{s}})
		}
		b.ReportMetric(float64(b.N)*1440/b.Elapsed().Seconds(), "samples/s")
	})
}

// BenchmarkMonth reads 30 days of one sample a minute and writes their JSON.
func BenchmarkMonth(b *testing.B) {
	benchEach(b, func(b *testing.B, db *store.DB, in *ingest.Ingester, user users.User, ctx context.Context) {
		const n = 30 * 1440
		mustIngest(b, in, ctx, user, wearables.Batch{Stage: wearables.Historical, Samples: []wearables.Samples{minutes(day.AddDate(0, 0, -30), n)}})
		var took []time.Duration
		var body []byte
		for b.Loop() {
			start := b.Elapsed()
			var groups []wearables.Samples
			err := db.Read(ctx, func(tx *store.Tx) (err error) {
				groups, _, err = storage.ListSamples(ctx, tx, user.Team.UUID(), user.ID.UUID(),
					storage.SamplesQuery{Resource: "heartrate", To: clock().UnixMicro()})
				return err
			})
			if err != nil || groups[0].Len() != n {
				b.Fatalf("%v", err)
			}
			body = wearables.AppendAll(body[:0], groups)
			took = append(took, b.Elapsed()-start)
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms-p99")
		b.ReportMetric(float64(len(body))/1e6, "MB")
	})
}

// BenchmarkDayAmongWorkouts reads one day of a person with a thousand
// workouts, each of which is a series.
func BenchmarkDayAmongWorkouts(b *testing.B) {
	benchEach(b, func(b *testing.B, db *store.DB, in *ingest.Ingester, user users.User, ctx context.Context) {
		var all []wearables.Samples
		for i := range 1000 {
			id := uuid.New()
			s := heartRates(day.AddDate(0, 0, -i), 5, 6, 7)
			s.Resource, s.Source.WorkoutID = "workout_distance", &id
			all = append(all, s)
		}
		mustIngest(b, in, ctx, user, wearables.Batch{Stage: wearables.Historical, Samples: all})
		for b.Loop() {
			err := db.Read(ctx, func(tx *store.Tx) error {
				groups, _, err := storage.ListSamples(ctx, tx, user.Team.UUID(), user.ID.UUID(),
					storage.SamplesQuery{Resource: "workout_distance", From: day.UnixMicro(), To: clock().UnixMicro()})
				if len(groups) != 1 {
					b.Fatal(len(groups))
				}
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}
