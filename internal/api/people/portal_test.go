package people

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"hale/internal/api/calltest"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
)

func TestPortalURL(t *testing.T) {
	c := newCaller(t)
	id := c.User("a")
	path := "/v2/user/" + id + "/create_portal_url"
	c.Want(422, "POST", path, `{"context":"launch"}`, "demographics")
	c.Want(200, "PATCH", "/v2/user/"+id+"/info", calltest.GoodInfo)
	calltest.Golden(t, "portal_launch", c.Want(200, "POST", path, `{"context":"launch"}`))
	calltest.Golden(t, "portal_communications", c.Want(200, "POST", path, `{"context":"communications","order_id":null}`))
	c.Want(404, "POST", path, `{"context":"launch","order_id":"00000000-0000-4000-8000-000000000005"}`, "Order not found")
	c.Want(422, "POST", path, `{"context":"launch","order_id":"x"}`, "order_id")
	c.Want(422, "POST", path, `{"context":"carrier pigeon"}`, `"enum"`)
	c.Want(422, "POST", path, `{}`, `"missing"`)
}

// A team sees which links and sessions open a person's portal, and ends them.
func TestPortalAccessIsListedAndEnded(t *testing.T) {
	c := newCaller(t)
	id, other := c.User("ada"), c.User("grace")
	path := "/v2/user/" + id + "/portal_access"
	c.Want(200, "GET", path, "", `{"links":[],"sessions":[]}`)
	for _, user := range []string{id, other} {
		c.Want(200, "PATCH", "/v2/user/"+user+"/info", calltest.GoodInfo)
	}
	link := func(user, purpose string) secrets.Text {
		var made struct{ URL string }
		calltest.Decode(t, c.Want(200, "POST", "/v2/user/"+user+"/create_portal_url", `{"context":"`+purpose+`"}`), &made)
		at, err := url.Parse(made.URL)
		if err != nil {
			t.Fatal(err)
		}
		return secrets.Text(at.Path[strings.LastIndexByte(at.Path, '/')+1:])
	}
	enter := func(token secrets.Text) (e users.Entry) {
		userstest.Write(t, c.DB, func(_ context.Context, tx *store.Tx) (err error) {
			e, err = users.Enter(store.AsSystem(t.Context()), tx, token, "", "", users.Proof{})
			return err
		})
		return e
	}
	session := enter(link(id, "launch")).Session
	open, foreign := link(id, "communications"), link(other, "communications")
	body := c.Want(200, "GET", path, "", `"context":"communications"`, `"order_id":null`, `"wrong_answers":0`, `"last_seen_at":`, `"ends_at":`)
	if strings.Contains(body, open.Reveal()) || strings.Contains(body, session.Reveal()) || strings.Contains(body, `"launch"`) {
		t.Errorf("a token, or a used link, is shown: %s", body)
	}
	if ended := c.Want(200, "DELETE", path, ""); ended != body {
		t.Errorf("ended %s, want what was listed: %s", ended, body)
	}
	c.Want(200, "GET", path, "", `{"links":[],"sessions":[]}`)
	c.Want(200, "DELETE", path, "", `{"links":[],"sessions":[]}`)
	userstest.Read(t, c.DB, func(_ context.Context, tx *store.Tx) error {
		system := store.AsSystem(t.Context())
		if _, err := users.FindPortalLink(system, tx, open); err == nil {
			t.Error("the link still works")
		}
		if _, err := users.Resume(system, tx, session); err == nil {
			t.Error("the session still works")
		}
		if _, err := users.FindPortalLink(system, tx, foreign); err != nil {
			t.Errorf("another person's link: %v", err)
		}
		return nil
	})
}
