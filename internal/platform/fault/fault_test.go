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

// The codes of errors are a closed list, each with one meaning.
func TestCodes(t *testing.T) {
	for kind := Internal; kind <= Unavailable; kind++ {
		if kind.Word() == "" {
			t.Errorf("kind %d has no code", kind)
		}
	}
	all := Codes()
	if len(slices.Compact(slices.Clone(all))) != len(all) {
		t.Errorf("a code occurs twice: %v", all)
	}
	for want, err := range map[string]error{
		"internal_error":          errors.New("x"),
		"not_found":               New(NotFound, "x"),
		"idempotency_key_running": fmt.Errorf("while: %w", New(Conflict, "x").WithType("idempotency_key_running")),
		"conflict":                New(Conflict, "x").WithType("a code outside the list"),
		"invalid_request":         Join(New(Invalid, "x").WithType("zip_state")),
	} {
		if got := CodeOf(err); got != want {
			t.Errorf("%v has the code %s, want %s", err, got, want)
		}
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
