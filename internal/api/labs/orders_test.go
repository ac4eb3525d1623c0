package labs

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hale/internal/api/calltest"
	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
)

const (
	aPatient = `{"first_name":"Ada","last_name":"Byron","dob":"1984-12-10","gender":"female","phone_number":"+14155550132","email":"ada@example.org"}`
	// The escaped quotes test labTestPlaceholder.
	anAddress = `{"receiver_name":"Ada \"lab_test\":0 Byron","first_line":"1 Main Street","city":"Phoenix","state":"AZ","zip":"85004","country":"US","phone_number":"+14155550132"}`
)

// newOrderCaller returns a caller and the body of an order of a kit.
func newOrderCaller(t testing.TB) (c *calltest.Caller, body string) {
	t.Helper()
	c, tests := withLabs(t)
	test := orderstest.Test(t, c.DB, c.Team, catalogue.TestKit)
	answers, err := json.Marshal(orderstest.Answers(t, c.DB, c.Team, test))
	if err != nil {
		t.Fatal(err)
	}
	if test.ID.String() != tests["testkit"] {
		t.Fatal("two lab tests are for kits")
	}
	return c, `{"user_id":"` + c.User("patient") + `","lab_test_id":"` + tests["testkit"] + `","aoe_answers":` + strings.ReplaceAll(string(answers), "null", "[]") +
		`,"patient_details":` + aPatient + `,"patient_address":` + anAddress + `}`
}

// The JSON of a creation, an order, a list and a transaction.
func TestOrderShapes(t *testing.T) {
	c, body := newOrderCaller(t)
	created := c.Want(200, "POST", "/v3/order", body, `"message":"Order created successfully"`)
	calltest.Golden(t, "order_created", created)
	var made struct {
		Order struct {
			ID          string `json:"id"`
			Transaction struct {
				ID string `json:"id"`
			} `json:"order_transaction"`
		} `json:"order"`
	}
	calltest.Decode(t, created, &made)
	userstest.Write(t, c.DB, func(ctx context.Context, tx *store.Tx) error {
		o, err := orders.Get(ctx, tx, c.Team, ids.FromUUID[orders.Order](uuid.MustParse(made.Order.ID)))
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
	order := c.Want(200, "GET", "/v3/order/"+made.Order.ID, "", `"last_event":`)
	calltest.Golden(t, "order", order)
	calltest.Golden(t, "order_transaction", c.Want(200, "GET", "/v3/order_transaction/"+made.Order.Transaction.ID, ""))
	// The list contains the same orders, but is encoded by other code.
	list := c.Want(200, "GET", "/v3/orders?patient_name=byron", "")
	if list != `{"orders":[`+strings.TrimSpace(order)+`],"total":1,"page":1,"size":50,"next_cursor":null}` {
		t.Errorf("the list is %s\nits order is %s", list, order)
	}
	named := c.Want(200, "GET", "/v3/orders?order_ids=019f0000-0000-7000-8000-000000000000&order_ids="+made.Order.ID, "")
	if named != list {
		t.Errorf("the list of named orders is %s\nwant %s", named, list)
	}
	c.Want(422, "GET", "/v3/orders?order_ids=null", "", `"order_ids"`, "valid UUID")
	calltest.Golden(t, "orders_none", c.Want(200, "GET", "/v3/orders?patient_name=hopper&page=2&size=7", ""))
}

// The rules of reference 1.9 about the form of the JSON. The tests of package orders
// cover the other rules.
func TestOrderForms(t *testing.T) {
	c, body := newOrderCaller(t)
	for name, x := range map[string]struct{ from, to, loc, code string }{
		"no patient_details":         {`"patient_details":`, `"patient":`, `["body","patient_details"]`, "missing"},
		"no patient_address":         {`"patient_address":`, `"address":`, `["body","patient_address"]`, "missing"},
		"no user_id":                 {`"user_id":`, `"user":`, `["body","user_id"]`, "missing"},
		"no first name":              {`"first_name":`, `"first":`, `["body","patient_details","first_name"]`, "missing"},
		"no birth date":              {`"dob":`, `"born":`, `["body","patient_details","dob"]`, "missing"},
		"no e-mail address":          {`"email":`, `"mail":`, `["body","patient_details","email"]`, "missing"},
		"no zip code":                {`"zip":`, `"zip_code":`, `["body","patient_address","zip"]`, "missing"},
		"an account that is no UUID": {`"user_id":`, `"lab_account_id":"north","user_id":`, `["body","lab_account_id"]`, "uuid_parsing"},
		"an account in another form": {`"user_id":`, `"lab_account_id":"3fa85f6457174562b3fc2c963f66afa6","user_id":`, `["body","lab_account_id"]`, "uuid_parsing"},
		"a test in another form":     {`"user_id":`, `"order_set":{"lab_test_ids":["{3fa85f64-5717-4562-b3fc-2c963f66afa6}"]},"user_id":`, `["body","order_set","lab_test_ids"]`, "uuid_parsing"},
		"a text with NUL":            {`"user_id":`, `"passthrough":"a\u0000","user_id":`, `["body","passthrough"]`, "value_error"},
		"a day that is none":         {`"user_id":`, `"activate_by":"soon","user_id":`, `["body","activate_by"]`, "date_from_datetime_parsing"},
	} {
		bad := strings.Replace(body, x.from, x.to, 1)
		if bad == body {
			t.Fatalf("%s: the body did not change", name)
		}
		c.Want(422, "POST", "/v3/order", bad, `"loc":`+x.loc, `"type":"`+x.code+`"`)
	}
	c.Want(200, "GET", "/v3/orders", "", `"total":0`)
	c.Want(200, "POST", "/v3/order", strings.Replace(body, `"first_name":"Ada"`, `"household_size":3.0,"first_name":" Ada "`, 1), `"first_name":"Ada"`)
}
