package people

import (
	"testing"

	"hale/internal/api/calltest"
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
