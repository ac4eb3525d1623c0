package wearables

import (
	"context"
	"errors"

	"hale/internal/api"
	"hale/internal/people/users"
	"hale/internal/platform/audit"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// streamBody is the course of a workout in parallel lists.
//
// Reference 7.8.
type streamBody struct {
	Time        []int64    `json:"time" doc:"Times in Unix seconds. Each other list has the same length or is empty. An element may be null."`
	Cadence     []*float64 `json:"cadence" doc:"Cadence in revolutions or steps per minute."`
	HeartRate   []*int     `json:"heartrate" doc:"Heart rate in bpm."`
	Distance    []*float64 `json:"distance" doc:"Distance in m since the start."`
	Altitude    []*float64 `json:"altitude" doc:"Altitude in m."`
	Velocity    []*float64 `json:"velocity_smooth" doc:"Speed in m/s."`
	Lat         []*float64 `json:"lat" doc:"Latitude in degrees."`
	Lng         []*float64 `json:"lng" doc:"Longitude in degrees."`
	Power       []*float64 `json:"power" doc:"Power in W."`
	Resistance  []*float64 `json:"resistance" doc:"Resistance in the machine's own unit."`
	Temperature []*float64 `json:"temperature" doc:"Temperature in °C."`
}

type workoutStreamIn struct {
	WorkoutID users.ID `path:"workout_id" format:"uuid"`
}

func (h *Handlers) readWorkoutStream(ctx context.Context, c api.Caller, in *workoutStreamIn) (*api.Encoded, error) {
	var stream *wearables.Stream
	err := h.DB.Read(ctx, func(tx *store.Tx) error {
		workout, err := h.session(ctx, tx, c, in.WorkoutID, "workouts", "Workout not found")
		if err != nil {
			return err
		}
		stream, err = storage.ReadStream(ctx, tx, &workout)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.WriteJSON(wearables.AppendStream(nil, stream)), nil
}

// session finds a summary of one of the team's active users, or of the calling phone's
// user.
func (h *Handlers) session(ctx context.Context, tx *store.Tx, c api.Caller, id users.ID, resource, missing string) (storage.StoredSummary, error) {
	s, err := storage.SummaryByID(ctx, tx, c.Team.UUID(), id.UUID(), resource)
	if errors.Is(err, store.ErrNoRows) || err == nil && !c.User.IsZero() && users.ID(s.User) != c.User {
		return s, fault.New(fault.NotFound, missing)
	}
	if err != nil {
		return s, err
	}
	err = users.Exists(ctx, tx, c.Team, users.ID(s.User))
	switch {
	case fault.Is(err, fault.NotFound):
		err = fault.New(fault.NotFound, missing)
	case err == nil:
		audit.NotePeople(ctx, users.ID(s.User))
	}
	return s, err
}

// sleepStreamBody holds the measurements during a sleep.
//
// Reference 7.8.
type sleepStreamBody struct {
	HRV             []pointBody `json:"hrv"`
	HeartRate       []pointBody `json:"heartrate"`
	Hypnogram       []stageBody `json:"hypnogram"`
	RespiratoryRate []pointBody `json:"respiratory_rate"`
}

type sleepStreamIn struct {
	SleepID users.ID `path:"sleep_id" format:"uuid"`
}

func (h *Handlers) readSleepStream(ctx context.Context, c api.Caller, in *sleepStreamIn) (*api.Encoded, error) {
	var s storage.SleepStream
	err := h.DB.Read(ctx, func(tx *store.Tx) error {
		sleep, err := h.session(ctx, tx, c, in.SleepID, "sleep", "Sleep not found")
		if err != nil {
			return err
		}
		s, err = storage.ReadSleepStream(ctx, tx, &sleep)
		return err
	})
	if err != nil {
		return nil, err
	}
	body := []byte{'{'}
	for i, part := range []struct {
		name    string
		samples []wearables.Samples
	}{{"hrv", s.HRV}, {"heartrate", s.HeartRate}, {"hypnogram", s.Hypnogram}, {"respiratory_rate", s.RespiratoryRate}} {
		body = append(wearables.AppendText(append(body, ","[:min(i, 1)]...), part.name), ':')
		body = wearables.AppendPlain(body, part.samples, func(text []byte) []byte { return text })
	}
	return api.WriteJSON(append(body, '}')), nil
}
