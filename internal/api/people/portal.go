package people

import (
	"context"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"hale/internal/api"
	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

func (h *Handlers) portalLinkRoutes() []api.Route {
	return []api.Route{
		api.Post("/v2/user/{user_id}/create_portal_url", h.createPortalURL, "Create a link into the user's portal").Creates().Sensitive(),
	}
}

// linkContextWord is the purpose of a portal link.
type linkContextWord string

func (linkContextWord) Schema(huma.Registry) *huma.Schema { return api.Enum(users.LinkContexts) }

type createPortalURLIn struct {
	api.UserPath
	Body struct {
		Context linkContextWord `json:"context" doc:"launch is for your own signed-in page: 10 minutes, one use. communications is for e-mail and SMS: a short link for 14 days."`
		OrderID *uuid.UUID      `json:"order_id" required:"false" format:"uuid" nullable:"true" doc:"Order of the user that the link opens."`
	}
}

// portalURLBody has a link into the portal.
//
// Spec: Portal link.
type portalURLBody struct {
	URL       string `json:"url" format:"uri" doc:"Link that opens the portal. It is a secret."`
	ExpiresIn int64  `json:"expires_in" doc:"Lifetime in seconds."`
}

func (h *Handlers) createPortalURL(ctx context.Context, c api.Caller, in *createPortalURLIn) (*api.Out[portalURLBody], error) {
	purpose := users.LinkContext(in.Body.Context)
	return api.Commit(ctx, h.API, func(tx *store.Tx) (body portalURLBody, err error) {
		link, err := users.CreatePortalLink(ctx, tx, c.Team, in.UserID, purpose, in.Body.OrderID)
		if err == nil && in.Body.OrderID != nil {
			err = checkOrderOwner(ctx, tx, c.Team, in.UserID, *in.Body.OrderID)
		}
		if err != nil {
			return body, err
		}
		return portalURLBody{h.BaseURL + link.Path(), int64(purpose.Lifetime().Seconds())}, nil
	})
}

// checkOrderOwner refuses another user's order like an unknown one.
func checkOrderOwner(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, order uuid.UUID) error {
	o, err := orders.Get(ctx, tx, team, orders.ID(order))
	if fault.Is(err, fault.NotFound) || err == nil && o.User != user {
		return fault.New(fault.NotFound, "Order not found")
	}
	return err
}

func (h *Handlers) portalAccessRoutes() []api.Route {
	return []api.Route{
		api.Get("/v2/user/{user_id}/portal_access", h.getPortalAccess, "List a user's open portal links and sessions").Needs(teams.Portal),
		api.Delete("/v2/user/{user_id}/portal_access", h.endPortalAccess, "End all portal links, sessions and known devices of a user").Needs(teams.Portal),
	}
}

// portalAccessBody lists what opens a user's portal now.
type portalAccessBody struct {
	Links    []openLinkBody      `json:"links" doc:"Links, newest first. A device that passed a check is known to one link, and ends with it."`
	Sessions []portalSessionBody `json:"sessions" doc:"Sessions, newest first."`
}

type openLinkBody struct {
	Context      linkContextWord `json:"context"`
	OrderID      *uuid.UUID      `json:"order_id" format:"uuid" nullable:"true" doc:"The order that it opens."`
	CreatedAt    api.Time        `json:"created_at"`
	ExpiresAt    api.Time        `json:"expires_at"`
	WrongAnswers int64           `json:"wrong_answers" doc:"Number of wrong dates of birth and wrong codes. A person may enter five and fifty of them, over all links."`
}

type portalSessionBody struct {
	CreatedAt  api.Time `json:"created_at"`
	LastSeenAt api.Time `json:"last_seen_at"`
	EndsAt     api.Time `json:"ends_at" doc:"Latest end of the session. A session without a request ends after 15 minutes."`
}

func newPortalAccessBody(all users.PortalAccess) portalAccessBody {
	body := portalAccessBody{Links: []openLinkBody{}, Sessions: []portalSessionBody{}}
	for _, l := range all.Links {
		body.Links = append(body.Links, openLinkBody{linkContextWord(l.Context), l.Order, api.Time(l.CreatedOn), api.Time(l.ExpiresOn), l.WrongAnswers})
	}
	for _, s := range all.Sessions {
		body.Sessions = append(body.Sessions, portalSessionBody{api.Time(s.CreatedOn), api.Time(s.SeenAt), api.Time(s.EndsAt())})
	}
	return body
}

func (h *Handlers) getPortalAccess(ctx context.Context, c api.Caller, in *api.UserPath) (*api.Out[portalAccessBody], error) {
	var all users.PortalAccess
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		all, err = users.ListPortalAccess(ctx, tx, c.Team, in.UserID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(newPortalAccessBody(all)), nil
}

func (h *Handlers) endPortalAccess(ctx context.Context, c api.Caller, in *api.UserPath) (*api.Out[portalAccessBody], error) {
	return api.Commit(ctx, h.API, func(tx *store.Tx) (portalAccessBody, error) {
		ended, err := users.EndPortalAccess(ctx, tx, c.Team, in.UserID)
		return newPortalAccessBody(ended), err
	})
}
