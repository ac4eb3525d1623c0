package diagnoses

import "strings"

// longestCode is in characters without the dot: a category of three and up to
// four more.
const longestCode = 7

// Tidy brings a code into the form it is shown in, such as E11.65, from any
// case and with or without its dot. ok tells that it looks like a code at all,
// not that there is such a code.
func Tidy(text string) (code string, ok bool) {
	plain, ok := compact(text)
	return dotted(plain), ok
}

// compact is a code in capitals without its dot.
func compact(text string) (code string, ok bool) {
	text = strings.ToUpper(strings.TrimSpace(text))
	if len(text) > longestCode+1 {
		return "", false
	}
	if before, after, has := strings.Cut(text, "."); has {
		if len(before) != 3 || after == "" {
			return "", false
		}
		text = before + after
	}
	if len(text) < 3 || len(text) > longestCode || !isLetter(text[0]) || !isDigit(text[1]) {
		return "", false
	}
	for i := 2; i < len(text); i++ {
		if !isLetter(text[i]) && !isDigit(text[i]) {
			return "", false
		}
	}
	return text, true
}

func dotted(plain string) string {
	if len(plain) <= 3 {
		return plain
	}
	return plain[:3] + "." + plain[3:]
}

func isLetter(c byte) bool { return 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }

// isSecondary reports whether a code may never be an encounter's first one: it
// names a manifestation or an agent of a disease coded elsewhere, or what an
// injury came from.
//
// ICD-10-CM Official Guidelines, I.A.13 and I.C.20.
func isSecondary(plain, title string) bool {
	return 'V' <= plain[0] && plain[0] <= 'Y' || strings.HasSuffix(title, "diseases classified elsewhere")
}
