// Package sheettest imports files in tests, and reads the samples that they stored.
package sheettest

import (
	"bytes"
	"context"
	"testing"
	"time"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/sheet"
	"hale/internal/wearables/ingest"
	"hale/internal/wearables/storage"
)

// User creates a user of a new team. An empty zone sets no fallback time zone.
func User(tb testing.TB, db *store.DB, zone string) users.User {
	tb.Helper()
	var n users.NewUser
	if zone != "" {
		n.TimeZone = &zone
	}
	return userstest.New(tb, db, userstest.Team(tb, db).ID, n)
}

// Run imports a file. The data of a new user is historical. Run fails the test if the
// kind does not accept the file or the import returns an error.
func Run(tb testing.TB, db *store.DB, kind files.Kind, user users.User, path string) *files.Outcome {
	tb.Helper()
	if err := kind.Check(path, 0); err != nil {
		tb.Fatalf("not recognised: %v", err)
	}
	outcome, err := kind.Run(filestest.Context(user), Input(db, user, path))
	if err != nil {
		tb.Fatal(err)
	}
	return outcome
}

// Input returns the input that the import job gives a reader.
func Input(db *store.DB, user users.User, path string) files.Input {
	return files.Input{
		Path: path, DB: db, User: user,
		Sink: ingest.New(db),
		Stage: func(ctx context.Context, provider string) (stage wearables.Stage, err error) {
			err = db.Read(ctx, func(tx *store.Tx) error {
				run, err := connections.Run(ctx, tx, user, provider)
				stage = wearables.Historical
				if run != "" {
					stage = wearables.Daily
				}
				return err
			})
			return stage, err
		},
	}
}

// Series returns all samples of a user.
func Series(tb testing.TB, db *store.DB, user users.User) []wearables.Samples {
	tb.Helper()
	ctx := filestest.Context(user)
	var all []wearables.Samples
	err := db.Read(ctx, func(tx *store.Tx) error {
		all = nil
		list, err := storage.SeriesOf(ctx, tx, user.Team.UUID(), user.ID.UUID(), "")
		if err != nil {
			return err
		}
		for _, s := range list {
			var samples wearables.Samples
			if err := storage.ReadSeries(ctx, tx, s, 0, 1<<60, &samples); err != nil {
				return err
			}
			all = append(all, samples)
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

// Find returns the first series of a resource, sample type and source type. It fails the
// test if there is none.
func Find(tb testing.TB, all []wearables.Samples, resource, sampleType, sourceType string) wearables.Samples {
	tb.Helper()
	for _, s := range all {
		if s.Resource == resource && s.Type == sampleType && s.Source.Type == sourceType {
			return s
		}
	}
	tb.Fatalf("no series %s %s of %s", resource, sampleType, sourceType)
	return wearables.Samples{}
}

// GatheredData holds the result of one reading, without a database.
type GatheredData struct {
	Report  files.Report
	Samples []wearables.Samples
	Err     error // a fault of the file; others end the test
}

// Gather reads a text export, for a user with a fallback zone or none.
func Gather(tb testing.TB, read func(context.Context, *sheet.Document) error, zone *time.Location, content []byte) *GatheredData {
	tb.Helper()
	g := &GatheredData{}
	g.Err = read(context.Background(), &sheet.Document{
		File: bytes.NewReader(content), Zone: zone, Report: &g.Report,
		Keep: func(_ context.Context, s []wearables.Samples) error { g.Samples = append(g.Samples, s...); return nil },
	})
	if g.Err != nil && fault.KindOf(g.Err) != fault.Unprocessable {
		tb.Fatal(g.Err)
	}
	return g
}

// Check checks the invariants of every reading, and counts the gathered samples.
func (g *GatheredData) Check(tb testing.TB) (samples int64) {
	tb.Helper()
	for _, s := range g.Samples {
		samples += int64(s.Len())
		if s.Len() == 0 || len(s.Value) != s.Len() || len(s.Offset) != s.Len() || len(s.End) != 0 && len(s.End) != s.Len() {
			tb.Fatalf("columns of %s differ", s.Resource)
		}
	}
	if g.Report.Mapped > g.Report.Records {
		tb.Fatalf("%d of %d records", g.Report.Mapped, g.Report.Records)
	}
	return samples
}
