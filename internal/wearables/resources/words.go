package resources

import (
	"strconv"
	"strings"
)

// The table in words, for the OpenAPI document and docs/resources.md.

// Range returns the range of plausible values: 20 to 300. It has both ranges of a pair,
// and is empty for a text.
func (r *Resource) Range() string {
	switch {
	case r.Text:
		return ""
	case r.Pair:
		return RangeText(r.Min, r.Max) + " over " + RangeText(r.LeastLow, r.MostLow)
	case r.PerMinute > 0:
		return RangeText(r.Min, r.Max) + ", " + number(r.PerMinute) + " a minute"
	}
	return RangeText(r.Min, r.Max)
}

// RangeText returns a range in words: 20 to 300.
func RangeText(least, most float64) string {
	if least == most {
		return number(least)
	}
	return number(least) + " to " + number(most)
}

// number separates thousands: 100,000.
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

// TypeWords returns the words of a sample's type, quoted; empty without a type.
func (r *Resource) TypeWords() string {
	switch {
	case r.AnyType:
		return "any word, such as `" + r.Example.Type + "`"
	}
	words := QuoteWords(r.Types)
	if r.Kinds {
		words += "; required"
	}
	switch {
	case r.OneType:
		words += "; the later one replaces the other"
	case r.LateType:
		words += "; replaces a sample without one"
	}
	return words
}

// QuoteWords lists words as code.
func QuoteWords(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return "`" + strings.Join(words, "`, `") + "`"
}

// Shape returns interval or moment.
func (r *Resource) Shape() string {
	if r.Interval {
		return "interval"
	}
	return "moment"
}

// FieldWords returns the further fields of samples with their words.
func (r *Resource) FieldWords() string {
	if r.Text {
		return "`tags`: a list of " + QuoteWords(r.Tags)
	}
	all := make([]string, 0, len(r.Extra))
	for _, field := range r.Extra {
		text := "`" + field.Name + "`"
		if len(field.Words) > 0 {
			text += ": " + QuoteWords(field.Words)
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}
