package wearables

import (
	"context"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"hale/internal/api"
	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/deletion"
	"hale/internal/wearables/providers"
)

// Shifting data is an addition of ours.
func (h *Handlers) shiftRoutes() []api.Route {
	return []api.Route{
		api.Post("/v2/user/{user_id}/data/shifts", h.shiftData, "Move the data of a source with a wrong clock").Tag("user").Announces(dataEvents...),
		api.Get("/v2/user/{user_id}/data/shifts", h.listShifts, "List the shifts of a user's data, newest first").Tag("user"),
		api.Delete("/v2/user/{user_id}/data/shifts/{shift_id}", h.reverseShift, "Reverse a shift").Tag("user").Announces(dataEvents...).Refuses("conflict"),
	}
}

type shiftIn struct {
	api.UserPath
	Body shiftInBody
}

type shiftInBody struct {
	Provider string `json:"provider" minLength:"1" doc:"Shift only data of this provider."`
	Source   string `json:"source,omitempty" doc:"Shift only data of this source: its type, app_id, device_id or source_id."`
	Resource string `json:"resource,omitempty" doc:"Shift only this time series or summary."`
	Start    string `json:"start" doc:"First day (YYYY-MM-DD, UTC) or instant (ISO 8601) of the wrong times, inclusive. After the shift it must not lie before 2000."`
	End      string `json:"end" doc:"Last day or instant of the range, inclusive, not before start. After the shift it must not lie in the future."`
	Seconds  int64  `json:"seconds" doc:"Seconds to add to the times. The number is negative if the clock was fast."`
	TimeZone string `json:"time_zone,omitempty" doc:"IANA zone of the person. Offsets follow this zone at the new times. The default is the user's fallback_time_zone."`
	DryRun   bool   `json:"dry_run,omitempty" doc:"Count the records and move nothing."`
}

// TransformSchema states the rules of the domain.
func (shiftInBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{
		"provider": api.StateEnum(providers.Slugs()), "resource": api.StateEnum(append(wearables.StoredResources(), "")),
		"start": stateSpan(), "end": stateSpan(), "time_zone": api.StatePatterns(civil.ZonePattern).OrEmpty(),
		"seconds": {"minimum": -deletion.MaxShiftSeconds, "maximum": deletion.MaxShiftSeconds, "not": &huma.Schema{Enum: []any{0}}},
	})
}

// shiftBody is a shift on the wire.
type shiftBody struct {
	ID         *deletion.ID            `json:"id" format:"uuid" nullable:"true" doc:"Id of the shift and of its job. It is null for a dry run."`
	UserID     users.ID                `json:"user_id" format:"uuid"`
	Status     string                  `json:"status" doc:"running, succeeded or failed. The list may grow. GET /v2/user/{user_id}/data/deletions/{id} shows the progress."`
	DryRun     bool                    `json:"dry_run"`
	Provider   string                  `json:"provider"`
	Source     *string                 `json:"source" nullable:"true"`
	Resource   *string                 `json:"resource" nullable:"true"`
	Start      api.Time                `json:"start" doc:"Start of the shifted times before the shift."`
	End        api.Time                `json:"end" doc:"End, exclusive."`
	Seconds    int64                   `json:"seconds"`
	Reverses   *deletion.ID            `json:"reverses" format:"uuid" nullable:"true" doc:"The shift that this one reverses."`
	Resources  map[string]deletedCount `json:"resources" doc:"Counts by resource, with the names of events."`
	CreatedAt  api.Time                `json:"created_at"`
	FinishedAt *api.Time               `json:"finished_at" nullable:"true"`
}

type shiftList struct {
	Shifts []shiftBody `json:"shifts"`
}

func shiftOf(d deletion.Deletion) shiftBody {
	f, base := &d.Filter, deletionOf(d)
	body := shiftBody{
		ID: base.ID, UserID: base.UserID, Status: base.Status, DryRun: base.DryRun, Resources: base.Resources, CreatedAt: base.CreatedAt, FinishedAt: base.FinishedAt,
		Provider: f.Provider, Source: api.TextOrNull(f.Source), Resource: api.TextOrNull(f.Resource),
		Start: instant(*f.From), End: instant(*f.To), Seconds: f.Shift.Seconds,
	}
	if id := d.ShiftOf(); id.UUID() != uuid.Nil {
		body.Reverses = &id
	}
	return body
}

func (h *Handlers) shiftData(ctx context.Context, c api.Caller, in *shiftIn) (*api.Out[shiftBody], error) {
	b := &in.Body
	start, bad := api.ParseSpan("start", b.Start)
	if bad != nil {
		return nil, bad.At("body", "start")
	}
	end, bad := api.ParseSpan("end", b.End)
	if bad != nil {
		return nil, bad.At("body", "end")
	}
	if b.Seconds == 0 {
		return nil, fault.New(fault.Invalid, "Value error, must not be 0").At("body", "seconds")
	}
	f := deletion.Filter{
		Provider: b.Provider, Source: b.Source, Resource: b.Resource, From: &start.From, To: &end.To, Shift: deletion.Shift{Seconds: b.Seconds, Zone: b.TimeZone},
	}
	return h.shift(ctx, c, in.UserID, b.DryRun, func(*store.Tx) (deletion.Filter, error) { return f, nil })
}

// shift moves what a filter selects, or counts it.
func (h *Handlers) shift(ctx context.Context, c api.Caller, id users.ID, dryRun bool, filter func(tx *store.Tx) (deletion.Filter, error)) (*api.Out[shiftBody], error) {
	move := h.Deletions.Delete
	if dryRun {
		move = h.Deletions.Preview
	}
	shift := func(tx *store.Tx) (body shiftBody, err error) {
		user, err := users.Get(ctx, tx, c.Team, id)
		if err != nil {
			return body, err
		}
		f, err := filter(tx)
		if err != nil {
			return body, err
		}
		d, err := move(ctx, tx, user, f)
		if err != nil {
			return body, err
		}
		return shiftOf(d), nil
	}
	if !dryRun {
		return api.Commit(ctx, h.API, shift)
	}
	var body shiftBody
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		body, err = shift(tx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(body), nil
}

func (h *Handlers) listShifts(ctx context.Context, c api.Caller, in *api.UserPath) (*api.Out[shiftList], error) {
	list := shiftList{Shifts: []shiftBody{}}
	err := h.DB.Read(ctx, func(tx *store.Tx) error {
		if err := users.Exists(ctx, tx, c.Team, in.UserID); err != nil {
			return err
		}
		all, err := deletion.Shifts(ctx, tx, c.Team, in.UserID)
		for _, d := range all {
			list.Shifts = append(list.Shifts, shiftOf(d))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(list), nil
}

type reverseIn struct {
	api.UserPath
	ShiftID deletion.ID `path:"shift_id" format:"uuid"`
	DryRun  bool        `query:"dry_run" doc:"Count the records and move nothing."`
}

func (h *Handlers) reverseShift(ctx context.Context, c api.Caller, in *reverseIn) (*api.Out[shiftBody], error) {
	return h.shift(ctx, c, in.UserID, in.DryRun, func(tx *store.Tx) (deletion.Filter, error) {
		return deletion.ReverseFilter(ctx, tx, c.Team, in.UserID, in.ShiftID)
	})
}
