package resources

import (
	"strconv"
	"strings"
)

// What the table says, in words for the API document and docs/resources.md.

// Range is what a believable value lies between: 20 to 300. Of a pair it is
// both ranges, of a text empty.
func (r *Resource) Range() string {
	switch {
	case r.Text:
		return ""
	case r.Pair:
		return Between(r.Min, r.Max) + " over " + Between(r.LeastLow, r.MostLow)
	case r.PerMinute > 0:
		return Between(r.Min, r.Max) + ", " + number(r.PerMinute) + " a minute"
	}
	return Between(r.Min, r.Max)
}

// Between is a range in words: 20 to 300.
func Between(least, most float64) string {
	if least == most {
		return number(least)
	}
	return number(least) + " to " + number(most)
}

// number writes thousands apart: 100,000.
func number(v float64) string {
	text := strconv.FormatFloat(v, 'f', -1, 64)
	whole, fraction, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return whole
}

// TypeWords are the words of a sample's type, quoted, and empty where it has
// none.
func (r *Resource) TypeWords() string {
	switch {
	case r.AnyType:
		return "any word, such as `" + r.Example.Type + "`"
	case r.Kinds:
		return Quoted(r.Types) + "; required"
	}
	return Quoted(r.Types)
}

// Quoted lists words as code.
func Quoted(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return "`" + strings.Join(words, "`, `") + "`"
}

// Shape tells an interval from a moment.
func (r *Resource) Shape() string {
	if r.Interval {
		return "interval"
	}
	return "moment"
}

// FieldWords are the further fields of samples with their words.
func (r *Resource) FieldWords() string {
	if r.Text {
		return "`tags`: a list of " + Quoted(r.Tags)
	}
	all := make([]string, 0, len(r.Extra))
	for _, field := range r.Extra {
		text := "`" + field.Name + "`"
		if len(field.Words) > 0 {
			text += ": " + Quoted(field.Words)
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}
