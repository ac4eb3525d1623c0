package continuous

import (
	"context"

	"github.com/google/uuid"

	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables/aggregate"
	"hale/internal/wearables/aggregate/query"
)

func queryOf(ctx context.Context, tx *store.Tx, team uuid.UUID, id ID) (Query, error) {
	return Get(ctx, tx, ids.FromUUID[teams.Team](team), id)
}

// stretch is how much time is computed at once, at first.
const stretch = int64(32 * 24 * 3600 * 1e6)

// compute finds the rows of the stale time. Every row belongs to one bucket,
// so the time is cut between buckets and never holds more in memory than one
// query may read.
func (t *task) compute(ctx context.Context, tx *store.Tx) error {
	p := t.query.plan
	period := *p.Keys[p.TruncKey()].Trunc
	t.begin, t.end = period.Truncate(query.FirstMoment), query.EndOfTime
	if t.from > query.FirstMoment {
		t.begin = period.Truncate(max(t.from-aggregate.Zones, query.FirstMoment))
	}
	if t.to < query.EndOfTime {
		t.end = period.Add(period.Truncate(t.to+aggregate.Zones), 1)
	}
	t.fresh, t.bytes = aggregate.Empty(p), 0
	from, to, err := aggregate.Extent(ctx, tx, t.user, p)
	if err != nil {
		return err
	}
	if p.Table.Document != "" || p.Align != nil {
		return t.add(ctx, tx, max(t.begin, from), min(t.end, to))
	}
	from, to = max(t.begin, period.Truncate(from)), min(t.end, to)
	for buckets := atOnce(period); from < to; {
		next := min(to, period.Add(from, buckets))
		err := t.add(ctx, tx, from, next)
		if fault.Is(err, fault.Unprocessable) && buckets > 1 && t.fresh.Len() < aggregate.MostOf(p) && t.bytes <= mostBytes {
			buckets = max(1, buckets/8)
			continue
		}
		if err != nil {
			return err
		}
		from = next
	}
	return nil
}

// atOnce is how many buckets a stretch has.
func atOnce(period query.Period) int {
	width := period.Add(0, 1)
	return max(1, int(stretch/width))
}

var (
	errTooLong  = fault.New(fault.Unprocessable, "the result has too many rows; group by longer periods or select less")
	errTooHeavy = fault.New(fault.Unprocessable, "the result is larger than 256 MiB; group by longer periods, or select fewer columns and shorter texts")
)

// mostBytes and mostCells bound a result that is held while it is stored or read.
var mostBytes, mostCells = aggregate.MostBytes, aggregate.MostCells

func (t *task) add(ctx context.Context, tx *store.Tx, from, to int64) error {
	if from >= to {
		return nil
	}
	rows, err := aggregate.Run(ctx, tx, aggregate.Request{
		User: t.user, Plan: t.query.plan, From: from, To: to, Overrides: t.query.Config.Overrides, Now: t.startedAt,
	})
	if err != nil {
		return err
	}
	if t.fresh.Len()+rows.Len() > aggregate.MostOf(t.query.plan) {
		return errTooLong
	}
	if t.bytes += rows.Bytes(); t.bytes > mostBytes {
		return errTooHeavy
	}
	t.fresh.Append(rows)
	return nil
}
