package wearables

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"hale/internal/api"
	"hale/internal/api/people"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/connections"
)

func (h *Handlers) connectionRoutes() []api.Route {
	return []api.Route{
		api.Get("/v2/user/providers/{user_id}", h.listConnections, "List a user's connections").OwnData(),
		api.Delete("/v2/user/{user_id}/{provider}", h.deregister, "Disconnect a user from a provider; data stays").Creates().Conditional(people.UserVersion).Announces("provider.connection.deleted"),
		api.Post("/v2/user/refresh/{user_id}", h.refreshUser, "Refresh a user's data from its providers"),
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
	CreatedOn            api.Time                            `json:"created_on"`
	ExternalUserID       *string                             `json:"external_user_id" doc:"The provider's id of the user. It is null for phones."`
	ErrorDetails         api.OrNull[connectionProblem]       `json:"error_details"`
	ResourceAvailability map[string]connections.Availability `json:"resource_availability"`
}

// connectionProblem is the reason why a connection does not work.
//
// Reference 6.5.
type connectionProblem struct {
	ErrorType    string   `json:"error_type"`
	ErrorMessage string   `json:"error_message"`
	ErroredAt    api.Time `json:"errored_at"`
}

type connectionsBody struct {
	Providers []connectionBody `json:"providers"`
}

func (h *Handlers) listConnections(ctx context.Context, c api.Caller, in *api.UserPath) (*api.Out[connectionsBody], error) {
	var all []connections.Connection
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
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
			Name: conn.Provider.Name, Slug: conn.Provider.Slug, Logo: h.logos().URL(conn.Provider.Slug),
			Status: string(conn.Status), CreatedOn: api.Time(conn.CreatedOn), ResourceAvailability: conn.Resources,
		}
	}
	return api.Answer(body), nil
}

type deregisterIn struct {
	api.UserPath
	Provider string `path:"provider" doc:"Slug of the provider."`
}

func (h *Handlers) deregister(ctx context.Context, c api.Caller, in *deregisterIn) (*api.Out[api.SuccessBody], error) {
	return h.CommitSuccess(ctx, func(tx *store.Tx) error {
		return connections.Deregister(ctx, tx, c.Team, in.UserID, in.Provider)
	})
}

type refreshUserIn struct {
	api.UserPath
	Timeout float64 `query:"timeout" minimum:"5" maximum:"60" default:"10" doc:"Seconds to wait for providers. It has no effect yet: phones are not asked, and demo providers answer at once."`
}

// refreshBody is the answer of both outcomes. Sources are provider/resource.
//
// Reference 5.6.
type refreshBody struct {
	Success           bool     `json:"success"`
	UserID            users.ID `json:"user_id" format:"uuid"`
	Error             string   `json:"error,omitempty" doc:"Message of the refusal. It is present only if success is false."`
	Code              string   `json:"code,omitempty" doc:"Code for programs. It is present only if success is false. docs/errors.md has the meanings."`
	Detail            string   `json:"detail,omitempty" doc:"Copy of error, at the place where all other refusals have their message."`
	RefreshedSources  []string `json:"refreshed_sources"`
	InProgressSources []string `json:"in_progress_sources"`
	FailedSources     []string `json:"failed_sources"`
}

type refreshOut struct {
	Status int
	Body   refreshBody
}

func (h *Handlers) refreshUser(ctx context.Context, c api.Caller, in *refreshUserIn) (*refreshOut, error) {
	o := &refreshOut{Status: http.StatusOK}
	o.Body = refreshBody{Success: true, UserID: in.UserID, RefreshedSources: []string{}, InProgressSources: []string{}, FailedSources: []string{}}
	var demos []connections.Connection
	err := h.DB.Write(ctx, func(tx *store.Tx) (err error) {
		if o.Body.FailedSources, err = connections.Refresh(ctx, tx, c.Team, in.UserID); err != nil {
			return err
		}
		demos, err = connections.DemosOf(ctx, tx, c.Team, in.UserID)
		return err
	})
	if err == nil {
		o.Body.RefreshedSources, err = h.refreshDemos(ctx, c, demos)
	}
	var refused *fault.Error
	switch {
	case errors.As(err, &refused) && refused.Kind() == fault.Refused:
		o.fail(refused.Message(), fault.CodeOf(refused))
	case err != nil:
		return nil, err
	case len(o.Body.FailedSources) > 0:
		o.fail("Some sources could not be asked for new data", fault.Refused.Word())
	}
	return o, nil
}

func (o *refreshOut) fail(why, code string) {
	o.Status, o.Body.Success, o.Body.Error, o.Body.Detail, o.Body.Code = http.StatusBadRequest, false, why, why, code
	if o.Body.FailedSources == nil {
		o.Body.FailedSources = []string{}
	}
}

func (h *Handlers) connectRoutes() []api.Route {
	rt := api.Post("/v2/link/provider/manual/{provider}", h.connectPhone, "Connect a user to a provider whose data a phone sends").Creates().OwnData().Announces("provider.connection.created", "provider.connection.updated").Refuses("connection_paused")
	return []api.Route{rt.Describe(func(op *huma.Operation) {
		op.Description += " Data that is sent connects the user by itself. This operation is for apps that ask the person first. " +
			"If the user is connected already, nothing changes and no event is sent."
	})}
}

type connectPhoneIn struct {
	Provider phoneProvider `path:"provider" doc:"Slug of a provider of the catalogue whose auth_type is sdk, or manual."`
	Body     struct {
		UserID     users.ID `json:"user_id" format:"uuid"`
		ProviderID *string  `json:"provider_id,omitempty" doc:"Accepted and not stored: a phone has no id of the person at the provider."`
	}
}

// phoneProvider is a provider whose data a phone sends. pushedBy checks it.
type phoneProvider string

// Schema states the slugs.
func (phoneProvider) Schema(huma.Registry) *huma.Schema { return stateProviders().Text() }

// connectedBody confirms that the user is connected.
type connectedBody struct {
	Success bool `json:"success"`

	user users.ID
}

// connectPhone connects a user to a provider whose data comes from the phone, or to
// manual entry. SDKs call it after the person agreed. The body names the user, so
// connectPhone checks that the phone's token belongs to this user.
//
// Reference 6.9.
func (h *Handlers) connectPhone(ctx context.Context, c api.Caller, in *connectPhoneIn) (*api.Out[connectedBody], error) {
	id := in.Body.UserID
	if !c.User.IsZero() && c.User != id {
		return nil, api.ErrOthersData
	}
	if err := pushedBy(string(in.Provider), "path"); err != nil {
		return nil, err
	}
	return api.Commit(ctx, h.API, func(tx *store.Tx) (connectedBody, error) {
		user, err := users.Get(ctx, tx, c.Team, id)
		if err != nil {
			return connectedBody{}, err
		}
		if wearables.HasIngestionEnded(tx.Now(), user.IngestionEnd) {
			return connectedBody{}, errPaused
		}
		err = connections.Ensure(ctx, tx, user, string(in.Provider), nil)
		if errors.Is(err, wearables.ErrPaused) {
			err = errPaused
		}
		return connectedBody{true, id}, err
	})
}

// Subject returns the user whose key seals a stored answer.
func (b connectedBody) Subject() uuid.UUID { return b.user.UUID() }

func (h *Handlers) demoRoutes() []api.Route {
	return []api.Route{
		api.Post("/v2/link/connect/demo", h.connectDemo, "Connect a user of a sandbox team to a provider with synthetic data").Creates().Announces(pushEvents...),
	}
}

// demoProvider is the slug of a provider for which Hale can generate demo data.
type demoProvider string

// Schema lists the slugs.
func (demoProvider) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, slug := range connections.DemoProviders {
		s.Enum = append(s.Enum, slug)
	}
	s.PrecomputeMessages()
	return s
}

// connectDemoIn is the reference's DemoConnectionCreationPayload.
//
// Reference 6.8.
type connectDemoIn struct {
	Body struct {
		UserID   users.ID     `json:"user_id" format:"uuid"`
		Provider demoProvider `json:"provider"`
		Days     int          `json:"days,omitempty" minimum:"1" maximum:"1096" default:"30" doc:"Length of the history in days."`
	}
}

// demoBody is the reference's DemoConnectionStatus.
type demoBody struct {
	Success bool   `json:"success"`
	Detail  string `json:"detail"`

	user users.ID
}

func (h *Handlers) connectDemo(ctx context.Context, c api.Caller, in *connectDemoIn) (*api.Out[demoBody], error) {
	user, provider := in.Body.UserID, string(in.Body.Provider)
	return api.Commit(ctx, h.API, func(tx *store.Tx) (demoBody, error) {
		body := demoBody{true, fmt.Sprintf("Connected user %s to provider %s", user, provider), user}
		return body, h.Demo.Connect(ctx, tx, c.Team, user, provider, in.Body.Days)
	})
}

// refreshDemos generates the data that is due for demo connections, and returns their
// sources.
func (h *Handlers) refreshDemos(ctx context.Context, c api.Caller, all []connections.Connection) (refreshed []string, err error) {
	refreshed = []string{}
	for _, one := range all {
		if err := h.Demo.Fill(ctx, c.Team, one.User, one.Provider.Slug); err != nil {
			return nil, err
		}
		refreshed = append(refreshed, one.Sources()...)
	}
	return refreshed, nil
}

// Subject returns the user whose key seals a stored answer.
func (b demoBody) Subject() uuid.UUID { return b.user.UUID() }
