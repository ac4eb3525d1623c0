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

// payorHeader has the columns of a file of payors, in any order. payor_code and name
// are required. A bar separates several aliases or external codes in one cell. An
// external code is provider:code; the provider * means every clearing house.
var payorHeader = []string{
	"payor_code", "name", "aliases", "first_line", "second_line", "city", "state", "zip", "country", "external",
}

const (
	maxImported = 100_000
	maxProblems = 20 // reported of one file
	separator   = "|"
)

// PayorFile has the checked payors of a file.
type PayorFile struct{ entries []entry }

// Len returns the number of payors.
func (f PayorFile) Len() int { return len(f.entries) }

// ParsePayors reads a CSV file of payors. Its error is a fault.List with the line and
// column of the first twenty problems.
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
	for len(p.faults) < maxProblems {
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
		p.addLine(line, row)
		if len(p.entries) > maxImported {
			return PayorFile{}, fault.Newf(fault.TooLarge, "a file may hold at most %d payors", maxImported)
		}
	}
	if len(p.entries) == 0 && len(p.faults) == 0 {
		return PayorFile{}, fault.New(fault.Invalid, "the file holds no payor").At("2")
	}
	return PayorFile{p.entries}, fault.Join(p.faults...)
}

// readHeader returns the position of each column.
func readHeader(head []string) (map[string]int, error) {
	columns := map[string]int{}
	for i, name := range head {
		name = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(name, "\ufeff"))) // spreadsheets write a byte order mark
		if !slices.Contains(payorHeader, name) {
			return nil, fault.Newf(fault.Invalid, "column %d is none of %s", i+1, strings.Join(payorHeader, ", ")).At("line 1")
		}
		if _, twice := columns[name]; twice {
			return nil, fault.Newf(fault.Invalid, "the column %s is there twice", name).At("line 1")
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
	lines   map[string]int // first line of each code
	entries []entry
	faults  []*fault.Error
}

func (p *payorParser) fail(line int, column, msg string) {
	at := fmt.Sprintf("line %d", line)
	if column != "" {
		at += ", " + column
	}
	p.faults = append(p.faults, fault.New(fault.Invalid, msg).At(at))
}

// addLine reads one line. It copies the cells, because the reader reuses row.
func (p *payorParser) addLine(line int, row []string) {
	cell := func(name string) string {
		if i, ok := p.columns[name]; ok {
			return strings.Clone(strings.TrimSpace(row[i]))
		}
		return ""
	}
	e := entry{Code: normalizeCode(cell("payor_code")), Name: cell("name"), Aliases: splitCell(cell("aliases"))}
	before := len(p.faults)
	_, plan, _ := planOfCode(e.Code, "")
	switch first := p.lines[e.Code]; {
	case !codePattern.MatchString(e.Code):
		p.fail(line, "payor_code", "should have 1 to 64 letters, digits, hyphens or underscores")
	case plan, strings.HasPrefix(e.Code, teamCodePrefix):
		p.fail(line, "payor_code", "begins like a code that this service makes itself")
	case first > 0:
		p.fail(line, "payor_code", fmt.Sprintf("is in line %d already", first))
	}
	p.lines[e.Code] = line
	form := person.NewForm(p.today)
	e.Name = form.Text("name", e.Name, MaxName)
	if len(e.Aliases) > maxAliases {
		p.fail(line, "aliases", fmt.Sprintf("holds more than %d", maxAliases))
	}
	for _, alias := range e.Aliases {
		form.Optional("aliases", alias, MaxName)
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

// address returns nil if the line has no address, which is allowed.
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
	for _, part := range splitCell(text) {
		provider, code, ok := strings.Cut(part, ":")
		provider, code = strings.TrimSpace(provider), strings.TrimSpace(code)
		switch {
		case !ok || code == "" || len(code) > MaxExternal:
			p.fail(line, "external", "should be provider:code, several with a bar between them")
		case provider != AnyHouse && !slices.Contains(ClearingHouses(), provider):
			p.fail(line, "external", "names a clearing house that is none of *, "+strings.Join(ClearingHouses(), ", "))
		case codes[provider] != "":
			p.fail(line, "external", "names a clearing house twice")
		}
		codes[provider] = code
	}
	return codes
}

func splitCell(cell string) []string {
	parts := []string{}
	for part := range strings.SplitSeq(cell, separator) {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// ImportPayors adds a file's payors for all teams. It replaces an earlier import. An
// imported payor replaces one that ships with the same code.
func ImportPayors(ctx context.Context, tx *store.Tx, edition string, file PayorFile) error {
	text, err := json.Marshal(file.entries)
	if err != nil {
		return fmt.Errorf("insurance: marshalling payors: %w", err)
	}
	return platform.Put(ctx, tx, edition, len(file.entries), text)
}
