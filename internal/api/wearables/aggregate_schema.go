package wearables

import (
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/api"
	"hale/internal/platform/civil"
	"hale/internal/wearables/aggregate/query"
)

// The OpenAPI schema of the query language, generated from the decoder's tables.

// queryBatchBody is the body of a query request.
//
// Reference 7.12, QueryBatch.
type queryBatchBody struct {
	Timeframe timeframeBody   `json:"timeframe"`
	Queries   []queryBody     `json:"queries" maxItems:"20"`
	Config    queryConfigBody `json:"config,omitempty"`
}

type timeframeBody struct {
	Type   string     `json:"type" enum:"relative"`
	Anchor civil.Date `json:"anchor" format:"date" doc:"The last day."`
	Past   periodBody `json:"past" doc:"Length of the time that ends with that day."`
}

// timeUnitWord is a unit of calendar time.
type timeUnitWord string

func (timeUnitWord) Schema(huma.Registry) *huma.Schema { return api.Enum(query.Units()) }

type periodBody struct {
	Value int          `json:"value,omitempty" minimum:"1" maximum:"10000" default:"1"`
	Unit  timeUnitWord `json:"unit"`
}

// queryConfigBody changes how one query chooses among sources.
type queryConfigBody struct {
	Overrides []string `json:"provider_priority_overrides,omitempty" nullable:"true" doc:"Providers in order of preference, above the team's own."`
}

// TransformSchema lists the providers, and the labs that may be among them.
func (queryConfigBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{"provider_priority_overrides[]": api.StateEnum(overrideSlugs())})
}

// queryBody is one question. It is a query.Query with its place in OpenAPI.
type queryBody struct{ query.Query }

// UnmarshalJSON does nothing. It exists only for the OpenAPI document. The decoder of
// package query reads bodies.
func (q *queryBody) UnmarshalJSON([]byte) error { return nil }

// Schema returns a reference to AggregateQuery, which all operations share.
func (queryBody) Schema(r huma.Registry) *huma.Schema {
	const name = "AggregateQuery"
	if _, ok := r.Map()[name]; !ok {
		r.Map()[name] = &huma.Schema{}
		r.Map()[name] = querySchema(r)
	}
	return &huma.Schema{Ref: "#/components/schemas/" + name}
}

func querySchema(r huma.Registry) *huma.Schema {
	columns := columnSchemas(r)
	index := objectOf("index", oneWordOf(append(query.TableNames(), "timeseries")))
	source := objectOf("source", oneWordOf(query.SourceColumns()))
	list := listSchema(columns)
	function := objectOf("func", oneWordOf(query.Funcs()))
	function.Properties["arg"] = api.AnyOf(append(slices.Clone(columns), index, list)...)
	function.Required = []string{"func", "arg"}
	period := r.Schema(reflect.TypeFor[periodBody](), true, "")
	trunc := &huma.Schema{
		Type: huma.TypeObject, Required: []string{"date_trunc", "arg"},
		Properties: map[string]*huma.Schema{"date_trunc": period, "arg": index},
	}
	part := objectOf("date_part", oneWordOf(query.Parts()))
	part.Properties["arg"], part.Required = index, []string{"date_part", "arg"}
	key := objectOf("group_key", api.AnyOf(&huma.Schema{Type: huma.TypeInteger}, oneWordOf([]string{"*"})))
	key.Description = "Position of a key in group_by, from 0, or * for all."

	one := 1
	selected := api.AnyOf(append([]*huma.Schema{function, key}, append(slices.Clone(columns), index, list, source)...)...)
	grouped := api.AnyOf(append([]*huma.Schema{trunc, part}, append(slices.Clone(columns), source)...)...)
	s := &huma.Schema{
		Type: huma.TypeObject, Required: []string{"select"}, Description: "A query reads one table: all its columns and its index are of the same table.",
		Properties: map[string]*huma.Schema{
			"select":   {Type: huma.TypeArray, Items: selected, MinItems: &one},
			"group_by": {Type: huma.TypeArray, Items: grouped},
			"where":    {Type: huma.TypeString, Nullable: true, Description: "A condition over columns: > >= < <= = !=, AND, OR, NOT, parentheses."},
			"align":    alignSchema(period),
		},
	}
	return s
}

// columnSchemas returns the schemas of the expressions that name a column.
func columnSchemas(huma.Registry) []*huma.Schema {
	var all []*huma.Schema
	for _, table := range query.TableNames() {
		all = append(all, objectOf(table, oneWordOf(query.Tables[table].ColumnNames())))
	}
	macro := objectOf("value_macro", oneWordOf(query.MacroNames()))
	macro.Properties["version"] = oneWordOf([]string{"automatic"})
	macro.Properties["version"].Default = "automatic"
	return append(append(all, macro), seriesSchemas()...)
}

// seriesSchemas returns the schemas for columns of time series. Series with the same
// fields share a schema.
func seriesSchemas() []*huma.Schema {
	var all []*huma.Schema
	place := map[string]int{}
	for _, name := range query.SeriesNames() {
		fields := query.SeriesTable(name).ColumnNames()
		key := strings.Join(fields, " ")
		i, known := place[key]
		if !known {
			i, place[key] = len(all), len(all)
			one := objectOf("timeseries", oneWordOf(nil))
			one.Properties["field"], one.Required = oneWordOf(fields), []string{"timeseries", "field"}
			all = append(all, one)
		}
		series := all[i].Properties["timeseries"]
		series.Enum = append(series.Enum, name)
	}
	return all
}

func listSchema(columns []*huma.Schema) *huma.Schema {
	inner := objectOf("func", oneWordOf(query.Funcs()))
	inner.Properties["arg"] = &huma.Schema{Description: "A field of the list's elements, such as {\"menstrual_flow\": \"date\"}; {\"element\": true}; or null with count."}
	return &huma.Schema{
		Type: huma.TypeObject, Required: []string{"select", "from"},
		Properties: map[string]*huma.Schema{
			"select": inner, "from": objectOf("unnest", api.AnyOf(columns...)), "where": {Type: huma.TypeString, Nullable: true},
		},
	}
}

func alignSchema(period *huma.Schema) *huma.Schema {
	carry := func(window, mode string) *huma.Schema {
		s := objectOf("mode", oneWordOf([]string{mode}))
		s.Properties[window] = api.AnyOf(period, &huma.Schema{Type: "null"})
		return closedSchema(s)
	}
	modes := api.AnyOf(carry("max_age", "carry_forward"), carry("max_age", "carry_backward"), carry("span", "carry_nearest"))
	return api.AnyOf(closedSchema(objectOf("carry", modes)), &huma.Schema{Type: "null"})
}

// closedSchema refuses fields that the schema does not have. An ignored field would change the
// answer.
func closedSchema(s *huma.Schema) *huma.Schema {
	s.AdditionalProperties = false
	return s
}

func objectOf(name string, s *huma.Schema) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, Required: []string{name}, Properties: map[string]*huma.Schema{name: s}}
}

func oneWordOf(words []string) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, w := range words {
		s.Enum = append(s.Enum, w)
	}
	return s
}
