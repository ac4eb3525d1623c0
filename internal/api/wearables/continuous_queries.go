package wearables

import (
	"context"
	"time"

	"hale/internal/api"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/paging"
	"hale/internal/platform/patch"
	"hale/internal/platform/store"
	"hale/internal/wearables/aggregate/continuous"
	"hale/internal/wearables/aggregate/query"
)

// Continuous queries are managed under the reference's management paths.
//
// Reference 9.6.

type listQueriesIn struct{ api.OrgPath }

func (h *Handlers) listContinuousQueries(ctx context.Context, c api.Caller, in *listQueriesIn) (*api.Out[queriesBody], error) {
	if err := in.Check(c); err != nil {
		return nil, err
	}
	var all []continuous.Query
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		all, err = continuous.List(ctx, tx, c.Team)
		return err
	})
	body := queriesBody{Data: make([]continuousBody, len(all))}
	for i := range all {
		body.Data[i] = continuousOf(&all[i])
	}
	return api.Answer(body), err
}

type createQueryIn struct {
	api.OrgPath
	QueryType string `query:"query_type" enum:"team,platform" default:"team" doc:"Type of the query. The only possible type is team."`
	RawBody   []byte
}

// newQuery reads the body of a new query.
func (in *createQueryIn) newQuery(c api.Caller) (n continuous.New, err error) {
	if err := in.Check(c); err != nil {
		return n, err
	}
	if in.QueryType == "platform" {
		return n, fault.New(fault.Invalid, "Value error, platform queries are not offered").At("query", "query_type")
	}
	if err := checkQueryBody(in.RawBody); err != nil {
		return n, err
	}
	body, err := query.DecodeStoredQuery(in.RawBody)
	if err != nil {
		return n, err
	}
	if body.FHIRObservations {
		return n, fault.New(fault.Invalid, "Value error, FHIR observations are not offered").At("body", "export_preferences", "fhir_observations")
	}
	if err := checkOverrides(body.Config, "query_config"); err != nil {
		return n, err
	}
	return continuous.New{
		Slug: body.Slug, Title: body.Title, Query: body.Query, Config: body.Config, MinimumGap: body.MinimumGap, DataEvents: body.DataEvents,
	}, nil
}

func (h *Handlers) createContinuousQuery(ctx context.Context, c api.Caller, in *createQueryIn) (*api.Out[continuousBody], error) {
	n, err := in.newQuery(c)
	if err != nil {
		return nil, err
	}
	return api.Commit(ctx, h.API, func(tx *store.Tx) (continuousBody, error) {
		q, err := continuous.Create(ctx, tx, c.Team, n)
		if err != nil {
			return continuousBody{}, err
		}
		return continuousOf(&q), nil
	})
}

// validateContinuousQuery stores nothing.
func (h *Handlers) validateContinuousQuery(_ context.Context, c api.Caller, in *createQueryIn) (*api.Out[validatedBody], error) {
	n, err := in.newQuery(c)
	if err != nil {
		return nil, err
	}
	plan, err := n.Check()
	if err != nil {
		return nil, err
	}
	return api.Answer(validatedBody{ResultTableSchema: resultSchema(plan), ResourceDependencies: plan.Resources()}), nil
}

// QueryPath names a continuous query of the team in the path.
type QueryPath struct {
	api.OrgPath
	QueryID continuous.ID `path:"query_id" format:"uuid"`
}

func (h *Handlers) getContinuousQuery(ctx context.Context, c api.Caller, in *QueryPath) (*api.Out[continuousBody], error) {
	if err := in.Check(c); err != nil {
		return nil, err
	}
	var q continuous.Query
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		q, err = continuous.Get(ctx, tx, c.Team, in.QueryID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(continuousOf(&q)), nil
}

type patchQueryIn struct {
	QueryPath
	Body patchQueryBody
}

// patchQueryBody may change what does not change results.
type patchQueryBody struct {
	_ struct{} `additionalProperties:"false"` // an ignored field would look changed

	Title      patch.Field[string]        `json:"title,omitempty" pattern:"^[A-Za-zÀ-ÖØ-öø-ÿ0-9()&_\\-.\\s]{0,50}$" doc:"Title. Null keeps it."`
	Scheduling api.OrNull[schedulingBody] `json:"scheduling_preferences,omitempty" doc:"Schedule. Null keeps it."`
}

func (h *Handlers) patchContinuousQuery(ctx context.Context, c api.Caller, in *patchQueryIn) (*api.Out[continuousBody], error) {
	if err := in.Check(c); err != nil {
		return nil, err
	}
	var u continuous.Update
	in.Body.Title.Apply(&u.Title)
	if s := in.Body.Scheduling.Value; s != nil {
		u.SetGap = true
		if s.MinimumGap != nil {
			gap := time.Duration(*s.MinimumGap) * time.Second
			u.MinimumGap = &gap
		}
	}
	var q continuous.Query
	err := h.DB.Write(ctx, func(tx *store.Tx) (err error) {
		q, err = continuous.Change(ctx, tx, c.Team, in.QueryID, u)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(continuousOf(&q)), nil
}

func (h *Handlers) archiveContinuousQuery(ctx context.Context, c api.Caller, in *QueryPath) (*api.Out[api.SuccessBody], error) {
	if err := in.Check(c); err != nil {
		return nil, err
	}
	err := h.DB.Write(ctx, func(tx *store.Tx) error { return continuous.Archive(ctx, tx, c.Team, in.QueryID) })
	return api.Answer(api.SuccessBody{Success: err == nil}), err
}

type queryTasksIn struct {
	UserID     users.ID `path:"user_id" format:"uuid"`
	Query      string   `path:"query_id_or_slug" doc:"Id of the query, or the slug of an active one."`
	NextCursor string   `query:"next_cursor" doc:"next_cursor of the previous page."`
	Limit      int      `query:"limit" minimum:"1" maximum:"500" default:"50"`
}

// tasksCursor is the last run of the page before.
type tasksCursor struct {
	Query  continuous.ID           `json:"q"`
	Before ids.ID[continuous.Task] `json:"b"`
}

func (h *Handlers) listQueryTasks(ctx context.Context, c api.Caller, in *queryTasksIn) (*api.Out[tasksBody], error) {
	var at tasksCursor
	if in.NextCursor != "" {
		if err := paging.Decode(in.NextCursor, &at); err != nil {
			return nil, err
		}
	}
	body := tasksBody{Data: []taskBody{}}
	err := h.DB.Read(ctx, func(tx *store.Tx) error {
		body = tasksBody{Data: []taskBody{}}
		if err := users.Exists(ctx, tx, c.Team, in.UserID); err != nil {
			return err
		}
		q, err := continuous.Find(ctx, tx, c.Team, in.Query)
		if err != nil {
			return err
		}
		var before *ids.ID[continuous.Task]
		if in.NextCursor != "" {
			if at.Query != q.ID {
				return fault.New(fault.Invalid, "Value error, this cursor belongs to another query").At("query", "next_cursor")
			}
			before = &at.Before
		}
		all, next, err := q.History(ctx, tx, in.UserID, before, in.Limit)
		for _, t := range all {
			body.Data = append(body.Data, taskOf(q.ID, in.UserID, t))
		}
		if next != nil {
			text := paging.Encode(tasksCursor{q.ID, *next})
			body.NextCursor = &text
		}
		return err
	})
	return api.Answer(body), err
}
