package api

import (
	"github.com/danielgtaylor/huma/v2"

	"hale/internal/people/users"
	"hale/internal/platform/teams"
	"hale/internal/wearables/aggregate/continuous"
	"hale/internal/wearables/aggregate/query"
)

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
	MinimumGap *int64 `json:"minimum_gap_duration_second" required:"false" minimum:"1800" maximum:"31622400" doc:"Least time between two runs for one user; null for none."`
}

type exportsBody struct {
	DataEvents       dataEventsBody `json:"data_events" required:"false"`
	FHIRObservations bool           `json:"fhir_observations" required:"false" doc:"Not offered: false."`
}

type dataEventsBody struct {
	Enabled bool `json:"enabled" required:"false" default:"true" doc:"Whether continuous_query.result_table.changed is sent."`
}

// continuousBody is a continuous query on the wire.
//
// Reference 9.6, ContinuousQuery.
type continuousBody struct {
	ID                   continuous.ID   `json:"id" format:"uuid"`
	Status               string          `json:"status" enum:"active,archived"`
	Slug                 string          `json:"slug"`
	Title                string          `json:"title"`
	TeamID               teams.ID        `json:"team_id" format:"uuid"`
	Query                queryBody       `json:"query"`
	QueryConfig          queryConfigBody `json:"query_config"`
	Scheduling           schedulingBody  `json:"scheduling_preferences"`
	ResultTableSchema    map[string]any  `json:"result_table_schema" doc:"columns: name, type, nullable and whether it is a group key."`
	ResourceDependencies []string        `json:"resource_dependencies" doc:"Resources whose changes change the result."`
	Exports              exportsBody     `json:"export_preferences"`
	FHIRMappers          []string        `json:"fhir_observation_mappers"`
}

func continuousOf(q *continuous.Query) continuousBody {
	status := "active"
	if q.Archived {
		status = "archived"
	}
	b := continuousBody{
		ID: q.ID, Status: status, Slug: q.Slug, Title: q.Title, TeamID: q.Team, Query: queryBody{q.Query},
		QueryConfig: queryConfigBody{q.Config.Overrides}, ResultTableSchema: resultSchema(q.Plan()),
		ResourceDependencies: q.Plan().Resources(), Exports: exportsBody{DataEvents: dataEventsBody{q.DataEvents}}, FHIRMappers: []string{},
	}
	if q.MinimumGap != nil {
		seconds := int64(q.MinimumGap.Seconds())
		b.Scheduling.MinimumGap = &seconds
	}
	return b
}

// resultSchema tells the columns of a result. The reference leaves its form
// open.
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
	ResultTableSchema    map[string]any `json:"result_table_schema" doc:"columns: name, type, nullable and whether it is a group key."`
	ResourceDependencies []string       `json:"resource_dependencies"`
	FHIRPreviews         nothing        `json:"fhir_observation_previews" doc:"Not offered: null."`
}

// nothing is a field that is always null.
type nothing struct{}

// MarshalJSON writes null.
func (nothing) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// Schema says null.
func (nothing) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: "null"} }

type tasksBody struct {
	Data       []taskBody `json:"data" doc:"The latest first."`
	NextCursor *string    `json:"next_cursor" doc:"Pass it as next_cursor to go on; null at the end."`
}

// taskBody is one run.
//
// Reference 7.12, ContinuousQueryTaskHistoryEntry.
type taskBody struct {
	QueryID     continuous.ID `json:"query_id" format:"uuid"`
	UserID      users.ID      `json:"user_id" format:"uuid"`
	Status      string        `json:"status" enum:"scheduled,started,completed,error,skipped"`
	ScheduledAt Time          `json:"scheduled_at"`
	StartedAt   *Time         `json:"started_at" nullable:"true"`
	EndedAt     *Time         `json:"ended_at" nullable:"true"`
	Error       *string       `json:"error_details"`
}

func taskOf(q continuous.ID, user users.ID, t continuous.Task) taskBody {
	b := taskBody{
		QueryID: q, UserID: user, Status: t.Status, ScheduledAt: Time(t.ScheduledAt), StartedAt: wireTime(t.StartedAt), EndedAt: wireTime(t.EndedAt),
	}
	if t.Error != "" {
		b.Error = &t.Error
	}
	return b
}
