package person

import (
	"slices"
	"strings"
	"unicode/utf8"

	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
)

// Lengths in characters.
const (
	maxName  = 50
	MaxLine  = 200
	MaxNotes = 1000
	maxEmail = 254
	maxPhone = 40
	MaxZip   = 20  // outside of the United States
	maxAge   = 130 // years
)

// Form checks the fields of one request. Its methods read a field's name and value,
// and return the normalized value.
type Form struct {
	at     []string
	today  civil.Date
	faults *[]*fault.Error
}

// NewForm returns a form for the fields of the request body. today bounds dates of
// birth.
func NewForm(today civil.Date) Form {
	return Form{at: []string{"body"}, today: today, faults: new([]*fault.Error)}
}

// In returns the same form for the fields of a nested object.
func (f Form) In(field string) Form {
	f.at = append(slices.Clip(f.at), field)
	return f
}

// Err returns all faults, or nil.
func (f Form) Err() error { return fault.Join(*f.faults...) }

// First returns the first fault, or nil.
func (f Form) First() *fault.Error {
	if len(*f.faults) == 0 {
		return nil
	}
	return (*f.faults)[0]
}

// Fail records that a field breaks a rule, with one of the codes of reference 5.1.
func (f Form) Fail(field, code, msg string) {
	e := fault.New(fault.Invalid, msg).At(append(slices.Clip(f.at), field)...).WithType(code)
	*f.faults = append(*f.faults, e)
}

func (f Form) value(field, msg string) { f.Fail(field, "value_error", "Value error, "+msg) }

// Text trims a required text of at most limit characters.
func (f Form) Text(field, text string, limit int) string {
	text = f.Optional(field, text, limit)
	if text == "" {
		f.Fail(field, "string_too_short", "String should have at least 1 character")
	}
	return text
}

// Optional trims a text that may be empty.
func (f Form) Optional(field, text string, limit int) string {
	text = strings.TrimSpace(text)
	switch {
	case utf8.RuneCountInString(text) > limit:
		f.Fail(field, "string_too_long", "String is longer than allowed")
	case !utf8.ValidString(text) || strings.ContainsFunc(text, isControl):
		f.value(field, "the text has control characters or is not UTF-8")
	}
	return text
}

// isControl finds control characters. PostgreSQL refuses NUL. Notes may have line
// breaks and tabs.
func isControl(r rune) bool { return r < ' ' && r != '\n' && r != '\t' && r != '\r' || r == 0x7f }

// Name checks a first or last name: 1 to 50 characters, ASCII letters, digits and
// - . , ' in words with single spaces. Laboratories' systems accept no others.
//
// Reference 1.9, name rule.
func (f Form) Name(field, name string) string {
	before := len(*f.faults)
	name = f.Text(field, name, maxName)
	if len(*f.faults) == before && !isName(name) {
		f.value(field, "a name has ASCII letters, digits and - . , ' only, starts with a letter or digit, and has single spaces")
	}
	return name
}

func isName(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case isAlphanumeric(c):
		case i == 0:
			return false
		case strings.IndexByte("-.,'", c) >= 0:
		case c == ' ' && s[i-1] != ' ' && i+1 < len(s):
		default:
			return false
		}
	}
	return s != ""
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// OneOf checks a word of a closed list. It accepts an empty word.
func (f Form) OneOf(field, word string, words []string) {
	if word != "" && !slices.Contains(words, word) {
		f.Fail(field, "enum", fault.EnumMessage(words))
	}
}

// Required checks a word like OneOf, and refuses an empty word.
func (f Form) Required(field, word string, words []string) {
	if word == "" {
		f.Fail(field, "missing", "Field required")
		return
	}
	f.OneOf(field, word, words)
}

// BirthDate checks that a date is not in the future or too long ago.
func (f Form) BirthDate(field string, day civil.Date) {
	switch {
	case day.After(f.today.AddDays(1)): // east of UTC it may be tomorrow
		f.value(field, "the date is in the future")
	case day.Year < f.today.Year-maxAge:
		f.value(field, "the date is too long ago")
	}
}

// Guarantor checks a guarantor or medical proxy.
func (f Form) Guarantor(field string, g Guarantor) Guarantor {
	in := f.In(field)
	g.FirstName = in.Name("first_name", g.FirstName)
	g.LastName = in.Name("last_name", g.LastName)
	g.PhoneNumber = in.Phone("phone_number", g.PhoneNumber)
	if strings.TrimSpace(g.Email) != "" {
		g.Email = in.Email("email", g.Email)
	}
	g.Address = in.Address("address", g.Address)
	in.notNegative("household_income", g.HouseholdIncome)
	in.notNegative("household_size", g.HouseholdSize)
	return g
}

func (f Form) notNegative(field string, n *int64) {
	if n != nil && *n < 0 {
		f.Fail(field, "greater_than_equal", "Input should be greater than or equal to 0")
	}
}
