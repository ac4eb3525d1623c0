package connections

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables/providers"
)

// The event types of this package.
const (
	CreatedEvent       = "provider.connection.created"
	UpdatedEvent       = "provider.connection.updated"
	DeletedEvent       = "provider.connection.deleted"
	errorEvent         = "provider.connection.error"
	DeviceCreatedEvent = "provider.device.created"
	DeviceUpdatedEvent = "provider.device.updated"
)

// connectionData is the payload of the events of connections. It has the fields of
// the user's list of connections.
//
// Spec: Events, other named events; Versioning 3: provider replaces source.
type connectionData struct {
	UserID         users.ID      `json:"user_id"`
	Provider       providerData  `json:"provider"`
	Source         *providerData `json:"source,omitempty"` // Reference 8.3; sent to teams with reference_compat
	Status         Status        `json:"status"`
	CreatedOn      civil.Instant `json:"created_on"`
	ExternalUserID *string       `json:"external_user_id"`
	ErrorDetails   *struct{}     `json:"error_details"`
	Resources      Resources     `json:"resource_availability"`
}

type providerData struct {
	Name string `json:"name"`
	Slug string `json:"slug"`
	Logo string `json:"logo"`
}

func (c Connection) data(logos providers.Logos) connectionData {
	p := c.Provider
	return connectionData{
		UserID: c.User, Provider: providerData{p.Name, p.Slug, logos.URL(p.Slug)},
		Status: c.Status, CreatedOn: civil.Instant(c.CreatedOn), Resources: c.Resources,
	}
}

func announceCreated(ctx context.Context, tx *store.Tx, user users.User, c Connection) error {
	data := c.data(providers.LogosOf(tx))
	compat, err := teams.ReferenceCompat(ctx, tx, user.Team)
	if err != nil {
		return err
	}
	if compat {
		data.Source = &data.Provider
	}
	return announce(ctx, tx, user, CreatedEvent, data)
}

// announceChange emits an event of a changed or removed connection.
func (c Connection) announceChange(ctx context.Context, tx *store.Tx, kind string) error {
	name, err := users.ClientUserID(ctx, tx, c.Team, c.User)
	if fault.Is(err, fault.NotFound) {
		return nil // the grace period is over: the user is being erased
	}
	if err != nil {
		return err
	}
	return announce(ctx, tx, users.User{Team: c.Team, ID: c.User, ClientUserID: name}, kind, c.data(providers.LogosOf(tx)))
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
	connection := func(user uuid.UUID) json.RawMessage {
		p, _ := providers.Find("apple_health_kit")
		c := Connection{
			User: ids.FromUUID[users.User](user), Team: teams.ID{}, Provider: p, Status: Connected,
			CreatedOn: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Resources: Resources{"heartrate": availableResource(), "sleep": availableResource()},
		}
		return example(c.data("https://hale.example.org"))
	}
	return []events.Type{
		{Name: CreatedEvent, Sentence: "A user connected a provider.", Example: connection},
		{Name: UpdatedEvent, Sentence: "A connection has further resources or another status.", Optional: true, Example: connection},
		{Name: DeletedEvent, Sentence: "A user was disconnected from a provider. The data stays. The payload is the connection before its removal, with its last status.", Optional: true, Example: connection},
		{
			Name:     errorEvent,
			Sentence: "A connection stopped working and needs the user or the team. Hale does not send it yet, because it fetches nothing from providers.",
			Example:  events.ExampleOf(`"provider":"fitbit","error_type":"token_refresh_failed","message":"The provider refused to renew access.","error_details":""`),
		},
		{Name: DeviceCreatedEvent, Sentence: "A device was seen for the first time.", Example: device},
		{Name: DeviceUpdatedEvent, Sentence: "A device changed.", Example: device},
	}
}

func example(payload any) json.RawMessage {
	doc, err := json.Marshal(payload)
	if err != nil {
		panic(err) // plain structs
	}
	return doc
}
