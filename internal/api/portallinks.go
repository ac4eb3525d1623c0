package api

import (
	"context"

	"github.com/google/uuid"

	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

func (a *API) portalLinkRoutes() []route {
	return []route{
		post("/v2/user/{user_id}/create_portal_url", a.createPortalURL, "Make a link into the user's portal").creates(),
	}
}

type createPortalURLIn struct {
	UserPath
	Body struct {
		Context string     `json:"context" enum:"launch,communications" doc:"launch: 10 minutes, one use, from your own signed-in page. communications: 14 days, short, for e-mail and SMS."`
		OrderID *uuid.UUID `json:"order_id" required:"false" format:"uuid" nullable:"true" doc:"Opens this order of the user."`
	}
}

// portalURLBody is a link.
//
// Spec: Portal link.
type portalURLBody struct {
	URL       string `json:"url" format:"uri" doc:"A secret: whoever has it may get in."`
	ExpiresIn int64  `json:"expires_in" doc:"Seconds."`
}

func (a *API) createPortalURL(ctx context.Context, c Caller, in *createPortalURLIn) (*out[portalURLBody], error) {
	purpose := users.LinkContext(in.Body.Context)
	return answering(ctx, a, func(tx *store.Tx) (body portalURLBody, err error) {
		link, err := users.CreatePortalLink(ctx, tx, c.Team, in.UserID, purpose, in.Body.OrderID)
		if err == nil && in.Body.OrderID != nil {
			err = ownOrder(ctx, tx, c.Team, in.UserID, *in.Body.OrderID)
		}
		if err != nil {
			return body, err
		}
		return portalURLBody{a.BaseURL + link.Path(), int64(purpose.Lifetime().Seconds())}, nil
	})
}

// ownOrder refuses an order that is not the user's like one that is not there.
func ownOrder(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, order uuid.UUID) error {
	o, err := orders.Get(ctx, tx, team, orders.ID(order))
	if fault.Is(err, fault.NotFound) || err == nil && o.User != user {
		return fault.New(fault.NotFound, "Order not found")
	}
	return err
}
