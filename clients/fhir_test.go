package clients

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"hale/internal/app/apptest"
	"hale/internal/platform/store/storetest"
)

// A validator of another maker accepts the bundles: the golden file with every
// resource, and the bundle of an order before and after its results. It must also find
// a mistake, because a validator that accepts everything proves nothing.
func TestFHIRValidator(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("the FHIR validator needs Node, which is not here")
	}
	if _, err := os.Stat("node_modules/fhir"); err != nil {
		t.Skip("the FHIR validator is not here: npm ci in clients/ brings it")
	}
	golden, err := os.ReadFile("../internal/labs/fhir/testdata/order.json")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"golden", "with a mistake"}
	bundles := [][]byte{golden, bytes.Replace(golden, []byte(`"status": "available"`), []byte(`"status": "lost"`), 1)}
	s := apptest.Start(t, storetest.NewSQLite(t))
	order := walkIn(t, s)
	for _, status := range []string{"received.walk_in_test.requisition_created", "completed.walk_in_test.completed"} {
		s.Expect(http.StatusOK, "POST", "/v3/order/"+order+"/test?final_status="+status, "", nil)
		waitForStatus(t, s, order, status)
		_, bundle := s.Call("GET", "/v3/order/"+order+"/fhir", "")
		names, bundles = append(names, status), append(bundles, bundle)
	}
	var lines bytes.Buffer
	for _, b := range bundles {
		if err := json.Compact(&lines, b); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		lines.WriteByte('\n')
	}
	validate := exec.CommandContext(t.Context(), node, "fhir.mjs")
	var said bytes.Buffer
	validate.Stdin, validate.Stderr = &lines, &said
	out, err := validate.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &said)
	}
	answers := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(answers) != len(bundles) {
		t.Fatalf("%d answers for %d bundles", len(answers), len(bundles))
	}
	for i, answer := range answers {
		var problems []string
		if err := json.Unmarshal([]byte(answer), &problems); err != nil {
			t.Fatal(err)
		}
		if mistake := names[i] == "with a mistake"; mistake != (len(problems) > 0) {
			t.Errorf("%s: %s", names[i], strings.Join(problems, "\n"))
		}
	}
}

// walkIn creates an order of the walk-in test of a sandbox team.
func walkIn(t *testing.T, s *apptest.Service) (id string) {
	var user struct {
		ID string `json:"user_id"`
	}
	s.Expect(http.StatusOK, "POST", "/v2/user", `{"client_user_id":"fhir"}`, &user)
	var tests []struct{ ID, Method string }
	s.Get("/v3/lab_tests", &tests)
	for _, test := range tests {
		if test.Method != "walk_in_test" {
			continue
		}
		var made struct{ Order struct{ ID string } }
		s.Expect(http.StatusOK, "POST", "/v3/order", `{"user_id":"`+user.ID+`","lab_test_id":"`+test.ID+`","priority":true,
			"patient_details":{"first_name":"Ada","last_name":"Byron","dob":"1984-12-10","gender":"female","phone_number":"+14155550132","email":"ada@example.org"},
			"patient_address":{"first_line":"1 Main Street","city":"Phoenix","state":"AZ","zip":"85004","country":"US"},
			"physician":{"first_name":"Jane","last_name":"Example","npi":"1234567893"}}`, &made)
		return made.Order.ID
	}
	t.Fatal("the team has no walk-in test")
	return ""
}

// waitForStatus waits until an order has a status.
func waitForStatus(t *testing.T, s *apptest.Service, order, status string) {
	for range 1800 {
		var o struct {
			Last struct{ Status string } `json:"last_event"`
		}
		if s.Get("/v3/order/"+order, &o); o.Last.Status == status {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("the order does not become %s", status)
}
