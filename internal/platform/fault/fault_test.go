package fault

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

func TestKindOf(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want Kind
	}{
		"plain":   {errors.New("x"), Internal},
		"fault":   {New(NotFound, "x"), NotFound},
		"wrapped": {fmt.Errorf("while: %w", New(Conflict, "x")), Conflict},
		"list":    {Join(New(Invalid, "a"), nil, New(Invalid, "b")), Invalid},
		"joined":  {errors.Join(errors.New("x"), New(TooLarge, "y")), TooLarge},
	} {
		if got := KindOf(c.err); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if Join(nil, nil) != nil {
		t.Error("a list of nothing is an error")
	}
}

func TestAtNamesAFieldOfTheBody(t *testing.T) {
	if got := New(Invalid, "x").At("dob").Loc(); !slices.Equal(got, []string{"body", "dob"}) {
		t.Error(got)
	}
	if got := New(Invalid, "x").At("query", "limit").Error(); got != "query.limit: x" {
		t.Error(got)
	}
}

func TestEnumMessage(t *testing.T) {
	type word string
	for want, words := range map[string][]word{
		"Input should be 'a'":             {"a"},
		"Input should be 'a' or 'b'":      {"a", "b"},
		"Input should be 'a', 'b' or 'c'": {"a", "b", "c"},
	} {
		if got := EnumMessage(words); got != want {
			t.Errorf("%q", got)
		}
		if e := NotInEnum(words); e.Message() != want || e.Code() != "enum" || e.Kind() != Invalid {
			t.Errorf("%v, %q, %v", e, e.Code(), e.Kind())
		}
	}
}
