package insurance

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"hale/internal/users/person"
)

// Company is the insurer behind a payor code.
//
// Spec: Insurance record, CompanyDetails.
type Company struct {
	Name    string         `json:"name"`
	Address person.Address `json:"address"`
}

// Payor is a row of the directory.
type Payor struct {
	Code string `json:"code"`
	Company
}

// The codes that ask for the plan of the insured person's state.
//
// Spec: Insurance record, payor_code.
const (
	FederalPlan = "MEDFED"
	StatePlan   = "MAIDFED"
)

//go:embed payors.json
var payorsFile []byte

var payors = mustParse(payorsFile)

func mustParse(file []byte) map[string]Payor {
	dec := json.NewDecoder(bytes.NewReader(file))
	dec.DisallowUnknownFields()
	var rows []Payor
	if err := dec.Decode(&rows); err != nil {
		panic(fmt.Sprintf("insurance: payors.json: %v", err)) // the file is part of the binary and tested
	}
	m := make(map[string]Payor, len(rows))
	for _, p := range rows {
		m[p.Code] = p
	}
	return m
}

// centre is where the federal government runs both plans.
var centre = person.Address{
	FirstLine: "7500 Security Boulevard", City: "Baltimore", State: "MD", Zip: "21244", Country: person.US,
}

// find looks up a code, in any case. The two special codes become the plan of
// the state, such as MAIDFED_TX; a state's own code is accepted as well.
func find(code, state string) (Payor, bool) {
	code = strings.ToUpper(strings.TrimSpace(code))
	if p, ok := payors[code]; ok {
		return p, true
	}
	plan, suffix, named := strings.Cut(code, "_")
	if named {
		state = suffix
	}
	name := person.States[state]
	if name == "" {
		return Payor{}, false
	}
	switch plan {
	case FederalPlan:
		return Payor{plan + "_" + state, Company{"Medicare, " + name, centre}}, true
	case StatePlan:
		return Payor{plan + "_" + state, Company{"Medicaid, " + name, centre}}, true
	}
	return Payor{}, false
}
