package api

import (
	"context"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/wearables"
)

// The ungrouped reads of time series are deprecated: they do not say where a
// sample comes from. Client libraries still have them, so they answer the same
// samples as the grouped ones, in order of time.
//
// Reference 7.7, legacy endpoints.
func (a *API) plainSeriesRoutes() []route {
	all := []route{
		writes[[]sampleBody](get("/v2/timeseries/{user_id}/{resource}", a.readPlain, "Read a user's samples of one resource, whatever their source").deprecated()),
	}
	for _, kind := range []string{"hdl", "ldl", "total", "triglycerides"} {
		read := func(ctx context.Context, c Caller, in *PlainRange) (*written, error) {
			return a.plain(ctx, c, in, "cholesterol", "cholesterol/"+kind)
		}
		all = append(all, writes[[]typedBody](get("/v2/timeseries/{user_id}/cholesterol/"+kind, read, "Read a user's "+kind+" cholesterol").
			deprecated().describe(func(op *huma.Operation) { op.OperationID = "readPlainCholesterol" + camel(kind) })))
	}
	return all
}

// PlainRange is what the ungrouped reads take. They have no pages.
type PlainRange struct {
	UserID    users.ID `path:"user_id" format:"uuid"`
	StartDate string   `query:"start_date" required:"true" doc:"First day (YYYY-MM-DD, UTC) or instant (ISO 8601), inclusive."`
	EndDate   string   `query:"end_date" doc:"Last day or instant, inclusive."`
	Provider  string   `query:"provider" doc:"Only this provider's samples."`
}

type plainIn struct {
	PlainRange
	Resource readName `path:"resource"`
}

func (a *API) readPlain(ctx context.Context, c Caller, in *plainIn) (*written, error) {
	return a.plain(ctx, c, &in.PlainRange, string(in.Resource), "")
}

// mostPlain bounds an answer without pages: two years of one sample a minute.
const mostPlain = 1_100_000

// plain reads all samples of a range, of one type where one is given.
func (a *API) plain(ctx context.Context, c Caller, in *PlainRange, resource, kind string) (*written, error) {
	start, end, err := between(in.StartDate, in.EndDate)
	if err != nil {
		return nil, err
	}
	var all []wearables.Samples
	err = a.db.Read(ctx, func(tx *store.Tx) error {
		if err := users.Exists(ctx, tx, c.Team, in.UserID); err != nil {
			return err
		}
		q := wearables.SamplesQuery{Resource: resource, Provider: in.Provider, From: start.from, To: end.to}
		all, err = everySample(ctx, tx, c, in.UserID, q)
		return err
	})
	if err != nil {
		return nil, err
	}
	if kind != "" {
		all = slices.DeleteFunc(all, func(s wearables.Samples) bool { return s.Type != kind })
	}
	return flowing(func(dst []byte, spill wearables.Spill) []byte { return wearables.AppendPlain(dst, all, spill) }), nil
}

// everySample reads page after page.
func everySample(ctx context.Context, tx *store.Tx, c Caller, user users.ID, q wearables.SamplesQuery) (all []wearables.Samples, err error) {
	n := 0
	for {
		groups, next, err := wearables.ListSamples(ctx, tx, c.Team.UUID(), user.UUID(), q)
		if err != nil {
			return nil, err
		}
		for i := range groups {
			n += groups[i].Len()
		}
		if n > mostPlain {
			return nil, fault.New(fault.Invalid, "Value error, too many samples for an answer without pages: narrow the range, or read /grouped").At("query", "start_date")
		}
		if all = append(all, groups...); next == nil {
			return all, nil
		}
		q.After = next
	}
}
