// Package identity compares the person on a laboratory's report with the
// patient of an order.
//
// A result under another person's name puts health data into the wrong record, so the
// comparison is strict. Last name, first name and birth date must be present and agree,
// and the sex must not contradict. names.go lists the differences in spelling that are
// ignored.
package identity

import (
	"log/slog"
	"strings"

	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
)

// Person has the facts that identify a person. Personal.
type Person struct {
	FirstName, LastName string
	DOB                 civil.Date
	Gender              string
}

// LogValue keeps a person out of logs.
func (Person) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// Agreement is the outcome of comparing one fact.
type Agreement int8

// The agreements. A fact is unknown if either side does not have it.
const (
	Unknown Agreement = iota
	Agrees
	Differs
)

// Comparison compares two persons fact by fact.
type Comparison struct {
	First, Last, DOB, Sex Agreement
}

// Compare compares two persons. The order of the arguments does not matter.
func Compare(a, b Person) Comparison {
	return Comparison{
		First: compareFirstNames(a.FirstName, b.FirstName),
		Last:  compareLastNames(a.LastName, b.LastName),
		DOB:   compareDates(a.DOB, b.DOB),
		Sex:   CompareTexts(sexLetter(a.Gender), sexLetter(b.Gender)),
	}
}

// IsSamePerson reports that every identifying fact is known and agrees, and
// that the sex does not contradict.
func (c Comparison) IsSamePerson() bool { return len(c.Problems()) == 0 }

// Contradicts reports that a fact differs.
func (c Comparison) Contradicts() bool { return len(c.Mismatches()) > 0 }

// Problem names a fact that differs or is missing, so that a match is not certain. It
// contains no personal data.
type Problem string

// The problems.
const (
	LastNameMismatch  Problem = "last_name_mismatch"
	FirstNameMismatch Problem = "first_name_mismatch"
	BirthDateMismatch Problem = "birth_date_mismatch"
	SexMismatch       Problem = "sex_mismatch"
	LastNameMissing   Problem = "last_name_missing"
	FirstNameMissing  Problem = "first_name_missing"
	BirthDateMissing  Problem = "birth_date_missing"
)

// Mismatches lists the facts that differ.
func (c Comparison) Mismatches() []Problem {
	var all []Problem
	for _, part := range []struct {
		got Agreement
		is  Problem
	}{{c.Last, LastNameMismatch}, {c.First, FirstNameMismatch}, {c.DOB, BirthDateMismatch}, {c.Sex, SexMismatch}} {
		if part.got == Differs {
			all = append(all, part.is)
		}
	}
	return all
}

// Problems lists the facts that differ, then those that are missing. An
// unknown sex is no problem.
func (c Comparison) Problems() []Problem {
	all := c.Mismatches()
	for _, part := range []struct {
		got Agreement
		is  Problem
	}{{c.Last, LastNameMissing}, {c.First, FirstNameMissing}, {c.DOB, BirthDateMissing}} {
		if part.got == Unknown {
			all = append(all, part.is)
		}
	}
	return all
}

// UnconfirmedError returns the error for accepting a report whose person is not certainly the
// expected one, such as the patient of an order. It lists the differences.
func UnconfirmedError(expected string, differences []Problem) error {
	words := make([]string, len(differences))
	for n, d := range differences {
		words[n] = string(d)
	}
	return fault.New(fault.Unprocessable, "The person on the report is not certainly the "+expected+" ("+strings.Join(words, ", ")+
		"): set confirm_identity if it is the same person")
}

// CompareTexts compares two texts that may be unknown.
func CompareTexts(a, b string) Agreement {
	switch {
	case a == "" || b == "":
		return Unknown
	case a == b:
		return Agrees
	}
	return Differs
}

func compareDates(a, b civil.Date) Agreement {
	switch {
	case a.IsZero() || b.IsZero():
		return Unknown
	case a == b:
		return Agrees
	}
	return Differs
}

// sexLetter returns the letter that labs write; empty when the sex is unknown.
func sexLetter(word string) string {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "f", "female":
		return "f"
	case "m", "male":
		return "m"
	case "o", "other":
		return "o"
	}
	return ""
}
