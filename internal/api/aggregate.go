package api

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/wearables/aggregate"
	"hale/internal/wearables/aggregate/continuous"
	"hale/internal/wearables/aggregate/query"
	"hale/internal/wearables/providers"
)

func (a *API) aggregateRoutes() []route {
	const results = "/aggregate/v1/user/{user_id}/continuous_query/{query_id_or_slug}"
	const org = "/v1/org/{org_id}/team/{team_id}/{environment}/"
	return []route{
		writes[aggregationBody](orParquet(archiveType, takes[queryBatchBody](
			post("/aggregate/v1/user/{user_id}/query", a.queryUser, "Ask about a user's wearable data").raw()))),
		writes[resultBody](orParquet(parquetType, get(results+"/result_table", a.readResultTable, "Read the result of a continuous query for a user"))),
		get(results+"/task_history", a.listQueryTasks, "List the runs of a continuous query for a user"),

		get(org+"continuous_query", a.listContinuousQueries, "List continuous queries").tag("aggregate"),
		takes[createQueryBody](post(org+"continuous_query", a.createContinuousQuery, "Create a continuous query").raw().creates()).tag("aggregate"),
		takes[createQueryBody](post(org+"validate_continuous_query", a.validateContinuousQuery, "See what a continuous query would give").raw()).tag("aggregate"),
		get(org+"continuous_query/{query_id}", a.getContinuousQuery, "Get a continuous query").tag("aggregate"),
		amend(org+"continuous_query/{query_id}", a.patchContinuousQuery, "Change the title or the schedule of a continuous query").tag("aggregate"),
		del(org+"continuous_query/{query_id}", a.archiveContinuousQuery, "Archive a continuous query: it is not evaluated any more").tag("aggregate"),
	}
}

// The media types of results beside JSON. Reference 7.12.
const (
	archiveType = "application/vnd.vital.tar+gzip+parquet"
	parquetType = "application/vnd.apache.parquet"
)

// orParquet documents the second form of an answer that writes documents.
func orParquet(media string, rt route) route {
	add := rt.add
	rt.add = func(a *API, r chi.Router, op huma.Operation) {
		op.Responses["200"].Content[media] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
		add(a, r, op)
	}
	return rt
}

const (
	longestQuery = 1 << 20          // bytes of a body
	queryTime    = 30 * time.Second // for one request
)

type queryUserIn struct {
	UserID  users.ID `path:"user_id" format:"uuid"`
	Accept  string   `header:"Accept" default:"*/*" doc:"application/json, or application/vnd.vital.tar+gzip+parquet for a compressed tar of one Parquet file for each query."`
	RawBody []byte
}

// queryUser answers a batch of queries, all of them from one snapshot.
//
// Reference 7.12.
func (a *API) queryUser(ctx context.Context, c Caller, in *queryUserIn) (*written, error) {
	packed, err := accepts(in.Accept, archiveType)
	if err != nil {
		return nil, err
	}
	batch, plans, err := compileBatch(in.RawBody)
	if err != nil {
		return nil, err
	}
	from, to := batch.Timeframe.Bounds()
	var tables []*aggregate.Table
	limited, stop := context.WithTimeout(ctx, queryTime)
	defer stop()
	err = a.db.Read(limited, func(tx *store.Tx) error {
		user, err := users.Get(limited, tx, c.Team, in.UserID)
		if err != nil {
			return err
		}
		tables, err = aggregate.RunAll(limited, tx, aggregate.Request{
			User: user, From: from, To: to, Overrides: batch.Config.Overrides, Now: tx.Now(),
		}, plans)
		return err
	})
	if errors.Is(limited.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
		return nil, fault.New(fault.Unprocessable, "the queries take too long; ask for a shorter time")
	}
	if err != nil {
		return nil, err
	}
	if packed {
		return writeArchive(tables, a.db.Now())
	}
	return writeResults(tables), nil
}

func compileBatch(body []byte) (batch query.Batch, plans []*query.Plan, err error) {
	if err := checkQueryBody(body); err != nil {
		return batch, nil, err
	}
	if batch, err = query.DecodeBatch(body); err != nil {
		return batch, nil, err
	}
	if err := checkOverrides(batch.Config, "config"); err != nil {
		return batch, nil, err
	}
	plans = make([]*query.Plan, len(batch.Queries))
	for i, q := range batch.Queries {
		if plans[i], err = query.Compile(q); err != nil {
			return batch, nil, err
		}
	}
	return batch, plans, nil
}

func checkQueryBody(body []byte) error {
	if len(body) > longestQuery {
		return fault.New(fault.TooLarge, "Request body is too large")
	}
	return nil
}

// checkOverrides wants providers and labs that exist.
func checkOverrides(c query.Config, field string) error {
	for i, slug := range c.Overrides {
		if _, known := providers.Find(slug); !known && !isLab(slug) {
			return fault.New(fault.Invalid, "Value error, must be a provider of the catalogue").
				At("body", field, "provider_priority_overrides", strconv.Itoa(i))
		}
	}
	return nil
}

// isLab says whether the slug is one of a lab in the reference's contract.
func isLab(slug string) bool {
	switch slug {
	case "ayumetrix", "spiriplex", "ussl", "quest", "sonora_quest", "labcorp", "bioreference", "us_biotek", "manual",
		"sanocardio", "ihd", "nexus", "my_uti", "crl", "mtl":
		return true
	}
	return false
}

type queryResultIn struct {
	UserID users.ID `path:"user_id" format:"uuid"`
	Query  string   `path:"query_id_or_slug" doc:"Id of the query, or the slug of an active one."`
	Accept string   `header:"Accept" default:"*/*" doc:"application/json, or application/vnd.apache.parquet."`
}

// readResultTable is the whole result of a continuous query for one user.
func (a *API) readResultTable(ctx context.Context, c Caller, in *queryResultIn) (*written, error) {
	packed, err := accepts(in.Accept, parquetType)
	if err != nil {
		return nil, err
	}
	var t *aggregate.Table
	err = a.db.Read(ctx, func(tx *store.Tx) error {
		if err := users.Exists(ctx, tx, c.Team, in.UserID); err != nil {
			return err
		}
		q, err := continuous.Find(ctx, tx, c.Team, in.Query)
		if err != nil {
			return err
		}
		t, err = q.Result(ctx, tx, in.UserID)
		return err
	})
	if err != nil {
		return nil, err
	}
	if packed {
		return writeParquet(t)
	}
	return writeResult(t), nil
}
