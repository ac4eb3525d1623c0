package insurance

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"hale/internal/people/users/person"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// The columns of a file of payors, in any order. payor_code and name must be
// there. Several aliases, and several external codes, stand in one cell with a
// bar between them; an external code is provider:code, and * as the provider
// is every clearing house.
var payorHeader = []string{
	"payor_code", "name", "aliases", "first_line", "second_line", "city", "state", "zip", "country", "external",
}

const (
	mostImported = 100_000
	mostProblems = 20 // told of one file
	bar          = "|"
)

// PayorFile is a file of payors that was read and checked.
type PayorFile struct{ entries []entry }

// Len is how many payors the file has.
func (f PayorFile) Len() int { return len(f.entries) }

// ParsePayors reads a CSV file of payors. An error is a fault.List that names
// the line and the column of each problem, the first twenty of them.
func ParsePayors(file io.Reader, today civil.Date) (PayorFile, error) {
	rows := csv.NewReader(file)
	rows.ReuseRecord = true
	head, err := rows.Read()
	if err != nil {
		return PayorFile{}, fault.New(fault.Invalid, "the file has no header line; its columns are "+strings.Join(payorHeader, ", ")).At("1")
	}
	columns, err := readHeader(head)
	if err != nil {
		return PayorFile{}, err
	}
	p := payorParser{columns: columns, today: today, lines: map[string]int{}}
	for len(p.faults) < mostProblems {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		var broken *csv.ParseError
		if errors.As(err, &broken) {
			p.fail(broken.StartLine, "", "is no CSV line with as many cells as the header")
			break
		}
		if err != nil {
			return PayorFile{}, fmt.Errorf("insurance: reading payors: %w", err)
		}
		line, _ := rows.FieldPos(0)
		p.take(line, row)
		if len(p.entries) > mostImported {
			return PayorFile{}, fault.Newf(fault.TooLarge, "a file may hold at most %d payors", mostImported)
		}
	}
	if len(p.entries) == 0 && len(p.faults) == 0 {
		return PayorFile{}, fault.New(fault.Invalid, "the file holds no payor").At("2")
	}
	return PayorFile{p.entries}, fault.Join(p.faults...)
}

// readHeader finds where each column stands.
func readHeader(head []string) (map[string]int, error) {
	columns := map[string]int{}
	for i, name := range head {
		name = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(name, "\ufeff"))) // spreadsheets put a mark before the first
		if !slices.Contains(payorHeader, name) {
			return nil, fault.Newf(fault.Invalid, "column %d is none of %s", i+1, strings.Join(payorHeader, ", ")).At("line 1")
		}
		if _, twice := columns[name]; twice {
			return nil, fault.Newf(fault.Invalid, "the column %s stands there twice", name).At("line 1")
		}
		columns[name] = i
	}
	for _, name := range payorHeader[:2] {
		if _, ok := columns[name]; !ok {
			return nil, fault.Newf(fault.Invalid, "the column %s is missing", name).At("line 1")
		}
	}
	return columns, nil
}

type payorParser struct {
	columns map[string]int
	today   civil.Date
	lines   map[string]int // where each code stood first
	entries []entry
	faults  []*fault.Error
}

func (p *payorParser) fail(line int, column, msg string) {
	at := []string{fmt.Sprintf("line %d", line)}
	if column != "" {
		at = append(at, column)
	}
	p.faults = append(p.faults, fault.New(fault.Invalid, msg).At(at...))
}

// take reads one line. What it keeps is copied: the reader uses row again.
func (p *payorParser) take(line int, row []string) {
	cell := func(name string) string {
		if i, ok := p.columns[name]; ok {
			return strings.Clone(strings.TrimSpace(row[i]))
		}
		return ""
	}
	e := entry{Code: tidyCode(cell("payor_code")), Name: cell("name"), Aliases: split(cell("aliases"))}
	before := len(p.faults)
	_, plan, _ := planNamed(e.Code, "")
	switch first := p.lines[e.Code]; {
	case !wellFormed.MatchString(e.Code):
		p.fail(line, "payor_code", "should have 1 to 64 letters, digits, hyphens or underscores")
	case plan, strings.HasPrefix(e.Code, codeMark):
		p.fail(line, "payor_code", "begins like a code that this service makes itself")
	case first > 0:
		p.fail(line, "payor_code", fmt.Sprintf("stands in line %d already", first))
	}
	p.lines[e.Code] = line
	form := person.NewForm(p.today)
	e.Name = form.Text("name", e.Name, longestName)
	if len(e.Aliases) > mostAliases {
		p.fail(line, "aliases", fmt.Sprintf("holds more than %d", mostAliases))
	}
	for _, alias := range e.Aliases {
		form.Optional("aliases", alias, longestName)
	}
	e.Address = p.address(form, cell)
	if bad := form.First(); bad != nil {
		p.fail(line, bad.Loc()[len(bad.Loc())-1], bad.Message())
	}
	e.External = p.external(line, cell("external"))
	if len(p.faults) == before {
		p.entries = append(p.entries, e)
	}
}

// address is nil when the line has none: a payor may come without.
func (p *payorParser) address(form person.Form, cell func(string) string) *person.Address {
	a := person.Address{
		FirstLine: cell("first_line"), SecondLine: cell("second_line"), City: cell("city"),
		State: cell("state"), Zip: cell("zip"), Country: cell("country"),
	}
	if a.FirstLine+a.SecondLine+a.City+a.State+a.Zip == "" {
		return nil
	}
	a = form.Address("address", a)
	return &a
}

func (p *payorParser) external(line int, text string) map[string]string {
	codes := map[string]string{}
	for _, part := range split(text) {
		provider, code, ok := strings.Cut(part, ":")
		provider, code = strings.TrimSpace(provider), strings.TrimSpace(code)
		switch {
		case !ok || code == "" || len(code) > longestExternal:
			p.fail(line, "external", "should be provider:code, several with a bar between them")
		case provider != EveryHouse && !slices.Contains(ClearingHouses(), provider):
			p.fail(line, "external", "names a clearing house that is none of *, "+strings.Join(ClearingHouses(), ", "))
		case codes[provider] != "":
			p.fail(line, "external", "names a clearing house twice")
		}
		codes[provider] = code
	}
	return codes
}

func split(cell string) []string {
	parts := []string{}
	for part := range strings.SplitSeq(cell, bar) {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// ImportPayors makes a file's payors those of all teams, beside the ones that
// ship. It takes the place of an earlier import; a payor that ships under the
// same code gives way.
func ImportPayors(ctx context.Context, tx *store.Tx, edition string, file PayorFile) error {
	text, err := json.Marshal(file.entries)
	if err != nil {
		return fmt.Errorf("insurance: marshalling payors: %w", err)
	}
	return platform.Put(ctx, tx, edition, len(file.entries), text)
}
