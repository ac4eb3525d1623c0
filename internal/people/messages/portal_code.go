package messages

import (
	"context"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// PortalCode is a code that opens the portal on a new device.
type PortalCode struct {
	Team      teams.ID
	User      users.ID
	Channel   Channel
	Recipient string
	FirstName string
	Code      secrets.Text
	Expires   time.Time // later than this it is not sent
}

// hiddenCode replaces the code when a production team lists its messages. The
// code is for the patient only.
const hiddenCode = "••••••"

// SendPortalCode queues a code. The team's switches do not apply, because the
// patient asked for the message.
//
// Spec: Users, create_portal_url.
func SendPortalCode(ctx context.Context, tx *store.Tx, c PortalCode) error {
	_, err := Queue(ctx, tx, Message{
		Team: c.Team, User: c.User, Channel: c.Channel, Template: portalCode + "." + string(c.Channel),
		Recipient: c.Recipient, FirstName: c.FirstName, Code: c.Code, Expires: c.Expires,
	})
	return err
}

// portalCode begins the names of the code's texts.
const portalCode = "portal_code"
