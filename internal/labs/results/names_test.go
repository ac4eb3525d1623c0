package results

import (
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// Whatever a result has of names, it is found as by comparing it with each.
func TestRegister(t *testing.T) {
	same := func(a, b naming) bool {
		switch {
		case a.code != "" && b.code != "":
			return a.code == b.code
		case a.loinc != "" && b.loinc != "":
			return a.loinc == b.loinc
		}
		return a.slug == b.slug
	}
	some := rapid.Custom(func(t *rapid.T) naming {
		pick := func(part string, of ...string) string { return rapid.SampledFrom(of).Draw(t, part) }
		return naming{pick("code", "", "A", "B"), pick("loinc", "", "1-8", "2-6"), pick("slug", "", "x", "y", "A")}
	})
	rapid.Check(t, func(t *rapid.T) {
		all, r := rapid.SliceOf(some).Draw(t, "all"), register{}
		for _, n := range all {
			r.add(n)
		}
		one := some.Draw(t, "one")
		if got, want := r.has(one), slices.ContainsFunc(all, func(n naming) bool { return same(one, n) }); got != want {
			t.Fatalf("%+v among %+v: %v", one, all, got)
		}
	})
}

// Very many results that are missing are listed, each once. To compare each with
// each would take minutes, which whoever runs the test would notice.
func TestManyMissing(t *testing.T) {
	const many = 100_000
	var list absent
	for range 2 {
		for i := range many {
			list.add(Missing{Slug: strconv.Itoa(i)}, UnknownFailure)
		}
	}
	if n := len(list.all); n != many {
		t.Errorf("%d are listed", n)
	}
}
