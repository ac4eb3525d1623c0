// Package filestest imports files in tests of their readers, and reads the data that they
// left in the store.
package filestest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/ingest"
	"hale/internal/wearables/storage"
)

// Bed is a new user of a new team whose files are imported.
type Bed struct {
	tb   testing.TB
	db   *store.DB
	ctx  context.Context
	user users.User
	sink *ingest.Ingester
}

// New makes a user in the database.
func New(tb testing.TB, db *store.DB) *Bed {
	tb.Helper()
	user := userstest.New(tb, db, userstest.Team(tb, db).ID, users.NewUser{})
	return &Bed{
		tb: tb, db: db, user: user, ctx: Context(user),
		sink: ingest.New(db),
	}
}

// In gives the user a fallback zone.
func (b *Bed) In(zone string) { b.user.TimeZone = &users.TimeZone{Name: zone} }

// Import imports a file of a kind.
func (b *Bed) Import(kind files.Kind, path string) (*files.Outcome, error) {
	return kind.Run(b.ctx, files.Input{
		Path: path, DB: b.db, Sink: b.sink, User: b.user,
		Device: func(ctx context.Context, d files.Device) (id uuid.UUID, err error) {
			err = b.db.Write(ctx, func(tx *store.Tx) error {
				made, err := connections.EnsureDevice(ctx, tx, b.user, connections.Device{
					Provider: d.Provider, SourceType: d.SourceType, Manufacturer: d.Manufacturer,
					Model: d.Model, ExternalID: d.ExternalID, Version: d.Version,
				})
				id = made.UUID()
				return err
			})
			return id, err
		},
	})
}

// Workout is a stored workout as the API sends it, with its stream.
type Workout struct {
	Body   map[string]any
	Stream *wearables.Stream
}

// Workouts returns the user's workouts, ordered by their start.
func (b *Bed) Workouts() []Workout {
	b.tb.Helper()
	var all []Workout
	b.read(func(tx *store.Tx) error {
		all = nil
		stored, err := b.summaries(tx, "workouts")
		if err != nil {
			return err
		}
		for i := range stored {
			w := Workout{}
			if w.Body, err = fields(&stored[i]); err != nil {
				return err
			}
			if w.Stream, err = storage.ReadStream(b.ctx, tx, &stored[i]); err != nil {
				return err
			}
			all = append(all, w)
		}
		slices.SortFunc(all, func(x, y Workout) int {
			return cmp.Compare(fmt.Sprint(x.Body["time_start"]), fmt.Sprint(y.Body["time_start"]))
		})
		return nil
	})
	return all
}

// Summaries returns the user's summaries of a resource, as the API sends them, by day.
func (b *Bed) Summaries(resource string) []map[string]any {
	b.tb.Helper()
	return Summaries(b.tb, b.db, b.user, resource)
}

func (b *Bed) summaries(tx *store.Tx, resource string) ([]storage.StoredSummary, error) {
	return storage.ListSummaries(b.ctx, tx, b.user.Team.UUID(), b.user.ID.UUID(), storage.SummaryQuery{Resource: resource})
}

// Samples returns the user's samples of a resource. It joins all series.
func (b *Bed) Samples(resource string) wearables.Samples {
	b.tb.Helper()
	var all wearables.Samples
	b.read(func(tx *store.Tx) error {
		all = wearables.Samples{Resource: resource}
		series, err := storage.SeriesOf(b.ctx, tx, b.user.Team.UUID(), b.user.ID.UUID(), resource)
		if err != nil {
			return err
		}
		for _, s := range series {
			if err := storage.ReadSeries(b.ctx, tx, s, 0, 1<<60, &all); err != nil {
				return err
			}
		}
		return nil
	})
	return all
}

// Events counts the user's events by type.
func (b *Bed) Events() map[string]int {
	b.tb.Helper()
	return Events(b.tb, b.db, b.user)
}

func (b *Bed) read(fn func(tx *store.Tx) error) {
	b.tb.Helper()
	if err := b.db.Read(b.ctx, fn); err != nil {
		b.tb.Fatal(err)
	}
}

var update = flag.Bool("update", false, "rewrite the golden files")

// CompareGolden compares a value, as JSON, with a file in testdata.
func CompareGolden(tb testing.TB, name string, got any) {
	tb.Helper()
	raw, err := json.MarshalIndent(got, "", " ")
	if err != nil {
		tb.Fatal(err)
	}
	raw = append(raw, '\n')
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	old, now := bytes.Split(want, []byte("\n")), bytes.Split(raw, []byte("\n"))
	for i := range max(len(old), len(now)) {
		if i >= len(old) || i >= len(now) || !bytes.Equal(old[i], now[i]) {
			tb.Errorf("%s differs from line %d on:\n%s\nwant\n%s", path, i+1, joinLines(now, i), joinLines(old, i))
			return
		}
	}
}

// joinLines returns at most five lines from line i on.
func joinLines(lines [][]byte, i int) []byte {
	return bytes.Join(lines[min(i, len(lines)):min(i+5, len(lines))], []byte("\n"))
}

// Context returns a context with the scope of the user's team.
func Context(user users.User) context.Context {
	return store.WithTeam(context.Background(), user.Team.UUID())
}

// Save writes a file for a test.
func Save(tb testing.TB, content []byte) string {
	tb.Helper()
	name := filepath.Join(tb.TempDir(), "upload")
	if err := os.WriteFile(name, content, 0o600); err != nil {
		tb.Fatal(err)
	}
	return name
}

// Summaries returns a user's summaries of a resource, as the API sends them, by day.
func Summaries(tb testing.TB, db *store.DB, user users.User, resource string) []map[string]any {
	tb.Helper()
	ctx := Context(user)
	var all []map[string]any
	err := db.Read(ctx, func(tx *store.Tx) error {
		all = nil
		stored, err := storage.ListSummaries(ctx, tx, user.Team.UUID(), user.ID.UUID(), storage.SummaryQuery{Resource: resource})
		if err != nil {
			return err
		}
		for i := range stored {
			body, err := fields(&stored[i])
			if err != nil {
				return err
			}
			all = append(all, body)
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

func fields(s *storage.StoredSummary) (map[string]any, error) {
	raw, err := storage.AppendSummary(nil, s, "")
	if err != nil {
		return nil, err
	}
	var body map[string]any
	return body, json.Unmarshal(raw, &body)
}

// Events counts a user's events by type, without those about the user and about further
// resources of a connection.
func Events(tb testing.TB, db *store.DB, user users.User) map[string]int {
	tb.Helper()
	ctx := Context(user)
	counts := map[string]int{}
	err := db.Read(ctx, func(tx *store.Tx) error {
		clear(counts)
		rows, err := tx.Query(ctx, `SELECT type, COUNT(*) FROM events WHERE team_id = $1 AND user_id = $2
			AND type NOT LIKE 'user.%' AND type <> 'provider.connection.updated' GROUP BY type`, user.Team.UUID(), user.ID.UUID())
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var kind string
			var n int
			if err := rows.Scan(&kind, &n); err != nil {
				return err
			}
			counts[kind] = n
		}
		return rows.Err()
	})
	if err != nil {
		tb.Fatal(err)
	}
	return counts
}
