package identity_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hale/internal/labs/identity"
	"hale/internal/platform/civil"
)

const letters = "abcdefghijklmnopqrstuvwxyz"

func drawName(t *rapid.T, what string) string {
	return rapid.StringMatching(`[A-Z][a-z]{3,9}`).Draw(t, what)
}

// drawPerson draws a patient with one or two given names and a simple or
// double last name.
func drawPerson(t *rapid.T) identity.Person {
	p := identity.Person{FirstName: drawName(t, "first"), LastName: drawName(t, "last")}
	if rapid.Bool().Draw(t, "middle") {
		p.FirstName += " " + drawName(t, "middle name")
	}
	if rapid.Bool().Draw(t, "double") {
		p.LastName += rapid.SampledFrom([]string{" ", "-"}).Draw(t, "joint") + drawName(t, "second last name")
	}
	p.DOB = civil.MustParse("1930-01-01").AddDays(rapid.IntRange(0, 35000).Draw(t, "day"))
	p.Gender = rapid.SampledFrom([]string{"female", "male"}).Draw(t, "sex")
	return p
}

// mutateName changes letters of a name.
func mutateName(t *rapid.T, name string) string {
	var at []int
	for i, r := range name {
		if r != ' ' && r != '-' {
			at = append(at, i)
		}
	}
	i := rapid.SampledFrom(at).Draw(t, "at")
	letter := rapid.SampledFrom(strings.Split(letters, "")).Draw(t, "letter")
	switch rapid.SampledFrom([]string{"replace", "delete", "insert"}).Draw(t, "edit") {
	case "replace":
		if strings.EqualFold(letter, name[i:i+1]) {
			letter = string(letters[(strings.Index(letters, letter)+1)%len(letters)])
		}
		return name[:i] + letter + name[i+1:]
	case "delete":
		return name[:i] + name[i+1:]
	}
	return name[:i] + letter + name[i:]
}

// No change of name, birth date or sex outside the allowed spellings is the
// same person.
func TestNoOtherPersonAgrees(t *testing.T) {
	words := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '-' })
	}
	mutations := map[string]func(t *rapid.T, p *identity.Person){
		"letters of a first name": func(t *rapid.T, p *identity.Person) { p.FirstName = mutateName(t, p.FirstName) },
		"letters of a last name":  func(t *rapid.T, p *identity.Person) { p.LastName = mutateName(t, p.LastName) },
		"another first name": func(t *rapid.T, p *identity.Person) {
			own := words(p.FirstName)[0]
			p.FirstName = rapid.StringMatching(`[A-Z][a-z]{1,9}`).Filter(func(s string) bool { return s != own }).Draw(t, "other")
		},
		"another last name": func(t *rapid.T, p *identity.Person) {
			own := p.LastName
			p.LastName = rapid.StringMatching(`[A-Z][a-z]{0,9}`).Filter(func(s string) bool { return s != own }).Draw(t, "other")
		},
		"a short first name":         func(_ *rapid.T, p *identity.Person) { p.FirstName = p.FirstName[:2] },
		"the initial of a last name": func(_ *rapid.T, p *identity.Person) { p.LastName = p.LastName[:1] },
		"another initial": func(t *rapid.T, p *identity.Person) {
			p.FirstName = string(letters[(strings.Index(letters, strings.ToLower(p.FirstName[:1]))+rapid.IntRange(1, 25).Draw(t, "by"))%26])
		},
		"a hyphenated first name": func(t *rapid.T, p *identity.Person) {
			p.FirstName = words(p.FirstName)[0] + "-" + drawName(t, "more") + "x"
		},
		"a longer last name": func(t *rapid.T, p *identity.Person) { p.LastName += "-" + drawName(t, "more") },
		"one more last name": func(t *rapid.T, p *identity.Person) { p.LastName += " " + drawName(t, "more") },
		"no last name":       func(_ *rapid.T, p *identity.Person) { p.LastName = "" },
		"no first name":      func(_ *rapid.T, p *identity.Person) { p.FirstName = " - ." },
		"an HL7 null":        func(_ *rapid.T, p *identity.Person) { p.LastName = `""` },
		"no birth date":      func(_ *rapid.T, p *identity.Person) { p.DOB = civil.Date{} },
		"another birth date": func(t *rapid.T, p *identity.Person) {
			p.DOB = p.DOB.AddDays(rapid.SampledFrom([]int{-366, -365, -31, -1, 1, 10, 30, 365, 366, 3653}).Draw(t, "days"))
		},
		"another sex": func(t *rapid.T, p *identity.Person) {
			other := map[string]string{"female": "male", "male": "female"}[p.Gender]
			p.Gender = rapid.SampledFrom([]string{other, strings.ToUpper(other[:1]), "other", "O"}).Draw(t, "sex")
		},
		"names in the wrong place": func(t *rapid.T, p *identity.Person) {
			if strings.EqualFold(strings.Join(words(p.FirstName), ""), strings.Join(words(p.LastName), "")) {
				t.Skip("one name")
			}
			p.FirstName, p.LastName = p.LastName, p.FirstName
		},
	}
	names := make([]string, 0, len(mutations))
	for name := range mutations {
		names = append(names, name)
	}
	slices.Sort(names)
	rapid.Check(t, func(t *rapid.T) {
		p := drawPerson(t)
		other := p
		mutations[rapid.SampledFrom(names).Draw(t, "mutation")](t, &other)
		if identity.Compare(p, other).IsSamePerson() || identity.Compare(other, p).IsSamePerson() {
			t.Fatalf("%q %q agrees with %q %q", p.FirstName, p.LastName, other.FirstName, other.LastName)
		}
	})
}

// The allowed spellings are the same person, in any combination.
func TestSpellingsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPerson(t)
		other := p
		spell := func(what, s string) string {
			if rapid.Bool().Draw(t, what+" apostrophe") {
				s = s[:1] + "’" + s[1:]
			}
			if rapid.Bool().Draw(t, what+" upper") {
				s = strings.ToUpper(s)
			}
			if rapid.Bool().Draw(t, what+" accents") {
				s = strings.NewReplacer("a", "á", "e", "è", "o", "ö", "n", "ñ", "u", "ü", "c", "ç", "A", "Å").Replace(s)
			}
			return s
		}
		if first, middle, ok := strings.Cut(p.FirstName, " "); ok {
			other.FirstName = first + rapid.SampledFrom([]string{"", " " + middle, "-" + middle, middle, " " + middle[:1], " " + middle[:1] + "."}).Draw(t, "middle as reported")
		}
		if rapid.Bool().Draw(t, "initial") && !strings.Contains(other.FirstName, "-") && len(strings.Fields(other.FirstName)[0]) <= len(strings.Fields(p.FirstName)[0]) {
			other.FirstName = other.FirstName[:1] + "."
		}
		if strings.ContainsAny(p.LastName, " -") {
			parts := strings.FieldsFunc(p.LastName, func(r rune) bool { return r == ' ' || r == '-' })
			if rapid.Bool().Draw(t, "turned") {
				slices.Reverse(parts)
				other.LastName = strings.Join(parts, rapid.SampledFrom([]string{" ", "-"}).Draw(t, "joint"))
			} else {
				other.LastName = strings.Join(parts, rapid.SampledFrom([]string{" ", "-", "", " - "}).Draw(t, "joint"))
			}
		}
		other.FirstName, other.LastName = spell("first", other.FirstName), spell("last", other.LastName)
		other.LastName += rapid.SampledFrom([]string{"", " Jr.", ", III", " SR", " V"}).Draw(t, "suffix")
		other.Gender = rapid.SampledFrom([]string{p.Gender, strings.ToUpper(p.Gender[:1]), "", "unknown", "U"}).Draw(t, "sex as reported")
		for _, c := range []identity.Comparison{identity.Compare(p, other), identity.Compare(other, p)} {
			if !c.IsSamePerson() {
				t.Fatalf("%q %q and %q %q: %v", p.FirstName, p.LastName, other.FirstName, other.LastName, c.Problems())
			}
		}
	})
}
