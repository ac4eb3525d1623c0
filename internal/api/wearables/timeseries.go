package wearables

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/api"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/paging"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

func (h *Handlers) timeseriesRoutes() []api.Route {
	return []api.Route{
		api.Writes[groupsBody](api.Get("/v2/timeseries/{user_id}/{resource}/grouped", h.readSamples, "Read a user's samples of one resource, grouped by source")).OwnData(),
		api.Takes[pushedSeries](api.Post("/v2/timeseries/{user_id}", h.pushSeries, "Push samples of several resources from a phone").Push().OwnData().Announces(pushEvents...)),
		api.Takes[pushedPeople](api.Post("/v2/timeseries", h.pushPeople, "Push samples of several users at once").Push().Announces(pushEvents...)),
		api.Takes[pushedSamples](api.Post("/v2/timeseries/{user_id}/{resource}", h.pushSamples, "Push samples of one resource from a phone").Push().OwnData().Announces(pushEvents...)),
		api.Writes[streamBody](api.Get("/v2/timeseries/workouts/{workout_id}/stream", h.readWorkoutStream, "Read the stream of a workout").OwnData()),
		api.Writes[sleepStreamBody](api.Get("/v2/timeseries/sleep/{sleep_id}/stream", h.readSleepStream, "Read the stream of a sleep").OwnData()),
	}
}

// sourceBody identifies the source of values.
//
// Reference 7.3.
type sourceBody struct {
	Provider  string  `json:"provider" doc:"Provider slug."`
	Type      string  `json:"type" doc:"Kind of device, such as phone, watch, app or unknown. The list may grow."`
	AppID     *string `json:"app_id" doc:"Bundle id or package name of the app."`
	DeviceID  *string `json:"device_id" format:"uuid"`
	Sport     *string `json:"sport" doc:"Sport of a workout series."`
	WorkoutID *string `json:"workout_id" format:"uuid" doc:"Workout of a workout series."`
	Name      string  `json:"name" deprecated:"true"`
	Slug      string  `json:"slug" deprecated:"true"`
	Logo      string  `json:"logo" deprecated:"true"`
}

// sampleBody is one measurement. withWords adds the further fields with words that
// some resources have.
//
// Spec: Events, timeseries. Reference 7.7.
type sampleBody struct {
	Timestamp      api.Time  `json:"timestamp" doc:"Time of the measurement. For an interval, it is the start."`
	Start          *api.Time `json:"start,omitempty" doc:"Start of an interval, inclusive."`
	End            *api.Time `json:"end,omitempty" doc:"End of an interval, exclusive."`
	TimezoneOffset *int      `json:"timezone_offset" doc:"Offset of the person's time in seconds east of UTC. It is null if unknown."`
	Type           *string   `json:"type" doc:"Type of the value, for resources with types."`
	Unit           string    `json:"unit"`
	Value          *float64  `json:"value,omitempty" doc:"Value of all resources except blood_pressure."`
	Systolic       *float64  `json:"systolic,omitempty" doc:"Systolic value of blood_pressure."`
	Diastolic      *float64  `json:"diastolic,omitempty" doc:"Diastolic value of blood_pressure."`
	Grouping       []any     `json:"grouping,omitempty" doc:"List for blood_pressure, by position: the kind of source, workout, sport, device."`
}

// pointBody is a sample of a series of plain measurements.
type pointBody struct {
	Timestamp      api.Time `json:"timestamp"`
	TimezoneOffset *int     `json:"timezone_offset" doc:"Offset of the person's time in seconds east of UTC. It is null if unknown."`
	Type           *string  `json:"type"`
	Unit           string   `json:"unit"`
	Value          float64  `json:"value"`
}

// typedBody is a sample of a series in which every sample has a type.
type typedBody struct {
	Timestamp      api.Time `json:"timestamp"`
	TimezoneOffset *int     `json:"timezone_offset" doc:"Offset of the person's time in seconds east of UTC. It is null if unknown."`
	Type           string   `json:"type"`
	Unit           string   `json:"unit"`
	Value          float64  `json:"value"`
}

// stageBody is a stage of a sleep.
type stageBody struct {
	Timestamp      api.Time `json:"timestamp" doc:"The same as start."`
	Start          api.Time `json:"start" doc:"Start, inclusive."`
	End            api.Time `json:"end" doc:"End, exclusive."`
	TimezoneOffset *int     `json:"timezone_offset" doc:"Offset of the person's time in seconds east of UTC. It is null if unknown."`
	Type           *string  `json:"type"`
	Unit           string   `json:"unit"`
	Value          float64  `json:"value" doc:"Stage: -1 unknown, 1 deep, 2 light, 3 REM, 4 awake, 5 manual."`
}

type groupBody struct {
	Source sourceBody   `json:"source"`
	Data   []sampleBody `json:"data"`
}

type groupsBody struct {
	Groups     map[string][]groupBody `json:"groups" doc:"Groups by provider slug, one for each source. A group may continue on the next page."`
	NextCursor *string                `json:"next_cursor" doc:"Cursor of the next page. It is null on the last page."`
	Next       *string                `json:"next" deprecated:"true" doc:"The same as next_cursor."`
}

type samplesIn struct {
	UserID     users.ID `path:"user_id" format:"uuid"`
	Resource   readName `path:"resource"`
	StartDate  string   `query:"start_date" required:"true" doc:"First day (YYYY-MM-DD, UTC) or instant (ISO 8601), inclusive."`
	EndDate    string   `query:"end_date" doc:"Last day or instant of the range, inclusive."`
	Provider   string   `query:"provider" doc:"Return only this provider's samples."`
	NextCursor string   `query:"next_cursor" doc:"next_cursor of the previous page."`
	Cursor     string   `query:"cursor" deprecated:"true" doc:"The same as next_cursor."`
}

// samplesCursor is the end of a page. It stays valid while data arrives.
type samplesCursor struct {
	Resource string `json:"r"`
	Series   int64  `json:"s"`
	Time     int64  `json:"t"`
}

// query turns the parameters into a query of the domain.
func (in *samplesIn) query() (q storage.SamplesQuery, err error) {
	start, end, err := api.ParseRange(in.StartDate, in.EndDate)
	q = storage.SamplesQuery{Resource: string(in.Resource), Provider: in.Provider, From: start.From, To: end.To}
	if err != nil {
		return q, err
	}
	cursor := in.NextCursor
	if cursor == "" {
		cursor = in.Cursor
	}
	if cursor == "" {
		return q, nil
	}
	var at samplesCursor
	if err := resume(cursor, &at, &at.Resource, q.Resource); err != nil {
		return q, err
	}
	q.After = &storage.Place{Series: at.Series, Time: at.Time}
	return q, nil
}

// readSamples answers with a page of samples. A page has room for 30 days with one sample
// a minute.
//
// Reference 7.7.
func (h *Handlers) readSamples(ctx context.Context, c api.Caller, in *samplesIn) (*api.Encoded, error) {
	q, err := in.query()
	if err != nil {
		return nil, err
	}
	var groups []wearables.Samples
	var next *storage.Place
	err = h.DB.Read(ctx, func(tx *store.Tx) error {
		if err := users.Exists(ctx, tx, c.Team, in.UserID); err != nil {
			return err
		}
		groups, next, err = storage.ListSamples(ctx, tx, c.Team.UUID(), in.UserID.UUID(), q)
		return err
	})
	if err != nil {
		return nil, err
	}
	cursor := "null"
	if next != nil {
		text, _ := json.Marshal(paging.Encode(samplesCursor{q.Resource, next.Series, next.Time})) // a string always marshals
		cursor = string(text)
	}
	return api.StreamJSON(func(dst []byte, spill wearables.Spill) []byte {
		dst = h.appendGroups(append(dst, `{"groups":`...), groups, spill)
		dst = append(append(dst, `,"next_cursor":`...), cursor...)
		dst = append(append(dst, `,"next":`...), cursor...)
		return append(dst, '}')
	}), nil
}

// appendGroups writes the groups of each provider. The groups of one provider are
// adjacent, and so are the series of one source.
func (h *Handlers) appendGroups(dst []byte, all []wearables.Samples, spill wearables.Spill) []byte {
	dst = append(dst, '{')
	for i := 0; i < len(all); {
		provider := all[i].Source.Provider
		if i > 0 {
			dst = append(dst, ',')
		}
		name, _ := json.Marshal(provider) // a string always marshals
		dst = append(append(dst, name...), ":["...)
		for first := true; i < len(all) && all[i].Source.Provider == provider; first = false {
			if !first {
				dst = append(dst, ',')
			}
			n := 1
			for i+n < len(all) && reflect.DeepEqual(all[i+n].Source, all[i].Source) {
				n++
			}
			dst = wearables.SpillGroup(dst, all[i:i+n], h.logos(), spill)
			i += n
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// The ungrouped reads of time series are deprecated: they do not say where a sample
// comes from. Client libraries still have them. They return one sample of each key,
// the latest, in order of time.
//
// Reference 7.7, legacy endpoints.
func (h *Handlers) plainSeriesRoutes() []api.Route {
	all := []api.Route{
		api.Writes[[]sampleBody](api.Get("/v2/timeseries/{user_id}/{resource}", h.readPlain, "Read a user's samples of one resource from all sources").Deprecated()),
	}
	for _, one := range []struct{ kind, name string }{
		{"hdl", "HDL cholesterol"}, {"ldl", "LDL cholesterol"}, {"total", "total cholesterol"}, {"triglycerides", "triglycerides"},
	} {
		read := func(ctx context.Context, c api.Caller, in *PlainRange) (*api.Encoded, error) {
			return h.plain(ctx, c, in, "cholesterol", "cholesterol/"+one.kind)
		}
		all = append(all, api.Writes[[]typedBody](api.Get("/v2/timeseries/{user_id}/cholesterol/"+one.kind, read, "Read a user's "+one.name).
			Deprecated().Describe(func(op *huma.Operation) { op.OperationID = "readPlainCholesterol" + camelCase(one.kind) })))
	}
	return all
}

// PlainRange holds the parameters of the ungrouped reads, which have no pages.
type PlainRange struct {
	UserID    users.ID `path:"user_id" format:"uuid"`
	StartDate string   `query:"start_date" required:"true" doc:"First day (YYYY-MM-DD, UTC) or instant (ISO 8601), inclusive."`
	EndDate   string   `query:"end_date" doc:"Last day or instant of the range, inclusive."`
	Provider  string   `query:"provider" doc:"Return only this provider's samples."`
}

type plainIn struct {
	PlainRange
	Resource readName `path:"resource"`
}

func (h *Handlers) readPlain(ctx context.Context, c api.Caller, in *plainIn) (*api.Encoded, error) {
	return h.plain(ctx, c, &in.PlainRange, string(in.Resource), "")
}

// mostPlain limits an answer without pages. It has room for two years with one sample a
// minute.
const mostPlain = 1_100_000

// plain reads all samples of a range. kind limits them to one type; "" means all.
func (h *Handlers) plain(ctx context.Context, c api.Caller, in *PlainRange, resource, kind string) (*api.Encoded, error) {
	start, end, err := api.ParseRange(in.StartDate, in.EndDate)
	if err != nil {
		return nil, err
	}
	var all []wearables.Samples
	err = h.DB.Read(ctx, func(tx *store.Tx) error {
		if err := users.Exists(ctx, tx, c.Team, in.UserID); err != nil {
			return err
		}
		q := storage.SamplesQuery{Resource: resource, Provider: in.Provider, From: start.From, To: end.To}
		all, err = storage.LatestSamples(ctx, tx, c.Team.UUID(), in.UserID.UUID(), q, mostPlain)
		return err
	})
	if errors.Is(err, storage.ErrTooMany) {
		return nil, fault.New(fault.Invalid, "Value error, too many samples for an answer without pages: narrow the range, or read /grouped").At("query", "start_date")
	}
	if err != nil {
		return nil, err
	}
	if kind != "" {
		all = slices.DeleteFunc(all, func(s wearables.Samples) bool { return s.Type != kind })
	}
	return api.StreamJSON(func(dst []byte, spill wearables.Spill) []byte { return wearables.AppendPlain(dst, all, spill) }), nil
}

// Units, ranges, words and further fields of time series are copied from their table
// into the OpenAPI document here.
//
// Reference 7.7.

// seriesName is the path segment of a time series that accepts samples.
type seriesName string

// Schema lists the resources.
func (seriesName) Schema(huma.Registry) *huma.Schema {
	return namesOf("Kind of time series; the schema PushedSample lists units, ranges and words.", takesSamples)
}

// readName is the path segment of a time series whose values are numbers. Notes
// have operations of their own.
type readName string

// Schema lists the resources.
func (readName) Schema(huma.Registry) *huma.Schema {
	return namesOf("Kind of time series; the schema SampleBody lists units, ranges and words.", ofNumbers)
}

func namesOf(what string, which func(*wearables.Resource) bool) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString, Description: what}
	for _, r := range wearables.Resources() {
		if which(&r) {
			s.Enum = append(s.Enum, r.Name)
		}
	}
	s.PrecomputeMessages()
	return s
}

func takesSamples(r *wearables.Resource) bool { return r.Push }
func ofNumbers(r *wearables.Resource) bool    { return !r.Text }

// withTable appends the table of resources to the description of a sample's schema.
func withTable(s *huma.Schema, what string, which func(*wearables.Resource) bool) *huma.Schema {
	var b strings.Builder
	b.WriteString(what + "\n\n| Resource | Unit | Samples | Range | `type` | Further fields |\n|---|---|---|---|---|---|\n")
	for _, r := range wearables.Resources() {
		if which(&r) {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", r.Name, r.Unit, r.Shape(), r.Range(), r.TypeWords(), r.FieldWords())
		}
	}
	s.Description = b.String()
	return s
}

// withWords adds the fields whose values are words to the schema of a sample.
func withWords(s *huma.Schema) *huma.Schema {
	resources := map[string][]string{}
	for _, r := range wearables.Resources() {
		for _, field := range r.Extra {
			if len(field.Words) == 0 {
				continue
			}
			resources[field.Name] = append(resources[field.Name], r.Name)
			words := []any{nil}
			for _, word := range field.Words {
				words = append(words, word)
			}
			s.Properties[field.Name] = &huma.Schema{
				Type: huma.TypeString, Nullable: true, Enum: words,
				Description: "Word of " + strings.Join(resources[field.Name], " and ") + ".",
			}
		}
	}
	return s
}

// TransformSchema adds the fields whose values are words, and the table of resources.
func (sampleBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return withTable(withWords(s), "A sample. Its resource determines its unit, range and words:", ofNumbers)
}

// TransformSchema adds the fields whose values are words. A piece has them from its
// sample.
func (PieceBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema { return withWords(s) }

// TransformSchema adds the fields whose values are words, and the table of the resources
// that accept pushed samples.
func (pushedSample) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s = api.State(s, map[string]api.Keywords{"source_type": api.StateEnum(wearables.SourceTypes())})
	return withTable(withWords(s), "A sample. A value outside the range of its resource is rejected, and the answer counts it:", takesSamples)
}
