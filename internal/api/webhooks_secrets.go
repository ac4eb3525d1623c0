package api

import (
	"context"
	"time"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/webhooks"
)

type webhookHeadersBody struct {
	Headers   map[string]string `json:"headers"`
	Sensitive []string          `json:"sensitive" doc:"Names of headers whose values are not shown."`
}

func (a *API) getWebhookHeaders(ctx context.Context, c Caller, in *WebhookPath) (*out[webhookHeadersBody], error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	var headers map[string]string
	err = a.db.Read(ctx, func(tx *store.Tx) (err error) {
		headers, err = webhooks.Headers(ctx, tx, c.Team, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	shown, sensitive := webhooks.Masked(headers)
	return answer(webhookHeadersBody{shown, sensitive}), nil
}

type putWebhookHeadersBody struct {
	Headers map[string]string `json:"headers" doc:"All custom headers. Those that are set by us cannot be changed."`
}

type putWebhookHeadersIn struct {
	WebhookPath
	Body putWebhookHeadersBody
}

func (a *API) putWebhookHeaders(ctx context.Context, c Caller, in *putWebhookHeadersIn) (*empty, error) {
	return a.change(ctx, in.WebhookPath, func(tx *store.Tx, id webhooks.EndpointID) error {
		return webhooks.SetHeaders(ctx, tx, c.Team, id, in.Body.Headers)
	})
}

type webhookSecretBody struct {
	Key string `json:"key" doc:"whsec_…"`
}

func (a *API) getWebhookSecret(ctx context.Context, c Caller, in *WebhookPath) (*out[webhookSecretBody], error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	var secret webhooks.Secret
	err = a.db.Read(ctx, func(tx *store.Tx) (err error) {
		secret, err = webhooks.CurrentSecret(ctx, tx, c.Team, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(webhookSecretBody{secret.Reveal()}), nil
}

type rotateWebhookSecretBody struct {
	Key     *string `json:"key" required:"false" doc:"whsec_ and the base64 of 24 to 64 bytes; made when left out."`
	Overlap *int64  `json:"overlap_seconds" required:"false" minimum:"0" maximum:"604800" doc:"How long the old secret signs too; 86400 when left out."`
}

type rotateWebhookSecretIn struct {
	WebhookPath
	Body rotateWebhookSecretBody `required:"false"`
}

func (a *API) rotateWebhookSecret(ctx context.Context, c Caller, in *rotateWebhookSecretIn) (*empty, error) {
	secret, err := secretOf(in.Body.Key, "key")
	if err != nil {
		return nil, err
	}
	overlap := webhooks.DefaultOverlap
	if in.Body.Overlap != nil {
		overlap = time.Duration(*in.Body.Overlap) * time.Second
	}
	return a.change(ctx, in.WebhookPath, func(tx *store.Tx, id webhooks.EndpointID) error {
		return webhooks.RotateSecret(ctx, tx, c.Team, id, secret, overlap)
	})
}

// secretOf reads a secret of a body; nil stays nil.
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
