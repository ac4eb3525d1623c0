package places

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Read is what a file of sites or of coverage holds.
type Read[T any] struct {
	Rows     []T // the lines that have no problem
	Lines    int // all lines
	Problems []Problem
	More     int      // problems beyond those that are listed
	Ignored  []string // fields that mean nothing here
}

func (r *Read[T]) problem(p Problem) {
	if len(r.Problems) == mostProblems {
		r.More++
		return
	}
	r.Problems = append(r.Problems, p)
}

// lines reads a file with a parser of its records. known are the fields that
// mean something; identity is what may be there only once.
func lines[T any](file io.Reader, known []string, parse func(*form) T, identity func(T) string) (Read[T], error) {
	var all Read[T]
	ignored, seen := map[string]bool{}, map[string]int{}
	err := records(file, func(r record, err error) {
		all.Lines++
		var broken errLine
		if errors.As(err, &broken) {
			all.problem(broken.Problem)
			return
		}
		for name := range r.fields {
			if name != "" && !slices.Contains(known, name) {
				ignored[name] = true
			}
		}
		f := &form{record: r}
		row := parse(f)
		if len(f.problems) == 0 {
			id := identity(row)
			if first := seen[id]; first > 0 {
				f.bad("", fmt.Sprintf("is there already, on line %d", first))
			} else {
				seen[id] = r.line
			}
		}
		for _, p := range f.problems {
			all.problem(p)
		}
		if len(f.problems) == 0 {
			all.Rows = append(all.Rows, row)
		}
	})
	for name := range ignored {
		all.Ignored = append(all.Ignored, short(name))
	}
	slices.Sort(all.Ignored)
	return all, err
}

// form reads the fields of a record and notes what is wrong with them.
type form struct {
	record
	problems []Problem
}

func (f *form) bad(field, text string) { f.problems = append(f.problems, Problem{f.line, field, text}) }

// text is a line of at most so many characters.
func (f *form) text(field string, most int) string {
	s := f.fields[field]
	switch {
	case utf8.RuneCountInString(s) > most:
		f.bad(field, fmt.Sprintf("has more than %d characters", most))
	case strings.ContainsFunc(s, unicode.IsControl):
		f.bad(field, "has characters that cannot be printed")
	}
	return s
}

// needed is text that must be there.
func (f *form) needed(field string, most int) string {
	s := f.text(field, most)
	if s == "" {
		f.bad(field, "is missing")
	}
	return s
}

// matched is text that must be there and in its form; what says what that is.
func (f *form) matched(field string, shape *regexp.Regexp, what string) string {
	s := f.fields[field]
	if s == "" {
		f.bad(field, "is missing")
	} else if !shape.MatchString(s) {
		f.bad(field, "must be "+what)
	}
	return s
}
