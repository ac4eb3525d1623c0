package providers

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Newer says whether the first of two versions, such as 10.0 and 9.6.3, is the
// later one. They are compared number by number, so that it does not matter
// which was heard of first.
func Newer(a, b string) bool {
	number := func(text string) int {
		n, _ := strconv.Atoi(text) // a part that is no number is older than any
		return n
	}
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(x, y string) int {
		return cmp.Or(cmp.Compare(number(x), number(y)), strings.Compare(x, y))
	}) > 0
}
