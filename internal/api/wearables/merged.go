package wearables

import (
	"context"
	"encoding/json"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/api"
	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/paging"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/merged"
)

func (h *Handlers) mergedRoutes() []api.Route {
	return []api.Route{
		api.Writes[mergedBody](api.Get("/v2/timeseries/{user_id}/{resource}/merged", h.readMerged, "Read a user's samples of one resource, merged into one series")).OwnData(),
		api.Writes[daysBody](api.Get("/v2/timeseries/{user_id}/{resource}/daily", h.readDays, "Read the merged values of one resource for each local day")).OwnData(),
	}
}

// mergedName is the path segment of a time series that can be merged.
type mergedName string

// Schema lists the resources.
func (mergedName) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString, Description: "Kind of time series whose values are quantities."}
	for _, r := range wearables.Resources() {
		if r.CanMerge() {
			s.Enum = append(s.Enum, r.Name)
		}
	}
	s.PrecomputeMessages()
	return s
}

// mergedBody is an addition to the reference: one line of samples, merged from several
// sources.
type mergedBody struct {
	Resource   string       `json:"resource"`
	Unit       string       `json:"unit"`
	Sources    []sourceBody `json:"sources" doc:"Sources of this page, best first."`
	Data       []PieceBody  `json:"data" doc:"Values, in order of start."`
	SetAside   []asideBody  `json:"set_aside,omitempty" doc:"Values that do not count, with explain=true. A better source has a value for the same time, or the merged series excludes the value."`
	NextCursor *string      `json:"next_cursor" doc:"Cursor of the next page. It is null on the last page."`
}

// PieceBody is a sample, or the share of its interval that counts. It is exported because
// OpenAPI generation skips unexported embedded types.
type PieceBody struct {
	Start          api.Time `json:"start"`
	End            api.Time `json:"end" doc:"End, exclusive. For a measurement it is the same as start."`
	TimezoneOffset *int     `json:"timezone_offset" doc:"Offset of the person's time in seconds east of UTC. It is null if unknown."`
	Type           *string  `json:"type" doc:"Type of the value. Each type is merged separately."`
	Value          *float64 `json:"value,omitempty" doc:"Value of all resources except blood_pressure. A part of an interval has a proportional part of the value."`
	Systolic       *float64 `json:"systolic,omitempty" doc:"Systolic value of blood_pressure."`
	Diastolic      *float64 `json:"diastolic,omitempty" doc:"Diastolic value of blood_pressure."`
	Source         int      `json:"source" doc:"Position of the source in sources, from 0."`
}

type asideBody struct {
	PieceBody
	CoveredBy *int `json:"covered_by" doc:"Position of the better source in sources. It is null for values that the merged series excludes, such as the distance of a ride."`
}

type mergedIn struct {
	UserID     users.ID   `path:"user_id" format:"uuid"`
	Resource   mergedName `path:"resource"`
	StartDate  string     `query:"start_date" required:"true" doc:"First day (YYYY-MM-DD, UTC) or instant (ISO 8601), inclusive."`
	EndDate    string     `query:"end_date" doc:"Last day, inclusive, or the instant at which intervals end to count. Measurements at this instant count too."`
	Provider   string     `query:"provider" doc:"Merge only this provider's sources."`
	NextCursor string     `query:"next_cursor" doc:"next_cursor of the previous page."`
	Explain    bool       `query:"explain" doc:"Also list the values that do not count, and their better sources."`
}

// mergedCursor is the end of a page: the time at which the next one starts.
type mergedCursor struct {
	Resource string `json:"r"`
	Time     int64  `json:"t"`
}

// readMerged answers with one page of a merged line.
func (h *Handlers) readMerged(ctx context.Context, c api.Caller, in *mergedIn) (*api.Encoded, error) {
	start, end, err := api.ParseRange(in.StartDate, in.EndDate)
	if err != nil {
		return nil, err
	}
	r := merged.Range{Span: merged.Span{Start: start.From, End: end.To}, Explain: in.Explain}
	if end.Instant { // an interval that begins there has no time inside
		r.End, r.Through = end.From, true
	}
	if in.NextCursor != "" {
		at := mergedCursor{}
		if err := resume(in.NextCursor, &at, &at.Resource, string(in.Resource)); err != nil {
			return nil, err
		}
		r.After = &at.Time
	}
	q := mergedQuery(c, in.UserID, in.Resource, in.Provider)
	var page merged.Page
	err = h.DB.Read(ctx, func(tx *store.Tx) error {
		user, err := users.Get(ctx, tx, c.Team, in.UserID)
		if err != nil {
			return err
		}
		r.Zone = zoneOf(user)
		page, err = merged.Read(ctx, tx, q, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	body := make([]byte, 0, 4096+130*(len(page.Pieces)+len(page.Aside)))
	body = merged.AppendPage(append(body, '{'), q.Resource, &page, h.logos(), in.Explain)
	if page.Next == nil {
		return api.WriteJSON(endPage(body, nil)), nil
	}
	return api.WriteJSON(endPage(body, mergedCursor{q.Resource.Name, *page.Next})), nil
}

func mergedQuery(c api.Caller, user users.ID, resource mergedName, provider string) merged.Query {
	r, _ := wearables.ResourceNamed(string(resource)) // the schema lists them
	return merged.Query{Team: c.Team.UUID(), User: user.UUID(), Resource: r, Provider: provider}
}

// resume decodes a cursor into position. It refuses a cursor of another resource; of
// points to the resource in position.
func resume(cursor string, position any, of *string, resource string) error {
	if err := paging.Decode(cursor, position); err != nil {
		return err
	}
	if *of != resource {
		return fault.New(fault.Invalid, "Value error, this cursor belongs to another resource").At("query", "next_cursor")
	}
	return nil
}

// endPage appends the cursor of a position and the end of the object. A nil position
// gives null.
func endPage(body []byte, position any) []byte {
	cursor := []byte("null")
	if position != nil {
		cursor, _ = json.Marshal(paging.Encode(position)) // a string always marshals
	}
	return append(append(append(body, `,"next_cursor":`...), cursor...), '}')
}

// daysBody is an addition to the reference: a merged line by local day.
type daysBody struct {
	Resource   string       `json:"resource"`
	Unit       string       `json:"unit"`
	Sources    []sourceBody `json:"sources" doc:"Sources of this page, best first."`
	Data       []dayBody    `json:"data" doc:"Days that have data, in order."`
	NextCursor *string      `json:"next_cursor" doc:"Cursor of the next page. It is null on the last page."`
}

type dayBody struct {
	Date      civil.Date `json:"date" doc:"Local day of the person. It follows the samples' offsets, then the user's fallback_time_zone, then UTC."`
	Type      *string    `json:"type" doc:"Type of the values."`
	Total     *float64   `json:"total,omitempty" doc:"Total of resources that add up, such as steps."`
	Min       *float64   `json:"min,omitempty" doc:"Lowest value of levels, such as heartrate."`
	Avg       *float64   `json:"avg,omitempty" doc:"The mean of the samples."`
	Max       *float64   `json:"max,omitempty"`
	Systolic  *levelBody `json:"systolic,omitempty" doc:"Systolic value of blood_pressure."`
	Diastolic *levelBody `json:"diastolic,omitempty" doc:"Diastolic value of blood_pressure."`
	Count     *int       `json:"count,omitempty" doc:"Number of samples of a level."`
	Sources   []int      `json:"sources" doc:"Positions in sources of the sources of the day."`
}

type levelBody struct {
	Min float64 `json:"min"`
	Avg float64 `json:"avg"`
	Max float64 `json:"max"`
}

type daysIn struct {
	UserID     users.ID   `path:"user_id" format:"uuid"`
	Resource   mergedName `path:"resource"`
	StartDate  string     `query:"start_date" required:"true" doc:"First local day, inclusive."`
	EndDate    string     `query:"end_date" doc:"Last local day, inclusive."`
	Provider   string     `query:"provider" doc:"Merge only this provider's sources."`
	NextCursor string     `query:"next_cursor" doc:"next_cursor of the previous page."`
}

// daysCursor is the first day of the next page.
type daysCursor struct {
	Resource string     `json:"r"`
	Day      civil.Date `json:"d"`
}

// readDays answers with one page of days, at most 366.
func (h *Handlers) readDays(ctx context.Context, c api.Caller, in *daysIn) (*api.Encoded, error) {
	first, last, err := api.ParseDays(in.StartDate, in.EndDate)
	if err != nil {
		return nil, err
	}
	r := merged.DaysRange{First: civil.MustParse(first), Last: civil.MustParse(last)}
	if in.NextCursor != "" {
		at := daysCursor{}
		if err := resume(in.NextCursor, &at, &at.Resource, string(in.Resource)); err != nil {
			return nil, err
		}
		if at.Day.After(r.First) {
			r.First = at.Day
		}
	}
	q := mergedQuery(c, in.UserID, in.Resource, in.Provider)
	var page merged.Days
	err = h.DB.Read(ctx, func(tx *store.Tx) error {
		user, err := users.Get(ctx, tx, c.Team, in.UserID)
		if err != nil {
			return err
		}
		r.Zone = zoneOf(user)
		page, err = merged.ReadDays(ctx, tx, q, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	body := make([]byte, 0, 4096+120*len(page.Days))
	body = merged.AppendDays(append(body, '{'), q.Resource, &page, h.logos())
	if page.Next == nil {
		return api.WriteJSON(endPage(body, nil)), nil
	}
	return api.WriteJSON(endPage(body, daysCursor{q.Resource.Name, *page.Next})), nil
}

// zoneOf returns the user's stated zone, or nil if there is none.
func zoneOf(user users.User) *time.Location {
	if user.TimeZone == nil {
		return nil
	}
	zone, err := civil.Zone(user.TimeZone.Name)
	if err != nil { // a zone that left the database
		return nil
	}
	return zone
}
