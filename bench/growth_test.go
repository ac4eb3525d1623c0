package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// unmeasuredOperations lists the operations that no comparison measures, with the reason.
var unmeasuredOperations = map[string]string{
	"POST /v2/jobs/{job_id}/cancel":                                                    needsWork,
	"DELETE /v2/user/{user_id}/imports/{import_id}":                                    needsWork,
	"POST /v1/org/{org_id}/team/{team_id}/{environment}/continuous_query":              startsJobs,
	"DELETE /v1/org/{org_id}/team/{team_id}/{environment}/continuous_query/{query_id}": "deletes the query, and each further query " + startsJobs,
	"POST /v3/fulfilment/{partner}":                                                    "needs a partner of the networks file and its signature",
	"POST /v3/order/{order_id}/fulfilment":                                             "needs an order of production; the team is a sandbox",
	"GET /v3/order/{order_id}/abn_pdf":                                                 "needs an order that Medicare does not pay; it reads the same rows as the requisition",
}

const (
	needsWork  = "needs a job that has not ended, and small jobs end at once"
	startsJobs = "starts a job for each user of the team, which would slow the calls after it"
)

// Each operation of the API is measured by a comparison, or has a reason in unmeasuredOperations.
func TestGrowthMeasuresEveryOperation(t *testing.T) {
	text, err := os.ReadFile("../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	var operations []string
	for path, methods := range document.Paths {
		for method := range methods {
			operations = append(operations, strings.ToUpper(method)+" "+path)
		}
	}
	measured := map[string]bool{}
	for _, call := range slices.Concat(peopleCalls, orderCalls) {
		operation := operationOf(call, operations)
		if operation == "" {
			t.Errorf("%s: there is no operation %s %s", call.name, call.method, call.path)
		}
		measured[operation] = measured[operation] || !call.hidden
	}
	for _, operation := range operations {
		reason, excepted := unmeasuredOperations[operation]
		switch {
		case !measured[operation] && !excepted:
			t.Errorf("%s is not measured: add a call to growth_users.go or growth_orders.go, or a reason to unmeasuredOperations", operation)
		case measured[operation] && excepted:
			t.Errorf("%s is measured: remove it from unmeasuredOperations", operation)
		case excepted && reason == "":
			t.Errorf("%s needs a reason in unmeasuredOperations", operation)
		}
	}
	for operation := range unmeasuredOperations {
		if !slices.Contains(operations, operation) {
			t.Errorf("%s of unmeasuredOperations is no operation", operation)
		}
	}
}

// operationOf returns the operation with the fewest parameters that a call fits.
func operationOf(call growthCall, operations []string) (best string) {
	path, _, _ := strings.Cut(call.path, "?")
	parts := strings.Split(call.method+" "+path, "/")
	fewest := len(parts) + 1
	for _, operation := range operations {
		pattern, parameters := strings.Split(operation, "/"), 0
		if len(pattern) != len(parts) {
			continue
		}
		fits := true
		for i, part := range pattern {
			if strings.HasPrefix(part, "{") {
				parameters++
			} else if part != parts[i] {
				fits = false
			}
		}
		if fits && parameters < fewest {
			best, fewest = operation, parameters
		}
	}
	return best
}

// The calls of a comparison have different names, because a table has a row for each. All
// names in braces have a value.
func TestNamesOfGrowthCalls(t *testing.T) {
	for _, of := range []struct {
		calls []growthCall
		names string
	}{
		{peopleCalls, "id client n d now team webhook query sleep workout"},
		{orderCalls, "id transaction user name day n order scheduled page team"},
	} {
		seen, known := map[string]bool{}, strings.Fields(of.names)
		for _, call := range of.calls {
			if !call.hidden && seen[call.name] {
				t.Errorf("two calls are named %q", call.name)
			}
			seen[call.name] = seen[call.name] || !call.hidden
			for _, name := range call.namesOf() {
				if !slices.Contains(known, name) {
					t.Errorf("%s: no earlier call keeps {%s}", call.name, name)
				}
			}
			for name := range call.keeps {
				known = append(known, name)
			}
		}
	}
}

// A call has at most as many requests as the calls before it have values for.
func TestRequestsAreLimitedByValues(t *testing.T) {
	in := &installation{kept: map[string][]string{"order": {"a", "b", "c"}, "team": {"t"}}}
	read, write := get("read", "/team/{team}/order/{order}"), del("cancel", "/team/{team}/order/{order}")
	if got := in.limit(write); got != 3 {
		t.Errorf("a write has %d requests, want one for each order", got)
	}
	in.drop(read, 1)
	in.drop(write, 2)
	if got := in.limit(write); got != 2 {
		t.Errorf("a write after another has %d requests, want one for each order of that one", got)
	}
	if got := in.limit(read); got != mostCalls {
		t.Errorf("a read has %d requests, want %d: it may repeat orders", got, mostCalls)
	}
	if got := in.alternatives(read, mostCalls); got != 2 {
		t.Errorf("a read repeats %d orders, want 2", got)
	}
	if got := in.limit(write.times(1)); got != 1 {
		t.Errorf("a write of one time has %d requests", got)
	}
}

func TestValuesOfAnAnswer(t *testing.T) {
	const answer = `{"id":"a","n":7,"none":null,"link":"http://x/form?token=abc","data":[{"id":"b","lab":"one"},{"id":"c","lab":"two"}]}`
	for path, want := range map[string]string{
		"id": "a", "n": "7", "none": "", "missing": "", "data.1.id": "c", "data.2.id": "", "data.*.id": "b c", "data.lab=two.id": "c", "link token=": "abc",
	} {
		if got := strings.Join(valuesAt([]byte(answer), path), " "); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
