package labs

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// A dry run reports at once what is missing, what cannot be parsed, and what violates a
// rule. It reports no problem twice.
func TestADryRunListsAllProblems(t *testing.T) {
	c, body := newOrderCaller(t)
	bad := body
	for from, to := range map[string]string{
		`"email":`: `"mail":`, `"dob":"`: `"dob":"x`, `"zip":"`: `"zip":"x`, `"user_id":`: `"activate_by":"soon","priority":"very","user_id":`,
	} {
		changed := strings.Replace(bad, from, to, 1)
		if changed == bad {
			t.Fatalf("%s is not in the body", from)
		}
		bad = changed
	}
	var trial struct {
		Valid    bool
		Problems []struct {
			Status int
			Code   string
			Loc    []string
		}
	}
	if err := json.Unmarshal([]byte(c.Want(200, "POST", "/v3/order?dry_run=true", bad)), &trial); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range trial.Problems {
		got = append(got, strings.Join(p.Loc, ".")+" "+p.Code)
	}
	slices.Sort(got)
	want := []string{
		"body.activate_by date_from_datetime_parsing", "body.patient_address.zip string_pattern_mismatch",
		"body.patient_details.dob date_from_datetime_parsing", "body.patient_details.email missing", "body.priority bool_type",
	}
	if trial.Valid || !slices.Equal(got, want) {
		t.Errorf("valid %t, found\n%s\nnot\n%s", trial.Valid, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	c.Want(422, "POST", "/v3/order?dry_run=true", `{"user_id"`, `"type":"json_invalid"`)
	c.Want(422, "POST", "/v3/order", bad, `"loc":["body","patient_details","email"]`)
	c.Want(200, "GET", "/v3/orders", "", `"total":0`)
}

// A dry run does not use up a key, in any spelling of its parameter. On operations
// without a dry run, the parameter does not bypass the key.
func TestDryRunsAndKeys(t *testing.T) {
	c, body := newOrderCaller(t)
	for _, yes := range []string{"true", "1", "TRUE", "t"} {
		if status, got := c.SendWithIdempotencyKey("one", "/v3/order?dry_run="+yes, body); status != http.StatusOK || !strings.Contains(got, `"valid":true`) {
			t.Errorf("%s: %d %s", yes, status, got)
		}
	}
	if status, got := c.SendWithIdempotencyKey("one", "/v3/order", body); status != http.StatusOK {
		t.Errorf("%d %s", status, got)
	}
	_, first := c.SendWithIdempotencyKey("two", "/v2/user?dry_run=true", `{"client_user_id":"b"}`)
	if status, again := c.SendWithIdempotencyKey("two", "/v2/user?dry_run=true", `{"client_user_id":"b"}`); status != http.StatusOK || again != first {
		t.Errorf("%d %s", status, again)
	}
}
