package api

import (
	"context"

	"hale/internal/connections"
	"hale/internal/store"
	"hale/internal/users"
)

func (a *API) deviceRoutes() []route {
	return []route{
		get("/v2/user/{user_id}/device", a.listDevices, "List the devices a user's data came from").own(),
		get("/v2/user/{user_id}/device/{device_id}", a.getDevice, "Get a device").own(),
	}
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
