package query

import (
	"strconv"
	"strings"
)

// token is one word of a condition.
type token struct {
	kind tokenKind
	text string  // of names, upper-cased for keywords; of strings, without quotes
	num  float64 // of numbers
	at   int     // byte position in the text, from 1
}

type tokenKind int

const (
	endToken tokenKind = iota
	nameToken
	keywordToken // AND, OR, NOT, TRUE, FALSE
	stringToken
	numberToken
	compareToken // > >= < <= = !=
	openToken
	closeToken
)

// syntaxError is a mistake in a condition. Its text names the position and
// never what stands there.
type syntaxError struct {
	at   int
	says string
}

func (e *syntaxError) Error() string { return e.says + " at position " + strconv.Itoa(e.at) }

// lex parts the text of a condition into tokens; the last one is endToken.
func lex(s string) ([]token, error) {
	var all []token
	for i := 0; i < len(s); {
		start := i
		t := token{at: start + 1}
		switch c := s[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
			continue
		case c == '(' || c == ')':
			t.kind = openToken
			if c == ')' {
				t.kind = closeToken
			}
			i++
		case strings.IndexByte("<>=!", c) >= 0:
			i++
			if i < len(s) && s[i] == '=' && c != '=' {
				i++
			}
			t.kind, t.text = compareToken, s[start:i]
			if t.text == "!" {
				return nil, &syntaxError{t.at, "an exclamation mark without ="}
			}
		case c == '\'':
			text, n, ok := quoted(s[i:])
			if !ok {
				return nil, &syntaxError{t.at, "a string that does not end"}
			}
			t.kind, t.text = stringToken, text
			i += n
		case isDigit(c) || (c == '-' || c == '+' || c == '.') && i+1 < len(s) && (isDigit(s[i+1]) || s[i+1] == '.'):
			i++
			for i < len(s) && isNumberPart(s, i) {
				i++
			}
			f, err := strconv.ParseFloat(s[start:i], 64)
			if err != nil {
				return nil, &syntaxError{t.at, "not a number"}
			}
			t.kind, t.num = numberToken, f
		case isLetter(c):
			for i < len(s) && (isLetter(s[i]) || isDigit(s[i])) {
				i++
			}
			t.kind, t.text = nameToken, s[start:i]
			switch upper := strings.ToUpper(t.text); upper {
			case "AND", "OR", "NOT", "TRUE", "FALSE":
				t.kind, t.text = keywordToken, upper
			}
		default:
			return nil, &syntaxError{t.at, "an unexpected character"}
		}
		all = append(all, t)
	}
	return append(all, token{kind: endToken, at: len(s) + 1}), nil
}

// quoted reads a string in single quotes; two of them inside mean one.
func quoted(s string) (text string, n int, ok bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != '\'' {
			b.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == '\'' {
			b.WriteByte('\'')
			i++
			continue
		}
		return b.String(), i + 1, true
	}
	return "", 0, false
}

func isNumberPart(s string, i int) bool {
	c := s[i]
	if c == '-' || c == '+' {
		return s[i-1] == 'e' || s[i-1] == 'E'
	}
	return isDigit(c) || c == '.' || c == 'e' || c == 'E'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }
