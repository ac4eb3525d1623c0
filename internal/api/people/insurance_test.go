package people

import (
	"strings"
	"testing"

	"hale/internal/api/calltest"
)

const goodPayor = `{"name":"Example Mutual","provider":"availity","provider_payor_id":"EX001","address":{"first_line":"1 Main Street","second_line":"Suite 7","zip":"78701","state":"TX","city":"Austin","country":"US"}}`

func TestPayorShapes(t *testing.T) {
	c := newCaller(t)
	base := "/v3/insurance/search/payor"
	calltest.Golden(t, "payors_by_name", c.Want(200, "GET", base+"?insurance_name=aetna", ""))
	calltest.Golden(t, "payors_by_name", c.Want(200, "GET", base+"?provider=stedi&provider_payor_id=60054", ""))
	calltest.Golden(t, "payors_by_body", c.Want(200, "POST", base, `{"insurance_name":"aetna","provider":null,"provider_id":null}`))
	calltest.Golden(t, "payors_by_body", c.Want(200, "POST", base, `{"provider":"stedi","provider_id":"60054"}`))
	c.Want(200, "GET", base+"?insurance_name=nobody+knows+it", "", "[]")
	made := c.Want(200, "POST", "/v3/payor", goodPayor, `"source":"team"`, `"second_line":"Suite 7"`)
	var body payorBody
	calltest.Decode(t, made, &body)
	c.Want(200, "GET", base+"?provider=availity&provider_payor_id=EX001", "", body.PayorCode)
	other := calltest.NewTeamCaller(t, c.DB, c.API, c.Now)
	other.Want(200, "GET", base+"?provider=availity&provider_payor_id=EX001", "", "[]")
	id := c.User("a")
	c.Want(200, "POST", "/v2/user/"+id+"/insurance", calltest.Replace(t, calltest.GoodInsurance, "UHC", body.PayorCode), `"name":"Example Mutual"`)
	other.Want(200, "POST", "/v2/user/"+other.User("b")+"/insurance", calltest.Replace(t, calltest.GoodInsurance, "UHC", body.PayorCode), `"payor_unknown"`)
}

func TestPayorRefusals(t *testing.T) {
	c := newCaller(t)
	base := "/v3/insurance/search/payor"
	c.Want(422, "GET", base, "", `"loc":["query","insurance_name"]`)
	c.Want(422, "GET", base+"?provider=stedi", "", `"loc":["query","provider_payor_id"]`)
	c.Want(422, "GET", base+"?provider_payor_id=1", "", `"loc":["query","provider"]`)
	c.Want(422, "GET", base+"?provider=pigeon&provider_payor_id=1", "", `"enum"`)
	c.Want(422, "POST", base, `{}`, `"loc":["body","insurance_name"]`)
	c.Want(422, "POST", base, `{"provider":"stedi"}`, `"loc":["body","provider_id"]`)
	c.Want(422, "POST", base, `{"provider":"pigeon","provider_id":"1"}`, `"loc":["body","provider"]`)
	c.Want(422, "POST", "/v3/payor", calltest.Replace(t, goodPayor, `"provider":"availity",`, ""), `"loc":["body","provider"]`)
	c.Want(422, "POST", "/v3/payor", calltest.Replace(t, goodPayor, "availity", "pigeon"), `"loc":["body","provider"]`)
	c.Want(422, "POST", "/v3/payor", calltest.Replace(t, goodPayor, `"zip":"78701",`, ""), `"loc":["body","address","zip"]`)
	c.Want(422, "POST", "/v3/payor", calltest.Replace(t, goodPayor, "Example Mutual", " "), `"loc":["body","name"]`)
}

func TestInsuranceShapes(t *testing.T) {
	c := newCaller(t)
	id := c.User("a")
	path := "/v2/user/" + id + "/insurance"
	c.Want(404, "GET", path+"/latest", "", "Insurance not found")
	calltest.Golden(t, "insurance_self", c.Want(200, "POST", path, calltest.GoodInsurance))
	calltest.Golden(t, "insurance_self", c.Want(200, "GET", path+"/latest", ""))
	c.Want(422, "POST", path, strings.Replace(calltest.GoodInsurance, "Self", "Cousin", 1), `["body","relationship"]`, `"enum"`)
	c.Want(422, "POST", path, strings.Replace(calltest.GoodInsurance, "UHC", " ", 1), `["body","payor_code"]`)
	spouse := strings.Replace(calltest.GoodInsurance, `"relationship":"Self"`, `"relationship":"Spouse","group_id":"G-7","is_primary":false,"guarantor":{"first_name":"Anne","last_name":"Byron",`+
		`"phone_number":"+14155550133","email":"anne@example.org","household_income":48000,"household_size":2,"address":{"first_line":"1 Main Street","zip":"78701","state":"TX","city":"Austin","country":"US"}}`, 1)
	spouse = strings.Replace(spouse, "UHC", "MAIDFED", 1)
	calltest.Golden(t, "insurance_spouse", c.Want(200, "POST", path, spouse))
	calltest.Golden(t, "insurance_spouse", c.Want(200, "GET", path+"/latest?is_primary=false", ""))
	calltest.Golden(t, "insurance_self", c.Want(200, "GET", path+"/latest?is_primary=true", ""))
	flagged := strings.NewReplacer("Self", "Other", "UHC", "Acme Health").Replace(calltest.GoodInsurance)
	calltest.Golden(t, "insurance_flagged", c.Want(200, "POST", path, flagged))
	calltest.Golden(t, "insurance_flagged", c.Want(200, "GET", path+"/latest", ""))
}
