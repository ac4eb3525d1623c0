package api

import (
	"strings"
	"testing"
)

func TestCheckMembers(t *testing.T) {
	for body, want := range map[string]string{
		`{}`: "", `[]`: "", `null`: "", `"a"`: "", `7`: "",
		`{"a":1,"b":{"a":1},"c":[{"a":1},{"a":2}],"":{"":0}}`: "",
		`{"a":"a","b":"a"}`:                     "",
		`{"a":1,"a":1}`:                         "a",
		`{"a":{"b":[]},"A":{}}`:                 "A",
		`{"\u0061":1,"a":2}`:                    "a",
		`{"kind":1,"\u212aind":2}`:              "\u212aind",
		`{"a":{"b":1,"c":2,"b":3}}`:             "a.b",
		`{"data":[1,{"x":[[],{"y":1,"Y":2}]}]}`: "data[1].x[1].Y",
		`[{"a":1},{"a":1,"a":2}]`:               "[1].a",
		`{"":1,"":2}`:                           "",
	} {
		err := checkMembers([]byte(body))
		twice := body == `{"":1,"":2}` || want != ""
		if (err != nil) != twice {
			t.Errorf("%s: %v", body, err)
		}
		if err != nil && !strings.HasSuffix(err.Error(), separator+want) {
			t.Errorf("%s: %q", body, err)
		}
	}
	long := strings.Repeat("x", 200)
	if err := checkMembers([]byte(`{"` + long + `":1,"` + long + `":1}`)); err == nil || strings.Contains(err.Error(), "x") {
		t.Errorf("%v", err)
	}
}

// Whichever of two members the form was held against, the handler took the last.
func TestAMemberThatStandsTwiceIsRefused(t *testing.T) {
	c := newCaller(t)
	id := c.user("a")
	c.want(200, "PATCH", "/v2/user/"+id+"/info", goodInfo)
	for _, body := range []string{
		`{"context":"launch","Context":"nothing we know"}`, `{"Context":"nothing we know","context":"launch"}`, `{"context":"launch","context":"launch"}`,
	} {
		c.want(422, "POST", "/v2/user/"+id+"/create_portal_url", body, `"type":"value_error"`, `stands there twice`, `"loc":["body","`)
	}
	c.want(422, "POST", "/v2/user", `{"client_user_id":"b","CLIENT_USER_ID":null}`, `"loc":["body","CLIENT_USER_ID"]`)
	c.want(200, "GET", "/v2/user/", "", `"total":1`)
}
