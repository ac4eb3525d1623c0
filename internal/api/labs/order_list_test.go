package labs

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/api/calltest"
	"hale/internal/labs/orders"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
)

// Each parameter of the list has its own filter. The test has one order, created at
// noon of 1 March and changed at nine in the morning of 2 March.
//
// Spec: GET /v3/orders.
func TestOrderListParameters(t *testing.T) {
	c, body := newOrderCaller(t)
	var made struct {
		Order struct {
			ID          string `json:"id"`
			UserID      string `json:"user_id"`
			Transaction struct {
				ID string `json:"id"`
			} `json:"order_transaction"`
		} `json:"order"`
	}
	calltest.Decode(t, c.Want(200, "POST", "/v3/order", body), &made)
	*c.Now = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	userstest.Write(t, c.DB, func(ctx context.Context, tx *store.Tx) error {
		o, err := orders.Get(ctx, tx, c.Team, ids.FromUUID[orders.Order](uuid.MustParse(made.Order.ID)))
		if err != nil {
			return err
		}
		critical := func(o *orders.Order) { o.Interpretation, o.IsCritical = orders.Critical, true }
		_, err = orders.Advance(ctx, tx, &o, orders.Move{To: orders.RequisitionCreated, By: orders.Requisition, Change: critical})
		return err
	})
	const unknownID = "019f0000-0000-7000-8000-000000000000"
	for _, test := range []struct {
		name       string
		hits, miss []string
	}{
		{"search_input", []string{made.Order.ID, made.Order.UserID, "Ada Byron", "byron", "1984-12-10"}, []string{unknownID, "Hopper", "1984-12-11"}},
		{"start_date", []string{"2026-03-01", "2026-03-01T12:00:00Z", "2026-03-01T07:00:00-05:00"}, []string{"2026-03-02", "2026-03-01T12:00:01Z", "2026-03-01T07:00:01-05:00"}},
		{"end_date", []string{"2026-03-01", "2026-03-01T12:00:00Z"}, []string{"2026-02-28", "2026-03-01T11:59:59Z"}},
		{"updated_start_date", []string{"2026-03-02", "2026-03-02T09:00:00Z"}, []string{"2026-03-03", "2026-03-02T09:00:01Z"}},
		{"updated_end_date", []string{"2026-03-03", "2026-03-02T09:00:00Z"}, []string{"2026-03-02", "2026-03-02T08:59:59Z"}},
		{"status", []string{"requisition_created"}, []string{"ordered"}},
		{"order_type", []string{"testkit"}, []string{"walk_in_test", "at_home_phlebotomy", "on_site_collection"}},
		{"is_critical", []string{"true"}, []string{"false"}},
		{"interpretation", []string{"critical"}, []string{"normal", "abnormal", "unknown"}},
		{"order_activation_types", []string{"current"}, []string{"scheduled"}},
		{"user_id", []string{made.Order.UserID}, []string{c.User("another")}},
		{"patient_name", []string{"ada"}, []string{"Hopper"}},
		{"shipping_recipient_name", []string{"Byron"}, []string{"Hopper"}},
		{"order_ids", []string{made.Order.ID}, []string{unknownID}},
		{"order_transaction_id", []string{made.Order.Transaction.ID}, []string{unknownID}},
	} {
		for _, word := range test.hits {
			c.Want(200, "GET", "/v3/orders?"+test.name+"="+url.QueryEscape(word), "", `"total":1,`)
		}
		for _, word := range test.miss {
			c.Want(200, "GET", "/v3/orders?"+test.name+"="+url.QueryEscape(word), "", `"orders":[],"total":0,`)
		}
	}
	c.Want(200, "GET", "/v3/orders?status=ordered&status=requisition_created&order_type=walk_in_test&order_type=testkit", "", `"total":1,`)
	c.Want(200, "GET", "/v3/orders?page=2&size=1", "", `"orders":[],"total":1,"page":2,"size":1,"next_cursor":null}`)
	c.Want(200, "POST", "/v3/order", body)
	var page struct {
		Orders []struct {
			ID string `json:"id"`
		} `json:"orders"`
		Next string `json:"next_cursor"`
	}
	for _, key := range orders.SortKeys {
		list := "/v3/orders?size=1&order_key=" + string(key)
		calltest.Decode(t, c.Want(200, "GET", list, ""), &page)
		newest := page.Orders[0].ID
		calltest.Decode(t, c.Want(200, "GET", list+"&next_cursor="+page.Next, "", `"total":2,"page":1,"size":1,"next_cursor":null}`), &page)
		if page.Orders[0].ID == newest {
			t.Errorf("%s: the second page repeats an order", key)
		}
		c.Want(422, "GET", list+"&page=2&next_cursor="+page.Next, "", `["query","page"]`)
	}
}

// Unknown values of a parameter are refused with their place. None is ignored.
func TestOrderListRefusals(t *testing.T) {
	c, _ := withLabs(t)
	for name, words := range map[string][]string{
		"start_date": {"yesterday", "2026-02-30", "2026-03-01T24:00:01Z"}, "end_date": {"x"}, "updated_start_date": {"x"}, "updated_end_date": {"x"},
		"status": {"x", "completed.testkit.completed"}, "order_key": {"changed_at"}, "next_cursor": {"x"}, "order_direction": {"ASC"}, "order_type": {"x"},
		"is_critical": {"perhaps"}, "interpretation": {"x"}, "order_activation_types": {"x"},
		"user_id": {"x"}, "order_ids": {"x"}, "order_transaction_id": {"x"}, "page": {"0", "-1", "x"}, "size": {"0", "101", "x"},
	} {
		for _, word := range words {
			c.Want(422, "GET", "/v3/orders?"+name+"="+word, "", `"query","`+name+`"`)
		}
	}
	c.Want(422, "GET", "/v3/orders?page=1000001", "", "less than or equal to 1000000")
}

// Clinical comments have at most 1,000 characters on both paths that create orders.
//
// Spec: POST /v3/order/create.
func TestLongestClinicalComments(t *testing.T) {
	c, body := newOrderCaller(t)
	for _, path := range []string{"/v3/order", "/v3/order/create"} {
		with := func(n int) string {
			return strings.Replace(body, "{", `{"clinical_notes":"`+strings.Repeat("é", n)+`",`, 1)
		}
		c.Want(200, "POST", path, with(1000), `"clinical_notes":"éé`)
		c.Want(422, "POST", path, with(1001), `["body","clinical_notes"]`)
	}
}
