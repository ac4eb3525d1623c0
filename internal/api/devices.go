package api

import (
	"context"
	"errors"

	"hale/internal/connections"
	"hale/internal/fault"
	"hale/internal/store"
	"hale/internal/users"
	"hale/internal/wearables"
)

func (a *API) deviceRoutes() []route {
	return []route{
		get("/v2/user/{user_id}/device", a.listDevices, "List the devices a user's data came from").own(),
		get("/v2/user/{user_id}/device/{device_id}", a.getDevice, "Get a device").own(),
		post("/v2/user/{user_id}/device", a.tellDevice, "Tell of a device that data comes from").creates().own(),
	}
}

type tellDeviceIn struct {
	UserPath
	Body struct {
		Provider     string `json:"provider" doc:"Slug of a provider of the catalogue whose auth_type is sdk, or manual."`
		SourceType   string `json:"source_type" required:"false" maxLength:"64" doc:"Such as phone, watch or ring."`
		AppID        string `json:"app_id" required:"false" maxLength:"200" doc:"Bundle id or package name."`
		Manufacturer string `json:"device_manufacturer" required:"false" maxLength:"200"`
		Model        string `json:"device_model" required:"false" maxLength:"200"`
		Version      string `json:"device_version" required:"false" maxLength:"200" doc:"Of its software or hardware; a newer one replaces it."`
		ExternalID   string `json:"device_id" required:"false" maxLength:"200" doc:"The provider's id of the device."`
	}
}

func (in *tellDeviceIn) device() (connections.Device, error) {
	b := in.Body
	d := connections.Device{
		Provider: b.Provider, SourceType: b.SourceType, AppID: b.AppID,
		Manufacturer: b.Manufacturer, Model: b.Model, Version: b.Version, ExternalID: b.ExternalID,
	}
	if d.Manufacturer+d.Model+d.ExternalID == "" {
		return d, fault.New(fault.Invalid, "Value error, a device has a manufacturer, a model or an id").At("body", "device_model")
	}
	return d, pushedBy(d.Provider)
}

// tellDevice stores a device under an id of ours, which samples then name as
// source_device_id. The same device again has the same id.
func (a *API) tellDevice(ctx context.Context, c Caller, in *tellDeviceIn) (*out[connections.DeviceData], error) {
	d, err := in.device()
	if err != nil {
		return nil, err
	}
	return answering(ctx, a, func(tx *store.Tx) (body connections.DeviceData, err error) {
		user, err := users.Get(ctx, tx, c.Team, in.UserID)
		if err != nil {
			return body, err
		}
		// A paused connection takes no data, and who made it is told all the same.
		if err := connections.Ensure(ctx, tx, user, d.Provider, nil); err != nil && !errors.Is(err, wearables.ErrPaused) {
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

func (a *API) listDevices(ctx context.Context, c Caller, in *UserPath) (*out[[]connections.DeviceData], error) {
	var all []connections.Device
	err := a.db.Read(ctx, func(tx *store.Tx) (err error) {
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
	return answer(body), nil
}

type getDeviceIn struct {
	UserPath
	DeviceID connections.DeviceID `path:"device_id" format:"uuid"`
}

func (a *API) getDevice(ctx context.Context, c Caller, in *getDeviceIn) (*out[connections.DeviceData], error) {
	var d connections.Device
	err := a.db.Read(ctx, func(tx *store.Tx) (err error) {
		if err := users.Exists(ctx, tx, c.Team, in.UserID); err != nil {
			return err
		}
		d, err = connections.GetDevice(ctx, tx, c.Team, in.UserID, in.DeviceID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(d.Data()), nil
}
