package wearables

import (
	"context"
	"time"

	"github.com/google/uuid"

	"hale/internal/api"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/wearables/deletion"
	"hale/internal/wearables/imports"
)

// Deleting data is an addition of ours.
func (h *Handlers) deletionRoutes() []api.Route {
	return []api.Route{
		api.Delete("/v2/user/{user_id}/data", h.deleteData, "Delete a user's wearable data by filters, at least one").OwnData().Tag("user").KnownParameters().Announces(dataEvents...),
		api.Delete("/v2/user/{user_id}/imports/{import_id}/data", h.undoImport, "Undo an import: delete its new data, and restore the data that it replaced").Tag("imports").Announces(dataEvents...).Refuses("conflict"),
		api.Get("/v2/user/{user_id}/data/deletions/{deletion_id}", h.getDeletion, "Get a deletion and its counts").Tag("user"),
	}
}

// DeletionFilter holds the filters of a deletion. It is exported for OpenAPI.
type DeletionFilter struct {
	Resource   string     `query:"resource" doc:"Delete only this time series or summary, such as steps or sleep. A sleep is deleted with its sleep_cycle, and a workout with its stream."`
	Provider   string     `query:"provider" doc:"Delete only data of this provider. A phone must send its own."`
	Source     string     `query:"source" doc:"Delete only data of this source: its type, app_id, device_id or source_id."`
	Start      string     `query:"start" doc:"First day (YYYY-MM-DD, UTC) or instant (ISO 8601), inclusive. Summaries are selected by calendar date."`
	End        string     `query:"end" doc:"Last day or instant of the range, inclusive."`
	ExternalID []string   `query:"external_id,explode" doc:"Delete only records with one of these ids. They are ids of the provider, or Hale's ids of summaries. The parameter may be repeated."`
	ImportID   imports.ID `query:"import_id" format:"uuid" doc:"Delete only data that this import stored."`
}

type deletionIn struct {
	api.UserPath
	DeletionFilter
	Duplicates bool `query:"duplicates" doc:"Delete only nights and workouts that are older versions of another stored one. It accepts no other filter."`
	DryRun     bool `query:"dry_run" doc:"Count the records and delete nothing."`
}

// deletionBody is a deletion on the wire.
type deletionBody struct {
	ID         *deletion.ID            `json:"id" format:"uuid" nullable:"true" doc:"Id of the deletion and of its job. It is null for a dry run."`
	UserID     users.ID                `json:"user_id" format:"uuid"`
	Status     string                  `json:"status" doc:"running, succeeded or failed. The list may grow."`
	DryRun     bool                    `json:"dry_run"`
	Deleted    int64                   `json:"deleted" doc:"Number of samples, summaries and streams that were deleted so far."`
	Resources  map[string]deletedCount `json:"resources" doc:"Counts by resource, with the names of events."`
	CreatedAt  api.Time                `json:"created_at"`
	FinishedAt *api.Time               `json:"finished_at" nullable:"true"`
}

type deletedCount struct {
	Deleted   int64    `json:"deleted"`
	Moved     int64    `json:"moved" doc:"Number of samples that a shift moved. They count as deleted too, and their new values have events."`
	Replaced  int64    `json:"replaced" doc:"Number of samples that the samples of a shift replaced at the new times. Reversing the shift restores them."`
	Restored  int64    `json:"restored" doc:"Number of records that have their value from before the import or shift again."`
	StartDate api.Time `json:"start_date" doc:"Time of the oldest record."`
	EndDate   api.Time `json:"end_date" doc:"Time of the newest record."`
}

func deletionOf(d deletion.Deletion) deletionBody {
	body := deletionBody{
		UserID: d.User, Status: string(d.Status), DryRun: d.DryRun, Deleted: d.Report.Total(), Resources: map[string]deletedCount{},
		CreatedAt: api.Time(d.CreatedAt), FinishedAt: api.TimeOrNull(d.FinishedAt),
	}
	if d.ID.UUID() != uuid.Nil {
		body.ID = &d.ID
	}
	for name, c := range d.Report.Resources {
		body.Resources[name] = deletedCount{c.Deleted, c.Moved, c.Replaced, c.Restored, instant(c.Oldest), instant(c.Newest)}
	}
	return body
}

func instant(micros int64) api.Time { return api.Time(time.UnixMicro(micros)) }

// filter turns the parameters into a filter of the domain.
func (in *DeletionFilter) filter() (f deletion.Filter, err error) {
	f = deletion.Filter{Resource: in.Resource, Provider: in.Provider, Source: in.Source, ExternalIDs: in.ExternalID, Import: in.ImportID.UUID()}
	if in.Start != "" {
		span, bad := api.ParseSpan("start", in.Start)
		if bad != nil {
			return f, bad
		}
		f.From, f.FirstDay = &span.From, span.Day
	}
	if in.End != "" {
		span, bad := api.ParseSpan("end", in.End)
		if bad != nil {
			return f, bad
		}
		f.To, f.LastDay = &span.To, span.Day
	}
	return f, nil
}

func (h *Handlers) deleteData(ctx context.Context, c api.Caller, in *deletionIn) (*api.Out[deletionBody], error) {
	f, err := in.filter()
	if err != nil {
		return nil, err
	}
	f.Duplicates, f.Undo = in.Duplicates, in.Duplicates
	if !c.User.IsZero() {
		if f.Provider == "" {
			return nil, fault.New(fault.Invalid, "Value error, a phone deletes data of its own provider").At("query", "provider").WithType("missing")
		}
		if err := pushedBy(f.Provider, "query"); err != nil {
			return nil, err
		}
	}
	return h.delete(ctx, c, in.UserID, f, in.DryRun)
}

type undoIn struct {
	api.UserPath
	ImportID imports.ID `path:"import_id" format:"uuid"`
	DryRun   bool       `query:"dry_run" doc:"Count the records and change nothing."`
}

func (h *Handlers) undoImport(ctx context.Context, c api.Caller, in *undoIn) (*api.Out[deletionBody], error) {
	return h.delete(ctx, c, in.UserID, deletion.Filter{Import: in.ImportID.UUID(), Undo: true}, in.DryRun)
}

func (h *Handlers) delete(ctx context.Context, c api.Caller, id users.ID, f deletion.Filter, dryRun bool) (*api.Out[deletionBody], error) {
	if dryRun {
		var d deletion.Deletion
		err := h.DB.Read(ctx, func(tx *store.Tx) error {
			user, err := users.Get(ctx, tx, c.Team, id)
			if err == nil {
				d, err = h.Deletions.Preview(ctx, tx, user, f)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		return api.Answer(deletionOf(d)), nil
	}
	return api.Commit(ctx, h.API, func(tx *store.Tx) (body deletionBody, err error) {
		user, err := users.Get(ctx, tx, c.Team, id)
		if err != nil {
			return body, err
		}
		d, err := h.Deletions.Delete(ctx, tx, user, f)
		return deletionOf(d), err
	})
}

type deletionPath struct {
	api.UserPath
	DeletionID deletion.ID `path:"deletion_id" format:"uuid"`
}

func (h *Handlers) getDeletion(ctx context.Context, c api.Caller, in *deletionPath) (*api.Out[deletionBody], error) {
	var d deletion.Deletion
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		if err := users.Exists(ctx, tx, c.Team, in.UserID); err != nil {
			return err
		}
		d, err = deletion.Get(ctx, tx, c.Team, in.UserID, in.DeletionID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(deletionOf(d)), nil
}
