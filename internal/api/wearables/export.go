package wearables

import (
	"context"
	"io"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/api"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/export"
)

// Exports are an addition of ours.
func (h *Handlers) exportRoutes() []api.Route {
	rt := api.Get("/v2/user/{user_id}/data/export", h.exportData, "Export all wearable data of a user as one file").Tag("user")
	file := &huma.Schema{Type: huma.TypeString, Format: "binary"}
	return []api.Route{
		api.WritesAs(api.AlsoWrites(export.FHIR.ContentType(), api.AlsoWrites(export.Parquet.ContentType(), rt)), export.CSV.ContentType(), file),
	}
}

// exportFormatWord is the format of a file.
type exportFormatWord string

func (exportFormatWord) Schema(huma.Registry) *huma.Schema { return api.Enum(export.Formats) }

type exportIn struct {
	api.UserPath
	Format    exportFormatWord `query:"format" default:"csv" doc:"Format of the file. csv and parquet are tables with a row for each sample, summary and stream. fhir has one Observation per line."`
	Resource  string           `query:"resource" doc:"Export only this time series, summary or workout_stream."`
	Provider  string           `query:"provider" doc:"Export only data of this provider."`
	StartDate string           `query:"start_date" doc:"First day (YYYY-MM-DD, UTC) or instant (ISO 8601), inclusive. Summaries are selected by calendar date."`
	EndDate   string           `query:"end_date" doc:"Last day or instant of the range, inclusive."`
}

// firstDay is before all data.
const firstDay = "0001-01-01"

func (in *exportIn) request() (r export.Request, err error) {
	if in.Resource != "" && !wearables.KeepsData(in.Resource) {
		return r, fault.NotInEnum(wearables.StoredResources()).At("query", "resource").WithInput(in.Resource)
	}
	from := in.StartDate
	if from == "" {
		from = firstDay
	}
	start, end, err := api.ParseRange(from, in.EndDate)
	return export.Request{
		Resource: in.Resource, Provider: in.Provider, Format: export.Format(in.Format),
		From: start.From, To: end.To, FirstDay: start.Day, LastDay: end.Day,
	}, err
}

func (h *Handlers) exportData(ctx context.Context, c api.Caller, in *exportIn) (*api.Encoded, error) {
	r, err := in.request()
	if err != nil {
		return nil, err
	}
	err = h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		r.User, err = users.Get(ctx, tx, c.Team, in.UserID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return h.StreamFile(r.Format.ContentType(), func(ctx context.Context, w io.Writer) error {
		return export.Write(ctx, h.DB, w, r)
	}), nil
}
