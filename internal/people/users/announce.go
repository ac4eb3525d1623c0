package users

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/civil"
	"hale/internal/platform/events"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// The event types of this package.
const (
	CreatedEvent  = "user.created"
	UpdatedEvent  = "user.updated"
	DeletedEvent  = "user.deleted"
	RestoredEvent = "user.restored"
)

// Document is a user on the wire, without connections, which have events of their own.
//
// Spec: User.
type Document struct {
	ID             ID                 `json:"user_id"`
	Team           teams.ID           `json:"team_id"`
	ClientUserID   string             `json:"client_user_id"`
	CreatedOn      civil.Instant      `json:"created_on"`
	TimeZone       *zoneDocument      `json:"fallback_time_zone"`
	BirthDate      *birthDateDocument `json:"fallback_birth_date,omitempty"`
	IngestionStart *civil.Date        `json:"ingestion_start"`
	IngestionEnd   *civil.Date        `json:"ingestion_end"`
}

type zoneDocument struct {
	ID         string        `json:"id"`
	SourceSlug string        `json:"source_slug"`
	UpdatedAt  civil.Instant `json:"updated_at"`
}

type birthDateDocument struct {
	Value      civil.Date    `json:"value"`
	SourceSlug string        `json:"source_slug"`
	UpdatedAt  civil.Instant `json:"updated_at"`
}

// document returns the user for events.
func (u *User) document() Document {
	d := Document{
		ID: u.ID, Team: u.Team, ClientUserID: u.ClientUserID, CreatedOn: civil.Instant(u.CreatedOn),
		IngestionStart: u.IngestionStart, IngestionEnd: u.IngestionEnd,
	}
	if z := u.TimeZone; z != nil {
		d.TimeZone = &zoneDocument{z.Name, z.SourceSlug, civil.Instant(z.UpdatedAt)}
	}
	if b := u.BirthDate; b != nil {
		d.BirthDate = &birthDateDocument{b.Value, b.SourceSlug, civil.Instant(b.UpdatedAt)}
	}
	return d
}

// deletedData is the payload of user.deleted.
type deletedData struct {
	ID           ID            `json:"user_id"`
	ClientUserID string        `json:"client_user_id"`
	DeletedAt    civil.Instant `json:"deleted_at"`
	ErasedAt     civil.Instant `json:"erased_at"`
}

func (u *User) announce(ctx context.Context, tx *store.Tx, kind string) error {
	return emit(ctx, tx, u, kind, u.document())
}

func announceDeleted(ctx context.Context, tx *store.Tx, team teams.ID, id ID) error {
	name, err := ClientUserID(ctx, tx, team, id)
	if err != nil {
		return err
	}
	return emit(ctx, tx, &User{Team: team, ID: id, ClientUserID: name}, DeletedEvent, deletedDataAt(id, name, tx.Now()))
}

func deletedDataAt(id ID, name string, at time.Time) deletedData {
	return deletedData{id, name, civil.Instant(at), civil.Instant(at.Add(Grace))}
}

func emit(ctx context.Context, tx *store.Tx, u *User, kind string, payload any) error {
	data, err := json.Marshal(payload)
	if err != nil {
		return fmt.Errorf("users: marshalling a %s: %w", kind, err)
	}
	_, err = events.Emit(ctx, tx, events.New{
		Team: u.Team.UUID(), User: u.ID.UUID(), ClientUserID: u.ClientUserID, Type: kind, Data: data,
	})
	return err
}

// EventTypes returns the types of events that this package emits.
func EventTypes() []events.Type {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	example := func(payload any) json.RawMessage {
		data, err := json.Marshal(payload)
		if err != nil {
			panic(err) // plain structs
		}
		return data
	}
	whole := func(id uuid.UUID) json.RawMessage {
		u := User{
			ID: ids.FromUUID[User](id), Team: ids.FromUUID[teams.Team](uuid.MustParse("00000000-0000-4000-8000-000000000006")),
			ClientUserID: "example-user", CreatedOn: at, TimeZone: &TimeZone{"Europe/Helsinki", Manual, at},
		}
		return example(u.document())
	}
	return []events.Type{
		{Name: CreatedEvent, Sentence: "A user was created.", Optional: true, Example: whole},
		{Name: UpdatedEvent, Sentence: "A user changed.", Optional: true, Example: whole},
		{Name: DeletedEvent, Sentence: "A user was deleted. All data is erased after 7 days.", Optional: true, Example: func(id uuid.UUID) json.RawMessage {
			return example(deletedDataAt(ids.FromUUID[User](id), "example-user", at))
		}},
		{Name: RestoredEvent, Sentence: "A deletion was undone. Read all data of the user again.", Optional: true, Example: whole},
	}
}
