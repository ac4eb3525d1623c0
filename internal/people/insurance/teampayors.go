package insurance

import (
	"context"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hale/internal/people/users/person"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// NewPayor is an insurer that a team adds.
//
// Reference 1.18, CreatePayorBody.
type NewPayor struct {
	Company
	Provider string // clearing house; empty for none
	Code     string // what it calls the payor
}

// mostTeamPayors bounds how many a team may add.
const mostTeamPayors = 5000

// CreatePayor adds an insurer for one team and gives it a code.
//
// Reference 1.18, POST /v3/payor.
func CreatePayor(ctx context.Context, tx *store.Tx, team teams.ID, n NewPayor) (Payor, error) {
	if err := n.tidy(civil.DateOf(tx.Now())); err != nil {
		return Payor{}, err
	}
	var have int
	if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM payors WHERE team_id = $1`, team).Scan(&have); err != nil {
		return Payor{}, fmt.Errorf("insurance: counting payors: %w", err)
	}
	if have >= mostTeamPayors {
		return Payor{}, fault.Newf(fault.Refused, "a team may add at most %d payors", mostTeamPayors)
	}
	address, err := json.Marshal(n.Address)
	if err != nil {
		return Payor{}, fmt.Errorf("insurance: marshalling an address: %w", err)
	}
	p := Payor{Code: newCode(tx), Company: n.Company, Aliases: []string{}, Source: Team}
	if n.Provider != "" {
		p.External = []External{{n.Provider, n.Code}}
	}
	_, err = tx.Exec(ctx, `INSERT INTO payors (team_id, payor_code, name, address, provider, provider_payor_id, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`, team, p.Code, p.Name, string(address), n.Provider, n.Code, tx.Now())
	if err != nil {
		return Payor{}, fmt.Errorf("insurance: storing a payor: %w", err)
	}
	return p, nil
}

// codeMark begins the codes of team payors, which ours and those of clearing
// houses do not.
const codeMark = "TEAM-"

// newCode makes a code of the random half of a fresh identifier.
func newCode(tx *store.Tx) string {
	id := tx.NewUUID()
	return codeMark + base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(id[8:])
}

func (n *NewPayor) tidy(today civil.Date) error {
	form := person.NewForm(today)
	n.Name = form.Text("name", n.Name, longestName)
	n.Address = form.Address("address", n.Address)
	n.Provider = form.Optional("provider", n.Provider, longestExternal)
	n.Code = form.Optional("provider_payor_id", n.Code, longestExternal)
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
		p.External = []External{{provider, code}}
	}
	return p, nil
}

// teamPayors are all that a team added, ready to be searched.
func teamPayors(ctx context.Context, tx *store.Tx, team teams.ID) ([]named, error) {
	rows, err := tx.Query(ctx, `SELECT `+payorColumns+` FROM payors WHERE team_id = $1 ORDER BY payor_code`, team)
	if err != nil {
		return nil, fmt.Errorf("insurance: listing payors: %w", err)
	}
	defer rows.Close()
	var all []named
	for rows.Next() {
		p, err := scanPayor(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, nameOf(p))
	}
	return all, rows.Err()
}

// findPayor looks up a code in any case: the team's own payors, then those of all
// teams. MEDFED and MAIDFED become the plan of the state; the code of a state's
// plan is accepted as well. If the code names no payor, reason is PayorUnknown or
// StatePlanUnknown.
func findPayor(ctx context.Context, tx *store.Tx, team teams.ID, code, state string) (p Payor, reason string, err error) {
	code = tidyCode(code)
	switch plan, is, ok := planNamed(code, state); {
	case ok:
		return plan, "", nil
	case is:
		return Payor{}, StatePlanUnknown, nil
	case !wellFormed.MatchString(code):
		return Payor{}, PayorUnknown, nil
	}
	if strings.HasPrefix(code, codeMark) {
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
