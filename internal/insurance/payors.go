package insurance

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
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

// wellFormed is how payor codes look, ours and those of clearing houses.
var wellFormed = regexp.MustCompile(`^[A-Z0-9][A-Z0-9_-]{0,63}$`)

// find looks up a code, in any case. The two special codes become the plan of
// the state, such as MAIDFED_TX; a state's own code is accepted as well. The
// directory holds the large payors only: any other well-formed code is taken
// as the team's own and names its company.
func find(code, state string) (Payor, bool) {
	code = strings.ToUpper(strings.TrimSpace(code))
	if p, ok := payors[code]; ok {
		return p, true
	}
	plan, suffix, named := strings.Cut(code, "_")
	if plan == FederalPlan || plan == StatePlan {
		if named {
			state = suffix
		}
		return planOf(plan, state)
	}
	if !wellFormed.MatchString(code) {
		return Payor{}, false
	}
	return Payor{Code: code, Company: Company{Name: code}}, true
}

// planOf is the federal or the state plan as it is called in a state.
func planOf(plan, state string) (Payor, bool) {
	name := person.States[state]
	if name == "" {
		return Payor{}, false
	}
	program := "Medicare, "
	if plan == StatePlan {
		program = "Medicaid, "
	}
	return Payor{plan + "_" + state, Company{program + name, centre}}, true
}
