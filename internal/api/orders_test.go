package api

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
)

const (
	aPatient = `{"first_name":"Ada","last_name":"Byron","dob":"1984-12-10","gender":"female","phone_number":"+14155550132","email":"ada@example.org"}`
	// The quotes are there to be escaped: see labTestHole.
	anAddress = `{"receiver_name":"Ada \"lab_test\":0 Byron","first_line":"1 Main Street","city":"Phoenix","state":"AZ","zip":"85004","country":"US","phone_number":"+14155550132"}`
)

// ordering is a caller with the body of an order of a kit.
func ordering(t testing.TB) (c *caller, body string) {
	t.Helper()
	c, tests := withLabs(t)
	test := orderstest.Test(t, c.db, c.team, catalogue.TestKit)
	answers, err := json.Marshal(orderstest.Answers(t, c.db, c.team, test))
	if err != nil {
		t.Fatal(err)
	}
	if test.ID.String() != tests["testkit"] {
		t.Fatal("two lab tests are for kits")
	}
	return c, `{"user_id":"` + c.user("patient") + `","lab_test_id":"` + tests["testkit"] + `","aoe_answers":` + strings.ReplaceAll(string(answers), "null", "[]") +
		`,"patient_details":` + aPatient + `,"patient_address":` + anAddress + `}`
}

// The answer of a creation, an order, a list and a transaction, as they go over
// the wire.
func TestOrderShapes(t *testing.T) {
	c, body := ordering(t)
	created := c.want(200, "POST", "/v3/order", body, `"message":"Order created successfully"`)
	golden(t, "order_created", created)
	var made struct {
		Order struct {
			ID          string `json:"id"`
			Transaction struct {
				ID string `json:"id"`
			} `json:"order_transaction"`
		} `json:"order"`
	}
	decode(t, created, &made)
	userstest.Write(t, c.db, func(ctx context.Context, tx *store.Tx) error {
		o, err := orders.Get(ctx, tx, c.team, ids.From[orders.Order](uuid.MustParse(made.Order.ID)))
		if err != nil {
			return err
		}
		for _, a := range o.Course().Path(o.Status, orders.Completed) {
			if _, err := orders.Advance(ctx, tx, &o, orders.Move{To: a.To, By: a.By, Change: func(o *orders.Order) {
				o.SampleID, o.Interpretation = "S-1", orders.Normal
				o.Shipment = &orders.Shipment{ID: o.Details, Outbound: orders.Leg{Courier: "ups", TrackingNumber: "1Z1"}, CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
			}}); err != nil {
				return err
			}
		}
		return nil
	})
	order := c.want(200, "GET", "/v3/order/"+made.Order.ID, "", `"last_event":`)
	golden(t, "order", order)
	golden(t, "order_transaction", c.want(200, "GET", "/v3/order_transaction/"+made.Order.Transaction.ID, ""))
	// A list has the same orders, written by other means.
	list := c.want(200, "GET", "/v3/orders?patient_name=byron", "")
	if list != `{"orders":[`+strings.TrimSpace(order)+`],"total":1,"page":1,"size":50}` {
		t.Errorf("the list is %s\nits order is %s", list, order)
	}
	named := c.want(200, "GET", "/v3/orders?order_ids=019f0000-0000-7000-8000-000000000000&order_ids="+made.Order.ID, "")
	if named != list {
		t.Errorf("the list of named orders is %s\nwant %s", named, list)
	}
	c.want(422, "GET", "/v3/orders?order_ids=null", "", `"order_ids"`, "valid UUID")
	golden(t, "orders_none", c.want(200, "GET", "/v3/orders?patient_name=hopper&page=2&size=7", ""))
}
