package query

import (
	"slices"
	"strconv"
	"strings"
)

// Plan is a query with all names resolved and all types checked.
type Plan struct {
	Table *Table
	// Inputs are the values that a row must bring, each once.
	Inputs  []Input
	Where   *Condition // over inputs; nil keeps every row
	Keys    []Key
	Outputs []Output
	Align   *Align
	// Aggregated means one output row per group instead of one per row. Without keys,
	// all rows are one group.
	Aggregated bool
	// Prioritised means that only the best source of each group counts.
	Prioritised bool
}

// Input is one value of each row: a column, or the result of a subquery over a list.
type Input struct {
	Column *Column
	List   *ListQuery // nil for a plain column
	Kind   Kind
}

// ListQuery aggregates the elements of a list.
type ListQuery struct {
	Func  Func
	Field int        // position among the column's fields; -1 counts elements
	Where *Condition // over the column's fields

	text string // of the condition
}

// Key is one column that rows are grouped by.
type Key struct {
	Name  string // group_key.0
	Kind  Kind
	Input int
	Trunc *Period // the bucket of the input
	Part  string  // the part of the input
}

// Output is one column of the result.
type Output struct {
	Name  string
	Kind  Kind
	Key   int  // position of the key; -1 for other outputs
	Input int  // unless it is a key
	Func  Func // empty for a plain value
}

// Compile resolves a query. Its faults name the expression.
func Compile(q Query) (*Plan, error) {
	table, err := q.table()
	if err != nil {
		return nil, err
	}
	p := &Plan{Table: table, Prioritised: len(q.GroupBy) > 0}
	if err := p.group(q.GroupBy); err != nil {
		return nil, err
	}
	p.Aggregated = len(q.GroupBy) > 0 || slices.ContainsFunc(q.Select, func(e Expr) bool { return e.Op == OfFunc })
	for i := range q.Select {
		if err := p.output(&q.Select[i]); err != nil {
			return nil, err
		}
	}
	if p.Where, err = condition(q.Where, q.at, p.column); err != nil {
		return nil, err
	}
	if q.Align != nil {
		if err := p.align(q.Align); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// table returns the one table that all expressions use.
func (q *Query) table() (*Table, error) {
	var found *Table
	var index *Expr // of some series
	var visit func(e *Expr) error
	visit = func(e *Expr) error {
		var t *Table
		switch e.Op {
		case OfTable:
			t = Tables[e.Table]
		case OfSeries:
			t = SeriesTable(e.Table)
		case OfMacro:
			t = Tables["sleep"]
		case OfIndex:
			if t = Tables[e.Table]; t == nil {
				index = e
			}
		default:
		}
		if t != nil && found != nil && t != found {
			return valueError(e.at, "a query reads one table")
		}
		if t != nil {
			found = t
		}
		if e.Arg != nil {
			return visit(e.Arg)
		}
		return nil
	}
	for _, list := range [][]Expr{q.Select, q.GroupBy} {
		for i := range list {
			if err := visit(&list[i]); err != nil {
				return nil, err
			}
		}
	}
	switch {
	case found == nil:
		return nil, valueError(append(q.at[:len(q.at):len(q.at)], "select"), "no expression says which table is read")
	case index != nil && found.Series == "":
		return nil, valueError(index.at, "a query reads one table")
	}
	return found, nil
}

// group resolves the group keys.
func (p *Plan) group(exprs []Expr) error {
	truncs, source := 0, map[string]bool{}
	for i := range exprs {
		e := &exprs[i]
		k := Key{Name: "group_key." + strconv.Itoa(i)}
		switch e.Op {
		case OfTrunc:
			if truncs++; truncs > 1 {
				return valueError(e.at, "a query has at most one date_trunc")
			}
			k.Kind, k.Trunc = Moment, &e.Period
			k.Input = p.input(&p.Table.Index)
		case OfPart:
			k.Kind, k.Part = Integer, e.Name
			k.Input = p.input(&p.Table.Index)
		default:
			c, err := p.expr(e)
			if err != nil {
				return err
			}
			if c.Kind == List {
				return valueError(e.at, "a list cannot be a group key")
			}
			source[c.From] = true
			k.Kind, k.Input = c.Kind, p.input(c)
		}
		p.Keys = append(p.Keys, k)
	}
	if source[FromProvider] && source[FromType] {
		p.Prioritised = false
	}
	return nil
}

// align checks the requirements of alignment on the rest of the query.
func (p *Plan) align(a *Align) error {
	trunc := p.TruncKey()
	if trunc < 0 {
		return valueError(a.at, "an aligned query is grouped by a date_trunc")
	}
	if slices.ContainsFunc(p.Keys, func(k Key) bool { return k.Part != "" }) {
		return valueError(a.at, "date_part does not mix with align")
	}
	if !p.selectsKeys() {
		return valueError(a.at, "an aligned query selects all its group keys")
	}
	if a.Window != nil && a.Window.nominal() < p.Keys[trunc].Trunc.nominal() {
		return valueError(append(a.at[:len(a.at):len(a.at)], a.windowName()), "must not be shorter than a bucket")
	}
	p.Align = a
	return nil
}

// TruncKey returns the position of the key that truncates to time buckets, or -1.
func (p *Plan) TruncKey() int {
	return slices.IndexFunc(p.Keys, func(k Key) bool { return k.Trunc != nil })
}

func (p *Plan) selectsKeys() bool {
	for i := range p.Keys {
		if !slices.ContainsFunc(p.Outputs, func(o Output) bool { return o.Key == i }) {
			return false
		}
	}
	return true
}

// CheckContinuous reports whether the query can be kept up to date as data arrives. Its
// rows must have time buckets, and the selected columns must identify them.
//
// Reference 7.12, 9.6.
func (p *Plan) CheckContinuous(q Query) error {
	at := append(q.at[:len(q.at):len(q.at)], "group_by")
	if p.TruncKey() < 0 {
		return valueError(at, "a continuous query is grouped by exactly one date_trunc")
	}
	if !p.selectsKeys() {
		return valueError(append(at[:len(at)-1:len(at)-1], "select"), "a continuous query selects all its group keys")
	}
	return nil
}

// Resources returns the kinds of data that the result depends on, by their names in
// events.
func (p *Plan) Resources() []string {
	all := []string{p.Table.Resource}
	if p.NeedsCycles() {
		all = append(all, "sleep_cycle")
	}
	return all
}

// NeedsCycles reports whether any input is computed from the stages of nights.
func (p *Plan) NeedsCycles() bool {
	return slices.ContainsFunc(p.Inputs, func(in Input) bool { return in.Column.NeedsCycles() })
}

// input returns the position of a plain column among the inputs. It adds the column if it
// is not an input yet.
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
	if c == nil || c.From == unpublishedFormula {
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
		return nil, valueError(e.at, "not a column of the table")
	}
	if c.From == unpublishedFormula {
		return nil, valueError(e.at, "this column has no published formula and is not offered; see docs/aggregation.md")
	}
	return c, nil
}

// scalar returns the position and the name of the input for an expression of single
// values.
func (p *Plan) scalar(e *Expr) (at int, kind Kind, name string, err error) {
	if e.Op == OfList {
		return p.list(e)
	}
	c, err := p.expr(e)
	if err != nil {
		return 0, "", "", err
	}
	if c.Kind == List {
		return 0, "", "", valueError(e.at, "a list is read through a subquery")
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
		return 0, "", "", valueError(e.Arg.at, "only a list can be unnested")
	}
	l := &ListQuery{Func: e.Func, Field: -1}
	name = string(e.Func) + "." + c.Name
	of := Integer // of a count
	if e.Field != "" {
		if l.Field = slices.IndexFunc(c.Fields, func(f Column) bool { return f.Name == e.Field }); l.Field < 0 {
			return 0, "", "", valueError(e.at, "the elements of this list have no such field")
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

// output resolves one selected expression.
func (p *Plan) output(e *Expr) error {
	switch e.Op {
	case OfKey:
		return p.selectKeys(e)
	case OfFunc:
		at, kind, name, err := p.scalar(e.Arg)
		if err != nil {
			return err
		}
		if kind, err = e.Func.result(kind, e.at); err != nil {
			return err
		}
		return p.add(e, Output{Name: string(e.Func) + "." + name, Kind: kind, Key: -1, Input: at, Func: e.Func})
	default:
	}
	if p.Aggregated {
		return valueError(e.at, "beside group_by or an aggregate function, a column is selected through an aggregate function")
	}
	at, kind, name, err := p.scalar(e)
	if err != nil {
		return err
	}
	return p.add(e, Output{Name: name, Kind: kind, Key: -1, Input: at})
}

func (p *Plan) selectKeys(e *Expr) error {
	if e.Key >= len(p.Keys) || len(p.Keys) == 0 {
		return valueError(e.at, "group_by has no such key; the first one is 0")
	}
	for i, k := range p.Keys {
		if e.Key != AllKeys && e.Key != i {
			continue
		}
		if err := p.add(e, Output{Name: k.Name, Kind: k.Kind, Key: i}); err != nil {
			return err
		}
	}
	return nil
}

// add adds an output. Its name must be unique among the outputs.
func (p *Plan) add(e *Expr, o Output) error {
	if slices.ContainsFunc(p.Outputs, func(other Output) bool { return other.Name == o.Name }) {
		return valueError(e.at, "selects "+strconv.Quote(o.Name)+" twice")
	}
	p.Outputs = append(p.Outputs, o)
	return nil
}

// result returns the kind of the values that a function makes of values of a kind. It
// returns an error if the function does not accept that kind. at is the place in the query.
func (f Func) result(of Kind, at []string) (Kind, error) {
	switch f {
	case Count:
		return Integer, nil
	case Mean, Median, Stddev:
		if of.numeric() {
			return Number, nil
		}
	case Sum:
		if of.numeric() {
			return of, nil
		}
	case Min, Max:
		if of != Flag {
			return of, nil
		}
	default:
		return of, nil
	}
	return "", valueError(at, string(f)+" does not take a "+string(of))
}
