package labs

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"hale/internal/api/calltest"
	"hale/internal/labs/catalogue"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// withLabs returns a caller whose team has the standard lab tests, and their ids by
// collection method.
func withLabs(t testing.TB) (*calltest.Caller, map[string]string) {
	t.Helper()
	c := newCaller(t)
	userstest.Write(t, c.DB, func(ctx context.Context, tx *store.Tx) error {
		team, err := teams.Get(ctx, tx, c.Team)
		if err != nil {
			return err
		}
		return catalogue.Seed(ctx, tx, team)
	})
	var page struct{ Data []struct{ ID, Method string } }
	calltest.Decode(t, c.Want(200, "GET", "/v3/lab_test", ""), &page)
	ids := map[string]string{}
	for _, test := range page.Data {
		ids[test.Method] = test.ID
	}
	if len(ids) != 4 {
		t.Fatalf("seeded %v", ids)
	}
	return c, ids
}

func TestLabShapes(t *testing.T) {
	c, ids := withLabs(t)
	calltest.Golden(t, "labs", c.Want(200, "GET", "/v3/lab_tests/labs", ""))
	calltest.Golden(t, "lab_test", c.Want(200, "GET", "/v3/lab_tests/"+ids["testkit"], ""))
	calltest.Golden(t, "lab_marker", c.Want(200, "GET", "/v3/lab_tests/2/markers/70010", ""))
	calltest.Golden(t, "lab_markers_priced", c.Want(200, "GET", "/v3/lab_tests/markers?name=thyroid&lab_slug=bioreference&include_pricing=true&size=1&page=2", ""))
	calltest.Golden(t, "lab_accounts", c.Want(200, "GET", "/v3/lab_test/lab_account?status=ACTIVE&lab_account_id=a9f71ee6-e8a3-53a2-99c1-787d1a904456", ""))
	calltest.Golden(t, "physicians", c.Want(200, "GET", "/v2/team/"+c.Team.String()+"/physicians", ""))
	priced := c.Want(200, "GET", "/v3/lab_test?include_pricing=true&lab_test_limit=1&collection_method=at_home_phlebotomy", "", `"modifiers":[{"delta_amount_minor":{"minimum":0,"maximum":1500},"conditions":{"reflex":{}}}]`)
	calltest.Golden(t, "lab_tests_priced", priced)
}

// If an imported list omits a text or an object of a marker, it is empty. It is null
// only where the specification allows null.
func TestMarkerWithFewFacts(t *testing.T) {
	text, err := json.Marshal(markerOf(&catalogue.Marker{Name: "Bare", Results: []catalogue.Result{{Name: "Row"}}}))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"provider_id":"","type"`, `"unit":null,"price":"N/A"`,
		`"expected_results":[{"id":0,"name":"Row","slug":"","lab_id":0,"provider_id":"","required":false}]`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
}

func TestMarkersOfOrderSets(t *testing.T) {
	c, ids := withLabs(t)
	path := "/v3/lab_tests/list_order_set_markers"
	// The specification's example sends lab tests and an add-on, without a collection
	// method.
	body := `{"lab_test_ids":["` + ids["walk_in_test"] + `"],"add_on":{"provider_ids":["70020"]}}`
	c.Want(200, "POST", path+"?size=2&page=3", body, `"total":5,"page":3,"size":2,"pages":3`, `"provider_id":"70020"`)
	c.Want(200, "POST", path, `{"lab_test_ids":["`+ids["testkit"]+`"],"add_on":null,"lab_account_id":null}`, `"total":1`)
	c.Want(400, "POST", path, `{"lab_test_ids":null}`, "order_set must name")
	c.Want(400, "POST", path, `{"lab_test_ids":["`+ids["testkit"]+`"],"add_on":{}}`, "add_on must name")
	c.Want(400, "POST", path, `{"lab_test_ids":["019f0000-0000-7000-8000-000000000000"]}`, "Test does not exist")
	c.Want(422, "POST", path+"?page=0", body, `["query","page"]`)
	c.Want(422, "POST", path+"?size=101", body, `["query","size"]`)
	c.Want(422, "POST", path, `{"lab_test_ids":["x"]}`, "lab_test_ids")
	c.Want(200, "GET", "/v3/lab_tests/"+ids["walk_in_test"]+"/markers", "", `"total":5`, "Thyroxine, Free (reflex)", `"is_orderable":false`)
}

func TestMarkerLookups(t *testing.T) {
	c, ids := withLabs(t)
	c.Want(200, "GET", "/v3/lab_tests/markers?lab_id=13&lab_id=12&size=100", "", `"lab_id":13`, `"lab_id":12`)
	c.Want(200, "GET", "/v3/lab_tests/markers?lab_id=13&lab_slug=nexus&size=100", "", `"lab_id":12`)
	c.Want(200, "GET", "/v3/lab_tests/markers?lab_slug=nowhere", "", `"markers":[],"total":0,"page":1,"size":50,"pages":0`)
	c.Want(200, "GET", "/v3/lab_tests/markers?a_la_carte_enabled=false", "", `"price":"N/A"`, `"total":1,`)
	c.Want(422, "GET", "/v3/lab_tests/markers?a_la_carte_enabled=perhaps", "")
	c.Want(404, "GET", "/v3/lab_tests/markers?lab_account_id=019f0000-0000-7000-8000-000000000000", "", "Lab account does not exist")
	c.Want(200, "GET", "/v3/lab_tests/markers?lab_account_id=a9f71ee6-e8a3-53a2-99c1-787d1a904456", "", `"lab_id":1,`)
	c.Want(404, "GET", "/v3/lab_tests/2/markers/nope", "", "Marker does not exist")
	c.Want(404, "GET", "/v3/lab_tests/1/markers/70010", "", "Marker does not exist")
	c.Want(404, "GET", "/v3/lab_tests/"+ids["testkit"]+"?lab_account_id=a9f71ee6-e8a3-53a2-99c1-787d1a904456", "", "Lab test does not exist")
	c.Want(404, "GET", "/v2/team/019f0000-0000-7000-8000-000000000000/physicians", "", "Team not found")
	c.Want(422, "GET", "/v3/lab_test/lab_account?status=dormant", "", `"enum"`)
}

func TestCreateChangeAndDeleteALabTest(t *testing.T) {
	c, _ := withLabs(t)
	body := `{"name":"Lipids at the clinic","description":"d","method":"on_site_collection","provider_ids":["800009"],"lab_slug":"labcorp","marker_ids":null,"fasting":null}`
	made := c.Want(200, "POST", "/v3/lab_tests", body, `"status":"pending_approval"`, `"is_active":false`, `"fasting":true`, `"price":14,`)
	var test struct{ ID string }
	calltest.Decode(t, made, &test)
	c.Want(200, "PATCH", "/v3/lab_tests/"+test.ID, `{"active":true}`, `"status":"active"`)
	c.Want(200, "PATCH", "/v3/lab_tests/"+test.ID, `{"active":false,"name":"Lipids"}`, `"status":"inactive"`, `"slug":"lipids"`)
	c.Want(200, "GET", "/v3/lab_tests?status=inactive", "", test.ID)
	c.Want(404, "PATCH", "/v3/lab_tests/019f0000-0000-7000-8000-000000000000", `{}`, "Lab test does not exist")
	for _, x := range []struct{ old, new, words string }{
		{`"provider_ids":["800009"]`, `"provider_ids":[]`, "exactly one of marker_ids and provider_ids"},
		{`"marker_ids":null`, `"marker_ids":[1]`, "exactly one of"},
		{`"labcorp"`, `"nowhere"`, "Lab does not exist: lab_slug"},
		{`"labcorp"`, `"quest"`, "Marker does not exist: provider_ids[0]"},
		{`on_site_collection`, `testkit`, "Cannot set method to TESTKIT"},
	} {
		c.Want(400, "POST", "/v3/lab_tests", strings.Replace(body, x.old, x.new, 1), x.words)
	}
	c.Want(422, "POST", "/v3/lab_tests", strings.Replace(body, "on_site_collection", "by_pigeon", 1), `["body","method"]`)
	c.Want(422, "POST", "/v3/lab_tests", strings.Replace(body, "Lipids at the clinic", "  ", 1), `["body","name"]`)
}

func TestLabTestPages(t *testing.T) {
	c, _ := withLabs(t)
	seen, next := 0, ""
	for {
		var page struct {
			Data       []struct{ ID string }
			NextCursor *string `json:"next_cursor"`
		}
		calltest.Decode(t, c.Want(200, "GET", "/v3/lab_test?order_key=price&order_direction=desc&lab_test_limit=3&next_cursor="+next, ""), &page)
		if seen += len(page.Data); page.NextCursor == nil {
			break
		}
		next = *page.NextCursor
	}
	if seen != 4 {
		t.Errorf("%d lab tests page by page", seen)
	}
	c.Want(422, "GET", "/v3/lab_test?order_key=price&next_cursor="+next, "", "another order")
	c.Want(422, "GET", "/v3/lab_test?next_cursor=x", "", `["query","next_cursor"]`)
	c.Want(422, "GET", "/v3/lab_test?lab_test_limit=0", "")
	c.Want(200, "GET", "/v3/lab_test?lab_slug=quest&provider_ids=70002&marker_ids=20010&name=CHECK", "", "Annual Check")
	c.Want(200, "GET", "/v3/lab_test?generation_method=auto", "", `"data":[]`)
	c.Want(422, "GET", "/v3/lab_test?generation_method=magic", "", `["query","generation_method"]`)
}

func TestCompendiumShapes(t *testing.T) {
	c, ids := withLabs(t)
	search := "/v3/compendium/search"
	calltest.Golden(t, "compendium_canonical", c.Want(200, "POST", search, `{"mode":"canonical","query":"lipid panel","limit":1}`))
	crossed := c.Want(200, "POST", search, `{"mode":"crosswalk","query":"basic metabolic panel","labs":["quest"],"limit":1}`)
	calltest.Golden(t, "compendium_crosswalk", crossed)
	many := strings.Repeat(`"quest",`, 99) + `"quest"` // each lab is searched once
	calltest.Golden(t, "compendium_crosswalk", c.Want(200, "POST", search, `{"mode":"crosswalk","query":"basic metabolic panel","labs":[`+many+`],"limit":1}`))
	var found struct {
		Selected struct {
			Hash string `json:"loinc_set_hash"`
		} `json:"selected_canonical"`
	}
	calltest.Decode(t, crossed, &found)
	c.Want(200, "POST", search, `{"mode":"crosswalk","loinc_set_hash":"`+found.Selected.Hash+`","include_related":false}`,
		`"sonora_quest":[{`, `"related":[]`, `"reason_codes":["EXACT_LOINC_SET","NAME_MATCH"]`)
	c.Want(200, "POST", search, `{"mode":"crosswalk","loinc_set_hash":"unknown","labs":null}`, `"selected_canonical":null`, `"per_lab":{}`)
	calltest.Golden(t, "compendium_convert", c.Want(200, "POST", "/v3/compendium/convert", `{"provider_ids":["800013","nope"],"target_lab":"quest","limit":1}`))
	c.Want(200, "POST", "/v3/compendium/convert", `{"lab_test_id":"`+ids["walk_in_test"]+`","target_lab":"labcorp"}`,
		`"source_lab_id":2,"target_lab_id":1`, `"unresolved_provider_ids":["70010"]`)
	// A test that covers both codes is the second candidate of the first code. It is
	// listed once.
	c.Want(200, "POST", "/v3/compendium/convert", `{"provider_ids":["B0070","800012"],"target_lab":"quest","limit":1}`,
		`"converted_provider_ids":["70012"],"unresolved_provider_ids":[]`, `"B0070":{"source_provider_id":"B0070","candidates":[{`)
	c.Want(200, "POST", "/v3/compendium/search_orderable_tests", `{"provider_ids":["800013"],"target_lab":"quest"}`, `{"candidates":{"800013":[{`, `"provider_id":"70013"`)
	for body, loc := range map[string]string{
		`{"mode":"canonical"}`: "query", `{"mode":"canonical","query":" "}`: "query", `{"mode":"canonical","query":"x","loinc_set_hash":"y"}`: "loinc_set_hash",
		`{"mode":"crosswalk"}`: "query", `{"mode":"crosswalk","query":"x","loinc_set_hash":"y"}`: "query", `{"mode":"canonical","query":"x","limit":11}`: "limit",
		`{"mode":"crosswalk","query":"x","limit":21}`: "limit", `{"mode":"guess"}`: "mode", `{"mode":"crosswalk","query":"x","labs":["manual"]}`: "labs",
		`{"mode":"canonical","query":"x","labs":["quest",` + many + `]}`: "labs", `{"mode":"canonical","query":"x","cpt_codes":["quest",` + many + `]}`: "cpt_codes",
	} {
		c.Want(422, "POST", search, body, `["body","`+loc+`"`)
	}
	c.Want(422, "POST", "/v3/compendium/convert", `{"target_lab":"quest"}`, "exactly one of")
	c.Want(404, "POST", "/v3/compendium/convert", `{"target_lab":"quest","lab_test_id":"019f0000-0000-7000-8000-000000000000"}`)
	c.Want(422, "POST", "/v3/compendium/search_orderable_tests", `{"target_lab":"quest","provider_ids":["x"],"per_provider_limit":0}`, "per_provider_limit")
}

// The document states what an order set needs, and the service refuses the rest by name.
func TestOrderSetsAreNotEmpty(t *testing.T) {
	c := newCaller(t)
	for body, words := range map[string][]string{
		`{}`:            {"empty_order_set", "lab_test_ids"},
		`{"add_on":{}}`: {"empty_add_on", "marker_ids"},
		`{"add_on":{"marker_ids":[1],"provider_ids":["a"]}}`: {"both_id_kinds", "provider_ids"},
		`{"add_on":{"marker_ids":[1,-1]}}`:                   {"unknown_marker", "marker_ids["},
	} {
		c.Want(400, "POST", "/v3/lab_tests/list_order_set_markers", body, words...)
	}
}
