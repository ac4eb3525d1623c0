package diagnoses

import (
	"context"
	"slices"
	"strconv"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// mostCodes bounds one request; a claim has room for twelve.
const mostCodes = 100

// Clash is two codes of which the one excludes the other.
type Clash struct {
	Code, Other string
	Kind        Kind
}

// Verdict is what there is to say of some codes together.
//
// Reference 1.18, ValidateICDCodesResponse.
type Verdict struct {
	Errors     []string // of codes that do not exist, are not complete or stand there twice
	Violations []Clash  // Excludes1
	Warnings   []Clash  // Excludes2
}

// Valid reports whether the codes may be used: warnings do not forbid it.
func (v Verdict) Valid() bool { return len(v.Errors) == 0 && len(v.Violations) == 0 }

// Validate judges codes, in any form that Tidy takes.
func Validate(ctx context.Context, tx *store.Tx, codes []string) (Verdict, error) {
	v := Verdict{Errors: []string{}, Violations: []Clash{}, Warnings: []Clash{}}
	if len(codes) > mostCodes {
		return v, tooMany("body", "codes")
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
		plain, problem := l.judge(code)
		switch {
		case problem != "":
			v.Errors = append(v.Errors, name(code)+": "+problem)
		case seen[plain]:
			v.Errors = append(v.Errors, dotted(plain)+": stands there twice")
		default:
			seen[plain] = true
			good = append(good, plain)
		}
	}
	for i, a := range good {
		for _, b := range good[i+1:] {
			switch kind, found := known.between(a, b); {
			case found && kind == Excludes1:
				v.Violations = append(v.Violations, Clash{dotted(a), dotted(b), kind})
			case found:
				v.Warnings = append(v.Warnings, Clash{dotted(a), dotted(b), kind})
			}
		}
	}
	return v, nil
}

// Valid returns a fault for each code that does not exist or is not complete;
// nil when all are good. at is where the codes stand in the body. What excludes
// what is for whoever codes to judge, with Validate.
func Valid(ctx context.Context, tx *store.Tx, codes []string, at ...string) error {
	at = append([]string{"body"}, at...)
	if len(codes) > mostCodes {
		return tooMany(at...)
	}
	l, err := icd10.Current(ctx, tx)
	if err != nil {
		return err
	}
	var faults []*fault.Error
	for i, code := range codes {
		if _, problem := l.judge(code); problem != "" {
			faults = append(faults, fault.New(fault.Invalid, "Value error, "+problem).At(append(slices.Clip(at), strconv.Itoa(i))...))
		}
	}
	return fault.Join(faults...)
}

// judge says what is wrong with a code; nothing for a good one.
func (l *list) judge(code string) (plain, problem string) {
	plain, ok := compact(code)
	switch {
	case !ok:
		return "", "is no code of ICD-10-CM, such as E11.65"
	case l.has(plain):
		return plain, ""
	case l.headings[plain]:
		return "", "is not complete: it has codes below it, one of which is needed"
	}
	return "", "is not in the list of ICD-10-CM codes in use here"
}

func (l *list) has(plain string) bool { _, ok := l.complete[plain]; return ok }

// name repeats a code to the caller that sent it, cut short when it is none.
func name(code string) string {
	if tidy, ok := Tidy(code); ok {
		return tidy
	}
	const enough = 20
	if runes := []rune(code); len(runes) > enough {
		return string(runes[:enough]) + "…"
	}
	return code
}

func tooMany(at ...string) error {
	return fault.Newf(fault.Invalid, "Value error, at most %d codes", mostCodes).At(at...).WithType("too_long")
}
