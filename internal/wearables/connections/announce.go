package connections

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/events"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables/providers"
)

// The event types of this package.
const (
	CreatedEvent       = "provider.connection.created"
	errorEvent         = "provider.connection.error"
	DeviceCreatedEvent = "provider.device.created"
	DeviceUpdatedEvent = "provider.device.updated"
)

// createdData is the payload of provider.connection.created.
//
// Spec: Events, other named events; Versioning 3: provider replaces source.
type createdData struct {
	UserID         users.ID      `json:"user_id"`
	Provider       providerData  `json:"provider"`
	Source         *providerData `json:"source,omitempty"` // Reference 8.3; sent to teams with reference_compat
	ExternalUserID *string       `json:"external_user_id"`
	Resources      Resources     `json:"resource_availability"`
}

type providerData struct {
	Name string `json:"name"`
	Slug string `json:"slug"`
	Logo string `json:"logo"`
}

func (c Connection) createdData(logos providers.Logos) createdData {
	p := c.Provider
	return createdData{UserID: c.User, Provider: providerData{p.Name, p.Slug, logos.URL(p.Slug)}, Resources: c.Resources}
}

func announceCreated(ctx context.Context, tx *store.Tx, user users.User, c Connection) error {
	data := c.createdData(providers.LogosOf(tx))
	compat, err := teams.ReferenceCompat(ctx, tx, user.Team)
	if err != nil {
		return err
	}
	if compat {
		data.Source = &data.Provider
	}
	return announce(ctx, tx, user, CreatedEvent, data)
}

func announce(ctx context.Context, tx *store.Tx, user users.User, kind string, payload any) error {
	data, err := json.Marshal(payload)
	if err != nil {
		return fmt.Errorf("connections: marshalling a %s: %w", kind, err)
	}
	_, err = events.Emit(ctx, tx, events.New{
		Team: user.Team.UUID(), User: user.ID.UUID(), ClientUserID: user.ClientUserID, Type: kind, Data: data,
	})
	return err
}

// EventTypes returns the types of events that this package emits.
func EventTypes() []events.Type {
	device := func(user uuid.UUID) json.RawMessage {
		return example(Device{
			ID: ids.FromUUID[Device](uuid.MustParse("00000000-0000-4000-8000-000000000004")), User: ids.FromUUID[users.User](user),
			Provider: "apple_health_kit", SourceType: "watch", Manufacturer: "Example", Model: "Watch6,2", Version: "10.1",
		}.Data())
	}
	return []events.Type{
		{Name: CreatedEvent, Sentence: "A user connected a provider.", Example: func(user uuid.UUID) json.RawMessage {
			p, _ := providers.Find("apple_health_kit")
			c := Connection{User: ids.FromUUID[users.User](user), Team: teams.ID{}, Provider: p, Resources: Resources{"heartrate": available(), "sleep": available()}}
			return example(c.createdData("https://hale.example.org"))
		}},
		{
			Name:     errorEvent,
			Sentence: "A connection stopped working and needs the user or the team. Not sent yet: data is sent to us or imported, and nothing is fetched from providers.",
			Example:  events.ExampleOf(`"provider":"fitbit","error_type":"token_refresh_failed","message":"The provider refused to renew access.","error_details":""`),
		},
		{Name: DeviceCreatedEvent, Sentence: "A device was seen for the first time.", Example: device},
		{Name: DeviceUpdatedEvent, Sentence: "What is known of a device changed.", Example: device},
	}
}

func example(payload any) json.RawMessage {
	doc, err := json.Marshal(payload)
	if err != nil {
		panic(err) // plain structs
	}
	return doc
}
