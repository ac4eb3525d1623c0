package query

import (
	"strings"
	"time"
)

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

// resolver finds a column by name and tells its position.
type resolver func(name string) (input int, kind Kind, ok bool)

// resolve gives the parsed condition its meaning.
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
	if out.A, err = agree(out.A, out.B, c.a.at); err != nil {
		return nil, err
	}
	out.B, err = agree(out.B, out.A, c.b.at)
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

// agree makes o comparable with other. Text beside a moment or a date is read
// as one.
func agree(o, other Operand, at int) (Operand, error) {
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
	return nil, wrong(append(at[:len(at):len(at)], "where"), err.Error())
}
