package api

import (
	"context"
	"errors"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/providers"
)

func (a *API) connectRoutes() []route {
	rt := post("/v2/link/provider/manual/{provider}", a.connectPhone, "Connect a user to a provider whose data a phone sends").creates().own()
	rt.op.Description += " Data that is sent connects the user by itself; this is for apps that ask the person first. " +
		"A user who is connected already stays so, and nobody is told again."
	return []route{rt}
}

type connectPhoneIn struct {
	Provider string `path:"provider" doc:"Slug of a provider of the catalogue whose auth_type is sdk, or manual."`
	Body     struct {
		UserID     users.ID `json:"user_id" format:"uuid"`
		ProviderID *string  `json:"provider_id,omitempty" doc:"Not kept: a phone has no id of the person at the provider."`
	}
}

// connectedBody says that the user is connected.
type connectedBody struct {
	Success bool `json:"success"`

	user users.ID
}

// connectPhone is what SDKs call once the person agreed. The user stands in the
// body, so that a phone's right to it is checked here.
//
// Reference 6.9.
func (a *API) connectPhone(ctx context.Context, c Caller, in *connectPhoneIn) (*out[connectedBody], error) {
	id := in.Body.UserID
	if !c.User.IsZero() && c.User != id {
		return nil, fault.New(fault.Forbidden, othersData)
	}
	if p, ok := providers.Find(in.Provider); !ok || !p.PushedByPhone() && in.Provider != users.Manual {
		return nil, fault.New(fault.Invalid, "Value error, must be manual or a provider of the catalogue whose auth_type is sdk").At("path", "provider")
	}
	return answering(ctx, a, func(tx *store.Tx) (connectedBody, error) {
		user, err := users.Get(ctx, tx, c.Team, id)
		if err != nil {
			return connectedBody{}, err
		}
		if wearables.Ended(tx.Now(), user.IngestionEnd) {
			return connectedBody{}, errPaused
		}
		err = connections.Ensure(ctx, tx, user, in.Provider, nil)
		if errors.Is(err, wearables.ErrPaused) {
			err = errPaused
		}
		return connectedBody{true, id}, err
	})
}
