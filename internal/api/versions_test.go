package api

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// RFC 9110, 8.8.3 and 13.1: lists of entity tags, weak ones, and the asterisk.
func TestParseCondition(t *testing.T) {
	for _, x := range []struct {
		lines []string
		any   bool
		tags  string
		bad   bool
	}{
		{lines: nil},
		{lines: []string{"*"}, any: true},
		{lines: []string{" * "}, any: true},
		{lines: []string{`"a"`}, tags: `"a"`},
		{lines: []string{`""`}, tags: `""`},
		{lines: []string{`"a", W/"b" ,"c,d"`}, tags: `"a" W/"b" "c,d"`},
		{lines: []string{`"a"`, `"b"`}, tags: `"a" "b"`},
		{lines: []string{`"a",,"b",`}, tags: `"a" "b"`},
		{lines: []string{""}, bad: true},
		{lines: []string{","}, bad: true},
		{lines: []string{"a"}, bad: true},
		{lines: []string{`"a`}, bad: true},
		{lines: []string{`'a'`}, bad: true},
		{lines: []string{`w/"a"`}, bad: true},
		{lines: []string{`"a b"`}, bad: true},
		{lines: []string{`"a" "b"`}, bad: true},
		{lines: []string{`"a", *`}, bad: true},
		{lines: []string{`*`, `"a"`}, bad: true},
	} {
		c, err := parseCondition(http.Header{"If-Match": x.lines}, "If-Match")
		if (err != nil) != x.bad {
			t.Errorf("%q: %v", x.lines, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "header.If-Match: ") {
			t.Errorf("%q: the error does not name the header: %v", x.lines, err)
		}
		if x.bad || x.lines == nil {
			if c != nil {
				t.Errorf("%q: %+v", x.lines, c)
			}
			continue
		}
		if c.any != x.any || !slices.Equal(c.tags, strings.Fields(x.tags)) {
			t.Errorf("%q: %+v", x.lines, c)
		}
	}
}

// A change needs the exact version; a read compares weakly.
func TestConditionsCompareTags(t *testing.T) {
	for _, x := range []struct {
		match, noneMatch string
		allow            bool
	}{
		{"", "", true},
		{`"v"`, "", true},
		{`"u", "v"`, "", true},
		{"*", "", true},
		{`"u"`, "", false},
		{`W/"v"`, "", false},
		{"", `"v"`, false},
		{"", `W/"v"`, false},
		{"", "*", false},
		{"", `"u"`, true},
		{`"v"`, `"v"`, false},
		{"", `, "v"`, false},
		{`, "u" ,, "v",`, "", true},
	} {
		h := http.Header{}
		if x.match != "" {
			h.Set("If-Match", x.match)
		}
		if x.noneMatch != "" {
			h.Set("If-None-Match", x.noneMatch)
		}
		c, err := conditionsOf(h)
		if err != nil || c.allow(`"v"`) != x.allow {
			t.Errorf("If-Match %s, If-None-Match %s: %v, %v", x.match, x.noneMatch, c.allow(`"v"`), err)
		}
	}
}
