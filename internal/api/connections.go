package api

import (
	"context"
	"errors"
	"net/http"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/providers"
)

func (a *API) connectionRoutes() []route {
	return []route{
		get("/v2/user/providers/{user_id}", a.listConnections, "List what a user is connected to").own(),
		del("/v2/user/{user_id}/{provider}", a.deregister, "Disconnect a user from a provider; data stays"),
		post("/v2/user/refresh/{user_id}", a.refreshUser, "Ask for a user's new data now"),
	}
}

// connectionBody is a user's connection to a provider.
//
// Spec: User provider connection.
type connectionBody struct {
	Name                 string                              `json:"name"`
	Slug                 string                              `json:"slug"`
	Logo                 string                              `json:"logo" format:"uri"`
	Status               string                              `json:"status" doc:"connected, error or paused. The list may grow."`
	CreatedOn            Time                                `json:"created_on"`
	ExternalUserID       *string                             `json:"external_user_id" doc:"The provider's id of the user; null for phones."`
	ErrorDetails         orNull[connectionProblem]           `json:"error_details"`
	ResourceAvailability map[string]connections.Availability `json:"resource_availability"`
}

// connectionProblem is why a connection does not work.
//
// Reference 6.5.
type connectionProblem struct {
	ErrorType    string `json:"error_type"`
	ErrorMessage string `json:"error_message"`
	ErroredAt    Time   `json:"errored_at"`
}

type connectionsBody struct {
	Providers []connectionBody `json:"providers"`
}

func (a *API) listConnections(ctx context.Context, c Caller, in *UserPath) (*out[connectionsBody], error) {
	var all []connections.Connection
	err := a.db.Read(ctx, func(tx *store.Tx) (err error) {
		if err := users.Exists(ctx, tx, c.Team, in.UserID); err != nil {
			return err
		}
		all, err = connections.List(ctx, tx, c.Team, in.UserID)
		return err
	})
	if err != nil {
		return nil, err
	}
	body := connectionsBody{make([]connectionBody, len(all))}
	for i, conn := range all {
		body.Providers[i] = connectionBody{
			Name: conn.Provider.Name, Slug: conn.Provider.Slug, Logo: conn.Provider.LogoURL(),
			Status: string(conn.Status), CreatedOn: Time(conn.CreatedOn), ResourceAvailability: conn.Resources,
		}
	}
	return answer(body), nil
}

type deregisterIn struct {
	UserPath
	Provider string `path:"provider" doc:"Slug of the provider."`
}

func (a *API) deregister(ctx context.Context, c Caller, in *deregisterIn) (*out[successBody], error) {
	return a.succeed(ctx, func(tx *store.Tx) error {
		return connections.Deregister(ctx, tx, c.Team, in.UserID, in.Provider)
	})
}

type refreshUserIn struct {
	UserPath
	Timeout float64 `query:"timeout" minimum:"5" maximum:"60" default:"10" doc:"Seconds to wait for providers. Nothing is asked of phones, and demos answer at once, so that nothing has to be waited for yet."`
}

// refreshBody is the answer of both outcomes. Sources are provider/resource.
//
// Reference 5.6.
type refreshBody struct {
	Success           bool     `json:"success"`
	UserID            users.ID `json:"user_id" format:"uuid"`
	Error             string   `json:"error,omitempty" doc:"Only when success is false."`
	Detail            string   `json:"detail,omitempty" doc:"The same as error, where all other refusals have it."`
	RefreshedSources  []string `json:"refreshed_sources"`
	InProgressSources []string `json:"in_progress_sources"`
	FailedSources     []string `json:"failed_sources"`
}

type refreshOut struct {
	Status int
	Body   refreshBody
}

func (a *API) refreshUser(ctx context.Context, c Caller, in *refreshUserIn) (*refreshOut, error) {
	o := &refreshOut{Status: http.StatusOK}
	o.Body = refreshBody{Success: true, UserID: in.UserID, RefreshedSources: []string{}, InProgressSources: []string{}, FailedSources: []string{}}
	var demos []connections.Connection
	err := a.db.Write(ctx, func(tx *store.Tx) (err error) {
		if o.Body.FailedSources, err = connections.Refresh(ctx, tx, c.Team, in.UserID); err != nil {
			return err
		}
		demos, err = connections.DemosOf(ctx, tx, c.Team, in.UserID)
		return err
	})
	if err == nil {
		o.Body.RefreshedSources, err = a.refreshDemos(ctx, c, demos)
	}
	var refused *fault.Error
	switch {
	case errors.As(err, &refused) && refused.Kind() == fault.Refused:
		o.fail(refused.Message())
	case err != nil:
		return nil, err
	case len(o.Body.FailedSources) > 0:
		o.fail("Some sources could not be asked for new data")
	}
	return o, nil
}

func (o *refreshOut) fail(why string) {
	o.Status, o.Body.Success, o.Body.Error, o.Body.Detail = http.StatusBadRequest, false, why, why
	if o.Body.FailedSources == nil {
		o.Body.FailedSources = []string{}
	}
}

// providerName is a provider in short.
type providerName struct {
	Name string `json:"name"`
	Slug string `json:"slug"`
	Logo string `json:"logo" format:"uri"`
}

func nameOf(p providers.Provider) providerName { return providerName{p.Name, p.Slug, p.LogoURL()} }
