package wearables

import (
	"context"
	"errors"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/api"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/providers"
)

func (h *Handlers) deviceRoutes() []api.Route {
	return []api.Route{
		api.Get("/v2/user/{user_id}/device", h.listDevices, "List the devices that recorded a user's data").OwnData(),
		api.Get("/v2/user/{user_id}/device/{device_id}", h.getDevice, "Get a device").OwnData(),
		api.Post("/v2/user/{user_id}/device", h.tellDevice, "Register a device of a user").Creates().OwnData().Announces("provider.device.*", "provider.connection.created").Refuses("connection_paused"),
	}
}

type tellDeviceIn struct {
	api.UserPath
	Body tellDeviceInBody
}

type tellDeviceInBody struct {
	Provider     string `json:"provider" doc:"Slug of a provider of the catalogue whose auth_type is sdk, or manual."`
	SourceType   string `json:"source_type" required:"false" maxLength:"64" doc:"Kind of device, with the words of source_type of samples, such as phone, watch or ring. The default is unknown."`
	AppID        string `json:"app_id" required:"false" maxLength:"200" doc:"Bundle id or package name."`
	Manufacturer string `json:"device_manufacturer" required:"false" maxLength:"200"`
	Model        string `json:"device_model" required:"false" maxLength:"200"`
	Version      string `json:"device_version" required:"false" maxLength:"200" doc:"Version of the software or hardware. A newer version replaces it."`
	ExternalID   string `json:"device_id" required:"false" maxLength:"200" doc:"The provider's id of the device."`
}

// TransformSchema states the rules of the domain.
func (tellDeviceInBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{
		"provider": api.StateEnum(append(providers.SlugsOfPhones(), users.Manual)), "app_id": stateDeviceText(), "device_manufacturer": stateDeviceText(), "device_model": stateDeviceText(), "device_version": stateDeviceText(), "device_id": stateDeviceText(),
		"source_type": api.StateWordsOrEmpty(wearables.SourceTypes()),
		"":            api.StateAny(api.HasWord("device_manufacturer"), api.HasWord("device_model"), api.HasWord("device_id")),
	})
}

// stateDeviceText states that a text has no control characters.
func stateDeviceText() api.Keywords { return api.StatePatterns(`^\s*[^\x00-\x1f\x7f-\x9f]*$`) }

func (in *tellDeviceIn) device() (connections.Device, error) {
	b := in.Body
	d := connections.Device{
		Provider: b.Provider, SourceType: b.SourceType, AppID: b.AppID,
		Manufacturer: b.Manufacturer, Model: b.Model, Version: b.Version, ExternalID: b.ExternalID,
	}
	if err := d.Check(); err != nil {
		return d, err
	}
	return d, pushedBy(d.Provider, "body")
}

const pausedText = "The user's connection to this provider takes no data any more"

// errPaused is the word of pushes for a user whose collection has ended.
var errPaused = fault.New(fault.Refused, pausedText).WithType("connection_paused").WithDetail(map[string]any{"error_type": wearables.ReasonPaused, "error_message": pausedText})

// tellDevice connects the user to the provider and stores a device under a new id,
// which samples then name as source_device_id. The same device gets the same id again.
// If pushes are rejected as connection_paused, no device is stored.
func (h *Handlers) tellDevice(ctx context.Context, c api.Caller, in *tellDeviceIn) (*api.Out[connections.DeviceData], error) {
	d, err := in.device()
	if err != nil {
		return nil, err
	}
	return api.Commit(ctx, h.API, func(tx *store.Tx) (body connections.DeviceData, err error) {
		user, err := users.Get(ctx, tx, c.Team, in.UserID)
		if err != nil {
			return body, err
		}
		if wearables.HasIngestionEnded(tx.Now(), user.IngestionEnd) {
			return body, errPaused
		}
		if err := connections.Ensure(ctx, tx, user, d.Provider, nil); errors.Is(err, wearables.ErrPaused) {
			return body, errPaused
		} else if err != nil {
			return body, err
		}
		id, err := connections.EnsureDevice(ctx, tx, user, d)
		if err != nil {
			return body, err
		}
		known, err := connections.GetDevice(ctx, tx, c.Team, user.ID, id)
		return known.Data(), err
	})
}

func (h *Handlers) listDevices(ctx context.Context, c api.Caller, in *api.UserPath) (*api.Out[[]connections.DeviceData], error) {
	var all []connections.Device
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		if err := users.Exists(ctx, tx, c.Team, in.UserID); err != nil {
			return err
		}
		all, err = connections.Devices(ctx, tx, c.Team, in.UserID)
		return err
	})
	if err != nil {
		return nil, err
	}
	body := make([]connections.DeviceData, len(all))
	for i, d := range all {
		body[i] = d.Data()
	}
	return api.Answer(body), nil
}

type getDeviceIn struct {
	api.UserPath
	DeviceID connections.DeviceID `path:"device_id" format:"uuid"`
}

func (h *Handlers) getDevice(ctx context.Context, c api.Caller, in *getDeviceIn) (*api.Out[connections.DeviceData], error) {
	var d connections.Device
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		if err := users.Exists(ctx, tx, c.Team, in.UserID); err != nil {
			return err
		}
		d, err = connections.GetDevice(ctx, tx, c.Team, in.UserID, in.DeviceID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(d.Data()), nil
}
