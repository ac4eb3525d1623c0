package api

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/formats/sports"
	"hale/internal/wearables/ledger"
)

// The raw reads answer what a provider said, word for word, beside the id of
// the summary that was made of it. A summary that was pushed has the object
// that was pushed; one that was derived from a file has the file's payload and
// what was derived, since the file has no such object.
//
// Reference 7.9.
func (a *API) rawRoutes() []route {
	return []route{
		get("/v2/summary/activity/{user_id}/raw", a.rawActivity, "Read a user's activity as its provider said it"),
		get("/v2/summary/body/{user_id}/raw", a.rawBody, "Read a user's body measurements as their provider said them"),
		get("/v2/summary/sleep/{user_id}/raw", a.rawSleep, "Read a user's sleep as its provider said it"),
		get("/v2/summary/workouts/{user_id}/raw", a.rawWorkouts, "Read a user's workouts as their provider said them"),
		get("/v2/summary/profile/{user_id}/raw", a.rawProfile, "Read a user's profile as its provider said it"),
		get("/v2/summary/devices/{user_id}/raw", a.rawDevices, "Read a user's devices as their provider named them"),
	}
}

func (a *API) rawActivity(ctx context.Context, c Caller, in *summariesIn) (*out[rawActivities], error) {
	all, err := a.rawSummaries(ctx, c, in, "activity")
	body := rawActivities{make([]rawActivity, len(all))}
	for i := range all {
		body.Activity[i] = rawActivity{RawHead: all[i].RawHead}
	}
	return answer(body), err
}

func (a *API) rawBody(ctx context.Context, c Caller, in *summariesIn) (*out[rawBodies], error) {
	all, err := a.rawSummaries(ctx, c, in, "body")
	body := rawBodies{make([]rawMeasured, len(all))}
	for i := range all {
		body.Body[i] = rawMeasured{RawHead: all[i].RawHead}
	}
	return answer(body), err
}

func (a *API) rawSleep(ctx context.Context, c Caller, in *summariesIn) (*out[rawSleeps], error) {
	all, err := a.rawSummaries(ctx, c, in, "sleep")
	body := rawSleeps{make([]rawMeasured, len(all))}
	for i := range all {
		body.Sleep[i] = rawMeasured{RawHead: all[i].RawHead}
	}
	return answer(body), err
}

func (a *API) rawWorkouts(ctx context.Context, c Caller, in *summariesIn) (*out[rawWorkoutList], error) {
	all, err := a.rawSummaries(ctx, c, in, "workouts")
	body := rawWorkoutList{make([]rawWorkout, len(all))}
	for i := range all {
		body.Workouts[i] = rawWorkout{RawHead: all[i].RawHead, SportID: all[i].sport.ID, Sport: all[i].sport}
	}
	return answer(body), err
}

func (a *API) rawProfile(ctx context.Context, c Caller, in *profileIn) (*out[rawProfileBody], error) {
	all, err := a.rawOf(ctx, c, in.UserID, wearables.SummaryQuery{Resource: "profile", Provider: in.Provider})
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fault.New(fault.NotFound, "No profile found")
	}
	newest := slices.MaxFunc(all, func(x, y rawOne) int { return time.Time(x.UpdatedAt).Compare(time.Time(y.UpdatedAt)) })
	return answer(rawProfileBody{rawProfile{
		ID: newest.ID, Data: newest.Data, UserID: newest.UserID, Source: newest.Source,
		CreatedAt: newest.CreatedAt, UpdatedAt: newest.UpdatedAt,
	}}), nil
}

func (a *API) rawDevices(ctx context.Context, c Caller, in *profileIn) (*out[rawDeviceList], error) {
	var all []connections.Device
	err := a.db.Read(ctx, func(tx *store.Tx) (err error) {
		if err := users.Exists(ctx, tx, c.Team, in.UserID); err != nil {
			return err
		}
		all, err = connections.Devices(ctx, tx, c.Team, in.UserID)
		return err
	})
	body := rawDeviceList{[]rawDevice{}}
	for _, d := range all {
		if in.Provider == "" || d.Provider == in.Provider {
			body.Devices = append(body.Devices, a.rawDeviceOf(d))
		}
	}
	return answer(body), err
}

func (a *API) rawSummaries(ctx context.Context, c Caller, in *summariesIn, resource string) ([]rawOne, error) {
	first, last, err := daysBetween(in.StartDate, in.EndDate)
	if err != nil {
		return nil, err
	}
	return a.rawOf(ctx, c, in.UserID, wearables.SummaryQuery{Resource: resource, Provider: in.Provider, From: first, To: last})
}

// rawOne is a summary with what it was read from.
type rawOne struct {
	RawHead
	sport rawSport
}

// rawOf reads summaries whose payloads are still there.
func (a *API) rawOf(ctx context.Context, c Caller, user users.ID, q wearables.SummaryQuery) (all []rawOne, err error) {
	err = a.db.Read(ctx, func(tx *store.Tx) error {
		if err := users.Exists(ctx, tx, c.Team, user); err != nil {
			return err
		}
		stored, err := wearables.ListSummaries(ctx, tx, c.Team.UUID(), user.UUID(), q)
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
			all = append(all, a.rawOneOf(&stored[i], data))
		}
		return nil
	})
	return all, err
}

func (a *API) rawOneOf(s *wearables.StoredSummary, data json.RawMessage) rawOne {
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
		CreatedAt: Time(s.CreatedAt), UpdatedAt: Time(s.UpdatedAt), Source: a.rawSourceOf(s.Source.Provider),
	}, sport: said.Sport}
	if one.ProviderID == "" {
		one.ProviderID = s.ID.String()
	}
	for _, text := range []string{said.Bedtime, said.Begun, said.Day + "T00:00:00Z"} {
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			one.Timestamp = Time(at)
			break
		}
	}
	return one
}

func (a *API) rawSourceOf(slug string) rawSource {
	source := rawSource{Slug: slug}
	if a.Wearables.Describe != nil {
		source.Name, source.Logo = a.Wearables.Describe(slug)
	}
	return source
}
