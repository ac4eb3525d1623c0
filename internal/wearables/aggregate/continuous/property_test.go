package continuous_test

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hale/internal/people/users"
	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/aggregate"
	"hale/internal/wearables/aggregate/continuous"
	"hale/internal/wearables/aggregate/query"
)

// currentQueries are queries whose rows depend on different changes. A row depends
// on its own bucket, on the best source in it, on distant buckets, or on revised
// values.
var currentQueries = []string{
	`{"select":[{"group_key":"*"},{"func":"sum","arg":{"timeseries":"steps","field":"value"}}],
		"group_by":[{"date_trunc":{"unit":"week","value":2},"arg":{"index":"timeseries"}}]}`,
	`{"select":[{"group_key":"*"},{"func":"newest","arg":{"timeseries":"steps","field":"value"}},{"func":"count","arg":{"timeseries":"steps","field":"source_app_id"}}],
		"group_by":[{"source":"source_provider"},{"date_trunc":{"unit":"hour","value":5},"arg":{"index":"timeseries"}},{"source":"source_type"}]}`,
	`{"select":[{"group_key":"*"},{"func":"mean","arg":{"timeseries":"steps","field":"value"}}],
		"group_by":[{"date_trunc":{"unit":"day"},"arg":{"index":"timeseries"}}],"where":"value > 20",
		"align":{"carry":{"mode":"carry_nearest","span":{"unit":"week"}}}}`,
	`{"select":[{"group_key":"*"},{"func":"sum","arg":{"timeseries":"steps","field":"value"}}],
		"group_by":[{"date_trunc":{"unit":"year","value":3000},"arg":{"index":"timeseries"}}]}`,
	`{"select":[{"group_key":"*"},{"func":"max","arg":{"timeseries":"steps","field":"value"}}],
		"group_by":[{"date_trunc":{"unit":"month"},"arg":{"index":"timeseries"}},{"date_part":"weekday","arg":{"index":"timeseries"}}]}`,
}

// Data arrives late, revised, with another offset, or during a run. In the end the
// table equals a fresh run of the query, and another run finds no changes.
func TestTablesEqualAFreshQuery(t *testing.T) {
	db := storetest.NewSQLite(t).Open(t, func() time.Time { return time.Date(2026, 4, 10, 12, 0, 0, 0, time.UTC) })
	rapid.Check(t, func(rt *rapid.T) {
		r := newFixture(t, db)
		text := rapid.SampledFrom(currentQueries).Draw(rt, "query")
		q := r.create(`{"slug":"kept","title":"","query":` + text + `}`)
		for range rapid.IntRange(1, 8).Draw(rt, "changes") {
			r.drawn(rt)
			switch rapid.IntRange(0, 2).Draw(rt, "run") {
			case 0: // waits
			case 1:
				r.settle(q)
			case 2: // data comes in while it runs
				if end := continuous.Begin(r.ctx, t, db, q, r.user); end != nil {
					r.drawn(rt)
					end()
				}
			}
		}
		r.settle(q)
		got, want := r.result(q), r.fresh(q)
		if got != want {
			rt.Fatalf("%s\nthe table  %s\nasked again %s", text, got, want)
		}
		if copied := r.copied(q); copied != want {
			rt.Fatalf("%s\nthe copy  %s\nthe table %s", text, copied, want)
		}
		before := r.announced()
		if err := continuous.Backfill(r.ctx, db, r.user.Team.UUID(), q.ID); err != nil {
			rt.Fatal(err)
		}
		r.settle(q)
		if again := r.result(q); r.announced() != before || again != want {
			rt.Fatalf("a run without news announced a change, or replaced\n%s\nby\n%s", want, again)
		}
	})
}

// copied returns the table that a consumer has who applied all events about the query.
func (r *fixture) copied(q continuous.Query) string {
	r.t.Helper()
	system := store.AsSystem(r.t.Context())
	if err := (&events.Sequencer{DB: r.db}).Settle(system); err != nil {
		r.t.Fatal(err)
	}
	var feed []events.Message
	for after, more := int64(0), true; more; {
		err := r.db.Read(r.ctx, func(tx *store.Tx) error {
			page, err := events.ReadFeed(r.ctx, tx, r.user.Team.UUID(), after, events.MaxPage, []string{"continuous_query.result_table.changed"})
			feed, after, more = append(feed, page.Events...), page.Next, page.HasMore
			return err
		})
		if err != nil {
			r.t.Fatal(err)
		}
	}
	rows := map[string]*aggregate.Table{}
	keys := keysOf(q)
	keysPlan := *q.Plan()
	keysPlan.Outputs = nil
	var columns []int
	for i, key := range keys {
		keysPlan.Outputs = append(keysPlan.Outputs, q.Plan().Outputs[key])
		columns = append(columns, i)
	}
	for _, e := range feed {
		var body struct {
			Data []struct{ Data, Removed json.RawMessage }
		}
		if err := json.Unmarshal(e.Body, &body); err != nil {
			r.t.Fatal(err)
		}
		if removed := body.Data[0].Removed; removed != nil {
			t, err := aggregate.ParseTable(removed, &keysPlan)
			if err != nil {
				r.t.Fatal(err)
			}
			for row := range t.Len() {
				code := t.Code(row, columns)
				if rows[code] == nil {
					r.t.Fatalf("a removed row that was not there: %s", removed)
				}
				delete(rows, code)
			}
		}
		t, err := aggregate.ParseTable(body.Data[0].Data, q.Plan())
		if err != nil {
			r.t.Fatal(err)
		}
		for row := range t.Len() {
			rows[t.Code(row, keys)] = t.Pick([]int32{int32(row)})
		}
	}
	t := aggregate.NewEmptyTable(q.Plan())
	for _, row := range rows {
		t.Append(row)
	}
	return string(t.Sorted(keys).AppendJSON(nil, nil))
}

// settle runs the query until no time is stale.
func (r *fixture) settle(q continuous.Query) {
	for end := continuous.Begin(r.ctx, r.t, r.db, q, r.user); end != nil; end = continuous.Begin(r.ctx, r.t, r.db, q, r.user) {
		end()
	}
}

// drawn stores some samples of some source, new ones or others in their place.
func (r *fixture) drawn(rt *rapid.T) {
	provider := rapid.SampledFrom([]string{"apple_health_kit", "oura"}).Draw(rt, "provider")
	s := wearables.Samples{Resource: "steps", Source: wearables.Source{Provider: provider, Type: rapid.SampledFrom([]string{"watch", "phone"}).Draw(rt, "type")}}
	first := time.Date(2026, 1, 1, 22, 0, 0, 0, time.UTC).Add(time.Duration(rapid.SampledFrom([]int{0, 1, 2, 24, 30, 400, 1500, 2000}).Draw(rt, "hour")) * time.Hour)
	for i := range rapid.IntRange(1, 3).Draw(rt, "samples") {
		at := first.Add(time.Duration(i) * time.Hour).UnixMicro()
		s.Time, s.End = append(s.Time, at), append(s.End, at+60e6)
		s.Value = append(s.Value, float64(rapid.IntRange(10, 40).Draw(rt, "value")))
		s.Offset = append(s.Offset, rapid.SampledFrom([]int32{0, 7200, -36000, 50400}).Draw(rt, "offset"))
	}
	if _, err := r.in.Ingest(r.ctx, r.user, wearables.Batch{Provider: provider, Stage: wearables.Daily, Samples: []wearables.Samples{s}}); err != nil {
		rt.Fatal(err)
	}
}

// fresh runs the query over all time.
func (r *fixture) fresh(q continuous.Query) (text string) {
	r.t.Helper()
	err := r.db.Read(r.ctx, func(tx *store.Tx) error {
		user, err := users.Get(r.ctx, tx, r.user.Team, r.user.ID)
		if err != nil {
			return err
		}
		t, err := aggregate.Run(r.ctx, tx, aggregate.Request{User: user, Plan: q.Plan(), From: query.FirstMoment, To: query.EndOfTime, Now: tx.Now()})
		if err == nil {
			text = string(t.Sorted(keysOf(q)).AppendJSON(nil, nil))
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return text
}

// keysOf returns the positions of the group keys among the columns, in the order of the
// keys.
func keysOf(q continuous.Query) []int {
	all := make([]int, len(q.Plan().Keys))
	for i, o := range q.Plan().Outputs {
		if o.Key >= 0 {
			all[o.Key] = i
		}
	}
	return all
}

// announced counts the events about results.
func (r *fixture) announced() (n int) {
	r.t.Helper()
	err := r.db.Read(r.ctx, func(tx *store.Tx) error {
		return tx.QueryRow(r.ctx, `SELECT COUNT(*) FROM events WHERE team_id = $1 AND type = 'continuous_query.result_table.changed'`, r.user.Team).Scan(&n)
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return n
}
