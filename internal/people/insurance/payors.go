package insurance

import (
	"regexp"
	"slices"
	"strings"

	"hale/internal/people/users/person"
)

// Company is the insurer behind a payor code.
//
// Spec: Insurance record, CompanyDetails.
type Company struct {
	Name    string         `json:"name"`
	Address person.Address `json:"address"` // all but the country empty where it is not known
}

// Source says who knows a payor.
//
// Reference 1.18.
type Source string

// Platform payors are the same for all teams; Team ones belong to one.
const (
	Platform Source = "platform"
	Team     Source = "team"
)

// Payor is an insurer that laboratories can bill.
type Payor struct {
	Code string
	Company
	Aliases  []string
	External []External
	Source   Source
}

// External is what a clearing house calls a payor.
type External struct{ Provider, Code string }

// EveryHouse as a provider stands for all clearing houses: the largest payors
// have one number everywhere.
const EveryHouse = "*"

// ClearingHouses are the providers of external codes.
//
// Reference 1.18, PayorCodeExternalProvider.
func ClearingHouses() []string {
	return []string{"change_healthcare", "availity", "stedi", "waystar", "claim_md", "apero", "pverify"}
}

// isCalled reports whether the clearing house calls the payor so.
func (p Payor) isCalled(provider, code string) bool {
	return slices.ContainsFunc(p.External, func(e External) bool {
		return (e.Provider == provider || e.Provider == EveryHouse) && strings.EqualFold(e.Code, code)
	})
}

// wellFormed is how payor codes look, ours and those of clearing houses.
var wellFormed = regexp.MustCompile(`^[A-Z0-9][A-Z0-9_-]{0,63}$`)

// tidyCode is a code in the case that it is kept in.
func tidyCode(code string) string { return strings.ToUpper(strings.TrimSpace(code)) }

// Limits of a payor's texts, in characters.
const (
	longestName     = 200
	longestExternal = 64
	mostAliases     = 50
)
