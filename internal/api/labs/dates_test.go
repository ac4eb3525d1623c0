package labs

import (
	"fmt"
	"strings"
	"testing"

	"hale/internal/api/calltest"
)

// In every body with a date, midnight of a day means the day.
func TestMidnightIsTheDay(t *testing.T) {
	c, order := newOrderCaller(t)
	path := "/v2/user/" + c.User("a")
	planned := calltest.Replace(t, order, `"user_id":`, `"activate_by":"2026-03-05","user_id":`)
	var made struct {
		Order struct{ ID string }
	}
	calltest.Decode(t, c.Want(200, "POST", "/v3/order", planned), &made)
	sent := 0
	for _, x := range []struct{ method, path, body, day, loc string }{
		{"POST", "/v2/user", `{"client_user_id":"%d","fallback_birth_date":"1984-12-10"}`, "1984-12-10", `["body","fallback_birth_date"]`},
		{"POST", "/v2/user", `{"client_user_id":"%d","ingestion_start":"2026-01-01"}`, "2026-01-01", `["body","ingestion_start"]`},
		{"POST", "/v2/user", `{"client_user_id":"%d","ingestion_end":"2026-12-31"}`, "2026-12-31", `["body","ingestion_end"]`},
		{"PATCH", path, `{"fallback_birth_date":"1984-12-10"}`, "1984-12-10", `["body","fallback_birth_date"]`},
		{"PATCH", path, `{"ingestion_start":"2026-01-01"}`, "2026-01-01", `["body","ingestion_start"]`},
		{"PATCH", path, `{"ingestion_end":"2026-12-31"}`, "2026-12-31", `["body","ingestion_end"]`},
		{"PATCH", path + "/info", calltest.GoodInfo, "1984-12-10", `["body","dob"]`},
		{"POST", path + "/insurance", calltest.GoodInsurance, "1984-12-10", `["body","insured","dob"]`},
		{"PATCH", "/v3/order/" + made.Order.ID, `{"activate_by":"2026-03-09"}`, "2026-03-09", `["body","activate_by"]`},
		{"POST", "/v3/order", planned, "2026-03-05", `["body","activate_by"]`},
		{"POST", "/v3/order", order, "1984-12-10", `["body","patient_details","dob"]`},
	} {
		send := func(status int, time string, words ...string) {
			t.Helper()
			sent++
			body := calltest.Replace(t, x.body, x.day, x.day+time)
			c.Want(status, x.method, x.path, strings.Replace(body, "%d", fmt.Sprint(sent), 1), words...)
		}
		for _, midnight := range []string{"T00:00:00", "T00:00:00Z", "T00:00:00.000+00:00", "T00:00:00-05:00"} {
			send(200, midnight)
		}
		send(422, "T00:00:01Z", `"type":"date_from_datetime_inexact"`, `"loc":`+x.loc)
		send(422, "T24:00", `"type":"date_from_datetime_parsing"`, `"loc":`+x.loc)
	}
	c.Want(200, "GET", path, "", `"value":"1984-12-10"`, `"ingestion_start":"2026-01-01"`, `"ingestion_end":"2026-12-31"`)
	c.Want(200, "GET", path+"/info/latest", "", `"dob":"1984-12-10"`)
	c.Want(200, "GET", "/v3/order/"+made.Order.ID, "", `"activate_by":"2026-03-09"`)
	c.Want(422, "PATCH", path, `{"ingestion_start":20260101}`, `"type":"string_type"`)
	c.Want(422, "PATCH", path+"/info", calltest.Replace(t, calltest.GoodInfo, `"1984-12-10"`, "null"), `"type":"string_type"`, `["body","dob"]`)
}
