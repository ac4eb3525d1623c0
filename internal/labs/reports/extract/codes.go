package extract

import (
	"regexp"
	"slices"
	"strings"

	"hale/internal/labs/loinc"
)

var (
	codeForm   = regexp.MustCompile(`^[(\[]?\d{3,5}-\d[)\]]?,?$`)
	codeInName = regexp.MustCompile(`(?i)\s*[(\[]?(?:loinc\s*:?\s*)?\d{3,5}-\d[)\]]?$`)
)

// isCodeForm reports whether text looks like a LOINC code. The range 120-9 does not exist.
func isCodeForm(text string) bool {
	return codeForm.MatchString(strings.TrimSpace(text))
}

// printedCode returns the LOINC code in the words of a line.
func printedCode(words []Word) string {
	for _, w := range words {
		if !codeForm.MatchString(w.Text) {
			continue
		}
		if code := strings.Trim(w.Text, "()[],"); loinc.Valid(code) {
			return code
		}
	}
	return ""
}

// useCode puts the printed code first among the candidates. A code that is none of them
// contradicts the name.
func (r *Row) useCode(code string, review func(Reason)) {
	at := slices.IndexFunc(r.Matches, func(m Match) bool { return m.Code == code })
	switch {
	case code == "" || at == 0 || len(r.Matches) == 0:
	case at > 0:
		chosen := r.Matches[at]
		r.Matches = slices.Insert(slices.Delete(slices.Clone(r.Matches), at, at+1), 0, chosen)
	default:
		review(CodeDiffers)
	}
}
