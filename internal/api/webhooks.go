package api

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/paging"
	"hale/internal/platform/patch"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/platform/webhooks"
)

// Endpoints of webhooks are managed under two paths by the same handlers: our
// own, /v2/webhooks, and the reference's, which names the team a second time;
// both tables are in webhooks_org.go. What the reference has no operation for
// is in webhooks_log.go.
//
// Reference 9.1, 9.4.

// OrgPath names the team in the path. The team's own id stands for its
// organisation as well.
type OrgPath struct {
	OrgID       teams.ID          `path:"org_id" format:"uuid" doc:"The id of the team, which is its own organisation."`
	TeamID      teams.ID          `path:"team_id" format:"uuid"`
	Environment teams.Environment `path:"environment" enum:"sandbox,production"`
}

// check answers for any team, organisation or environment but the key's own as
// for an unknown one.
func (p OrgPath) check(c Caller) error {
	if p.TeamID != c.Team || p.OrgID != c.Team || p.Environment != c.Environment {
		return fault.New(fault.NotFound, "Team not found")
	}
	return nil
}

// WebhookPath names an endpoint. Its id is no UUID, so that any text that is
// not the id of one of the team's endpoints is simply unknown.
type WebhookPath struct {
	WebhookID string `path:"webhook_id" doc:"ep_…"`
}

func (p WebhookPath) id() (webhooks.EndpointID, error) { return webhooks.ParseEndpointID(p.WebhookID) }

// webhookBody is an endpoint on the wire: the reference's fields, then ours.
type webhookBody struct {
	ID            string       `json:"id"`
	Description   string       `json:"description"`
	RateLimit     *int         `json:"rate_limit" doc:"Posts per second; null for no limit."`
	URL           string       `json:"url"`
	Disabled      bool         `json:"disabled"`
	FilterTypes   typeNames    `json:"filter_types" doc:"Event types it gets; null for all."`
	CreatedAt     Time         `json:"created_at"`
	UpdatedAt     Time         `json:"updated_at"`
	State         string       `json:"state" enum:"on,off,auto_off" doc:"auto_off: switched off by us; see disabled_reason."`
	Reason        *string      `json:"disabled_reason"`
	FailingSince  orNull[Time] `json:"failing_since" doc:"Since when everything has failed; five days switch it off."`
	LastSuccessAt orNull[Time] `json:"last_success_at" doc:"To the minute."`
}

func webhookOf(e webhooks.Endpoint) webhookBody {
	body := webhookBody{
		ID: e.ID.String(), Description: e.Description, RateLimit: e.RateLimit, URL: e.URL, Disabled: e.State != webhooks.On,
		CreatedAt: Time(e.CreatedAt), UpdatedAt: Time(e.UpdatedAt), State: string(e.State),
		FailingSince: nullable(wireTime(&e.Health.FailingSince)), LastSuccessAt: nullable(wireTime(&e.Health.LastSuccessAt)),
	}
	if e.Reason != "" {
		body.Reason = &e.Reason
	}
	if e.Types != nil {
		body.FilterTypes = typeNames(patch.Of(e.Types))
	}
	return body
}

// typeNames is a list of event types, null for all of them, and absent in a
// PATCH that leaves it.
type typeNames patch.Field[[]string]

// MarshalJSON writes the list or null.
func (t typeNames) MarshalJSON() ([]byte, error) { return patch.Field[[]string](t).MarshalJSON() }

// UnmarshalJSON is called only for a field that is present.
func (t *typeNames) UnmarshalJSON(data []byte) error {
	return (*patch.Field[[]string])(t).UnmarshalJSON(data)
}

// Schema says: a list of texts, or null.
func (typeNames) Schema(huma.Registry) *huma.Schema {
	most := len(events.Types())
	return &huma.Schema{Type: huma.TypeArray, Nullable: true, Items: &huma.Schema{Type: huma.TypeString}, MaxItems: &most}
}

var _ huma.SchemaProvider = typeNames(patch.Field[[]string]{})

// rules are those of the caller's environment.
func (a *API) rules(c Caller) webhooks.Rules {
	return webhooks.Rules{Production: c.Environment == teams.Production, AllowPrivate: a.Webhooks.Guard.AllowPrivate}
}

type webhookListIn struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"50"`
	Cursor string `query:"next_cursor" doc:"next_cursor of the page before."`
}

type webhooksBody struct {
	Data       []webhookBody `json:"data"`
	NextCursor *string       `json:"next_cursor" doc:"Null at the end."`
}

func (a *API) listWebhooks(ctx context.Context, c Caller, in *webhookListIn) (*out[webhooksBody], error) {
	var after webhooks.EndpointID
	if in.Cursor != "" {
		if err := paging.Decode(in.Cursor, &after); err != nil {
			return nil, err
		}
	}
	body := webhooksBody{}
	err := a.db.Read(ctx, func(tx *store.Tx) error {
		all, err := webhooks.List(ctx, tx, c.Team, after, in.Limit+1)
		body = webhooksBody{Data: []webhookBody{}}
		for i, e := range all {
			if i == in.Limit {
				next := paging.Encode(all[i-1].ID)
				body.NextCursor = &next
				break
			}
			body.Data = append(body.Data, webhookOf(e))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(body), nil
}

type createWebhookBody struct {
	URL         string    `json:"url" doc:"https in production; ports 443 and 8443."`
	Description string    `json:"description" required:"false" default:"" maxLength:"2000"`
	RateLimit   *int      `json:"rate_limit" required:"false" minimum:"1" maximum:"10000" doc:"Posts per second."`
	Disabled    *bool     `json:"disabled" required:"false" default:"false"`
	FilterTypes typeNames `json:"filter_types" required:"false" doc:"Event types to get; null or none for all."`
	Secret      *string   `json:"secret" required:"false" doc:"whsec_ and the base64 of 24 to 64 bytes; made when left out."`
}

type createWebhookIn struct{ Body createWebhookBody }

func (a *API) createWebhook(ctx context.Context, c Caller, in *createWebhookIn) (*out[webhookBody], error) {
	b := in.Body
	n := webhooks.NewEndpoint{
		URL: b.URL, Description: b.Description, RateLimit: b.RateLimit, Types: b.FilterTypes.Value,
		Disabled: b.Disabled != nil && *b.Disabled,
	}
	var err error
	if n.Secret, err = secretOf(b.Secret, "secret"); err != nil {
		return nil, err
	}
	return answering(ctx, a, func(tx *store.Tx) (webhookBody, error) {
		e, err := webhooks.Create(ctx, tx, a.rules(c), c.Team, n)
		if err != nil {
			return webhookBody{}, err
		}
		return webhookOf(e), nil
	})
}

// endpoint runs fn for an endpoint and answers with it.
func (a *API) endpoint(ctx context.Context, p WebhookPath, run func(context.Context, func(*store.Tx) error) error,
	fn func(tx *store.Tx, id webhooks.EndpointID) (webhooks.Endpoint, error),
) (*out[webhookBody], error) {
	id, err := p.id()
	if err != nil {
		return nil, err
	}
	var e webhooks.Endpoint
	err = run(ctx, func(tx *store.Tx) (err error) {
		e, err = fn(tx, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(webhookOf(e)), nil
}

func (a *API) getWebhook(ctx context.Context, c Caller, in *WebhookPath) (*out[webhookBody], error) {
	return a.endpoint(ctx, *in, a.db.Read, func(tx *store.Tx, id webhooks.EndpointID) (webhooks.Endpoint, error) {
		return webhooks.Get(ctx, tx, c.Team, id)
	})
}

type patchWebhookBody struct {
	URL         patch.Field[string] `json:"url" required:"false" doc:"Null leaves it."`
	Description patch.Field[string] `json:"description" required:"false"`
	RateLimit   patch.Field[int]    `json:"rate_limit" required:"false" doc:"Posts per second; null for no limit."`
	Disabled    patch.Field[bool]   `json:"disabled" required:"false" doc:"Null leaves it."`
	FilterTypes typeNames           `json:"filter_types" required:"false" doc:"Null or none for all types."`
	// SendHeldSince is ours.
	SendHeldSince *Time `json:"send_held_since" required:"false" doc:"Send what was held of events from this moment on; the webhook is on, or switched on with it. Left out, what was held stays held until it is recovered."`
}

type patchWebhookIn struct {
	WebhookPath
	Body patchWebhookBody
}

func (a *API) patchWebhook(ctx context.Context, c Caller, in *patchWebhookIn) (*out[webhookBody], error) {
	b := in.Body
	changes := webhooks.Changes{
		URL: b.URL, Description: b.Description, RateLimit: b.RateLimit, Disabled: b.Disabled, Types: patch.Field[[]string](b.FilterTypes),
		SendHeldSince: (*time.Time)(b.SendHeldSince),
	}
	return a.endpoint(ctx, in.WebhookPath, a.db.Write, func(tx *store.Tx, id webhooks.EndpointID) (webhooks.Endpoint, error) {
		return webhooks.Update(ctx, tx, a.rules(c), c.Team, id, changes)
	})
}

// change runs fn for an endpoint and answers with nothing.
func (a *API) change(ctx context.Context, p WebhookPath, fn func(tx *store.Tx, id webhooks.EndpointID) error) (*empty, error) {
	id, err := p.id()
	if err != nil {
		return nil, err
	}
	err = a.db.Write(ctx, func(tx *store.Tx) error {
		if err := fn(tx, id); err != nil {
			return err
		}
		return answers(ctx, tx, nil)
	})
	if err != nil {
		return nil, err
	}
	return &empty{}, nil
}

func (a *API) deleteWebhook(ctx context.Context, c Caller, in *WebhookPath) (*empty, error) {
	return a.change(ctx, *in, func(tx *store.Tx, id webhooks.EndpointID) error { return webhooks.Delete(ctx, tx, c.Team, id) })
}
