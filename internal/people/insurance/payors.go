package insurance

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"hale/internal/people/users/person"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/lists"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Company is the insurer behind a payor code.
//
// Spec: Insurance record, CompanyDetails.
type Company struct {
	Name    string         `json:"name"`
	Address person.Address `json:"address"` // only the country if it is not known
}

// Source states whether a payor is of one team or of all.
//
// Reference 1.18.
type Source string

// Platform payors are the same for all teams; Team ones belong to one.
const (
	Platform Source = "platform"
	Team     Source = "team"
)

// Sources lists the sources.
var Sources = []Source{Platform, Team}

// Payor is an insurer that laboratories can bill.
type Payor struct {
	Code string
	Company
	Aliases  []string
	External []ExternalCode
	Source   Source
}

// ExternalCode is a clearing house's code of a payor.
type ExternalCode struct{ Provider, Code string }

// AnyHouse is the provider of a code that all clearing houses use. The largest payors
// have such codes.
const AnyHouse = "*"

// ClearingHouses returns the providers of external codes.
//
// Reference 1.18, PayorCodeExternalProvider.
func ClearingHouses() []string {
	return []string{"change_healthcare", "availity", "stedi", "waystar", "claim_md", "apero", "pverify"}
}

// hasExternal reports whether the code is the clearing house's code of the payor.
func (p Payor) hasExternal(provider, code string) bool {
	return slices.ContainsFunc(p.External, func(e ExternalCode) bool {
		return (e.Provider == provider || e.Provider == AnyHouse) && strings.EqualFold(e.Code, code)
	})
}

// codePattern matches payor codes.
var codePattern = regexp.MustCompile(`^[A-Z0-9][A-Z0-9_-]{0,63}$`)

// normalizeCode trims a code and raises its letters.
func normalizeCode(code string) string { return strings.ToUpper(strings.TrimSpace(code)) }

// Limits of a payor's texts, in characters.
const (
	MaxName     = 200
	MaxExternal = 64
	maxAliases  = 50
)

// Codes for the plan of the insured person's state.
//
// Spec: Insurance record, payor_code.
const (
	FederalPlan = "MEDFED"
	StatePlan   = "MAIDFED"
)

// Names of their programs.
const (
	federalProgram = "Medicare"
	stateProgram   = "Medicaid"
)

// federalAgency runs the federal plan: the Centers for Medicare & Medicaid Services.
var federalAgency = person.Address{
	FirstLine: "7500 Security Boulevard", City: "Baltimore", State: "MD", Zip: "21244", Country: person.US,
}

// militaryMail has the postal codes of the armed forces, which have no plan.
var militaryMail = map[string]bool{"AA": true, "AE": true, "AP": true}

// statePlanNames has the names that some states give to their plan.
var statePlanNames = map[string]string{
	"AZ": "AHCCCS", "CA": "Medi-Cal", "CO": "Health First Colorado", "CT": "HUSKY Health", "HI": "Med-QUEST",
	"KS": "KanCare", "MA": "MassHealth", "ME": "MaineCare", "MO": "MO HealthNet", "NJ": "NJ FamilyCare",
	"OK": "SoonerCare", "OR": "Oregon Health Plan", "TN": "TennCare", "WA": "Apple Health", "WI": "BadgerCare Plus",
}

// planInState returns the federal plan or the state plan in a state, the District of
// Columbia or a territory.
func planInState(plan, state string) (Payor, bool) {
	name := person.States[state]
	if name == "" || militaryMail[state] {
		return Payor{}, false
	}
	p := Payor{Code: plan + "_" + state, Source: Platform}
	if plan == FederalPlan {
		p.Company = Company{federalProgram + ", " + name, federalAgency}
		p.Aliases = []string{name + " " + federalProgram, state + " " + federalProgram}
		return p, true
	}
	p.Company = Company{stateProgram + ", " + name, person.Address{Country: person.US}}
	p.Aliases = []string{name + " " + stateProgram, state + " " + stateProgram}
	if own := statePlanNames[state]; own != "" {
		p.Aliases = append(p.Aliases, own)
	}
	return p, true
}

// planOfCode reads MEDFED, MAIDFED or the code of a plan in a state. isPlan reports
// that the code has one of these forms; ok, that the plan exists.
func planOfCode(code, state string) (p Payor, isPlan, ok bool) {
	plan, suffix, named := strings.Cut(code, "_")
	if plan != FederalPlan && plan != StatePlan {
		return Payor{}, false, false
	}
	if named {
		state = suffix
	}
	p, ok = planInState(plan, state)
	return p, true, ok
}

// Medicare reports whether the federal plan is billed.
func (r Record) Medicare() bool {
	plan, _, _ := strings.Cut(r.PayorCode, "_")
	return plan == FederalPlan
}

// statePlans returns both plans of every state.
func statePlans() []Payor {
	var all []Payor
	for state := range person.States {
		for _, plan := range []string{FederalPlan, StatePlan} {
			if p, ok := planInState(plan, state); ok {
				all = append(all, p)
			}
		}
	}
	return all
}

// payorsFile is the directory that ships: large payors by name. It has no addresses,
// because no open list of them exists. Its few external codes are those that the
// clearing houses publish.
//
//go:embed payors.json
var payorsFile []byte

// entry is a payor in payors.json or in a stored import.
type entry struct {
	Code     string            `json:"code"`
	Name     string            `json:"name"`
	Aliases  []string          `json:"aliases"`
	Address  *person.Address   `json:"address,omitempty"`
	External map[string]string `json:"external,omitempty"` // provider to code
}

func (e entry) payor() Payor {
	p := Payor{Code: e.Code, Company: Company{Name: e.Name, Address: person.Address{Country: person.US}}, Aliases: e.Aliases, Source: Platform}
	if e.Address != nil {
		p.Address = *e.Address
	}
	for provider, code := range e.External {
		p.External = append(p.External, ExternalCode{provider, code})
	}
	slices.SortFunc(p.External, func(a, b ExternalCode) int { return cmp.Compare(a.Provider, b.Provider) })
	return p
}

// directory has all platform payors, for lookup and search.
type directory struct {
	byCode     map[string]Payor
	searchable []indexedPayor
}

// platform is the current directory: the payors that ship, the plans of the states, and
// the payors that an operator imported.
var platform = lists.New(lists.Definition[*directory]{
	Name:    "payors",
	Shipped: sync.OnceValue(func() *directory { return newDirectory(nil) }),
	Parse: func(text []byte) (*directory, error) {
		imported, err := parseEntries(text)
		if err != nil {
			return nil, err
		}
		return newDirectory(imported), nil
	},
})

var builtinEntries = sync.OnceValue(func() []entry {
	all, err := parseEntries(payorsFile)
	if err != nil {
		panic(fmt.Sprintf("insurance: payors.json: %v", err)) // the file is part of the binary and tested
	}
	return all
})

func parseEntries(text []byte) ([]entry, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	var all []entry
	return all, dec.Decode(&all)
}

// newDirectory joins the sources. An imported payor replaces one that ships with the
// same code.
func newDirectory(imported []entry) *directory {
	d := &directory{byCode: map[string]Payor{}}
	for _, p := range statePlans() {
		d.byCode[p.Code] = p
	}
	for _, part := range [][]entry{builtinEntries(), imported} {
		for _, e := range part {
			d.byCode[e.Code] = e.payor()
		}
	}
	for _, p := range d.byCode {
		d.searchable = append(d.searchable, indexPayor(p))
	}
	slices.SortFunc(d.searchable, func(a, b indexedPayor) int { return cmp.Compare(a.Code, b.Code) })
	return d
}

func currentDirectory(ctx context.Context, tx *store.Tx) (*directory, error) {
	return platform.Current(ctx, tx)
}

// NewPayor is an insurer that a team adds.
//
// Reference 1.18, CreatePayorBody.
type NewPayor struct {
	Company
	Provider string // clearing house; empty for none
	Code     string // its code of the payor
}

// maxTeamPayors bounds the payors of one team.
const maxTeamPayors = 5000

// CreatePayor adds an insurer for one team and gives it a code.
//
// Reference 1.18, POST /v3/payor.
func CreatePayor(ctx context.Context, tx *store.Tx, team teams.ID, n NewPayor) (Payor, error) {
	if err := n.normalize(civil.DateOf(tx.Now())); err != nil {
		return Payor{}, err
	}
	var have int
	if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM payors WHERE team_id = $1`, team).Scan(&have); err != nil {
		return Payor{}, fmt.Errorf("insurance: counting payors: %w", err)
	}
	if have >= maxTeamPayors {
		return Payor{}, fault.Newf(fault.Refused, "a team may add at most %d payors", maxTeamPayors)
	}
	address, err := json.Marshal(n.Address)
	if err != nil {
		return Payor{}, fmt.Errorf("insurance: marshalling an address: %w", err)
	}
	p := Payor{Code: newCode(tx), Company: n.Company, Aliases: []string{}, Source: Team}
	if n.Provider != "" {
		p.External = []ExternalCode{{n.Provider, n.Code}}
	}
	_, err = tx.Exec(ctx, `INSERT INTO payors (team_id, payor_code, name, address, provider, provider_payor_id, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`, team, p.Code, p.Name, string(address), n.Provider, n.Code, tx.Now())
	if err != nil {
		return Payor{}, fmt.Errorf("insurance: storing a payor: %w", err)
	}
	return p, nil
}

// teamCodePrefix begins the codes of team payors, and no others.
const teamCodePrefix = "TEAM-"

// newCode makes a code from the random half of a new UUID.
func newCode(tx *store.Tx) string {
	id := tx.NewUUID()
	return teamCodePrefix + base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(id[8:])
}

func (n *NewPayor) normalize(today civil.Date) error {
	form := person.NewForm(today)
	n.Name = form.Text("name", n.Name, MaxName)
	n.Address = form.Address("address", n.Address)
	n.Provider = form.Optional("provider", n.Provider, MaxExternal)
	n.Code = form.Optional("provider_payor_id", n.Code, MaxExternal)
	switch {
	case n.Provider != "" && !slices.Contains(ClearingHouses(), n.Provider):
		form.OneOf("provider", n.Provider, ClearingHouses())
	case n.Provider != "" && n.Code == "":
		form.Fail("provider_payor_id", "missing", "Field required: a provider needs its code of the payor")
	case n.Provider == "" && n.Code != "":
		form.Fail("provider", "missing", "Field required: a code needs its provider")
	}
	return form.Err()
}

const payorColumns = `payor_code, name, address, provider, provider_payor_id`

func scanPayor(row interface{ Scan(...any) error }) (Payor, error) {
	p := Payor{Aliases: []string{}, Source: Team}
	var address, provider, code string
	if err := row.Scan(&p.Code, &p.Name, &address, &provider, &code); err != nil {
		return Payor{}, err
	}
	if err := json.Unmarshal([]byte(address), &p.Address); err != nil {
		return Payor{}, fmt.Errorf("insurance: the address of payor %s: %w", p.Code, err)
	}
	if provider != "" {
		p.External = []ExternalCode{{provider, code}}
	}
	return p, nil
}

// teamPayors returns the payors of a team, indexed for search.
func teamPayors(ctx context.Context, tx *store.Tx, team teams.ID) ([]indexedPayor, error) {
	rows, err := tx.Query(ctx, `SELECT `+payorColumns+` FROM payors WHERE team_id = $1 ORDER BY payor_code`, team)
	if err != nil {
		return nil, fmt.Errorf("insurance: listing payors: %w", err)
	}
	defer rows.Close()
	var all []indexedPayor
	for rows.Next() {
		p, err := scanPayor(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, indexPayor(p))
	}
	return all, rows.Err()
}

// findPayor looks up a code, ignoring case, among the plans of the states, the team's
// payors and those of all teams. If the code names no payor, reason is PayorUnknown or
// StatePlanUnknown.
func findPayor(ctx context.Context, tx *store.Tx, team teams.ID, code, state string) (p Payor, reason string, err error) {
	code = normalizeCode(code)
	switch plan, isPlan, ok := planOfCode(code, state); {
	case ok:
		return plan, "", nil
	case isPlan && !strings.Contains(code, "_"): // the address names no state
		return Payor{}, StatePlanUnknown, nil
	case !codePattern.MatchString(code):
		return Payor{}, PayorUnknown, nil
	}
	if strings.HasPrefix(code, teamCodePrefix) {
		p, err = scanPayor(tx.QueryRow(ctx, `SELECT `+payorColumns+` FROM payors WHERE team_id = $1 AND payor_code = $2`, team, code))
		if err == nil {
			return p, "", nil
		}
		if !errors.Is(err, store.ErrNoRows) {
			return Payor{}, "", fmt.Errorf("insurance: reading a payor: %w", err)
		}
	}
	dir, err := currentDirectory(ctx, tx)
	if err != nil {
		return Payor{}, "", err
	}
	if p, ok := dir.byCode[code]; ok {
		return p, "", nil
	}
	return Payor{}, PayorUnknown, nil
}
