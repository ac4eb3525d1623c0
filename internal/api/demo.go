package api

import (
	"context"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/wearables/connections"
)

func (a *API) demoRoutes() []route {
	return []route{
		post("/v2/link/connect/demo", a.connectDemo, "Connect a user of a sandbox team to a provider of invented data").creates(),
	}
}

// demoProvider is the slug of a provider that there is invented data of.
type demoProvider string

// Schema lists them.
func (demoProvider) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, slug := range connections.DemoProviders {
		s.Enum = append(s.Enum, slug)
	}
	s.PrecomputeMessages()
	return s
}

// connectDemoIn is the contract's DemoConnectionCreationPayload.
//
// Reference 6.8.
type connectDemoIn struct {
	Body struct {
		UserID   users.ID     `json:"user_id" format:"uuid"`
		Provider demoProvider `json:"provider"`
	}
}

// demoBody is the contract's DemoConnectionStatus.
type demoBody struct {
	Success bool   `json:"success"`
	Detail  string `json:"detail"`

	user users.ID
}

func (a *API) connectDemo(ctx context.Context, c Caller, in *connectDemoIn) (*out[demoBody], error) {
	user, provider := in.Body.UserID, string(in.Body.Provider)
	return answering(ctx, a, func(tx *store.Tx) (demoBody, error) {
		body := demoBody{true, fmt.Sprintf("Connected user %s to provider %s", user, provider), user}
		return body, a.Demo.Connect(ctx, tx, c.Team, user, provider)
	})
}

// refreshDemos makes what invented data is due, and says of which sources.
func (a *API) refreshDemos(ctx context.Context, c Caller, all []connections.Connection) (refreshed []string, err error) {
	refreshed = []string{}
	for _, one := range all {
		if err := a.Demo.Fill(ctx, c.Team, one.User, one.Provider.Slug); err != nil {
			return nil, err
		}
		refreshed = append(refreshed, one.Sources()...)
	}
	return refreshed, nil
}
