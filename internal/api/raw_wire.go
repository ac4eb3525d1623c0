package api

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/wearables/connections"
)

// rawObject is an object of a provider's making.
type rawObject json.RawMessage

// MarshalJSON writes it as it came.
func (o rawObject) MarshalJSON() ([]byte, error) { return json.RawMessage(o).MarshalJSON() }

// UnmarshalJSON keeps it as it comes.
func (o *rawObject) UnmarshalJSON(data []byte) error {
	return (*json.RawMessage)(o).UnmarshalJSON(data)
}

// Schema says an object of any fields.
func (rawObject) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Description: "What the provider said, word for word. For a file: payload_id, kind, received_at and derived."}
}

// rawSource names a provider.
//
// Reference 7.9, ClientFacingProvider.
type rawSource struct {
	Name string `json:"name"`
	Slug string `json:"slug"`
	Logo string `json:"logo"`
}

// RawHead is what all raw summaries have. It has a capital because the document
// does not see into embedded types without one.
type RawHead struct {
	Timestamp  Time       `json:"timestamp" doc:"Start of the session; of a day, its midnight in UTC."`
	Data       rawObject  `json:"data"`
	UserID     users.ID   `json:"user_id" format:"uuid"`
	ProviderID string     `json:"provider_id" deprecated:"true" doc:"The provider's own id, else ours."`
	SourceID   int        `json:"source_id" deprecated:"true"`
	ID         uuid.UUID  `json:"id" format:"uuid" doc:"Of the summary that was made of it."`
	DeviceID   *uuid.UUID `json:"source_device_id" format:"uuid"`
	CreatedAt  Time       `json:"created_at"`
	UpdatedAt  Time       `json:"updated_at"`
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

// rawSport is what a workout was.
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
	CreatedAt  Time      `json:"created_at"`
	UpdatedAt  Time      `json:"updated_at"`
}

// rawDevice is a device as its provider named it.
//
// Reference 7.9, RawDevice.
type rawDevice struct {
	Data       rawObject            `json:"data"`
	ProviderID string               `json:"provider_id" doc:"The provider's own id, else ours."`
	UserID     users.ID             `json:"user_id" format:"uuid"`
	SourceID   int                  `json:"source_id"`
	ID         connections.DeviceID `json:"id" format:"uuid"`
	Source     rawSource            `json:"source"`
}

func (a *API) rawDeviceOf(d connections.Device) rawDevice {
	id := d.ExternalID
	if id == "" {
		id = d.ID.String()
	}
	data, _ := json.Marshal(map[string]string{ // texts always marshal
		"source_type": d.SourceType, "app_id": d.AppID, "manufacturer": d.Manufacturer,
		"model": d.Model, "device_id": d.ExternalID, "version": d.Version,
	})
	return rawDevice{Data: data, ProviderID: id, UserID: d.User, ID: d.ID, Source: a.rawSourceOf(d.Provider)}
}
