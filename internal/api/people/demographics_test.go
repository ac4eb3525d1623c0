package people

import (
	"strings"
	"testing"

	"hale/internal/api/calltest"
)

func TestInfoShapes(t *testing.T) {
	c := newCaller(t)
	id := c.User("a")
	path := "/v2/user/" + id + "/info"
	c.Want(404, "GET", path+"/latest", "", `{"code":"not_found","detail":"User demographics data not found"}`)
	c.Want(404, "GET", "/v2/user/00000000-0000-4000-8000-000000000000/info/latest", "", `{"code":"not_found","detail":"User not found"}`)
	calltest.Golden(t, "info_bare", c.Want(200, "PATCH", path, calltest.GoodInfo))
	calltest.Golden(t, "info_bare", c.Want(200, "GET", path+"/latest", ""))
	full := strings.Replace(calltest.GoodInfo, `"address":`, `"race":"asian","ethnicity":null,"gender_identity":"female","medical_proxy":{"first_name":"Anne","last_name":"Byron",`+
		`"phone_number":"+14155550133","household_income":48000,"address":{"first_line":"2 Side Street","second_line":"Flat 3","zip":"62704-1234","state":"IL","city":"Springfield","country":"US","access_notes":"Ring twice"}},"address":`, 1)
	c.Want(200, "PATCH", path, full)
	calltest.Golden(t, "info_full", c.Want(200, "GET", path+"/latest", ""))
}

func TestInfoRefusals(t *testing.T) {
	c := newCaller(t)
	id := c.User("a")
	for _, x := range []struct{ old, new, loc string }{
		{`"first_name":"Ada",`, ``, `["body","first_name"]`},
		{`"Byron"`, `"Byron  Lovelace"`, `["body","last_name"]`},
		{`Ada@Example.org`, `not-an-address`, `["body","email"]`},
		{`(415) 555-0132`, `12`, `["body","phone_number"]`},
		{`1984-12-10`, `1984-12-40`, `["body","dob"]`},
		{`1984-12-10`, `2026-03-03`, `["body","dob"]`},
		{`"zip_code":"62704",`, ``, `["body","address","zip"]`},
		{`"zip_code":"62704"`, `"zip_code":"627"`, `["body","address","zip"]`},
		{`"state":"il"`, `"state":"zz"`, `["body","address","state"]`},
		{`"gender":`, `"race":"purple","gender":`, `["body","race"]`},
		{`"gender":`, `"medical_proxy":{"first_name":"A"},"gender":`, `["body","medical_proxy","last_name"]`},
		{`"gender":`, `"medical_proxy":7,"gender":`, `["body","medical_proxy"]`},
	} {
		body := strings.Replace(calltest.GoodInfo, x.old, x.new, 1)
		got := c.Want(422, "PATCH", "/v2/user/"+id+"/info", body, `"loc":`+x.loc)
		for _, personal := range []string{"Ada", "Byron", "not-an-address", "1984", "627", "Main Street"} {
			if strings.Contains(got, personal) {
				t.Errorf("the answer repeats %q: %s", personal, got)
			}
		}
	}
	c.Want(200, "PATCH", "/v2/user/"+id+"/info", strings.Replace(calltest.GoodInfo, `"gender":`, `"medical_proxy":null,"race":null,"gender":`, 1))
}
