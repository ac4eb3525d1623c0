package loinc

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// Code is one observation.
type Code struct {
	// ID consists of the code's digits, so that it is the same in every
	// installation.
	ID   int64
	Code string // such as 2345-7
	Name string // LONG_COMMON_NAME, unchanged
	// Short is the official SHORTNAME. It is empty for codes that are newer
	// than the list of short names.
	Short string
	// Display is our name for it, for people.
	Display   string
	Component string
	Specimen  string // such as Ser/Plas; empty when the code says none
	Scale     string // Qn, Ord, Nom
	Unit      string // UCUM, the usual one; empty for words
	Aliases   []string
	Panels    []string // our groups, such as CMP
	Rank      int      // among 2,000 common tests in the US; 1 is the most common, 0 is unknown
}

// Slug returns the code's name for addresses and keys.
func (c *Code) Slug() string { return Slug(c.Display) }

//go:embed loinc.csv
var file []byte

// The table is read on first use, because most commands do not need it.
var (
	codeTable = sync.OnceValue(func() []*Code { return mustRead(file) })
	codeIndex = sync.OnceValue(func() map[string]*Code { return index(codeTable()) })
)

// AllCodes returns the whole table. Callers must not change it.
func AllCodes() []*Code { return codeTable() }

// Find looks up a code such as 2345-7.
func Find(code string) (*Code, bool) {
	c, ok := codeIndex()[code]
	return c, ok
}

// ID returns the number of a code, which consists of its digits.
func ID(code string) int64 {
	n, err := strconv.ParseInt(strings.ReplaceAll(code, "-", ""), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// IsCode reports whether code has the form of a LOINC code and a correct check digit,
// which catches most typing errors.
func IsCode(code string) bool {
	digits, check, found := strings.Cut(code, "-")
	if !found || len(check) != 1 || len(digits) == 0 || len(digits) > 7 {
		return false
	}
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i]) - '0'
		if d < 0 || d > 9 {
			return false
		}
		if i%2 == 0 {
			d *= 2
		}
		sum += d/10 + d%10
	}
	return int(check[0])-'0' == (10-sum%10)%10
}

// Slug turns a name into lower-case letters and digits, separated by hyphens.
func Slug(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	return strings.Join(words, "-")
}

func mustRead(file []byte) []*Code {
	rows, err := csv.NewReader(bytes.NewReader(file)).ReadAll()
	if err != nil {
		panic(fmt.Sprintf("loinc: loinc.csv: %v", err)) // the file is embedded and tested
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	codes := make([]*Code, 0, len(rows)-1)
	for _, row := range rows[1:] {
		of := func(name string) string { return row[column[name]] }
		rank, _ := strconv.Atoi(of("top2000_us_rank")) // empty for codes that are not in that list
		codes = append(codes, &Code{
			ID: ID(of("loinc_code")), Code: of("loinc_code"), Name: of("long_common_name"), Short: of("short_name"), Display: of("display_name"),
			Component: of("component_hint"), Specimen: of("specimen_hint"), Scale: of("scale_hint"), Unit: of("ucum_typical"),
			Aliases: split(of("aliases"), ";"), Panels: split(of("panel"), ","), Rank: rank,
		})
	}
	return codes
}

func split(text, separator string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, separator)
}

func index(codes []*Code) map[string]*Code {
	m := make(map[string]*Code, len(codes))
	for _, c := range codes {
		m[c.Code] = c
	}
	return m
}
