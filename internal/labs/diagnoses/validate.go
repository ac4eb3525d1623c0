package diagnoses

import (
	"context"
	"slices"
	"strconv"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// mostCodes limits one request; a claim has at most twelve.
const mostCodes = 100

// Clash is a pair of codes that exclude each other.
type Clash struct {
	Code, Other string
	Kind        Kind
}

// Verdict is the result of validating codes together.
//
// Reference 1.18, ValidateICDCodesResponse.
type Verdict struct {
	Errors     []string // codes that do not exist, are not complete or are duplicates
	Violations []Clash  // Excludes1
	Warnings   []Clash  // Excludes2
}

// Valid reports whether the codes may be used. Warnings are allowed.
func (v Verdict) Valid() bool { return len(v.Errors) == 0 && len(v.Violations) == 0 }

// Validate checks codes, in any form that Tidy accepts.
func Validate(ctx context.Context, tx *store.Tx, codes []string) (Verdict, error) {
	v := Verdict{Errors: []string{}, Violations: []Clash{}, Warnings: []Clash{}}
	if len(codes) > mostCodes {
		return v, tooManyCodes("body", "codes")
	}
	l, err := icd10.Current(ctx, tx)
	if err != nil {
		return v, err
	}
	known, err := excludes.Current(ctx, tx)
	if err != nil {
		return v, err
	}
	seen := map[string]bool{}
	var good []string
	for _, code := range codes {
		plain, problem := l.check(code)
		switch {
		case problem != "":
			v.Errors = append(v.Errors, displayCode(code)+": "+problem)
		case seen[plain]:
			v.Errors = append(v.Errors, withDot(plain)+": is listed twice")
		default:
			seen[plain] = true
			good = append(good, plain)
		}
	}
	for i, a := range good {
		for _, b := range good[i+1:] {
			switch kind, found := known.conflictOf(a, b); {
			case found && kind == Excludes1:
				v.Violations = append(v.Violations, Clash{withDot(a), withDot(b), kind})
			case found:
				v.Warnings = append(v.Warnings, Clash{withDot(a), withDot(b), kind})
			}
		}
	}
	return v, nil
}

// CheckCodes returns a fault for each code that does not exist or is not
// complete, nil if there is none. at is the path of the codes in the body. It
// does not check exclusions: the caller's coder decides those, with Validate.
func CheckCodes(ctx context.Context, tx *store.Tx, codes []string, at ...string) error {
	at = append([]string{"body"}, at...)
	if len(codes) > mostCodes {
		return tooManyCodes(at...)
	}
	l, err := icd10.Current(ctx, tx)
	if err != nil {
		return err
	}
	var faults []*fault.Error
	for i, code := range codes {
		if _, problem := l.check(code); problem != "" {
			faults = append(faults, fault.New(fault.Invalid, "Value error, "+problem).At(append(slices.Clip(at), strconv.Itoa(i))...))
		}
	}
	return fault.Join(faults...)
}

// check returns the problem of a code, empty for a good one.
func (l *list) check(code string) (plain, problem string) {
	plain, ok := compactCode(code)
	switch {
	case !ok:
		return "", "is no code of ICD-10-CM, such as E11.65"
	case l.isComplete(plain):
		return plain, ""
	case l.headings[plain]:
		return "", "is not complete: it has codes below it, one of which is needed"
	}
	return "", "is not in the list of ICD-10-CM codes in use here"
}

func (l *list) isComplete(plain string) bool { _, ok := l.complete[plain]; return ok }

// displayCode returns a code of the caller for a message. Text that is no code
// is cut.
func displayCode(code string) string {
	if tidy, ok := Tidy(code); ok {
		return tidy
	}
	const enough = 20
	if runes := []rune(code); len(runes) > enough {
		return string(runes[:enough]) + "…"
	}
	return code
}

func tooManyCodes(at ...string) error {
	return fault.Newf(fault.Invalid, "Value error, at most %d codes", mostCodes).At(at...).WithType("too_long")
}
