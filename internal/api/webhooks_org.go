package api

import "context"

const orgPath = "/v1/org/{org_id}/team/{team_id}/{environment}/webhook"

func (a *API) webhookRoutes() []route {
	return []route{
		get("/v2/webhooks", a.listWebhooks, "List webhook endpoints"),
		post("/v2/webhooks", a.createWebhook, "Create a webhook endpoint").creates().sensitive(),
		get("/v2/webhooks/{webhook_id}", a.getWebhook, "Get a webhook endpoint"),
		amend("/v2/webhooks/{webhook_id}", a.patchWebhook, "Change a webhook endpoint").sensitive(),
		del("/v2/webhooks/{webhook_id}", a.deleteWebhook, "Delete a webhook endpoint; what is pending for it is not sent").status(204),
		get("/v2/webhooks/{webhook_id}/headers", a.getWebhookHeaders, "Get the custom headers of an endpoint"),
		put("/v2/webhooks/{webhook_id}/headers", a.putWebhookHeaders, "Replace the custom headers of an endpoint").status(204).sensitive(),
		get("/v2/webhooks/{webhook_id}/secret", a.getWebhookSecret, "Get the signing secret of an endpoint"),
		post("/v2/webhooks/{webhook_id}/secret/rotate", a.rotateWebhookSecret, "Change the signing secret; both sign for a while").creates().status(204).sensitive(),

		get(orgPath, a.listOrgWebhooks, "List webhook endpoints of a team").tag("webhooks"),
		post(orgPath, a.createOrgWebhook, "Create a webhook endpoint of a team").creates().sensitive().tag("webhooks"),
		get(orgPath+"/{webhook_id}", a.getOrgWebhook, "Get a webhook endpoint of a team").tag("webhooks"),
		amend(orgPath+"/{webhook_id}", a.patchOrgWebhook, "Change a webhook endpoint of a team").sensitive().tag("webhooks"),
		del(orgPath+"/{webhook_id}", a.deleteOrgWebhook, "Delete a webhook endpoint of a team").status(204).tag("webhooks"),
		get(orgPath+"/{webhook_id}/headers", a.getOrgWebhookHeaders, "Get the custom headers of a team's endpoint").tag("webhooks"),
		put(orgPath+"/{webhook_id}/headers", a.putOrgWebhookHeaders, "Replace the custom headers of a team's endpoint").status(204).sensitive().tag("webhooks"),
		get(orgPath+"/{webhook_id}/secret", a.getOrgWebhookSecret, "Get the signing secret of a team's endpoint").tag("webhooks"),
		post(orgPath+"/{webhook_id}/secret/rotate", a.rotateOrgWebhookSecret, "Change the signing secret of a team's endpoint").creates().status(204).sensitive().tag("webhooks"),
	}
}

// The reference's paths have the same handlers, once the path names the key's
// own team.

type orgWebhooksIn struct {
	OrgPath
	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"50"`
	Cursor string `query:"next_cursor" doc:"next_cursor of the page before."`
}

func (a *API) listOrgWebhooks(ctx context.Context, c Caller, in *orgWebhooksIn) (*out[webhooksBody], error) {
	if err := in.check(c); err != nil {
		return nil, err
	}
	return a.listWebhooks(ctx, c, &webhookListIn{Limit: in.Limit, Cursor: in.Cursor})
}

type createOrgWebhookIn struct {
	OrgPath
	Body createWebhookBody
}

func (a *API) createOrgWebhook(ctx context.Context, c Caller, in *createOrgWebhookIn) (*out[webhookBody], error) {
	if err := in.check(c); err != nil {
		return nil, err
	}
	return a.createWebhook(ctx, c, &createWebhookIn{in.Body})
}

type orgWebhookIn struct {
	OrgPath
	WebhookPath
}

func (a *API) getOrgWebhook(ctx context.Context, c Caller, in *orgWebhookIn) (*out[webhookBody], error) {
	if err := in.check(c); err != nil {
		return nil, err
	}
	return a.getWebhook(ctx, c, &in.WebhookPath)
}

type patchOrgWebhookIn struct {
	OrgPath
	WebhookPath
	Body patchWebhookBody
}

func (a *API) patchOrgWebhook(ctx context.Context, c Caller, in *patchOrgWebhookIn) (*out[webhookBody], error) {
	if err := in.check(c); err != nil {
		return nil, err
	}
	return a.patchWebhook(ctx, c, &patchWebhookIn{in.WebhookPath, in.Body})
}

func (a *API) deleteOrgWebhook(ctx context.Context, c Caller, in *orgWebhookIn) (*empty, error) {
	if err := in.check(c); err != nil {
		return nil, err
	}
	return a.deleteWebhook(ctx, c, &in.WebhookPath)
}

func (a *API) getOrgWebhookHeaders(ctx context.Context, c Caller, in *orgWebhookIn) (*out[webhookHeadersBody], error) {
	if err := in.check(c); err != nil {
		return nil, err
	}
	return a.getWebhookHeaders(ctx, c, &in.WebhookPath)
}

type putOrgWebhookHeadersIn struct {
	OrgPath
	WebhookPath
	Body putWebhookHeadersBody
}

func (a *API) putOrgWebhookHeaders(ctx context.Context, c Caller, in *putOrgWebhookHeadersIn) (*empty, error) {
	if err := in.check(c); err != nil {
		return nil, err
	}
	return a.putWebhookHeaders(ctx, c, &putWebhookHeadersIn{in.WebhookPath, in.Body})
}

func (a *API) getOrgWebhookSecret(ctx context.Context, c Caller, in *orgWebhookIn) (*out[webhookSecretBody], error) {
	if err := in.check(c); err != nil {
		return nil, err
	}
	return a.getWebhookSecret(ctx, c, &in.WebhookPath)
}

type rotateOrgWebhookSecretIn struct {
	OrgPath
	WebhookPath
	Body rotateWebhookSecretBody `required:"false"`
}

func (a *API) rotateOrgWebhookSecret(ctx context.Context, c Caller, in *rotateOrgWebhookSecretIn) (*empty, error) {
	if err := in.check(c); err != nil {
		return nil, err
	}
	return a.rotateWebhookSecret(ctx, c, &rotateWebhookSecretIn{in.WebhookPath, in.Body})
}
