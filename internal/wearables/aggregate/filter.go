package aggregate

import (
	"cmp"
	"context"
	"strings"

	"hale/internal/wearables/aggregate/query"
)

// truth is the value of a condition: a comparison with a missing value is
// neither true nor false.
type truth int8

const (
	no      truth = 0
	unknown truth = 1
	yes     truth = 2
)

// filter keeps the rows for which a condition is true.
func (f *frame) filter(ctx context.Context, c *query.Condition) error {
	rows := make([]int32, 0, len(f.index))
	for from := 0; from < len(f.index); from += stride {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows = appendMatching(rows, c, f.inputs, from, min(from+stride, len(f.index)))
	}
	f.keep(rows)
	return nil
}

// appendMatching appends the rows, [from, to), for which a condition is true.
func appendMatching(rows []int32, c *query.Condition, columns []Vector, from, to int) []int32 {
	for i := from; i < to; i++ {
		if c == nil || evaluate(c, columns, i) == yes {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

// evaluate evaluates a condition for one row.
func evaluate(c *query.Condition, columns []Vector, i int) truth {
	switch c.Op {
	case "AND":
		return min(evaluate(c.Left, columns, i), evaluate(c.Right, columns, i))
	case "OR":
		return max(evaluate(c.Left, columns, i), evaluate(c.Right, columns, i))
	case "NOT":
		return yes - evaluate(c.Left, columns, i)
	}
	a, okA := valueOf(&c.A, columns, i)
	b, okB := valueOf(&c.B, columns, i)
	if !okA || !okB {
		return unknown
	}
	if compares(c.Op, a.compare(b)) {
		return yes
	}
	return no
}

func compares(op string, sign int) bool {
	switch op {
	case ">":
		return sign > 0
	case ">=":
		return sign >= 0
	case "<":
		return sign < 0
	case "<=":
		return sign <= 0
	case "=":
		return sign == 0
	}
	return sign != 0 // !=
}

// value is one side of a comparison. Both sides of one have the same sort.
type value struct {
	num  float64
	time int64
	text string
}

func (a value) compare(b value) int {
	return cmp.Or(cmp.Compare(a.num, b.num), cmp.Compare(a.time, b.time), strings.Compare(a.text, b.text))
}

func valueOf(o *query.Operand, columns []Vector, i int) (v value, ok bool) {
	if o.Input < 0 {
		return value{o.Num, o.Time, o.Text}, true
	}
	c := &columns[o.Input]
	if c.Null[i] {
		return v, false
	}
	switch c.Kind {
	case query.Moment, query.Date:
		v.time = c.Time[i]
	case query.Text:
		v.text = c.Text[i]
	default:
		v.num = c.Num[i]
	}
	return v, true
}
