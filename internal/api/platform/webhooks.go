package platform

import (
	"context"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/api"
	"hale/internal/people/users/person"
	"hale/internal/platform/fault"
	"hale/internal/platform/paging"
	"hale/internal/platform/patch"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/platform/webhooks"
)

// The same handlers manage webhook endpoints under two paths: our own, /v2/webhooks,
// and the reference's, which contains the team. Operations that the reference does not
// have are only under our own path.
//
// Reference 9.1, 9.4.

// WebhookPath is the part of an input with the id of an endpoint. The id is not a UUID,
// so any text that is not the id of one of the team's endpoints is unknown.
type WebhookPath struct {
	WebhookID string `path:"webhook_id" doc:"Id of the endpoint, such as ep_…."`
}

func (p WebhookPath) id() (webhooks.EndpointID, error) { return webhooks.ParseEndpointID(p.WebhookID) }

// Types for the words of an endpoint.
type (
	contentWord       string
	endpointStateWord string
)

func (contentWord) Schema(huma.Registry) *huma.Schema       { return api.Enum(webhooks.Contents) }
func (endpointStateWord) Schema(huma.Registry) *huma.Schema { return api.Enum(webhooks.States) }

// webhookBody is an endpoint in JSON: the reference's fields, then ours.
type webhookBody struct {
	ID            string               `json:"id"`
	Description   string               `json:"description"`
	RateLimit     *int                 `json:"rate_limit" doc:"Limit of posts per second. It is null if there is none."`
	URL           string               `json:"url"`
	Disabled      bool                 `json:"disabled"`
	FilterTypes   typeNames            `json:"filter_types" doc:"Event types of the endpoint; null for all."`
	Content       contentWord          `json:"content" doc:"Content of the posts: full events, or the type and the ids only. The receiver reads the rest, at /v2/events with X-Event-Seq for example."`
	CreatedAt     api.Time             `json:"created_at"`
	UpdatedAt     api.Time             `json:"updated_at"`
	State         endpointStateWord    `json:"state" doc:"State of the endpoint. auto_off means that the service disabled it, see disabled_reason."`
	Reason        *string              `json:"disabled_reason"`
	FailingSince  api.OrNull[api.Time] `json:"failing_since" doc:"Time since which all attempts have failed. After five days the endpoint is disabled."`
	LastSuccessAt api.OrNull[api.Time] `json:"last_success_at" doc:"Time of the last success, exact to the minute."`
}

func webhookOf(e webhooks.Endpoint) webhookBody {
	body := webhookBody{
		ID: e.ID.String(), Description: e.Description, RateLimit: e.RateLimit, Content: contentWord(e.Content), URL: e.URL, Disabled: e.State != webhooks.On,
		CreatedAt: api.Time(e.CreatedAt), UpdatedAt: api.Time(e.UpdatedAt), State: endpointStateWord(e.State),
		FailingSince: api.Nullable(api.TimeOrNull(&e.Health.FailingSince)), LastSuccessAt: api.Nullable(api.TimeOrNull(&e.Health.LastSuccessAt)),
	}
	if e.Reason != "" {
		body.Reason = &e.Reason
	}
	if e.Types != nil {
		body.FilterTypes = typeNames(patch.Set(e.Types))
	}
	return body
}

// typeNames is a list of event types. null means all types; an absent list in a PATCH
// keeps the current one.
type typeNames patch.Field[[]string]

// MarshalJSON returns the list or null.
func (t typeNames) MarshalJSON() ([]byte, error) { return patch.Field[[]string](t).MarshalJSON() }

// UnmarshalJSON decodes a list or null. encoding/json calls it only for a field that is
// in the body, so an absent field stays unset.
func (t *typeNames) UnmarshalJSON(data []byte) error {
	return (*patch.Field[[]string])(t).UnmarshalJSON(data)
}

// mostFilterTypes is larger than the number of event types.
const mostFilterTypes = 500

// Schema declares a list of texts, or null.
func (typeNames) Schema(huma.Registry) *huma.Schema {
	most := mostFilterTypes
	return &huma.Schema{Type: huma.TypeArray, Nullable: true, Items: &huma.Schema{Type: huma.TypeString}, MaxItems: &most}
}

var _ huma.SchemaProvider = typeNames(patch.Field[[]string]{})

// rules returns the rules for URLs in the caller's environment.
func (h *Handlers) rules(c api.Caller) webhooks.Rules {
	return webhooks.Rules{Production: c.Environment == teams.Production, AllowPrivate: h.Webhooks.Guard.AllowPrivate}
}

type webhookListIn struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"50"`
	Cursor string `query:"next_cursor" doc:"next_cursor of the previous page."`
}

type webhooksBody struct {
	Data       []webhookBody `json:"data"`
	NextCursor *string       `json:"next_cursor" doc:"Cursor of the next page. It is null on the last page."`
}

func (h *Handlers) listWebhooks(ctx context.Context, c api.Caller, in *webhookListIn) (*api.Out[webhooksBody], error) {
	var after webhooks.EndpointID
	if in.Cursor != "" {
		if err := paging.Decode(in.Cursor, &after); err != nil {
			return nil, err
		}
	}
	body := webhooksBody{}
	err := h.DB.Read(ctx, func(tx *store.Tx) error {
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
	return api.Answer(body), nil
}

type createWebhookBody struct {
	URL         string       `json:"url" doc:"URL of the receiver. In production it has https, and the port 443 or 8443."`
	Description string       `json:"description" required:"false" default:"" maxLength:"2000"`
	RateLimit   *int         `json:"rate_limit" required:"false" minimum:"1" maximum:"10000" doc:"Limit of posts per second."`
	Disabled    *bool        `json:"disabled" required:"false" default:"false"`
	FilterTypes typeNames    `json:"filter_types" required:"false" doc:"Event types of the endpoint; null for all that are not optional. An empty list is refused."`
	Content     *contentWord `json:"content" required:"false" default:"full" doc:"Content of the posts. full means whole events, and ids means the type and the ids only."`
	Secret      *string      `json:"secret" required:"false" doc:"Secret: whsec_ and the base64 of 24 to 64 bytes. It is generated if absent."`
}

// TransformSchema states the rules of the domain.
func (createWebhookBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{
		"url": stateURL(), "description": stateDescription(), "secret": api.StatePatterns(`^$|` + webhooks.SecretPattern), "filter_types": {"minItems": 1}, "filter_types[]": eventTypeRef,
	})
}

// stateURL states the form of a receiver's URL.
func stateURL() api.Keywords {
	s := api.StatePatterns(webhooks.URLPattern)
	s["format"], s["maxLength"] = "uri", webhooks.MaxURL
	return s
}

// stateDescription states the form of a description.
func stateDescription() api.Keywords {
	s := api.StatePatterns(`^[^\x00]*$`)
	s["maxLength"] = webhooks.MaxDescription
	return s
}

type createWebhookIn struct{ Body createWebhookBody }

func (h *Handlers) createWebhook(ctx context.Context, c api.Caller, in *createWebhookIn) (*api.Out[webhookBody], error) {
	b := in.Body
	n := webhooks.NewEndpoint{
		URL: b.URL, Description: b.Description, RateLimit: b.RateLimit, Types: b.FilterTypes.Value,
		Disabled: b.Disabled != nil && *b.Disabled,
	}
	if b.Content != nil {
		n.Content = webhooks.Content(*b.Content)
	}
	var err error
	if n.Secret, err = secretOf(b.Secret, "secret"); err != nil {
		return nil, err
	}
	return api.Commit(ctx, h.API, func(tx *store.Tx) (webhookBody, error) {
		e, err := webhooks.Create(ctx, tx, h.rules(c), c.Team, n)
		if err != nil {
			return webhookBody{}, err
		}
		return webhookOf(e), nil
	})
}

// endpoint runs fn for an endpoint and answers with the endpoint.
func (h *Handlers) endpoint(ctx context.Context, p WebhookPath, run func(context.Context, func(*store.Tx) error) error,
	fn func(tx *store.Tx, id webhooks.EndpointID) (webhooks.Endpoint, error),
) (*api.Out[webhookBody], error) {
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
	return api.Answer(webhookOf(e)), nil
}

func (h *Handlers) getWebhook(ctx context.Context, c api.Caller, in *WebhookPath) (*api.Out[webhookBody], error) {
	return h.endpoint(ctx, *in, h.DB.Read, func(tx *store.Tx, id webhooks.EndpointID) (webhooks.Endpoint, error) {
		return webhooks.Get(ctx, tx, c.Team, id)
	})
}

type patchWebhookBody struct {
	URL         patch.Field[string] `json:"url" required:"false" doc:"URL of the receiver. Null keeps the value."`
	Description patch.Field[string] `json:"description" required:"false"`
	RateLimit   patch.Field[int]    `json:"rate_limit" required:"false" doc:"Limit of posts per second. It is null if there is none."`
	Disabled    patch.Field[bool]   `json:"disabled" required:"false" doc:"Whether the endpoint is disabled. Null keeps the value."`
	Content     patch.Field[string] `json:"content" required:"false" doc:"Content of the posts. full means whole events, and ids means the type and the ids only. Null keeps the value."`
	FilterTypes typeNames           `json:"filter_types" required:"false" doc:"Event types of the endpoint. Null means all types that are not optional. An empty list is refused."`
	// SendHeldSince is an addition to the reference.
	SendHeldSince *api.Time `json:"send_held_since" required:"false" doc:"Send the held events since this time. The webhook must be enabled, or be enabled by this request. When absent, held events stay held until they are recovered."`
}

// TransformSchema states the rules of the domain.
func (patchWebhookBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{
		"url": stateURL(), "description": stateDescription(), "rate_limit": {"minimum": 1, "maximum": webhooks.MaxRate},
		"content": api.StateEnum(webhooks.Contents).OrNull(), "filter_types": {"minItems": 1}, "filter_types[]": eventTypeRef,
	})
}

type patchWebhookIn struct {
	WebhookPath
	Body patchWebhookBody
}

func (h *Handlers) patchWebhook(ctx context.Context, c api.Caller, in *patchWebhookIn) (*api.Out[webhookBody], error) {
	b := in.Body
	changes := webhooks.Changes{
		URL: b.URL, Description: b.Description, RateLimit: b.RateLimit, Disabled: b.Disabled, Content: patch.Field[webhooks.Content]{Set: b.Content.Set, Null: b.Content.Null, Value: webhooks.Content(b.Content.Value)}, Types: patch.Field[[]string](b.FilterTypes),
		SendHeldSince: (*time.Time)(b.SendHeldSince),
	}
	return h.endpoint(ctx, in.WebhookPath, h.DB.Write, func(tx *store.Tx, id webhooks.EndpointID) (webhooks.Endpoint, error) {
		return webhooks.Update(ctx, tx, h.rules(c), c.Team, id, changes)
	})
}

// change runs fn for an endpoint and answers without a body.
func (h *Handlers) change(ctx context.Context, p WebhookPath, fn func(tx *store.Tx, id webhooks.EndpointID) error) (*api.Empty, error) {
	id, err := p.id()
	if err != nil {
		return nil, err
	}
	err = h.DB.Write(ctx, func(tx *store.Tx) error {
		if err := fn(tx, id); err != nil {
			return err
		}
		return api.RecordAnswer(ctx, tx, nil)
	})
	if err != nil {
		return nil, err
	}
	return &api.Empty{}, nil
}

func (h *Handlers) deleteWebhook(ctx context.Context, c api.Caller, in *WebhookPath) (*api.Empty, error) {
	return h.change(ctx, *in, func(tx *store.Tx, id webhooks.EndpointID) error { return webhooks.Delete(ctx, tx, c.Team, id) })
}

const orgPath = "/v1/org/{org_id}/team/{team_id}/{environment}/webhook"

func (h *Handlers) webhookRoutes() []api.Route {
	return []api.Route{
		api.Get("/v2/webhooks", h.listWebhooks, "List webhook endpoints"),
		api.Post("/v2/webhooks", h.createWebhook, "Create a webhook endpoint").Creates().Sensitive(),
		api.Get("/v2/webhooks/{webhook_id}", h.getWebhook, "Get a webhook endpoint"),
		api.Patch("/v2/webhooks/{webhook_id}", h.patchWebhook, "Change a webhook endpoint").Sensitive(),
		api.Delete("/v2/webhooks/{webhook_id}", h.deleteWebhook, "Delete a webhook endpoint; pending messages are not sent").Status(204),
		api.Get("/v2/webhooks/{webhook_id}/headers", h.getWebhookHeaders, "Get the custom headers of an endpoint"),
		api.Put("/v2/webhooks/{webhook_id}/headers", h.putWebhookHeaders, "Replace the custom headers of an endpoint").Status(204).Sensitive(),
		api.Get("/v2/webhooks/{webhook_id}/secret", h.getWebhookSecret, "Get the signing secret of an endpoint"),
		api.Post("/v2/webhooks/{webhook_id}/secret/rotate", h.rotateWebhookSecret, "Rotate the signing secret; both secrets sign for a while").Creates().Status(204).Sensitive(),

		api.Get(orgPath, h.listOrgWebhooks, "List webhook endpoints of a team").Tag("webhooks"),
		api.Post(orgPath, h.createOrgWebhook, "Create a webhook endpoint of a team").Creates().Sensitive().Tag("webhooks"),
		api.Get(orgPath+"/{webhook_id}", h.getOrgWebhook, "Get a webhook endpoint of a team").Tag("webhooks"),
		api.Patch(orgPath+"/{webhook_id}", h.patchOrgWebhook, "Change a webhook endpoint of a team").Sensitive().Tag("webhooks"),
		api.Delete(orgPath+"/{webhook_id}", h.deleteOrgWebhook, "Delete a webhook endpoint of a team").Status(204).Tag("webhooks"),
		api.Get(orgPath+"/{webhook_id}/headers", h.getOrgWebhookHeaders, "Get the custom headers of a team's endpoint").Tag("webhooks"),
		api.Put(orgPath+"/{webhook_id}/headers", h.putOrgWebhookHeaders, "Replace the custom headers of a team's endpoint").Status(204).Sensitive().Tag("webhooks"),
		api.Get(orgPath+"/{webhook_id}/secret", h.getOrgWebhookSecret, "Get the signing secret of a team's endpoint").Tag("webhooks"),
		api.Post(orgPath+"/{webhook_id}/secret/rotate", h.rotateOrgWebhookSecret, "Rotate the signing secret of a team's endpoint").Creates().Status(204).Sensitive().Tag("webhooks"),
	}
}

// The reference's paths have the same handlers, after a check that the path names the
// key's own team.

type orgWebhooksIn struct {
	api.OrgPath
	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"50"`
	Cursor string `query:"next_cursor" doc:"next_cursor of the previous page."`
}

func (h *Handlers) listOrgWebhooks(ctx context.Context, c api.Caller, in *orgWebhooksIn) (*api.Out[webhooksBody], error) {
	if err := in.Check(c); err != nil {
		return nil, err
	}
	return h.listWebhooks(ctx, c, &webhookListIn{Limit: in.Limit, Cursor: in.Cursor})
}

type createOrgWebhookIn struct {
	api.OrgPath
	Body createWebhookBody
}

func (h *Handlers) createOrgWebhook(ctx context.Context, c api.Caller, in *createOrgWebhookIn) (*api.Out[webhookBody], error) {
	if err := in.Check(c); err != nil {
		return nil, err
	}
	return h.createWebhook(ctx, c, &createWebhookIn{in.Body})
}

type orgWebhookIn struct {
	api.OrgPath
	WebhookPath
}

func (h *Handlers) getOrgWebhook(ctx context.Context, c api.Caller, in *orgWebhookIn) (*api.Out[webhookBody], error) {
	if err := in.Check(c); err != nil {
		return nil, err
	}
	return h.getWebhook(ctx, c, &in.WebhookPath)
}

type patchOrgWebhookIn struct {
	api.OrgPath
	WebhookPath
	Body patchWebhookBody
}

func (h *Handlers) patchOrgWebhook(ctx context.Context, c api.Caller, in *patchOrgWebhookIn) (*api.Out[webhookBody], error) {
	if err := in.Check(c); err != nil {
		return nil, err
	}
	return h.patchWebhook(ctx, c, &patchWebhookIn{in.WebhookPath, in.Body})
}

func (h *Handlers) deleteOrgWebhook(ctx context.Context, c api.Caller, in *orgWebhookIn) (*api.Empty, error) {
	if err := in.Check(c); err != nil {
		return nil, err
	}
	return h.deleteWebhook(ctx, c, &in.WebhookPath)
}

func (h *Handlers) getOrgWebhookHeaders(ctx context.Context, c api.Caller, in *orgWebhookIn) (*api.Out[webhookHeadersBody], error) {
	if err := in.Check(c); err != nil {
		return nil, err
	}
	return h.getWebhookHeaders(ctx, c, &in.WebhookPath)
}

type putOrgWebhookHeadersIn struct {
	api.OrgPath
	WebhookPath
	Body putWebhookHeadersBody
}

func (h *Handlers) putOrgWebhookHeaders(ctx context.Context, c api.Caller, in *putOrgWebhookHeadersIn) (*api.Empty, error) {
	if err := in.Check(c); err != nil {
		return nil, err
	}
	return h.putWebhookHeaders(ctx, c, &putWebhookHeadersIn{in.WebhookPath, in.Body})
}

func (h *Handlers) getOrgWebhookSecret(ctx context.Context, c api.Caller, in *orgWebhookIn) (*api.Out[webhookSecretBody], error) {
	if err := in.Check(c); err != nil {
		return nil, err
	}
	return h.getWebhookSecret(ctx, c, &in.WebhookPath)
}

type rotateOrgWebhookSecretIn struct {
	api.OrgPath
	WebhookPath
	Body rotateWebhookSecretBody `required:"false"`
}

func (h *Handlers) rotateOrgWebhookSecret(ctx context.Context, c api.Caller, in *rotateOrgWebhookSecretIn) (*api.Empty, error) {
	if err := in.Check(c); err != nil {
		return nil, err
	}
	return h.rotateWebhookSecret(ctx, c, &rotateWebhookSecretIn{in.WebhookPath, in.Body})
}

type webhookHeadersBody struct {
	Headers   map[string]string `json:"headers"`
	Sensitive []string          `json:"sensitive" doc:"Names of headers whose values are not shown."`
}

func (h *Handlers) getWebhookHeaders(ctx context.Context, c api.Caller, in *WebhookPath) (*api.Out[webhookHeadersBody], error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	var headers map[string]string
	err = h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		headers, err = webhooks.Headers(ctx, tx, c.Team, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	shown, sensitive := webhooks.SplitHeaders(headers)
	return api.Answer(webhookHeadersBody{shown, sensitive}), nil
}

type putWebhookHeadersBody struct {
	Headers map[string]string `json:"headers" doc:"All custom headers. Headers that the service sets cannot be changed."`
}

// TransformSchema states which names and values headers may have.
func (putWebhookHeadersBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	var reserved []string
	for _, name := range webhooks.ReservedHeaders {
		reserved = append(reserved, person.AnyCase(name))
		if !strings.HasSuffix(name, "-") {
			reserved[len(reserved)-1] += "$"
		}
	}
	name := &huma.Schema{Pattern: webhooks.HeaderNamePattern, Not: &huma.Schema{Pattern: "^(?:" + strings.Join(reserved, "|") + ")"}}
	most := webhooks.MaxHeaderBytes
	s = api.State(s, map[string]api.Keywords{"headers": {"propertyNames": name, "maxProperties": webhooks.MaxHeaders}})
	s.Properties["headers"].AdditionalProperties = &huma.Schema{Type: huma.TypeString, MaxLength: &most, Pattern: webhooks.HeaderValuePattern}
	return s
}

type putWebhookHeadersIn struct {
	WebhookPath
	Body putWebhookHeadersBody
}

func (h *Handlers) putWebhookHeaders(ctx context.Context, c api.Caller, in *putWebhookHeadersIn) (*api.Empty, error) {
	return h.change(ctx, in.WebhookPath, func(tx *store.Tx, id webhooks.EndpointID) error {
		return webhooks.SetHeaders(ctx, tx, c.Team, id, in.Body.Headers)
	})
}

type webhookSecretBody struct {
	Key string `json:"key" doc:"Secret such as whsec_…."`
}

func (h *Handlers) getWebhookSecret(ctx context.Context, c api.Caller, in *WebhookPath) (*api.Out[webhookSecretBody], error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	var secret webhooks.Secret
	err = h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		secret, err = webhooks.CurrentSecret(ctx, tx, c.Team, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(webhookSecretBody{secret.Reveal()}), nil
}

type rotateWebhookSecretBody struct {
	Key     *string `json:"key" required:"false" doc:"Secret: whsec_ and the base64 of 24 to 64 bytes. It is generated if absent."`
	Overlap *int64  `json:"overlap_seconds" required:"false" minimum:"0" maximum:"604800" doc:"Seconds during which the old secret signs too. The default is 86400."`
}

// TransformSchema states the form of a secret.
func (rotateWebhookSecretBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{"key": api.StatePatterns(`^$|` + webhooks.SecretPattern)})
}

type rotateWebhookSecretIn struct {
	WebhookPath
	Body rotateWebhookSecretBody `required:"false"`
}

func (h *Handlers) rotateWebhookSecret(ctx context.Context, c api.Caller, in *rotateWebhookSecretIn) (*api.Empty, error) {
	secret, err := secretOf(in.Body.Key, "key")
	if err != nil {
		return nil, err
	}
	overlap := webhooks.DefaultOverlap
	if in.Body.Overlap != nil {
		overlap = time.Duration(*in.Body.Overlap) * time.Second
	}
	return h.change(ctx, in.WebhookPath, func(tx *store.Tx, id webhooks.EndpointID) error {
		return webhooks.RotateSecret(ctx, tx, c.Team, id, secret, overlap)
	})
}

// secretOf parses a secret of a body. nil stays nil.
func secretOf(text *string, field string) (*webhooks.Secret, error) {
	if text == nil || *text == "" {
		return nil, nil
	}
	secret, err := webhooks.ParseSecret(*text)
	if err != nil {
		return nil, fault.New(fault.Invalid, err.Error()).At("body", field)
	}
	return &secret, nil
}
