package sheettest

import (
	"bytes"
	"context"
	"testing"
	"time"

	"hale/internal/platform/fault"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/sheet"
)

// Gathered holds the result of one reading, without a database.
type Gathered struct {
	Report  files.Report
	Samples []wearables.Samples
	Err     error // a fault of the file; others end the test
}

// Gather reads a text export, for a user with a fallback zone or none.
func Gather(tb testing.TB, read func(context.Context, *sheet.Document) error, zone *time.Location, content []byte) *Gathered {
	tb.Helper()
	g := &Gathered{}
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
func (g *Gathered) Check(tb testing.TB) (samples int64) {
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
