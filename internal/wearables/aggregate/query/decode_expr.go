package query

import (
	"strings"
)

// Where an expression may stand. The forms are told apart by one field each.
var (
	selectable = forms("func", "group_key", "value_macro", "timeseries", "index", "select", "source")
	groupable  = forms("date_trunc", "date_part", "value_macro", "timeseries", "source")
	countable  = forms("value_macro", "timeseries", "index", "select") // of aggregate functions
	listed     = forms("value_macro", "timeseries")                    // of unnest
	indexed    = []string{"index"}
)

// forms are the given ones and the columns of every table.
func forms(names ...string) []string { return append(names, tableNames...) }

func decodeExprs(n node, least, most int, allowed []string) ([]Expr, error) {
	items, err := n.items(least, most)
	if err != nil {
		return nil, err
	}
	all := make([]Expr, len(items))
	for i, item := range items {
		if all[i], err = decodeExpr(item, allowed); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func decodeExpr(n node, allowed []string) (e Expr, err error) {
	o, err := n.object()
	if err != nil {
		return e, err
	}
	if o.has("placeholder") {
		return e, wrong(n.at, "a placeholder stands for something that you fill in")
	}
	form := ""
	for _, name := range allowed {
		if !o.has(name) {
			continue
		}
		if form != "" {
			return e, wrong(n.at, "an expression has one of "+form+" and "+name+", not both")
		}
		form = name
	}
	e.at = n.at
	switch form {
	case "":
		return e, wrong(n.at, "an expression here has one of: "+strings.Join(allowed, ", "))
	case "func":
		e.Op = OfFunc
		if e.Func, err = decodeFunc(o); err == nil {
			e.Arg, err = decodeArg(o, "arg", countable)
		}
	case "select":
		return decodeList(o)
	case "date_trunc":
		e.Op = OfTrunc
		if e.Period, err = decodePeriod(o.child(form, o.fields[form])); err == nil {
			e.Arg, err = decodeArg(o, "arg", indexed)
		}
	case "date_part":
		e.Op = OfPart
		if e.Name, err = o.child(form, o.fields[form]).word(Parts()); err == nil {
			e.Arg, err = decodeArg(o, "arg", indexed)
		}
	case "group_key":
		e.Op = OfKey
		e.Key, err = decodeKey(o.child(form, o.fields[form]))
	case "value_macro":
		e.Op = OfMacro
		e.Name, err = o.child(form, o.fields[form]).word(macroNames)
		if version, ok := o.take("version"); ok && err == nil {
			_, err = version.word([]string{"automatic"})
		}
	case "timeseries":
		return decodeSeries(o)
	case "index":
		e.Op = OfIndex
		e.Table, err = o.child(form, o.fields[form]).word(append(tableNames[:len(tableNames):len(tableNames)], timeseries))
	case "source":
		e.Op = OfSource
		e.Name, err = o.child(form, o.fields[form]).word(sourceColumns)
	default:
		e.Op, e.Table = OfTable, form
		e.Name, err = o.child(form, o.fields[form]).word(Tables[form].names())
	}
	return e, err
}

func decodeFunc(o object) (Func, error) {
	n, err := o.need("func")
	if err != nil {
		return "", err
	}
	word, err := n.word(Funcs())
	return Func(word), err
}

func decodeArg(o object, name string, allowed []string) (*Expr, error) {
	n, err := o.need(name)
	if err != nil {
		return nil, err
	}
	e, err := decodeExpr(n, allowed)
	return &e, err
}

func decodeKey(n node) (int, error) {
	if n.v == "*" {
		return AllKeys, nil
	}
	return n.integer(0, mostKeys-1)
}

func decodeSeries(o object) (e Expr, err error) {
	e = Expr{Op: OfSeries, at: o.at}
	if e.Table, err = o.child(timeseries, o.fields[timeseries]).word(seriesNames); err != nil {
		return e, err
	}
	field, err := o.need("field")
	if err != nil {
		return e, err
	}
	e.Name, err = field.word(SeriesTable(e.Table).names())
	return e, err
}

// decodeList reads a subquery over the elements of a list column.
func decodeList(o object) (e Expr, err error) {
	e = Expr{Op: OfList, at: o.at}
	of, err := o.need("select")
	if err != nil {
		return e, err
	}
	inner, err := of.object()
	if err != nil {
		return e, err
	}
	if inner.has("placeholder") {
		return e, wrong(of.at, "a placeholder stands for something that you fill in")
	}
	if e.Func, err = decodeFunc(inner); err != nil {
		return e, err
	}
	if e.Func == Oldest || e.Func == Newest {
		return e, wrong(of.at, "oldest and newest are not for subqueries: elements of a list have no order in time")
	}
	from, err := o.need("from")
	if err != nil {
		return e, err
	}
	source, err := from.object()
	if err != nil {
		return e, err
	}
	if e.Arg, err = decodeArg(source, "unnest", listed); err != nil {
		return e, err
	}
	if arg, ok := inner.take("arg"); ok {
		if e.Field, err = decodeField(arg, e.Arg); err != nil {
			return e, err
		}
	} else if e.Func != Count {
		return e, wrong(append(of.at, "arg"), "only count takes null")
	}
	e.Where, err = decodeText(o, "where")
	return e, err
}

// decodeField reads {"element": true} or {"menstrual_flow": "date"}.
func decodeField(n node, of *Expr) (string, error) {
	o, err := n.object()
	if err != nil {
		return "", err
	}
	if v, ok := o.fields[ElementField]; ok {
		if v != true {
			return "", o.child(ElementField, v).fail("enum", "Input should be true")
		}
		return ElementField, o.only(ElementField)
	}
	if of.Op != OfTable || !o.has(of.Name) { // only summaries have lists of objects
		return "", wrong(n.at, "the argument is a field of the unnested column, or element")
	}
	if err := o.only("field_for", of.Name); err != nil {
		return "", err
	}
	if table, ok := o.take("field_for"); ok {
		if _, err := table.word([]string{of.Table}); err != nil {
			return "", err
		}
	}
	column := Tables[of.Table].Column(of.Name)
	return o.child(of.Name, o.fields[of.Name]).word(column.fieldNames())
}
