package people

import (
	"context"

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
		api.Post("/v2/user/{user_id}/create_portal_url", h.createPortalURL, "Make a link into the user's portal").Creates(),
	}
}

type createPortalURLIn struct {
	api.UserPath
	Body struct {
		Context string     `json:"context" enum:"launch,communications" doc:"launch: 10 minutes, one use, from your own signed-in page. communications: 14 days, short, for e-mail and SMS."`
		OrderID *uuid.UUID `json:"order_id" required:"false" format:"uuid" nullable:"true" doc:"Opens this order of the user."`
	}
}

// portalURLBody has a link into the portal.
//
// Spec: Portal link.
type portalURLBody struct {
	URL       string `json:"url" format:"uri" doc:"A secret: it opens the portal."`
	ExpiresIn int64  `json:"expires_in" doc:"Seconds."`
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
