package aggregate

import (
	"cmp"
	"strings"

	"hale/internal/wearables/aggregate/query"
)

// Vector is one column: its values stand in the slice that its kind needs.
type Vector struct {
	Kind query.Kind
	Null []bool    // of every row
	Num  []float64 // numbers, integers, flags (1 is true)
	Time []int64   // moments and dates: floating microseconds
	Text []string
}

// width is how many bytes a value takes, without those of a text.
func width(k query.Kind) int {
	if k == query.Text {
		return 1 + 16
	}
	return 1 + 8
}

// Len is the number of rows.
func (v *Vector) Len() int { return len(v.Null) }

func (v *Vector) appendNull() {
	v.Null = append(v.Null, true)
	switch v.Kind {
	case query.Moment, query.Date:
		v.Time = append(v.Time, 0)
	case query.Text:
		v.Text = append(v.Text, "")
	default:
		v.Num = append(v.Num, 0)
	}
}

func (v *Vector) appendNumber(f float64) {
	v.Null, v.Num = append(v.Null, false), append(v.Num, f)
}

func (v *Vector) appendTime(us int64) {
	v.Null, v.Time = append(v.Null, false), append(v.Time, us)
}

// appendText takes the empty text for null, as the store does.
func (v *Vector) appendText(s string) {
	v.Null, v.Text = append(v.Null, s == ""), append(v.Text, s)
}

// appendFrom appends row i of a vector of the same kind.
func (v *Vector) appendFrom(src *Vector, i int) {
	if src.Null[i] {
		v.appendNull()
		return
	}
	v.Null = append(v.Null, false)
	switch v.Kind {
	case query.Moment, query.Date:
		v.Time = append(v.Time, src.Time[i])
	case query.Text:
		v.Text = append(v.Text, src.Text[i])
	default:
		v.Num = append(v.Num, src.Num[i])
	}
}

// pick is the vector of some rows, in their order.
func (v *Vector) pick(rows []int32) Vector {
	out := Vector{Kind: v.Kind}
	for _, i := range rows {
		out.appendFrom(v, int(i))
	}
	return out
}

// compare orders two rows that are not null.
func (v *Vector) compare(i, j int) int {
	switch v.Kind {
	case query.Moment, query.Date:
		return cmp.Compare(v.Time[i], v.Time[j])
	case query.Text:
		return strings.Compare(v.Text[i], v.Text[j])
	default:
		return cmp.Compare(v.Num[i], v.Num[j])
	}
}

// order is compare with nulls behind everything.
func (v *Vector) order(i, j int) int {
	switch {
	case v.Null[i] && v.Null[j]:
		return 0
	case v.Null[i]:
		return 1
	case v.Null[j]:
		return -1
	}
	return v.compare(i, j)
}
