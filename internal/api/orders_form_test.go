package api

import (
	"strings"
	"testing"
)

// The rules of reference 1.9 that are about the form of the JSON. The others
// stand in the tests of orders.
func TestOrderForms(t *testing.T) {
	c, body := ordering(t)
	for name, x := range map[string]struct{ from, to, loc, code string }{
		"no patient_details":         {`"patient_details":`, `"patient":`, `["body","patient_details"]`, "missing"},
		"no patient_address":         {`"patient_address":`, `"address":`, `["body","patient_address"]`, "missing"},
		"no user_id":                 {`"user_id":`, `"user":`, `["body","user_id"]`, "missing"},
		"no first name":              {`"first_name":`, `"first":`, `["body","patient_details","first_name"]`, "missing"},
		"no birth date":              {`"dob":`, `"born":`, `["body","patient_details","dob"]`, "missing"},
		"no e-mail address":          {`"email":`, `"mail":`, `["body","patient_details","email"]`, "missing"},
		"no zip code":                {`"zip":`, `"zip_code":`, `["body","patient_address","zip"]`, "missing"},
		"an account that is no UUID": {`"user_id":`, `"lab_account_id":"north","user_id":`, `["body","lab_account_id"]`, "uuid_parsing"},
		"a day that is none":         {`"user_id":`, `"activate_by":"soon","user_id":`, `["body","activate_by"]`, "date_from_datetime_parsing"},
	} {
		bad := strings.Replace(body, x.from, x.to, 1)
		if bad == body {
			t.Fatalf("%s: the body did not change", name)
		}
		c.want(422, "POST", "/v3/order", bad, `"loc":`+x.loc, `"type":"`+x.code+`"`)
	}
	c.want(200, "GET", "/v3/orders", "", `"total":0`)
	c.want(200, "POST", "/v3/order", strings.Replace(body, `"first_name":"Ada"`, `"first_name":" Ada "`, 1), `"first_name":"Ada"`)
}
