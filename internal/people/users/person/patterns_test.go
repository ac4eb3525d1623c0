package person

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Each pattern allows exactly the values that its rule accepts.
func TestPatternsAreTheRules(t *testing.T) {
	text := func(limit int) func(Form, string) { return func(f Form, s string) { f.Text("x", s, limit) } }
	address := func(change func(a *Address, s string)) func(Form, string) {
		return func(f Form, s string) {
			a := Address{FirstLine: "1 Main St", City: "Phoenix", State: "AZ", Zip: "85004", Country: "US"}
			change(&a, s)
			f.Address("x", a)
		}
	}
	for _, c := range []struct {
		name     string
		patterns []string
		rule     func(f Form, s string)
		near     string // pattern of values that are close to valid ones
		samples  []string
	}{
		{"text", []string{TextPattern(200)}, text(200), `[ a\t\n\x00\x7fé]{0,6}`, longTexts(200)},
		{"text of one", []string{TextPattern(1)}, text(1), `[ aé]{0,3}`, nil},
		{"text of two", []string{TextPattern(2)}, text(2), `[ aé]{0,4}`, nil},
		{"long text", []string{TextPattern(1000)}, text(1000), `[ a]{0,3}`, longTexts(1000)},
		{"text without a limit", []string{TextPattern(10_000)}, text(10_000), `[ a\n\x01]{0,4}`, []string{strings.Repeat("a", 10_000)}},
		{"optional", []string{OptionalPattern(50)}, func(f Form, s string) { f.Optional("x", s, 50) }, `[ a\n\x01]{0,4}`, longTexts(50)},
		{"name", NamePatterns, func(f Form, s string) { f.Name("x", s) }, `[ aA1.,'é_-]{0,6}|[ab ]{45,55}`, longTexts(50)},
		{"email", EmailPatterns, func(f Form, s string) { f.Email("x", s) }, `[ a1.+_é"-]{0,5}@?[a1é.-]{0,6}\.(a|ab|é|1b|xn--a|xn--|com| co)`, []string{
			strings.Repeat("a", 64) + "@b.cd", strings.Repeat("a", 65) + "@b.cd", "a@" + strings.Repeat("b", 63) + ".cd", "a@" + strings.Repeat("b", 64) + ".cd",
			strings.Repeat("a", 64) + "@" + strings.Repeat("bbbb.", 37) + "cd.ef", strings.Repeat("a", 64) + "@" + strings.Repeat("bbbb.", 37) + "cd.efg",
			"a@b." + strings.Repeat("c", 63), "a@b." + strings.Repeat("c", 64), "a@b.xn--" + strings.Repeat("c", 59), "a@b.xn--" + strings.Repeat("c", 60),
		}},
		{"phone", PhonePatterns, func(f Form, s string) { f.Phone("x", s) }, ` ?(\+|00|0 0|)[ (]?[015]?[ )-]?[0-9]{3}[ ./()-]{0,3}[0-9]{3,9}[ x-]?`, []string{
			"+1415" + strings.Repeat(" ", 28) + "5550132", "+1415" + strings.Repeat(" ", 29) + "5550132",
		}},
		{"zip", []string{ZipPattern}, address(func(a *Address, s string) { a.Zip = s }), ` ?[0-9]{4,6}(-[0-9]{3,5})? ?`, nil},
		{"state", []string{WordsPattern(StateCodes(), true)}, address(func(a *Address, s string) { a.State = s }), ` ?[A-Za-z]{1,3} ?`, nil},
		{"country", []string{USPattern + "|" + AbroadPattern}, address(func(a *Address, s string) { a.Country = s }), ` ?[A-Za-z]{0,3} ?| ?(united|UNITED) States( of (america|AMERICA))?| ?[Uu][Ss][Aa]?`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var all []*regexp.Regexp
			for _, p := range c.patterns {
				all = append(all, regexp.MustCompile(p))
			}
			compare := func(t interface{ Fatalf(string, ...any) }, value string) {
				form := NewForm(today)
				c.rule(form, value)
				fits := true
				for _, p := range all {
					fits = fits && p.MatchString(value)
				}
				if valid := form.Err() == nil; fits != valid {
					t.Fatalf("%q: the pattern says %v, the rule %v (%v)", value, fits, valid, form.Err())
				}
			}
			for _, value := range append(c.samples, "", " ", "a", "\n", "\x00", "é") {
				compare(t, value)
			}
			rapid.Check(t, func(rt *rapid.T) { compare(rt, rapid.StringMatching(c.near).Draw(rt, "value")) })
		})
	}
}

// longTexts returns texts at the limit, with and without spaces around them.
func longTexts(limit int) []string {
	whole := strings.Repeat("a", limit)
	return []string{whole, whole + "a", " " + whole + " ", "  " + whole[2:] + "a a"}
}

// Phone555Pattern matches exactly the valid numbers that become +1555….
func TestPhone555Pattern(t *testing.T) {
	pattern := regexp.MustCompile(Phone555Pattern)
	rapid.Check(t, func(rt *rapid.T) {
		number := rapid.StringMatching(` ?(\+|00|)[ (]?1?[ )-]?(555|5 5 5|55|255)[ ./()-]{0,3}[0-9]{6,8}`).Draw(rt, "number")
		form := NewForm(today)
		stored := form.Phone("x", number)
		if form.Err() == nil && pattern.MatchString(number) != strings.HasPrefix(stored, "+1555") {
			rt.Fatalf("%q, which is stored as %s: the pattern says %v", number, stored, pattern.MatchString(number))
		}
	})
}
