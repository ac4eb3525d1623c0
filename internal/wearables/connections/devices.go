package connections

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/providers"
)

// DeviceID is our own id of a device.
type DeviceID = ids.ID[Device]

// Device is a source of data. Unknown texts are empty. All texts but Version identify
// the device.
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

// EnsureDevice finds the user's device or stores it, and returns our id. A new device
// and a newer version cause an event. An older version changes nothing: files arrive in
// any order, and repeatedly.
func EnsureDevice(ctx context.Context, tx *store.Tx, user users.User, d Device) (DeviceID, error) {
	d.clean()
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
	case !providers.IsNewerVersion(d.Version, known.Version):
		return known.ID, nil
	}
	n, err := tx.Exec(ctx, `UPDATE devices SET version = $4, updated_on = $5 WHERE team_id = $1 AND user_id = $2 AND device_id = $3 AND version = $6`,
		user.Team, user.ID, known.ID, d.Version, tx.Now(), known.Version)
	if err != nil {
		return DeviceID{}, fmt.Errorf("connections: updating a device: %w", err)
	}
	if n == 0 { // another transaction stored a version, which may be newer
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

// DeviceData is a device on the wire, in events and answers.
//
// Reference 7.6, ClientFacingDevice.
type DeviceData struct {
	ID           DeviceID `json:"id" format:"uuid" doc:"Our id of the device."`
	UserID       users.ID `json:"user_id" format:"uuid"`
	Provider     string   `json:"provider" doc:"Slug of the provider."`
	SourceType   string   `json:"source_type" doc:"Kind of device, such as phone, watch, ring or unknown. The list may grow."`
	AppID        *string  `json:"app_id"`
	Manufacturer *string  `json:"device_manufacturer"`
	Model        *string  `json:"device_model"`
	Version      *string  `json:"device_version"`
	ExternalID   *string  `json:"device_id" doc:"The provider's id of the device."`
}

// Data returns the device on the wire.
func (d Device) Data() DeviceData {
	return DeviceData{
		ID: d.ID, UserID: d.User, Provider: d.Provider, SourceType: d.SourceType, AppID: orNil(d.AppID),
		Manufacturer: orNil(d.Manufacturer), Model: orNil(d.Model), Version: orNil(d.Version), ExternalID: orNil(d.ExternalID),
	}
}

// Bounds of a device's texts. Four texts of so many bytes fit into one entry of
// PostgreSQL's index of devices, which has room for 2,700.
const (
	maxTextLength = 200 // characters
	maxTextBytes  = 600 // of UTF-8
)

// text is a text of a device and its name on the wire.
type text struct {
	name  string
	value *string
}

func (d *Device) texts() []text {
	return []text{
		{"source_type", &d.SourceType},
		{"app_id", &d.AppID},
		{"device_manufacturer", &d.Manufacturer},
		{"device_model", &d.Model},
		{"device_version", &d.Version},
		{"device_id", &d.ExternalID},
	}
}

// Check refuses a device that could not be stored as stated, and names the fields. Texts
// may be too long or have control characters. The source type may be unknown. A device
// needs a manufacturer, a model or an id.
func (d *Device) Check() error {
	var faults []*fault.Error
	for _, t := range d.texts() {
		*t.value = strings.TrimSpace(*t.value)
		faults = append(faults, t.check())
	}
	if d.SourceType != "" && !slices.Contains(wearables.SourceTypes(), d.SourceType) {
		faults = append(faults, fault.NotInEnum(wearables.SourceTypes()).At("body", "source_type"))
	}
	if d.Manufacturer+d.Model+d.ExternalID == "" {
		faults = append(faults, fault.New(fault.Invalid, "Value error, a device has a manufacturer, a model or an id").At("body", "device_model"))
	}
	return fault.Join(faults...)
}

func (t text) check() *fault.Error {
	var problem *fault.Error
	switch {
	case strings.ContainsFunc(*t.value, unicode.IsControl):
		problem = fault.New(fault.Invalid, "Value error, must not contain control characters")
	case utf8.RuneCountInString(*t.value) > maxTextLength:
		problem = fault.Newf(fault.Invalid, "String should have at most %d characters", maxTextLength).WithType("string_too_long")
	case len(*t.value) > maxTextBytes:
		problem = fault.Newf(fault.Invalid, "String should have at most %d bytes in UTF-8", maxTextBytes).WithType("string_too_long")
	default:
		return nil
	}
	return problem.At("body", t.name)
}

// clean makes the texts storable: devices of files may have any text.
func (d *Device) clean() {
	for _, t := range d.texts() {
		*t.value = truncate(strings.TrimSpace(strings.Map(removeControl, strings.ToValidUTF8(*t.value, ""))))
	}
	if d.SourceType == "" {
		d.SourceType = "unknown"
	}
}

// removeControl removes control characters.
func removeControl(r rune) rune {
	if unicode.IsControl(r) {
		return -1
	}
	return r
}

// truncate cuts a text to the bounds.
func truncate(s string) string {
	n := 0
	for i, r := range s {
		if n == maxTextLength || i+utf8.RuneLen(r) > maxTextBytes {
			return s[:i]
		}
		n++
	}
	return s
}

// KnownDevices caches the devices of users. A device stays with its user until one of
// them is deleted. Set DB before the first use. Methods may be called concurrently.
type KnownDevices struct {
	DB *store.DB

	mu     sync.Mutex
	byUser map[users.ID]map[uuid.UUID]bool
	count  int // devices in byUser
}

// maxKnown bounds the cache, which is emptied when full.
const maxKnown = 100_000

// Mark marks the sources of a batch whose device is not one of the user: their data is
// refused as wearables.UnknownDevice. It reads the database only for devices that are
// not in the cache.
func (k *KnownDevices) Mark(ctx context.Context, team teams.ID, user users.ID, b *wearables.Batch) error {
	unknown := k.unknown(user, b)
	if len(unknown) == 0 {
		return nil
	}
	var known []Device
	err := k.DB.Peek(ctx, func(tx *store.Tx) (err error) {
		known, err = Devices(ctx, tx, team, user)
		return err
	})
	if err != nil {
		return err
	}
	own := k.remember(user, known)
	for _, source := range unknown {
		source.Stranger = !own[*source.DeviceID]
	}
	return nil
}

// unknown returns the sources whose devices are not in the cache.
func (k *KnownDevices) unknown(user users.ID, b *wearables.Batch) (found []*wearables.Source) {
	k.mu.Lock()
	defer k.mu.Unlock()
	own := k.byUser[user]
	look := func(s *wearables.Source) {
		if s.DeviceID != nil && *s.DeviceID != uuid.Nil && !own[*s.DeviceID] {
			found = append(found, s)
		}
	}
	for i := range b.Samples {
		look(&b.Samples[i].Source)
	}
	for i := range b.Summaries {
		look(&b.Summaries[i].Source)
	}
	return found
}

func (k *KnownDevices) remember(user users.ID, known []Device) map[uuid.UUID]bool {
	own := make(map[uuid.UUID]bool, len(known))
	for i := range known {
		own[known[i].ID.UUID()] = true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byUser == nil || k.count+len(own) > maxKnown {
		k.byUser, k.count = map[users.ID]map[uuid.UUID]bool{}, 0
	}
	if len(own) > 0 {
		k.count += len(own) - len(k.byUser[user])
		k.byUser[user] = own
	}
	return own
}
