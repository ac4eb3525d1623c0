package labs

import (
	"testing"

	"hale/internal/api/calltest"
)

func TestDiagnosisShapes(t *testing.T) {
	c := newCaller(t)
	calltest.Golden(t, "diagnoses", c.Want(200, "GET", "/v3/insurance/search/diagnosis?diagnosis_query=type+2+diab+hyperg", ""))
	c.Want(200, "GET", "/v3/insurance/search/diagnosis?diagnosis_query=purple+elephants", "", "[]")
	c.Want(422, "GET", "/v3/insurance/search/diagnosis", "", `"loc":["query","diagnosis_query"]`)
	c.Want(422, "GET", "/v3/insurance/search/diagnosis?diagnosis_query=+", "", `"loc":["query","diagnosis_query"]`)
	path := "/v3/insurance/validate_icd_codes"
	calltest.Golden(t, "icd_good", c.Want(200, "POST", path, `{"codes":["Z00.00","e785"]}`))
	calltest.Golden(t, "icd_bad", c.Want(200, "POST", path, `{"codes":["E11.9","E10.9","N40.1","C61","E11","purple"]}`))
	c.Want(422, "POST", path, `{}`, `"loc":["body","codes"]`)
	c.Want(422, "POST", path, `{"codes":[7]}`, `"codes"`)
}
