package wearables

import (
	"bytes"
	"context"
	"errors"
	"mime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/api"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/aggregate"
	"hale/internal/wearables/aggregate/continuous"
	"hale/internal/wearables/aggregate/query"
	"hale/internal/wearables/providers"
)

func (h *Handlers) aggregateRoutes() []api.Route {
	const results = "/aggregate/v1/user/{user_id}/continuous_query/{query_id_or_slug}"
	const org = "/v1/org/{org_id}/team/{team_id}/{environment}/"
	return []api.Route{
		api.Writes[aggregationBody](api.AlsoWrites(archiveType, api.Takes[queryBatchBody](
			api.Post("/aggregate/v1/user/{user_id}/query", h.queryUser, "Run queries on a user's wearable data").Raw().Reads()))),
		api.Writes[resultBody](api.AlsoWrites(parquetType, api.Get(results+"/result_table", h.readResultTable, "Read the result of a continuous query for a user"))),
		api.Get(results+"/task_history", h.listQueryTasks, "List the runs of a continuous query for a user"),

		api.Get(org+"continuous_query", h.listContinuousQueries, "List continuous queries").Tag("aggregate"),
		api.Takes[createQueryBody](api.Post(org+"continuous_query", h.createContinuousQuery, "Create a continuous query").Raw().Creates().Announces("continuous_query.result_table.changed")).Tag("aggregate"),
		api.Takes[createQueryBody](api.Post(org+"validate_continuous_query", h.validateContinuousQuery, "Check a continuous query, and get the schema of its result").Raw().Reads()).Tag("aggregate"),
		api.Get(org+"continuous_query/{query_id}", h.getContinuousQuery, "Get a continuous query").Tag("aggregate"),
		api.Patch(org+"continuous_query/{query_id}", h.patchContinuousQuery, "Change the title or the schedule of a continuous query").Tag("aggregate"),
		api.Delete(org+"continuous_query/{query_id}", h.archiveContinuousQuery, "Archive a continuous query; it is no longer evaluated").Tag("aggregate"),
	}
}

// The media types of results beside JSON. Reference 7.12.
const (
	archiveType = "application/vnd.vital.tar+gzip+parquet"
	parquetType = "application/vnd.apache.parquet"
)

const (
	longestQuery = 1 << 20          // bytes of a body
	queryTime    = 30 * time.Second // for one request
)

type queryUserIn struct {
	UserID  users.ID `path:"user_id" format:"uuid"`
	Accept  string   `header:"Accept" default:"*/*" doc:"Type of the answer: application/json, or application/vnd.vital.tar+gzip+parquet for a compressed tar with one Parquet file for each query."`
	RawBody []byte
}

// queryUser answers a batch of queries. All of them read the same snapshot.
//
// Reference 7.12.
func (h *Handlers) queryUser(ctx context.Context, c api.Caller, in *queryUserIn) (*api.Encoded, error) {
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
	err = h.DB.Read(limited, func(tx *store.Tx) error {
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
		return writeArchive(tables, h.DB.Now())
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

// checkOverrides refuses unknown providers and labs.
func checkOverrides(c query.Config, field string) error {
	for i, slug := range c.Overrides {
		if known := overrideSlugs(); !slices.Contains(known, slug) {
			return fault.NotInEnum(known).WithInput(slug).
				At("body", field, "provider_priority_overrides", strconv.Itoa(i))
		}
	}
	return nil
}

func overrideSlugs() []string { return append(providers.Slugs(), labs...) }

// labs are the slugs of labs in the reference's contract that may be among providers.
var labs = []string{
	"ayumetrix", "spiriplex", "ussl", "quest", "sonora_quest", "labcorp", "bioreference", "us_biotek",
	"sanocardio", "ihd", "nexus", "my_uti", "crl", "mtl",
}

type queryResultIn struct {
	UserID users.ID `path:"user_id" format:"uuid"`
	Query  string   `path:"query_id_or_slug" doc:"Id of the query, or the slug of an active one."`
	Accept string   `header:"Accept" default:"*/*" doc:"Type of the answer: application/json or application/vnd.apache.parquet."`
}

// readResultTable answers with the whole result of a continuous query for one user, as
// JSON or Parquet.
func (h *Handlers) readResultTable(ctx context.Context, c api.Caller, in *queryResultIn) (*api.Encoded, error) {
	packed, err := accepts(in.Accept, parquetType)
	if err != nil {
		return nil, err
	}
	var t *aggregate.Table
	err = h.DB.Read(ctx, func(tx *store.Tx) error {
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

// createQueryBody makes a continuous query.
//
// Reference 9.6, CreateContinuousQueryBody.
type createQueryBody struct {
	Slug        string           `json:"slug" maxLength:"128" doc:"Lower-case letters, digits and single inner hyphens. Unique among the active queries."`
	Title       string           `json:"title" pattern:"^[A-Za-zÀ-ÖØ-öø-ÿ0-9()&_\\-.\\s]{0,50}$"`
	Query       queryBody        `json:"query"`
	QueryConfig *queryConfigBody `json:"query_config,omitempty"`
	Scheduling  *schedulingBody  `json:"scheduling_preferences,omitempty"`
	Exports     *exportsBody     `json:"export_preferences,omitempty"`
}

type schedulingBody struct {
	MinimumGap *int64 `json:"minimum_gap_duration_second" required:"false" minimum:"1800" maximum:"31622400" doc:"Shortest time between two runs for one user. It is null if there is no limit."`
}

type exportsBody struct {
	DataEvents       dataEventsBody `json:"data_events" required:"false"`
	FHIRObservations bool           `json:"fhir_observations" required:"false" doc:"Always false: Hale does not offer it."`
}

type dataEventsBody struct {
	Enabled bool `json:"enabled" required:"false" default:"true" doc:"Whether webhooks have continuous_query.result_table.changed. The feed always has it."`
}

// queryStatusWord is the status of a continuous query.
type queryStatusWord string

func (queryStatusWord) Schema(huma.Registry) *huma.Schema { return api.Enum(continuous.Statuses) }

// continuousBody is a continuous query on the wire.
//
// Reference 9.6, ContinuousQuery.
type continuousBody struct {
	ID                   continuous.ID   `json:"id" format:"uuid"`
	Status               queryStatusWord `json:"status"`
	Slug                 string          `json:"slug"`
	Title                string          `json:"title"`
	TeamID               teams.ID        `json:"team_id" format:"uuid"`
	Query                queryBody       `json:"query"`
	QueryConfig          queryConfigBody `json:"query_config"`
	Scheduling           schedulingBody  `json:"scheduling_preferences"`
	ResultTableSchema    map[string]any  `json:"result_table_schema" doc:"Columns of the result: name, type, nullable, and whether it is a group key."`
	ResourceDependencies []string        `json:"resource_dependencies" doc:"Resources whose changes can change the result."`
	Exports              exportsBody     `json:"export_preferences"`
	FHIRMappers          []string        `json:"fhir_observation_mappers"`
}

func continuousOf(q *continuous.Query) continuousBody {
	b := continuousBody{
		ID: q.ID, Status: queryStatusWord(q.Status()), Slug: q.Slug, Title: q.Title, TeamID: q.Team, Query: queryBody{q.Query},
		QueryConfig: queryConfigBody{q.Config.Overrides}, ResultTableSchema: resultSchema(q.Plan()),
		ResourceDependencies: q.Plan().Resources(), Exports: exportsBody{DataEvents: dataEventsBody{q.DataEvents}}, FHIRMappers: []string{},
	}
	if q.MinimumGap != nil {
		seconds := int64(q.MinimumGap.Seconds())
		b.Scheduling.MinimumGap = &seconds
	}
	return b
}

// resultSchema describes the columns of a result. The reference does not define its form.
func resultSchema(p *query.Plan) map[string]any {
	columns := make([]any, len(p.Outputs))
	for i, o := range p.Outputs {
		columns[i] = map[string]any{"name": o.Name, "type": o.Kind, "nullable": o.Func != query.Count, "group_key": o.Key >= 0}
	}
	return map[string]any{"columns": columns}
}

type queriesBody struct {
	Data       []continuousBody `json:"data"`
	NextCursor *string          `json:"next_cursor" doc:"Always null: a team has at most 50 active queries."`
}

type validatedBody struct {
	ResultTableSchema    map[string]any `json:"result_table_schema" doc:"Columns of the result: name, type, nullable, and whether it is a group key."`
	ResourceDependencies []string       `json:"resource_dependencies"`
	FHIRPreviews         alwaysNull     `json:"fhir_observation_previews" doc:"Always null: Hale does not offer it."`
}

// alwaysNull is a field that is always null.
type alwaysNull struct{}

// MarshalJSON writes null.
func (alwaysNull) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// Schema declares null.
func (alwaysNull) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: "null"} }

type tasksBody struct {
	Data       []taskBody `json:"data" doc:"Runs, latest first."`
	NextCursor *string    `json:"next_cursor" doc:"Cursor of the next page. It is null on the last page."`
}

// taskBody is one run.
//
// Reference 7.12, ContinuousQueryTaskHistoryEntry.
type taskBody struct {
	QueryID     continuous.ID `json:"query_id" format:"uuid"`
	UserID      users.ID      `json:"user_id" format:"uuid"`
	Status      string        `json:"status" enum:"scheduled,started,completed,error,skipped"`
	ScheduledAt api.Time      `json:"scheduled_at"`
	StartedAt   *api.Time     `json:"started_at" nullable:"true"`
	EndedAt     *api.Time     `json:"ended_at" nullable:"true"`
	Error       *string       `json:"error_details"`
}

func taskOf(q continuous.ID, user users.ID, t continuous.Task) taskBody {
	b := taskBody{
		QueryID: q, UserID: user, Status: t.Status, ScheduledAt: api.Time(t.ScheduledAt), StartedAt: api.TimeOrNull(t.StartedAt), EndedAt: api.TimeOrNull(t.EndedAt),
	}
	if t.Error != "" {
		b.Error = &t.Error
	}
	return b
}

// accepts reports whether an Accept header prefers the packed form: with a greater
// weight than JSON, or by its name with the same weight. Otherwise, and without the
// header, the answer is JSON.
func accepts(header, packed string) (bool, error) {
	if header == "" {
		return false, nil
	}
	asked := preferences(header)
	json, archive := asked.weight("application/json"), asked.weight(packed)
	switch _, named := asked[packed]; {
	case archive > json, named && archive > 0 && archive == json:
		return true, nil
	case json <= 0:
		return false, fault.NotInEnum([]string{"*/*", "application/json", packed}).At("header", "accept")
	}
	return false, nil
}

// preference holds the weight of each media range of an Accept header, 0 to 1.
type preference map[string]float64

// preferences parses an Accept header. It skips ranges with a syntax error. If a range
// occurs twice, the last weight counts.
//
// RFC 9110, 12.5.1.
func preferences(header string) preference {
	all := preference{}
	for part := range strings.SplitSeq(header, ",") {
		media, parameters, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		weight := 1.0
		if q, given := parameters["q"]; given {
			if weight, err = strconv.ParseFloat(q, 64); err != nil || !(weight >= 0 && weight <= 1) {
				continue
			}
		}
		all[media] = weight
	}
	return all
}

// weight returns the weight of a media type, that of the most specific matching range.
func (p preference) weight(media string) float64 {
	family, _, _ := strings.Cut(media, "/")
	for _, name := range []string{media, family + "/*", "*/*"} {
		if weight, there := p[name]; there {
			return weight
		}
	}
	return 0
}

// writeResults encodes the columns as JSON while it sends them.
func writeResults(tables []*aggregate.Table) *api.Encoded {
	return api.StreamJSON(func(dst []byte, spill wearables.Spill) []byte {
		dst = append(dst, `{"results":[`...)
		for i, t := range tables {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(t.AppendJSON(append(dst, `{"table":`...), spill), '}')
		}
		return append(dst, `]}`...)
	})
}

func writeResult(t *aggregate.Table) *api.Encoded {
	return api.StreamJSON(func(dst []byte, spill wearables.Spill) []byte {
		return append(t.AppendJSON(append(dst, `{"table":`...), spill), '}')
	})
}

func writeArchive(tables []*aggregate.Table, at time.Time) (*api.Encoded, error) {
	var body bytes.Buffer
	if err := aggregate.WriteArchive(&body, tables, at); err != nil {
		return nil, err
	}
	return sendAs(archiveType, body.Bytes()), nil
}

func writeParquet(t *aggregate.Table) (*api.Encoded, error) {
	var body bytes.Buffer
	if err := t.WriteParquet(&body); err != nil {
		return nil, err
	}
	return sendAs(parquetType, body.Bytes()), nil
}

func sendAs(media string, body []byte) *api.Encoded {
	return &api.Encoded{Body: func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", media)
		_, _ = ctx.BodyWriter().Write(body) // the caller has closed the connection
	}}
}

// aggregationBody is the answer of a batch of queries.
type aggregationBody struct {
	Results []resultBody `json:"results" doc:"Results, one for each query."`
}

type resultBody struct {
	Table map[string][]any `json:"table" doc:"Columns of equal length, by name. Times are local times of the person without an offset."`
}
