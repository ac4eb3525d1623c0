package aggregate

import "hale/internal/wearables/aggregate/query"

// Table is a result: columns of equal length, in the order of the select.
type Table struct {
	Columns []Column
}

// Column is one column of a result.
type Column struct {
	Name string
	Vector
}

// Len is the number of rows.
func (t *Table) Len() int {
	if len(t.Columns) == 0 {
		return 0
	}
	return t.Columns[0].Len()
}

// Bytes is about what the table takes in memory and written out. A text counts
// as often as it stands there.
func (t *Table) Bytes() (n int) {
	for i := range t.Columns {
		n += t.Len() * width(t.Columns[i].Kind)
		for _, text := range t.Columns[i].Text {
			n += len(text)
		}
	}
	return n
}

// Pick is the table of some rows, in their order.
func (t *Table) Pick(rows []int32) *Table {
	out := &Table{Columns: make([]Column, len(t.Columns))}
	for i := range t.Columns {
		out.Columns[i] = Column{t.Columns[i].Name, t.Columns[i].pick(rows)}
	}
	return out
}

// Append adds the rows of a table with the same columns.
func (t *Table) Append(other *Table) {
	for i := range t.Columns {
		for row := range other.Len() {
			t.Columns[i].appendFrom(&other.Columns[i].Vector, row)
		}
	}
}

// Empty is the result of a plan without any row.
func Empty(p *query.Plan) *Table {
	t := &Table{Columns: make([]Column, len(p.Outputs))}
	for i, o := range p.Outputs {
		t.Columns[i] = Column{o.Name, Vector{Kind: o.Kind}}
	}
	return t
}

// Equal says whether two rows of tables with the same columns are the same.
func Equal(a *Table, i int, b *Table, j int) bool {
	for k := range a.Columns {
		v, w := &a.Columns[k].Vector, &b.Columns[k].Vector
		if string(appendCode(nil, v, i)) != string(appendCode(nil, w, j)) {
			return false
		}
	}
	return true
}

// Code is a row's values in some columns, written so that rows with other
// values have another code.
func (t *Table) Code(row int, columns []int) string {
	var code []byte
	for _, c := range columns {
		code = appendCode(code, &t.Columns[c].Vector, row)
	}
	return string(code)
}
