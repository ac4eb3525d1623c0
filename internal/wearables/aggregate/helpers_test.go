package aggregate_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/aggregate"
	"hale/internal/wearables/aggregate/query"
	"hale/internal/wearables/ingest"
)

// fixture is a user of a team with data.
type fixture struct {
	t    *testing.T
	db   *store.DB
	in   *ingest.Ingester
	user users.User
	ctx  context.Context
}

func newFixture(t *testing.T, db *store.DB, zone string) *fixture {
	t.Helper()
	team := userstest.Team(t, db)
	n := users.NewUser{}
	if zone != "" {
		n.TimeZone = &zone
	}
	r := &fixture{t: t, db: db, in: ingest.New(db), user: userstest.New(t, db, team.ID, n)}
	r.ctx = store.WithTeam(t.Context(), team.ID.UUID())
	return r
}

// put stores a batch; all of it must be new.
func (r *fixture) put(b wearables.Batch) {
	r.t.Helper()
	if b.Provider == "" {
		b.Provider = "apple_health_kit"
	}
	b.Stage = wearables.Daily
	result, err := r.in.Ingest(r.ctx, r.user, b)
	if err != nil || result.Rejected > 0 {
		r.t.Fatalf("%v, rejected %+v", err, result.Rejections)
	}
}

// samples stores values of a resource at RFC 3339 times.
func (r *fixture) samples(resource string, source wearables.Source, offset int32, at []string, values []float64) {
	r.t.Helper()
	s := wearables.Samples{Resource: resource, Source: source, Value: values}
	for _, text := range at {
		us := instant(r.t, text)
		s.Time = append(s.Time, us)
		if named, _ := wearables.ResourceNamed(resource); named.Interval {
			s.End = append(s.End, us+60e6)
		}
		if offset != wearables.NoOffset {
			s.Offset = append(s.Offset, offset)
		}
	}
	r.put(wearables.Batch{Provider: source.Provider, Samples: []wearables.Samples{s}})
}

func instant(t *testing.T, text string) int64 {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.UnixMicro()
}

// batch returns a request body with queries about the given number of days. anchor is the
// last of these days.
func batch(anchor string, days int, q string) []byte {
	return fmt.Appendf(nil, `{"timeframe":{"type":"relative","anchor":%q,"past":{"unit":"day","value":%d}},"queries":[%s]}`, anchor, days, q)
}

// ask runs one query and returns its table as JSON.
func (r *fixture) ask(anchor string, days int, q string) string {
	r.t.Helper()
	text, err := r.try(anchor, days, q)
	if err != nil {
		r.t.Fatalf("%s: %v", q, err)
	}
	return text
}

func (r *fixture) try(anchor string, days int, q string) (string, error) {
	r.t.Helper()
	t, err := r.table(anchor, days, q)
	if err != nil {
		return "", err
	}
	return string(t.AppendJSON(nil, nil)), nil
}

func (r *fixture) table(anchor string, days int, q string) (t *aggregate.Table, err error) {
	r.t.Helper()
	b, err := query.DecodeBatch(batch(anchor, days, q))
	if err != nil {
		return nil, err
	}
	plan, err := query.Compile(b.Queries[0])
	if err != nil {
		return nil, err
	}
	from, to := b.Timeframe.Bounds()
	err = r.db.Read(r.ctx, func(tx *store.Tx) error {
		user, err := users.Get(r.ctx, tx, r.user.Team, r.user.ID)
		if err != nil {
			return err
		}
		t, err = aggregate.Run(r.ctx, tx, aggregate.Request{
			User: user, Plan: plan, From: from, To: to, Overrides: b.Config.Overrides, Now: r.db.Now(),
		})
		return err
	})
	return t, err
}

// expect compares a table with one written as JSON.
func (r *fixture) expect(anchor string, days int, q, want string) {
	r.t.Helper()
	if got := r.ask(anchor, days, q); got != strings.Join(strings.Fields(want), "") {
		r.t.Errorf("%s\ngave   %s\nwanted %s", q, got, want)
	}
}

var (
	watch = wearables.Source{Provider: "apple_health_kit", Type: "watch", AppID: "com.example.watch"}
	phone = wearables.Source{Provider: "apple_health_kit", Type: "phone", AppID: "com.example.phone"}
)

// value returns the expression for the value of a time series.
func value(resource string) string { return `{"timeseries":"` + resource + `","field":"value"}` }

func aggregateOf(function, expr string) string {
	return `{"func":"` + function + `","arg":` + expr + `}`
}

func trunc(n int, unit, table string) string {
	return fmt.Sprintf(`{"date_trunc":{"value":%d,"unit":%q},"arg":{"index":%q}}`, n, unit, table)
}

func choose(parts ...string) string { return `{"select":[` + strings.Join(parts, ",") + `]}` }

// groupRows returns a query that selects all its group keys and the expressions in more.
// rest adds further fields of the query.
func groupRows(keys []string, more string, rest ...string) string {
	q := `{"select":[{"group_key":"*"},` + more + `],"group_by":[` + strings.Join(keys, ",") + `]`
	for _, r := range rest {
		q += "," + r
	}
	return q + `}`
}
