package api

import (
	"context"
	"encoding/json"
	"reflect"

	"hale/internal/people/users"
	"hale/internal/platform/paging"
	"hale/internal/platform/store"
	"hale/internal/wearables"
)

func (a *API) timeseriesRoutes() []route {
	return []route{
		writes[groupsBody](get("/v2/timeseries/{user_id}/{resource}/grouped", a.readSamples, "Read a user's samples of one resource, grouped by source")).own(),
		takes[pushedSeries](post("/v2/timeseries/{user_id}", a.pushSeries, "Push samples of several resources from a phone").push()),
		takes[pushedPeople](post("/v2/timeseries", a.pushPeople, "Push samples of several users at once").pushAll()),
		takes[pushedSamples](post("/v2/timeseries/{user_id}/{resource}", a.pushSamples, "Push samples of one resource from a phone").push()),
		writes[streamBody](get("/v2/timeseries/workouts/{workout_id}/stream", a.readWorkoutStream, "Read the stream of a workout").own()),
		writes[sleepStreamBody](get("/v2/timeseries/sleep/{sleep_id}/stream", a.readSleepStream, "Read what was measured during a sleep").own()),
	}
}

// sourceBody is where values come from.
//
// Reference 7.3.
type sourceBody struct {
	Provider  string  `json:"provider" doc:"Provider slug."`
	Type      string  `json:"type" doc:"Kind of device, such as phone, watch, app or unknown. The list may grow."`
	AppID     *string `json:"app_id" doc:"Bundle id or package name of the app."`
	DeviceID  *string `json:"device_id" format:"uuid"`
	Sport     *string `json:"sport" doc:"Of workout series."`
	WorkoutID *string `json:"workout_id" format:"uuid" doc:"Of workout series."`
	Name      string  `json:"name" deprecated:"true"`
	Slug      string  `json:"slug" deprecated:"true"`
	Logo      string  `json:"logo" deprecated:"true"`
}

// sampleBody is one measurement, beside the words of series_words.go.
//
// Spec: Events, timeseries. Reference 7.7.
type sampleBody struct {
	Timestamp      Time     `json:"timestamp" doc:"When it was measured; of an interval, its start."`
	Start          *Time    `json:"start,omitempty" doc:"Of interval resources: inclusive."`
	End            *Time    `json:"end,omitempty" doc:"Of interval resources: exclusive."`
	TimezoneOffset *int     `json:"timezone_offset" doc:"Seconds east of UTC where the person was; null when not known."`
	Type           *string  `json:"type" doc:"What the value is more precisely, where the resource has such words."`
	Unit           string   `json:"unit"`
	Value          *float64 `json:"value,omitempty" doc:"All resources but blood_pressure."`
	Systolic       *float64 `json:"systolic,omitempty" doc:"Of blood_pressure."`
	Diastolic      *float64 `json:"diastolic,omitempty" doc:"Of blood_pressure."`
	Grouping       []any    `json:"grouping,omitempty" doc:"Of blood_pressure, by place: the kind of source, workout, sport, device."`
}

// pointBody is a sample of a series of plain measurements.
type pointBody struct {
	Timestamp      Time    `json:"timestamp"`
	TimezoneOffset *int    `json:"timezone_offset" doc:"Seconds east of UTC where the person was; null when not known."`
	Type           *string `json:"type"`
	Unit           string  `json:"unit"`
	Value          float64 `json:"value"`
}

// typedBody is a sample of a series all of whose samples have a type.
type typedBody struct {
	Timestamp      Time    `json:"timestamp"`
	TimezoneOffset *int    `json:"timezone_offset" doc:"Seconds east of UTC where the person was; null when not known."`
	Type           string  `json:"type"`
	Unit           string  `json:"unit"`
	Value          float64 `json:"value"`
}

// stageBody is a stage of a sleep.
type stageBody struct {
	Timestamp      Time    `json:"timestamp" doc:"The same as start."`
	Start          Time    `json:"start" doc:"Inclusive."`
	End            Time    `json:"end" doc:"Exclusive."`
	TimezoneOffset *int    `json:"timezone_offset" doc:"Seconds east of UTC where the person was; null when not known."`
	Type           *string `json:"type"`
	Unit           string  `json:"unit"`
	Value          float64 `json:"value" doc:"-1 unknown, 1 deep, 2 light, 3 REM, 4 awake, 5 manual."`
}

type groupBody struct {
	Source sourceBody   `json:"source"`
	Data   []sampleBody `json:"data"`
}

type groupsBody struct {
	Groups     map[string][]groupBody `json:"groups" doc:"By provider slug: one group for each source. A group may go on in the next page."`
	NextCursor *string                `json:"next_cursor" doc:"Pass it as next_cursor to go on; null at the end."`
	Next       *string                `json:"next" deprecated:"true" doc:"The same as next_cursor."`
}

type samplesIn struct {
	UserID     users.ID `path:"user_id" format:"uuid"`
	Resource   readName `path:"resource"`
	StartDate  string   `query:"start_date" required:"true" doc:"First day (YYYY-MM-DD, UTC) or instant (ISO 8601), inclusive."`
	EndDate    string   `query:"end_date" doc:"Last day or instant, inclusive."`
	Provider   string   `query:"provider" doc:"Only this provider's samples."`
	NextCursor string   `query:"next_cursor" doc:"Where the page before ended."`
	Cursor     string   `query:"cursor" deprecated:"true" doc:"The same as next_cursor."`
}

// samplesCursor is where a page ended. It stays true while data comes in.
type samplesCursor struct {
	Resource string `json:"r"`
	Series   int64  `json:"s"`
	Time     int64  `json:"t"`
}

// query turns the parameters into a query of the domain.
func (in *samplesIn) query() (q wearables.SamplesQuery, err error) {
	start, end, err := between(in.StartDate, in.EndDate)
	q = wearables.SamplesQuery{Resource: string(in.Resource), Provider: in.Provider, From: start.from, To: end.to}
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
	q.After = &wearables.Place{Series: at.Series, Time: at.Time}
	return q, nil
}

// readSamples is a page of samples: 30 days of one per minute fit.
//
// Reference 7.7.
func (a *API) readSamples(ctx context.Context, c Caller, in *samplesIn) (*written, error) {
	q, err := in.query()
	if err != nil {
		return nil, err
	}
	var groups []wearables.Samples
	var next *wearables.Place
	err = a.db.Read(ctx, func(tx *store.Tx) error {
		if err := users.Exists(ctx, tx, c.Team, in.UserID); err != nil {
			return err
		}
		groups, next, err = wearables.ListSamples(ctx, tx, c.Team.UUID(), in.UserID.UUID(), q)
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
	return flowing(func(dst []byte, spill wearables.Spill) []byte {
		dst = a.appendGroups(append(dst, `{"groups":`...), groups, spill)
		dst = append(append(dst, `,"next_cursor":`...), cursor...)
		dst = append(append(dst, `,"next":`...), cursor...)
		return append(dst, '}')
	}), nil
}

// appendGroups writes provider → groups. The groups of one provider, and the
// series of one source, lie side by side.
func (a *API) appendGroups(dst []byte, all []wearables.Samples, spill wearables.Spill) []byte {
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
			dst = wearables.SpillGroup(dst, all[i:i+n], a.Wearables.Describe, spill)
			i += n
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}
