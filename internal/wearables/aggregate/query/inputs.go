package query

import (
	"slices"
	"strings"
)

// input is the position of a plain column among the inputs.
func (p *Plan) input(c *Column) int {
	at := slices.IndexFunc(p.Inputs, func(in Input) bool { return in.List == nil && in.Column.Name == c.Name && in.Column.From == c.From })
	if at < 0 {
		at = len(p.Inputs)
		p.Inputs = append(p.Inputs, Input{Column: c, Kind: c.Kind})
	}
	return at
}

// column resolves a name in a condition: the table's own columns, the source
// columns and the index.
func (p *Plan) column(name string) (int, Kind, bool) {
	c := p.Table.Column(name)
	if c == nil && name == indexColumn {
		c = &p.Table.Index
	}
	if c == nil || c.From == unpublished {
		return 0, "", false
	}
	if c.Kind == List {
		return 0, List, true
	}
	return p.input(c), c.Kind, true
}

// expr finds the column that a plain expression means.
func (p *Plan) expr(e *Expr) (*Column, error) {
	var c *Column
	switch e.Op {
	case OfTable, OfSeries, OfSource:
		c = p.Table.Column(e.Name)
	case OfMacro:
		c = find(macros, e.Name)
	case OfIndex:
		c = &p.Table.Index
	default:
	}
	if c == nil {
		return nil, wrong(e.at, "not a column of the table")
	}
	if c.From == unpublished {
		return nil, wrong(e.at, "this column has no published formula and is not offered; see docs/aggregation.md")
	}
	return c, nil
}

// scalar is the position of the input that an expression of single values
// means, and what it is called.
func (p *Plan) scalar(e *Expr) (at int, kind Kind, name string, err error) {
	if e.Op == OfList {
		return p.list(e)
	}
	c, err := p.expr(e)
	if err != nil {
		return 0, "", "", err
	}
	if c.Kind == List {
		return 0, "", "", wrong(e.at, "a list is read through a subquery")
	}
	return p.input(c), c.Kind, c.Name, nil
}

// list resolves a subquery.
func (p *Plan) list(e *Expr) (at int, kind Kind, name string, err error) {
	c, err := p.expr(e.Arg)
	if err != nil {
		return 0, "", "", err
	}
	if c.Kind != List {
		return 0, "", "", wrong(e.Arg.at, "only a list can be unnested")
	}
	l := &ListQuery{Func: e.Func, Field: -1}
	name = string(e.Func) + "." + c.Name
	of := Integer // of a count
	if e.Field != "" {
		if l.Field = slices.IndexFunc(c.Fields, func(f Column) bool { return f.Name == e.Field }); l.Field < 0 {
			return 0, "", "", wrong(e.at, "the elements of this list have no such field")
		}
		name += "." + e.Field
		of = c.Fields[l.Field].Kind
	}
	if kind, err = e.Func.result(of, e.at); err != nil {
		return 0, "", "", err
	}
	l.Where, err = condition(e.Where, e.at, func(name string) (int, Kind, bool) {
		i := slices.IndexFunc(c.Fields, func(f Column) bool { return f.Name == name })
		if i < 0 {
			return 0, "", false
		}
		return i, c.Fields[i].Kind, true
	})
	if err != nil {
		return 0, "", "", err
	}
	if e.Where != nil {
		l.text = strings.TrimSpace(*e.Where)
	}
	at = slices.IndexFunc(p.Inputs, func(in Input) bool {
		return in.List != nil && in.Column.Name == c.Name && in.List.Func == l.Func && in.List.Field == l.Field && in.List.text == l.text
	})
	if at < 0 {
		at = len(p.Inputs)
		p.Inputs = append(p.Inputs, Input{Column: c, List: l, Kind: kind})
	}
	return at, kind, name, nil
}
