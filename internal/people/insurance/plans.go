package insurance

import (
	"strings"

	"hale/internal/people/users/person"
)

// The codes that ask for the plan of the insured person's state.
//
// Spec: Insurance record, payor_code.
const (
	FederalPlan = "MEDFED"
	StatePlan   = "MAIDFED"
)

// Their programs, as they are known to people.
const (
	federalProgram = "Medicare"
	stateProgram   = "Medicaid"
)

// agency runs the federal plan: the Centers for Medicare & Medicaid Services.
var agency = person.Address{
	FirstLine: "7500 Security Boulevard", City: "Baltimore", State: "MD", Zip: "21244", Country: person.US,
}

// militaryMail are postal codes of the armed forces: no place has such a plan.
var militaryMail = map[string]bool{"AA": true, "AE": true, "AP": true}

// ownNames are what some states call their plan.
var ownNames = map[string]string{
	"AZ": "AHCCCS", "CA": "Medi-Cal", "CO": "Health First Colorado", "CT": "HUSKY Health", "HI": "Med-QUEST",
	"KS": "KanCare", "MA": "MassHealth", "ME": "MaineCare", "MO": "MO HealthNet", "NJ": "NJ FamilyCare",
	"OK": "SoonerCare", "OR": "Oregon Health Plan", "TN": "TennCare", "WA": "Apple Health", "WI": "BadgerCare Plus",
}

// planOf is the federal or the state plan as it is called in a state, the
// District of Columbia or a territory.
func planOf(plan, state string) (Payor, bool) {
	name := person.States[state]
	if name == "" || militaryMail[state] {
		return Payor{}, false
	}
	p := Payor{Code: plan + "_" + state, Source: Platform}
	if plan == FederalPlan {
		p.Company = Company{federalProgram + ", " + name, agency}
		p.Aliases = []string{name + " " + federalProgram, state + " " + federalProgram}
		return p, true
	}
	p.Company = Company{stateProgram + ", " + name, person.Address{Country: person.US}}
	p.Aliases = []string{name + " " + stateProgram, state + " " + stateProgram}
	if own := ownNames[state]; own != "" {
		p.Aliases = append(p.Aliases, own)
	}
	return p, true
}

// planNamed reads MEDFED, MAIDFED or the code that one of them becomes in a
// state. is tells that the code is of this kind, even where no such plan is.
func planNamed(code, state string) (p Payor, is, ok bool) {
	plan, suffix, named := strings.Cut(code, "_")
	if plan != FederalPlan && plan != StatePlan {
		return Payor{}, false, false
	}
	if named {
		state = suffix
	}
	p, ok = planOf(plan, state)
	return p, true, ok
}

// Medicare reports whether the federal plan is billed.
func (r Record) Medicare() bool {
	plan, _, _ := strings.Cut(r.PayorCode, "_")
	return plan == FederalPlan
}

// statePlans are all plans of all states.
func statePlans() []Payor {
	var all []Payor
	for state := range person.States {
		for _, plan := range []string{FederalPlan, StatePlan} {
			if p, ok := planOf(plan, state); ok {
				all = append(all, p)
			}
		}
	}
	return all
}
