package aggregate

import (
	"context"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/wearables/aggregate/query"
	"hale/internal/wearables/storage"
)

// Extent is the floating time in which a plan may find data of a user. Only
// samples tell; of documents it is all time.
func Extent(ctx context.Context, tx *store.Tx, user users.User, p *query.Plan) (from, to int64, err error) {
	if p.Table.Document != "" {
		return query.FirstMoment, query.EndOfTime, nil
	}
	all, err := storage.SeriesOf(ctx, tx, user.Team.UUID(), user.ID.UUID(), p.Table.Series)
	if err != nil {
		return 0, 0, err
	}
	from, to = query.EndOfTime, query.FirstMoment
	for i := range all {
		from, to = min(from, all[i].Oldest-Zones), max(to, all[i].Newest+Zones+1)
	}
	return from, to, nil
}
