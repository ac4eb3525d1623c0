package matching

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// likeness compares the persons of a report and an order, part by part.
type likeness struct {
	First, Last, DOB, Sex agreement
}

// agreement of two values that may be unknown.
type agreement int8

// The agreements.
const (
	unknown agreement = iota
	same
	differs
)

// compare says where two persons agree. Names are compared by their letters;
// a middle name or initial that only one side has is no difference.
func compare(a, b Person) likeness {
	return likeness{
		First: firstNames(a.FirstName, b.FirstName),
		Last:  texts(letters(a.LastName), letters(b.LastName)),
		DOB:   dates(a, b),
		Sex:   texts(sex(a.Gender), sex(b.Gender)),
	}
}

func texts(a, b string) agreement {
	switch {
	case a == "" || b == "":
		return unknown
	case a == b:
		return same
	}
	return differs
}

func dates(a, b Person) agreement {
	switch {
	case a.DOB.IsZero() || b.DOB.IsZero():
		return unknown
	case a.DOB == b.DOB:
		return same
	}
	return differs
}

// firstNames agree when they have the same letters, or when one is the other
// with more names behind it.
func firstNames(a, b string) agreement {
	if got := texts(letters(a), letters(b)); got != differs {
		return got
	}
	one, other := strings.Fields(a), strings.Fields(b)
	if len(one) > 0 && len(other) > 0 && len(one) != len(other) && letters(one[0]) == letters(other[0]) {
		return same
	}
	return differs
}

// sex is the letter that labs write; empty when nobody says.
func sex(word string) string {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "f", "female":
		return "f"
	case "m", "male":
		return "m"
	}
	return ""
}

// letters is a name's letters and digits, lower case and without accents.
func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(name))
}

// alike reports that it is the same person: everything that identifies is known
// and the same, and the sex does not contradict.
func (l likeness) alike() bool {
	return l.DOB == same && l.Last == same && l.First == same && l.Sex != differs
}

// contradicts reports that it cannot be the same person, or that a reviewer
// should say so. First names are spelled in many ways, so that one that differs
// weighs only together with something else.
func (l likeness) contradicts() bool {
	return l.DOB == differs || l.Last == differs || l.First == differs && l.DOB != same
}
