package people

import (
	"context"
	"testing"

	"github.com/google/uuid"

	"hale/internal/api/calltest"
	"hale/internal/labs/orders"
	"hale/internal/people/messages"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
)

// moveOrder moves an order of the user to a status.
func moveOrder(c *calltest.Caller, userID string, order uuid.UUID, method, status string) {
	c.T.Helper()
	userstest.Write(c.T, c.DB, func(ctx context.Context, tx *store.Tx) error {
		return messages.OrderMoved(ctx, tx, messages.OrderEvent{
			Team: c.Team, User: users.ID(uuid.MustParse(userID)), Order: order, Method: method, Status: status, Message: orders.Status(status).Message(orders.Method(method)), SMSEnabled: true,
			Contact: messages.Contact{FirstName: "Ada", Phone: "+15125550132", Email: "ada@example.org"},
		})
	})
}

func TestOutboxShapes(t *testing.T) {
	c := newCaller(t)
	id, order := c.User("a"), uuid.New()
	c.Want(200, "GET", "/v2/team/outbox", "", `{"data":[],"next_cursor":null}`)
	moveOrder(c, id, order, "walk_in_test", "ordered")
	moveOrder(c, id, order, "walk_in_test", "requisition_created")
	calltest.Golden(t, "outbox", c.Want(200, "GET", "/v2/team/outbox?order_id="+order.String(), ""))
	c.Want(200, "GET", "/v2/team/outbox?user_id="+id+"&channel=email&state=queued", "", `"subject":"Your lab order is ready"`)
	c.Want(200, "GET", "/v2/team/outbox?order_id="+uuid.NewString(), "", `"data":[]`)
	var page struct {
		Data       []struct{ ID string }
		NextCursor *string `json:"next_cursor"`
	}
	seen := map[string]bool{}
	for path := "/v2/team/outbox?limit=1"; path != ""; {
		calltest.Decode(t, c.Want(200, "GET", path, ""), &page)
		seen[page.Data[0].ID] = true
		if path = ""; page.NextCursor != nil {
			path = "/v2/team/outbox?limit=1&next_cursor=" + *page.NextCursor
		}
	}
	if len(seen) != 3 {
		t.Errorf("%d messages on all pages", len(seen))
	}
	other := calltest.NewTeamCaller(t, c.DB, c.API, c.Now)
	other.Want(200, "GET", "/v2/team/outbox", "", `"data":[]`)
	other.Want(404, "GET", "/v2/team/outbox?user_id="+id, "", "User not found")
	c.Want(422, "GET", "/v2/team/outbox?user_id=x", "", "user_id")
	c.Want(422, "GET", "/v2/team/outbox?order_id=x", "", "order_id")
	c.Want(422, "GET", "/v2/team/outbox?state=lost", "", `"enum"`)
	c.Want(422, "GET", "/v2/team/outbox?next_cursor=x", "", "next_cursor")
}

func TestMessageSettings(t *testing.T) {
	c := newCaller(t)
	path := "/v2/team/message_settings"
	c.Want(200, "GET", path, "", `{"sms_enabled":true,"email_enabled":true,"reminders_enabled":false}`)
	c.Want(200, "PATCH", path, `{"sms_enabled":false,"reminders_enabled":true}`, `{"sms_enabled":false,"email_enabled":true,"reminders_enabled":true}`)
	c.Want(200, "PATCH", path, `{"sms_enabled":null}`, `"sms_enabled":false`)
	c.Want(200, "GET", path, "", `{"sms_enabled":false,"email_enabled":true,"reminders_enabled":true}`)
	calltest.NewTeamCaller(t, c.DB, c.API, c.Now).Want(200, "GET", path, "", `"sms_enabled":true`)
	c.Want(422, "PATCH", path, `{"sms_enabled":"yes"}`, "sms_enabled")
	moveOrder(c, c.User("a"), uuid.New(), "testkit", "ordered")
	c.Want(200, "GET", "/v2/team/outbox", "", `"data":[]`)
}
