package providers

import (
	"cmp"
	"slices"
	"strings"
)

// Newer reports whether the first of two versions, such as 10.0 and 9.6.3, is the later
// one. They are compared part by part. Within a part, such as 10b or Build 100, they
// are compared number by number, so the order is total. A text is older than any
// number.
func Newer(a, b string) bool {
	return cmp.Or(slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), compareNatural), strings.Compare(a, b)) > 0
}

// compareNatural compares two texts run by run: runs of digits as numbers, others as
// texts, in which case does not matter.
func compareNatural(a, b string) int {
	for a != "" && b != "" {
		x, y := leadingRun(a), leadingRun(b)
		a, b = a[len(x):], b[len(y):]
		if by := compareRuns(x, y); by != 0 {
			return by
		}
	}
	return cmp.Compare(len(a), len(b))
}

func compareRuns(x, y string) int {
	number, other := isDigit(x[0]), isDigit(y[0])
	switch {
	case number && other:
		x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
		return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y))
	case number:
		return 1
	case other:
		return -1
	}
	return strings.Compare(strings.ToLower(x), strings.ToLower(y))
}

// leadingRun returns the leading digits of a text that is not empty, or its leading
// characters without digits.
func leadingRun(text string) string {
	for i := range len(text) {
		if isDigit(text[i]) != isDigit(text[0]) {
			return text[:i]
		}
	}
	return text
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
