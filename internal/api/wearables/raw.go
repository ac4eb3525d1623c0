package wearables

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"hale/internal/api"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/ledger"
	"hale/internal/wearables/providers"
	"hale/internal/wearables/sports"
	"hale/internal/wearables/storage"
)

// The raw reads return the provider's data byte by byte, with the id of the summary
// that it became. For a pushed summary the data is the pushed object. A summary that
// was derived from a file has no such object: the data is the file's payload and the
// derived values.
//
// Reference 7.9.
func (h *Handlers) rawRoutes() []api.Route {
	return []api.Route{
		api.Get("/v2/summary/activity/{user_id}/raw", h.rawActivity, "Read a user's activity in its provider's original form"),
		api.Get("/v2/summary/body/{user_id}/raw", h.rawBody, "Read a user's body measurements in their provider's original form"),
		api.Get("/v2/summary/sleep/{user_id}/raw", h.rawSleep, "Read a user's sleep in its provider's original form"),
		api.Get("/v2/summary/workouts/{user_id}/raw", h.rawWorkouts, "Read a user's workouts in their provider's original form"),
		api.Get("/v2/summary/profile/{user_id}/raw", h.rawProfile, "Read a user's profile in its provider's original form"),
		api.Get("/v2/summary/devices/{user_id}/raw", h.rawDevices, "Read a user's devices in their provider's original form"),
	}
}

func (h *Handlers) rawActivity(ctx context.Context, c api.Caller, in *SummariesIn) (*api.Out[rawActivities], error) {
	all, err := h.rawSummaries(ctx, c, in, "activity")
	body := rawActivities{make([]rawActivity, len(all))}
	for i := range all {
		body.Activity[i] = rawActivity{RawHead: all[i].RawHead}
	}
	return api.Answer(body), err
}

func (h *Handlers) rawBody(ctx context.Context, c api.Caller, in *SummariesIn) (*api.Out[rawBodies], error) {
	all, err := h.rawSummaries(ctx, c, in, "body")
	body := rawBodies{make([]rawMeasured, len(all))}
	for i := range all {
		body.Body[i] = rawMeasured{RawHead: all[i].RawHead}
	}
	return api.Answer(body), err
}

func (h *Handlers) rawSleep(ctx context.Context, c api.Caller, in *SummariesIn) (*api.Out[rawSleeps], error) {
	all, err := h.rawSummaries(ctx, c, in, "sleep")
	body := rawSleeps{make([]rawMeasured, len(all))}
	for i := range all {
		body.Sleep[i] = rawMeasured{RawHead: all[i].RawHead}
	}
	return api.Answer(body), err
}

func (h *Handlers) rawWorkouts(ctx context.Context, c api.Caller, in *SummariesIn) (*api.Out[rawWorkoutList], error) {
	all, err := h.rawSummaries(ctx, c, in, "workouts")
	body := rawWorkoutList{make([]rawWorkout, len(all))}
	for i := range all {
		body.Workouts[i] = rawWorkout{RawHead: all[i].RawHead, SportID: all[i].sport.ID, Sport: all[i].sport}
	}
	return api.Answer(body), err
}

func (h *Handlers) rawProfile(ctx context.Context, c api.Caller, in *profileIn) (*api.Out[rawProfileBody], error) {
	all, err := h.rawOf(ctx, c, in.UserID, storage.SummaryQuery{Resource: "profile", Provider: in.Provider})
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fault.New(fault.NotFound, "No profile found")
	}
	newest := slices.MaxFunc(all, func(x, y rawOne) int { return time.Time(x.UpdatedAt).Compare(time.Time(y.UpdatedAt)) })
	return api.Answer(rawProfileBody{rawProfile{
		ID: newest.ID, Data: newest.Data, UserID: newest.UserID, Source: newest.Source,
		CreatedAt: newest.CreatedAt, UpdatedAt: newest.UpdatedAt,
	}}), nil
}

func (h *Handlers) rawDevices(ctx context.Context, c api.Caller, in *profileIn) (*api.Out[rawDeviceList], error) {
	var all []connections.Device
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		if err := users.Exists(ctx, tx, c.Team, in.UserID); err != nil {
			return err
		}
		all, err = connections.Devices(ctx, tx, c.Team, in.UserID)
		return err
	})
	body := rawDeviceList{[]rawDevice{}}
	for _, d := range all {
		if in.Provider == "" || d.Provider == in.Provider {
			body.Devices = append(body.Devices, h.rawDeviceOf(d))
		}
	}
	return api.Answer(body), err
}

func (h *Handlers) rawSummaries(ctx context.Context, c api.Caller, in *SummariesIn, resource string) ([]rawOne, error) {
	first, last, err := api.ParseDays(in.StartDate, in.EndDate)
	if err != nil {
		return nil, err
	}
	return h.rawOf(ctx, c, in.UserID, storage.SummaryQuery{Resource: resource, Provider: in.Provider, From: first, To: last})
}

// rawOne is a summary with what it was read from.
type rawOne struct {
	RawHead
	sport rawSport
}

// rawOf reads summaries whose payloads are still there.
func (h *Handlers) rawOf(ctx context.Context, c api.Caller, user users.ID, q storage.SummaryQuery) (all []rawOne, err error) {
	err = h.DB.Read(ctx, func(tx *store.Tx) error {
		if err := users.Exists(ctx, tx, c.Team, user); err != nil {
			return err
		}
		stored, err := storage.ListSummaries(ctx, tx, c.Team.UUID(), user.UUID(), q)
		if err != nil || len(stored) == 0 {
			return err
		}
		origins, err := ledger.Origins(ctx, tx, c.Team, user)
		if err != nil {
			return err
		}
		from := &payloads{tx: tx, caller: c, user: user, asked: map[ledger.ID][]int{}, open: map[ledger.ID]*payload{}}
		for i := range stored {
			if origin, ok := origins[stored[i].ID]; ok {
				from.asked[origin.Payload] = append(from.asked[origin.Payload], origin.Place)
			}
		}
		all = nil
		for i := range stored {
			origin, ok := origins[stored[i].ID]
			if !ok {
				continue
			}
			data, err := from.data(ctx, origin, &stored[i])
			if err != nil {
				return err
			}
			all = append(all, h.rawOneOf(&stored[i], data))
		}
		return nil
	})
	return all, err
}

func (h *Handlers) rawOneOf(s *storage.StoredSummary, data json.RawMessage) rawOne {
	var said struct {
		Day        string   `json:"calendar_date"`
		Bedtime    string   `json:"bedtime_start"`
		Begun      string   `json:"time_start"`
		ProviderID string   `json:"provider_id"`
		Sport      rawSport `json:"sport"`
	}
	said.Sport = rawSport(sports.OtherSport)
	_ = json.Unmarshal(s.Body, &said) // a stored body is an object of these types
	one := rawOne{RawHead: RawHead{
		Data: rawObject(data), UserID: users.ID(s.User), ProviderID: said.ProviderID, ID: s.ID, DeviceID: s.Source.DeviceID,
		CreatedAt: api.Time(s.CreatedAt), UpdatedAt: api.Time(s.UpdatedAt), Source: rawSourceOf(s.Source.Provider, h.logos()),
	}, sport: said.Sport}
	if one.ProviderID == "" {
		one.ProviderID = s.ID.String()
	}
	for _, text := range []string{said.Bedtime, said.Begun, said.Day + "T00:00:00Z"} {
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			one.Timestamp = api.Time(at)
			break
		}
	}
	return one
}

func rawSourceOf(slug string, logos providers.Logos) rawSource {
	p := providers.FindOrName(slug)
	return rawSource{Name: p.Name, Slug: slug, Logo: logos.URL(slug)}
}

// payloads opens each payload of a read once.
type payloads struct {
	tx     *store.Tx
	caller api.Caller
	user   users.ID
	asked  map[ledger.ID][]int // places of the summaries that are read
	open   map[ledger.ID]*payload
	size   int64 // bytes that were opened
}

// payload is an unpacked payload; said has the members of a pushed body at the
// requested places. The rest of the body is dropped.
type payload struct {
	ledger.Payload
	said map[int]json.RawMessage
}

// mostRaw bounds how many bytes one read opens, because such a read has no pages. A
// stored body may take some kilobytes and unpack to the maximum size of a push. A read
// always opens at least one body, regardless of its size.
const mostRaw = 64 << 20

var errRawTooLarge = fault.New(fault.Unprocessable,
	"the bodies of this time are too large for one answer; ask for a shorter time, or for one provider")

// data returns the provider's data of a summary.
func (p *payloads) data(ctx context.Context, from ledger.Origin, s *storage.StoredSummary) (json.RawMessage, error) {
	one, err := p.find(ctx, from)
	if err != nil {
		return nil, err
	}
	if said, ok := one.said[from.Place]; ok {
		return said, nil
	}
	return json.Marshal(derivedData{Payload: one.ID, Kind: one.Kind, ReceivedAt: api.Time(one.LastAt), Derived: s.Body})
}

// derivedData is the data of a summary that was derived from a file.
type derivedData struct {
	Payload    ledger.ID       `json:"payload_id"`
	Kind       string          `json:"kind"`
	ReceivedAt api.Time        `json:"received_at"`
	Derived    json.RawMessage `json:"derived"`
}

func (p *payloads) find(ctx context.Context, from ledger.Origin) (*payload, error) {
	if one, ok := p.open[from.Payload]; ok {
		return one, nil
	}
	found, err := ledger.Get(ctx, p.tx, p.caller.Team, p.user, from.Payload)
	if err != nil {
		return nil, err
	}
	one := &payload{Payload: found}
	if from.Place >= 0 {
		if err := p.read(ctx, one); err != nil {
			return nil, err
		}
	}
	p.open[from.Payload] = one
	return one, nil
}

// read opens a pushed body.
func (p *payloads) read(ctx context.Context, one *payload) error {
	if p.size > 0 && p.size+one.Size > mostRaw {
		return errRawTooLarge
	}
	p.size += one.Size
	body, err := one.Body(ctx, p.tx)
	if err != nil {
		return err
	}
	var pushed struct {
		Data []json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(body, &pushed); err != nil {
		return fmt.Errorf("api: a body of the ledger is no JSON: %w", err)
	}
	one.said = map[int]json.RawMessage{}
	for _, place := range p.asked[one.ID] {
		if place >= 0 && place < len(pushed.Data) {
			one.said[place] = pushed.Data[place]
		}
	}
	return nil
}

// rawObject is an object of a provider's making.
type rawObject json.RawMessage

// MarshalJSON returns the data unchanged.
func (o rawObject) MarshalJSON() ([]byte, error) { return json.RawMessage(o).MarshalJSON() }

// UnmarshalJSON keeps it as it comes.
func (o *rawObject) UnmarshalJSON(data []byte) error {
	return (*json.RawMessage)(o).UnmarshalJSON(data)
}

// Schema says an object of any fields.
func (rawObject) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Description: "Original data of the provider. For a file, it has payload_id, kind, received_at and derived."}
}

// rawSource names a provider.
//
// Reference 7.9, ClientFacingProvider.
type rawSource struct {
	Name string `json:"name"`
	Slug string `json:"slug"`
	Logo string `json:"logo"`
}

// RawHead holds the fields that all raw summaries have. It is exported because OpenAPI
// generation skips unexported embedded types.
type RawHead struct {
	Timestamp  api.Time   `json:"timestamp" doc:"Start of the session. For a day, it is midnight of the day in UTC."`
	Data       rawObject  `json:"data"`
	UserID     users.ID   `json:"user_id" format:"uuid"`
	ProviderID string     `json:"provider_id" deprecated:"true" doc:"The provider's own id. If there is none, it is Hale's id."`
	SourceID   int        `json:"source_id" deprecated:"true"`
	ID         uuid.UUID  `json:"id" format:"uuid" doc:"Id of the summary that was made from it."`
	DeviceID   *uuid.UUID `json:"source_device_id" format:"uuid" nullable:"true"`
	CreatedAt  api.Time   `json:"created_at"`
	UpdatedAt  api.Time   `json:"updated_at"`
	Source     rawSource  `json:"source" deprecated:"true"`
}

type rawActivity struct {
	RawHead
	PriorityID int `json:"priority_id" deprecated:"true"`
}

// rawMeasured is a body or a sleep.
type rawMeasured struct {
	RawHead
	PriorityID *int `json:"priority_id" deprecated:"true"`
	Priority   *int `json:"priority" deprecated:"true"`
}

type rawWorkout struct {
	RawHead
	PriorityID *int     `json:"priority_id" deprecated:"true"`
	SportID    int      `json:"sport_id"`
	Sport      rawSport `json:"sport"`
}

// rawSport is the sport of a workout.
type rawSport struct {
	ID   int    `json:"id" deprecated:"true"`
	Name string `json:"name"`
	Slug string `json:"slug"`
}

type (
	rawActivities struct {
		Activity []rawActivity `json:"activity"`
	}
	rawBodies struct {
		Body []rawMeasured `json:"body"`
	}
	rawSleeps struct {
		Sleep []rawMeasured `json:"sleep"`
	}
	rawWorkoutList struct {
		Workouts []rawWorkout `json:"workouts"`
	}
	rawProfileBody struct {
		Profile rawProfile `json:"profile"`
	}
	rawDeviceList struct {
		Devices []rawDevice `json:"devices"`
	}
)

// rawProfile is a profile as its provider said it.
//
// Reference 7.9, ProfileInDb.
type rawProfile struct {
	ID         uuid.UUID `json:"id" format:"uuid"`
	Data       rawObject `json:"data"`
	UserID     users.ID  `json:"user_id" format:"uuid"`
	SourceID   int       `json:"source_id" deprecated:"true"`
	PriorityID *int      `json:"priority_id" deprecated:"true"`
	Source     rawSource `json:"source"`
	CreatedAt  api.Time  `json:"created_at"`
	UpdatedAt  api.Time  `json:"updated_at"`
}

// rawDevice is a device as its provider named it.
//
// Reference 7.9, RawDevice.
type rawDevice struct {
	Data       rawObject            `json:"data"`
	ProviderID string               `json:"provider_id" doc:"The provider's own id. If there is none, it is Hale's id."`
	UserID     users.ID             `json:"user_id" format:"uuid"`
	SourceID   int                  `json:"source_id"`
	ID         connections.DeviceID `json:"id" format:"uuid"`
	Source     rawSource            `json:"source"`
}

func (h *Handlers) rawDeviceOf(d connections.Device) rawDevice {
	id := d.ExternalID
	if id == "" {
		id = d.ID.String()
	}
	data, _ := json.Marshal(map[string]string{ // texts always marshal
		"source_type": d.SourceType, "app_id": d.AppID, "manufacturer": d.Manufacturer,
		"model": d.Model, "device_id": d.ExternalID, "version": d.Version,
	})
	return rawDevice{Data: data, ProviderID: id, UserID: d.User, ID: d.ID, Source: rawSourceOf(d.Provider, h.logos())}
}
