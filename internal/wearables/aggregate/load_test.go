package aggregate

import (
	"context"
	"errors"
	"testing"

	"hale/internal/wearables/aggregate/query"
)

// Work on rows in memory ends when its context is canceled.
func TestWorkEndsWithItsContext(t *testing.T) {
	p := plan("day", "mean", true)
	where, _, err := query.DecodeQuery([]byte(`{"query":{"select":[{"timeseries":"heartrate","field":"value"}],"where":"value > 10"}}`), "query", "config")
	if err != nil {
		t.Fatal(err)
	}
	filtered, err := query.Compile(where)
	if err != nil {
		t.Fatal(err)
	}
	rows := []row{{at: 0, kind: "watch", value: 60}, {at: 1, kind: "phone", value: 70}}
	r := Request{Plan: p}
	f := frameOf(p, rows)
	g, err := group(t.Context(), p, f, MostResults)
	if err != nil {
		t.Fatal(err)
	}
	table, err := r.reduce(t.Context(), f, g, g.rows())
	if err != nil {
		t.Fatal(err)
	}
	p.Align = &query.Align{Mode: query.CarryForward}
	ended, end := context.WithCancel(t.Context())
	end()
	for name, work := range map[string]func(context.Context) error{
		"filter": func(ctx context.Context) error { return frameOf(filtered, rows).filter(ctx, filtered.Where) },
		"group":  func(ctx context.Context) error { _, err := group(ctx, p, f, MostResults); return err },
		"reduce": func(ctx context.Context) error { _, err := r.reduce(ctx, f, g, g.rows()); return err },
		"align":  func(ctx context.Context) error { _, err := r.align(ctx, table); return err },
	} {
		if err := work(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := work(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("%s continued: %v", name, err)
		}
	}
}
