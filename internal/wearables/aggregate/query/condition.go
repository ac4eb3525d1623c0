package query

import (
	"strconv"
	"strings"
	"time"
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

// syntaxError is a mistake in a condition. Its text names the position and never
// repeats the input.
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
			text, n, ok := lexQuoted(s[i:])
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

// lexQuoted reads a string in single quotes; two of them inside mean one.
func lexQuoted(s string) (text string, n int, ok bool) {
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

// cond is a condition as it was written: names are not resolved yet.
type cond struct {
	op          string // AND, OR, NOT, or a comparison
	left, right *cond  // of AND, OR; NOT has left
	a, b        token  // of a comparison
}

// maxConditionDepth bounds how conditions nest.
const maxConditionDepth = 64

// parseWhere reads the text of a condition:
//
//	condition  = conjunction { OR conjunction }
//	conjunction = negation { AND negation }
//	negation   = NOT negation | "(" condition ")" | operand comparison operand
func parseWhere(s string) (*cond, error) {
	tokens, err := lex(s)
	if err != nil {
		return nil, err
	}
	p := &whereParser{tokens: tokens}
	c, err := p.or(0)
	if err != nil {
		return nil, err
	}
	if t := p.peek(); t.kind != endToken {
		return nil, &syntaxError{t.at, "expected AND, OR or the end"}
	}
	return c, nil
}

type whereParser struct {
	tokens []token
	next   int
}

func (p *whereParser) peek() token { return p.tokens[p.next] }

func (p *whereParser) pop() token {
	t := p.tokens[p.next]
	if t.kind != endToken {
		p.next++
	}
	return t
}

func (p *whereParser) keyword(word string) bool {
	if t := p.peek(); t.kind != keywordToken || t.text != word {
		return false
	}
	p.next++
	return true
}

func (p *whereParser) or(depth int) (*cond, error)  { return p.chain("OR", depth, p.and) }
func (p *whereParser) and(depth int) (*cond, error) { return p.chain("AND", depth, p.not) }

func (p *whereParser) chain(word string, depth int, part func(int) (*cond, error)) (*cond, error) {
	left, err := part(depth)
	for err == nil && p.keyword(word) {
		var right *cond
		right, err = part(depth)
		left = &cond{op: word, left: left, right: right}
	}
	return left, err
}

func (p *whereParser) not(depth int) (*cond, error) {
	if depth > maxConditionDepth {
		return nil, &syntaxError{p.peek().at, "nested too deeply"}
	}
	if p.keyword("NOT") {
		c, err := p.not(depth + 1)
		return &cond{op: "NOT", left: c}, err
	}
	if p.peek().kind != openToken {
		return p.comparison()
	}
	p.pop()
	c, err := p.or(depth + 1)
	if err != nil {
		return nil, err
	}
	if t := p.pop(); t.kind != closeToken {
		return nil, &syntaxError{t.at, "expected )"}
	}
	return c, nil
}

func (p *whereParser) comparison() (*cond, error) {
	a, err := p.operand()
	if err != nil {
		return nil, err
	}
	t := p.pop()
	if t.kind != compareToken {
		return nil, &syntaxError{t.at, "expected one of > >= < <= = !="}
	}
	b, err := p.operand()
	return &cond{op: t.text, a: a, b: b}, err
}

func (p *whereParser) operand() (token, error) {
	t := p.pop()
	switch {
	case t.kind == nameToken, t.kind == stringToken, t.kind == numberToken:
		return t, nil
	case t.kind == keywordToken && (t.text == "TRUE" || t.text == "FALSE"):
		return t, nil
	}
	return t, &syntaxError{t.at, "expected a column, a number or a string in single quotes"}
}

// Condition is a condition in which every name is resolved and every
// comparison is between values of one sort.
type Condition struct {
	Op          string // AND, OR, NOT, or one of > >= < <= = !=
	Left, Right *Condition
	A, B        Operand
}

// Operand is a column or a constant.
type Operand struct {
	Kind  Kind
	Input int     // position of the column; -1 for a constant
	Num   float64 // of numbers and flags, 1 for true
	Time  int64   // of moments and dates
	Text  string
}

// resolver returns a column and its position, by name.
type resolver func(name string) (input int, kind Kind, ok bool)

// resolve turns the parsed condition into a Condition.
func (c *cond) resolve(find resolver) (*Condition, error) {
	if c == nil {
		return nil, nil
	}
	var err error
	out := &Condition{Op: c.op}
	if c.left != nil {
		if out.Left, err = c.left.resolve(find); err != nil {
			return nil, err
		}
		out.Right, err = c.right.resolve(find)
		return out, err
	}
	if out.A, err = operand(c.a, find); err != nil {
		return nil, err
	}
	if out.B, err = operand(c.b, find); err != nil {
		return nil, err
	}
	if out.A.Input < 0 && out.B.Input < 0 {
		return nil, &syntaxError{c.a.at, "a comparison without a column"}
	}
	if out.A, err = checkKinds(out.A, out.B, c.a.at); err != nil {
		return nil, err
	}
	out.B, err = checkKinds(out.B, out.A, c.b.at)
	return out, err
}

func operand(t token, find resolver) (Operand, error) {
	switch t.kind {
	case numberToken:
		return Operand{Kind: Number, Input: -1, Num: t.num}, nil
	case stringToken:
		return Operand{Kind: Text, Input: -1, Text: t.text}, nil
	case keywordToken:
		o := Operand{Kind: Flag, Input: -1}
		if t.text == "TRUE" {
			o.Num = 1
		}
		return o, nil
	default:
	}
	input, kind, ok := find(t.text)
	if !ok {
		return Operand{}, &syntaxError{t.at, "an unknown column"}
	}
	if kind == List {
		return Operand{}, &syntaxError{t.at, "a list, which only a subquery can look into,"}
	}
	return Operand{Kind: kind, Input: input}, nil
}

// checkKinds makes o comparable with other. A text that is compared with a moment or a
// date is parsed as one.
func checkKinds(o, other Operand, at int) (Operand, error) {
	if sort(o.Kind) == sort(other.Kind) {
		return o, nil
	}
	if o.Input < 0 && o.Kind == Text && sort(other.Kind) == Moment {
		us, ok := parseFloating(o.Text)
		if !ok {
			return o, &syntaxError{at, "expected a date (YYYY-MM-DD) or a time (YYYY-MM-DDTHH:MM:SS)"}
		}
		return Operand{Kind: Moment, Input: -1, Time: us}, nil
	}
	if other.Input < 0 && other.Kind == Text && sort(o.Kind) == Moment {
		return o, nil // the other one will be read
	}
	return o, &syntaxError{at, "cannot compare a " + string(o.Kind) + " with a " + string(other.Kind)}
}

// sort puts the kinds together that can be compared.
func sort(k Kind) Kind {
	switch k {
	case Integer:
		return Number
	case Date:
		return Moment
	default:
		return k
	}
}

// parseFloating reads a date or a time without offset.
func parseFloating(s string) (us int64, ok bool) {
	s = strings.Replace(s, " ", "T", 1)
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if t, err := time.Parse(layout, s); err == nil && t.Year() >= 1 {
			return t.UnixMicro(), true
		}
	}
	return 0, false
}

// condition reads a condition and words its mistakes for the caller.
func condition(text *string, at []string, find resolver) (*Condition, error) {
	if text == nil {
		return nil, nil
	}
	parsed, err := parseWhere(*text)
	if err == nil {
		var c *Condition
		if c, err = parsed.resolve(find); err == nil {
			return c, nil
		}
	}
	return nil, valueError(append(at[:len(at):len(at)], "where"), err.Error())
}
