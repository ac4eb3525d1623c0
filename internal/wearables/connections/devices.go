package connections

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables/providers"
)

// DeviceID is our own id of a device.
type DeviceID = ids.ID[Device]

// Device is what data came from. Texts that nobody stated are empty. All of
// them but Version tell devices apart.
//
// Reference 7.6.
type Device struct {
	ID           DeviceID
	User         users.ID
	Provider     string // slug
	SourceType   string // phone, watch, … or unknown
	AppID        string // bundle id or package name
	Manufacturer string
	Model        string
	ExternalID   string // the provider's own id
	Version      string // newest software or hardware version
	CreatedOn    time.Time
}

// EnsureDevice finds the user's device or stores it, and returns our id of it.
// A new device is announced, and so is a newer version. An older one changes
// nothing: files come in any order, and again.
func EnsureDevice(ctx context.Context, tx *store.Tx, user users.User, d Device) (DeviceID, error) {
	d.tidy()
	d.User = user.ID
	known, err := scanDevice(tx.QueryRow(ctx, `SELECT `+deviceColumns+` FROM devices
		WHERE team_id = $1 AND user_id = $2 AND provider = $3 AND source_type = $4 AND app_id = $5
		AND manufacturer = $6 AND model = $7 AND external_id = $8`,
		user.Team, user.ID, d.Provider, d.SourceType, d.AppID, d.Manufacturer, d.Model, d.ExternalID))
	switch {
	case errors.Is(err, store.ErrNoRows):
		return createDevice(ctx, tx, user, d)
	case err != nil:
		return DeviceID{}, fmt.Errorf("connections: finding a device: %w", err)
	case !providers.Newer(d.Version, known.Version):
		return known.ID, nil
	}
	n, err := tx.Exec(ctx, `UPDATE devices SET version = $4, updated_on = $5 WHERE team_id = $1 AND user_id = $2 AND device_id = $3 AND version = $6`,
		user.Team, user.ID, known.ID, d.Version, tx.Now(), known.Version)
	if err != nil {
		return DeviceID{}, fmt.Errorf("connections: updating a device: %w", err)
	}
	if n == 0 { // another version came first, and may be the newer one
		return DeviceID{}, store.ErrLostRace
	}
	known.Version = d.Version
	return known.ID, announce(ctx, tx, user, DeviceUpdatedEvent, known.Data())
}

func createDevice(ctx context.Context, tx *store.Tx, user users.User, d Device) (DeviceID, error) {
	d.ID, d.CreatedOn = ids.FromUUID[Device](tx.NewUUID()), tx.Now()
	n, err := tx.Exec(ctx, `INSERT INTO devices (team_id, `+deviceColumns+`, updated_on)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11)
		ON CONFLICT (team_id, user_id, provider, source_type, app_id, manufacturer, model, external_id) DO NOTHING`,
		user.Team, d.ID, d.User, d.Provider, d.SourceType, d.AppID, d.Manufacturer, d.Model, d.ExternalID, d.Version, d.CreatedOn)
	if err != nil {
		return DeviceID{}, fmt.Errorf("connections: storing a device: %w", err)
	}
	if n == 0 {
		return DeviceID{}, store.ErrLostRace
	}
	return d.ID, announce(ctx, tx, user, DeviceCreatedEvent, d.Data())
}

const deviceColumns = `device_id, user_id, provider, source_type, app_id, manufacturer, model, external_id, version, created_on`

func scanDevice(row interface{ Scan(dest ...any) error }) (Device, error) {
	var d Device
	err := row.Scan(&d.ID, &d.User, &d.Provider, &d.SourceType, &d.AppID, &d.Manufacturer, &d.Model, &d.ExternalID, &d.Version, store.ScanTime(&d.CreatedOn))
	return d, err
}

// Devices lists a user's devices, oldest first.
func Devices(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) ([]Device, error) {
	rows, err := tx.Query(ctx, `SELECT `+deviceColumns+` FROM devices WHERE team_id = $1 AND user_id = $2 ORDER BY created_on, device_id`, team, user)
	if err != nil {
		return nil, fmt.Errorf("connections: listing devices: %w", err)
	}
	defer rows.Close()
	var all []Device
	for rows.Next() {
		d, err := scanDevice(rows)
		if err != nil {
			return nil, fmt.Errorf("connections: listing devices: %w", err)
		}
		all = append(all, d)
	}
	return all, rows.Err()
}

// GetDevice returns one device of a user.
func GetDevice(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, id DeviceID) (Device, error) {
	d, err := scanDevice(tx.QueryRow(ctx, `SELECT `+deviceColumns+` FROM devices WHERE team_id = $1 AND user_id = $2 AND device_id = $3`, team, user, id))
	if errors.Is(err, store.ErrNoRows) {
		return Device{}, fault.New(fault.NotFound, "Device not found")
	}
	if err != nil {
		return Device{}, fmt.Errorf("connections: reading a device: %w", err)
	}
	return d, nil
}

// DeviceData is a device on the wire, in events and answers alike.
//
// Reference 7.6, ClientFacingDevice.
type DeviceData struct {
	ID           DeviceID `json:"id" format:"uuid" doc:"Our id of the device."`
	UserID       users.ID `json:"user_id" format:"uuid"`
	Provider     string   `json:"provider" doc:"Slug of the provider."`
	SourceType   string   `json:"source_type" doc:"Such as phone, watch, ring or unknown. The list may grow."`
	AppID        *string  `json:"app_id"`
	Manufacturer *string  `json:"device_manufacturer"`
	Model        *string  `json:"device_model"`
	Version      *string  `json:"device_version"`
	ExternalID   *string  `json:"device_id" doc:"The provider's id of the device."`
}

// Data is the device on the wire.
func (d Device) Data() DeviceData {
	return DeviceData{
		ID: d.ID, UserID: d.User, Provider: d.Provider, SourceType: d.SourceType, AppID: orNil(d.AppID),
		Manufacturer: orNil(d.Manufacturer), Model: orNil(d.Model), Version: orNil(d.Version), ExternalID: orNil(d.ExternalID),
	}
}
