package api

import (
	"strings"
	"testing"
)

const goodPayor = `{"name":"Example Mutual","provider":"availity","provider_payor_id":"EX001","address":{"first_line":"1 Main Street","second_line":"Suite 7","zip":"78701","state":"TX","city":"Austin","country":"US"}}`

func TestPayorShapes(t *testing.T) {
	c := newCaller(t)
	base := "/v3/insurance/search/payor"
	golden(t, "payors_by_name", c.want(200, "GET", base+"?insurance_name=aetna", ""))
	golden(t, "payors_by_name", c.want(200, "GET", base+"?provider=stedi&provider_payor_id=60054", ""))
	golden(t, "payors_by_body", c.want(200, "POST", base, `{"insurance_name":"aetna","provider":null,"provider_id":null}`))
	golden(t, "payors_by_body", c.want(200, "POST", base, `{"provider":"stedi","provider_id":"60054"}`))
	c.want(200, "GET", base+"?insurance_name=nobody+knows+it", "", "[]")
	made := c.want(200, "POST", "/v3/payor", goodPayor, `"source":"team"`, `"second_line":"Suite 7"`)
	var body payorBody
	decode(t, made, &body)
	c.want(200, "GET", base+"?provider=availity&provider_payor_id=EX001", "", body.PayorCode)
	other := another(t, c.db, c.door, c.now)
	other.want(200, "GET", base+"?provider=availity&provider_payor_id=EX001", "", "[]")
	id := c.user("a")
	c.want(200, "PATCH", "/v2/user/"+id+"/info", goodInfo)
	c.want(200, "POST", "/v2/user/"+id+"/insurance", replaced(t, goodInsurance, "UHC", body.PayorCode), `"name":"Example Mutual"`)
	c.want(422, "POST", "/v2/user/"+id+"/insurance", replaced(t, goodInsurance, "UHC", "ACME"), `"loc":["body","payor_code"]`)
}

func TestPayorRefusals(t *testing.T) {
	c := newCaller(t)
	base := "/v3/insurance/search/payor"
	c.want(422, "GET", base, "", `"loc":["query","insurance_name"]`)
	c.want(422, "GET", base+"?provider=stedi", "", `"loc":["query","provider_payor_id"]`)
	c.want(422, "GET", base+"?provider_payor_id=1", "", `"loc":["query","provider"]`)
	c.want(422, "GET", base+"?provider=pigeon&provider_payor_id=1", "", `"enum"`)
	c.want(422, "POST", base, `{}`, `"loc":["body","insurance_name"]`)
	c.want(422, "POST", base, `{"provider":"stedi"}`, `"loc":["body","provider_id"]`)
	c.want(422, "POST", base, `{"provider":"pigeon","provider_id":"1"}`, `"loc":["body","provider"]`)
	c.want(422, "POST", "/v3/payor", replaced(t, goodPayor, `"provider":"availity",`, ""), `"loc":["body","provider"]`)
	c.want(422, "POST", "/v3/payor", replaced(t, goodPayor, "availity", "pigeon"), `"loc":["body","provider"]`)
	c.want(422, "POST", "/v3/payor", replaced(t, goodPayor, `"zip":"78701",`, ""), `"loc":["body","address","zip"]`)
	c.want(422, "POST", "/v3/payor", replaced(t, goodPayor, "Example Mutual", " "), `"loc":["body","name"]`)
}

func TestDiagnosisShapes(t *testing.T) {
	c := newCaller(t)
	golden(t, "diagnoses", c.want(200, "GET", "/v3/insurance/search/diagnosis?diagnosis_query=type+2+diab+hyperg", ""))
	c.want(200, "GET", "/v3/insurance/search/diagnosis?diagnosis_query=purple+elephants", "", "[]")
	c.want(422, "GET", "/v3/insurance/search/diagnosis", "", `"loc":["query","diagnosis_query"]`)
	c.want(422, "GET", "/v3/insurance/search/diagnosis?diagnosis_query=+", "", `"loc":["query","diagnosis_query"]`)
	path := "/v3/insurance/validate_icd_codes"
	golden(t, "icd_good", c.want(200, "POST", path, `{"codes":["Z00.00","e785"]}`))
	golden(t, "icd_bad", c.want(200, "POST", path, `{"codes":["E11.9","E10.9","N40.1","C61","E11","purple"]}`))
	c.want(422, "POST", path, `{}`, `"loc":["body","codes"]`)
	c.want(422, "POST", path, `{"codes":[7]}`, `"codes"`)
}

// replaced changes one part of a body, which must be there.
func replaced(t *testing.T, body, old, text string) string {
	t.Helper()
	if !strings.Contains(body, old) {
		t.Fatalf("%q is not in %s", old, body)
	}
	return strings.Replace(body, old, text, 1)
}
