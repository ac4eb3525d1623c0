package query

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
)

// Limits of one request.
const (
	MostQueries = 20
	mostExprs   = 100
	mostKeys    = 16
	longestText = 4096
	mostPeriod  = 10_000
)

// Timeframe is a stretch of floating time: the days that end with Anchor.
type Timeframe struct {
	Anchor civil.Date // the last day
	Past   Period
}

// DecodeBatch reads the body of a request. Every fault names the place of the error.
//
// Reference 7.12, QueryBatch.
func DecodeBatch(data []byte) (b Batch, err error) {
	root, err := parse(data)
	if err != nil {
		return b, err
	}
	body, err := root.object()
	if err != nil {
		return b, err
	}
	timeframe, err := body.need("timeframe")
	if err != nil {
		return b, err
	}
	if b.Timeframe, err = decodeTimeframe(timeframe); err != nil {
		return b, err
	}
	list, err := body.need("queries")
	if err != nil {
		return b, err
	}
	queries, err := list.items(0, MostQueries)
	if err != nil {
		return b, err
	}
	for _, n := range queries {
		q, err := decodeQuery(n)
		if err != nil {
			return b, err
		}
		b.Queries = append(b.Queries, q)
	}
	b.Config, err = decodeConfig(body, "config")
	return b, err
}

func decodeTimeframe(n node) (t Timeframe, err error) {
	o, err := n.object()
	if err != nil {
		return t, err
	}
	if o.has("placeholder") {
		return t, valueError(n.at, "replace the placeholder with a value")
	}
	kind, err := o.need("type")
	if err != nil {
		return t, err
	}
	if _, err := kind.word([]string{"relative"}); err != nil {
		return t, err
	}
	anchor, err := o.need("anchor")
	if err != nil {
		return t, err
	}
	text, _ := anchor.v.(string)
	if t.Anchor, err = civil.ParseDate(text); err != nil {
		return t, anchor.fail("date_from_datetime_parsing", "Input should be a valid date in the format YYYY-MM-DD")
	}
	past, err := o.need("past")
	if err != nil {
		return t, err
	}
	t.Past, err = decodePeriod(past)
	return t, err
}

func decodePeriod(n node) (p Period, err error) {
	o, err := n.object()
	if err != nil {
		return p, err
	}
	p.Value = 1
	if v, ok := o.take("value"); ok {
		if p.Value, err = v.integer(1, mostPeriod); err != nil {
			return p, err
		}
	}
	unit, err := o.need("unit")
	if err != nil {
		return p, err
	}
	word, err := unit.word(Units())
	p.Unit = Unit(word)
	return p, err
}

func decodeConfig(o object, name string) (c Config, err error) {
	n, ok := o.take(name)
	if !ok {
		return c, nil
	}
	config, err := n.object()
	if err != nil {
		return c, err
	}
	list, ok := config.take("provider_priority_overrides")
	if !ok {
		return c, nil
	}
	items, err := list.items(0, mostExprs)
	if err != nil {
		return c, err
	}
	for _, item := range items {
		slug, err := item.text(64)
		if err != nil {
			return c, err
		}
		if slices.Contains(c.Overrides, slug) {
			return c, valueError(item.at, "this provider is listed twice")
		}
		c.Overrides = append(c.Overrides, slug)
	}
	return c, nil
}

// DecodeQuery reads the named field of the object in data, which holds a query, and the
// query's config in another field. Stored queries are created with it.
func DecodeQuery(data []byte, name, config string) (q Query, c Config, err error) {
	root, err := parse(data)
	if err != nil {
		return q, c, err
	}
	body, err := root.object()
	if err != nil {
		return q, c, err
	}
	n, err := body.need(name)
	if err != nil {
		return q, c, err
	}
	if q, err = decodeQuery(n); err != nil {
		return q, c, err
	}
	c, err = decodeConfig(body, config)
	return q, c, err
}

func decodeQuery(n node) (q Query, err error) {
	q.at = n.at
	o, err := n.object()
	if err != nil {
		return q, err
	}
	list, err := o.need("select")
	if err != nil {
		return q, err
	}
	if q.Select, err = decodeExprs(list, 1, mostExprs, selectForms); err != nil {
		return q, err
	}
	if list, ok := o.take("group_by"); ok {
		if q.GroupBy, err = decodeExprs(list, 0, mostKeys, groupForms); err != nil {
			return q, err
		}
	}
	if q.Where, err = decodeText(o, "where"); err != nil {
		return q, err
	}
	if align, ok := o.take("align"); ok {
		q.Align, err = decodeAlign(align)
	}
	return q, err
}

func decodeText(o object, name string) (*string, error) {
	n, ok := o.take(name)
	if !ok {
		return nil, nil
	}
	s, err := n.text(longestText)
	return &s, err
}

func decodeAlign(n node) (*Align, error) {
	o, err := n.object()
	if err != nil {
		return nil, err
	}
	if err := o.only("carry"); err != nil {
		return nil, err
	}
	carry, err := o.need("carry")
	if err != nil {
		return nil, err
	}
	c, err := carry.object()
	if err != nil {
		return nil, err
	}
	mode, err := c.need("mode")
	if err != nil {
		return nil, err
	}
	word, err := mode.word([]string{string(CarryForward), string(CarryBackward), string(CarryNearest)})
	if err != nil {
		return nil, err
	}
	a := &Align{Mode: Mode(word), at: carry.at}
	if err := c.only("mode", a.windowName()); err != nil {
		return nil, err
	}
	if window, ok := c.take(a.windowName()); ok {
		p, err := decodePeriod(window)
		if err != nil {
			return nil, err
		}
		a.Window = &p
	}
	return a, nil
}

func (a *Align) windowName() string {
	if a.Mode == CarryNearest {
		return "span"
	}
	return "max_age"
}

// These are the forms that an expression may have at each place. One field identifies
// each form.
var (
	selectForms   = forms("func", "group_key", "value_macro", "timeseries", "index", "select", "source")
	groupForms    = forms("date_trunc", "date_part", "value_macro", "timeseries", "source")
	argumentForms = forms("value_macro", "timeseries", "index", "select") // of aggregate functions
	listForms     = forms("value_macro", "timeseries")                    // of unnest
	indexForms    = []string{"index"}
)

// forms returns the given names and the names of all tables.
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
		return e, valueError(n.at, "replace the placeholder with a value")
	}
	form := ""
	for _, name := range allowed {
		if !o.has(name) {
			continue
		}
		if form != "" {
			return e, valueError(n.at, "an expression has one of "+form+" and "+name+", not both")
		}
		form = name
	}
	e.at = n.at
	switch form {
	case "":
		return e, valueError(n.at, "an expression here has one of: "+strings.Join(allowed, ", "))
	case "func":
		e.Op = OfFunc
		if e.Func, err = decodeFunc(o); err == nil {
			e.Arg, err = decodeArg(o, "arg", argumentForms)
		}
	case "select":
		return decodeList(o)
	case "date_trunc":
		e.Op = OfTrunc
		if e.Period, err = decodePeriod(o.child(form, o.fields[form])); err == nil {
			e.Arg, err = decodeArg(o, "arg", indexForms)
		}
	case "date_part":
		e.Op = OfPart
		if e.Name, err = o.child(form, o.fields[form]).word(Parts()); err == nil {
			e.Arg, err = decodeArg(o, "arg", indexForms)
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
		return e, valueError(of.at, "replace the placeholder with a value")
	}
	if e.Func, err = decodeFunc(inner); err != nil {
		return e, err
	}
	if e.Func == Oldest || e.Func == Newest {
		return e, valueError(of.at, "oldest and newest are not for subqueries: elements of a list have no order in time")
	}
	from, err := o.need("from")
	if err != nil {
		return e, err
	}
	source, err := from.object()
	if err != nil {
		return e, err
	}
	if e.Arg, err = decodeArg(source, "unnest", listForms); err != nil {
		return e, err
	}
	if arg, ok := inner.take("arg"); ok {
		if e.Field, err = decodeField(arg, e.Arg); err != nil {
			return e, err
		}
	} else if e.Func != Count {
		return e, valueError(append(of.at, "arg"), "only count takes null")
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
			return "", o.child(ElementField, v).fail("enum", fault.EnumMessage([]string{"true"}))
		}
		return ElementField, o.only(ElementField)
	}
	if of.Op != OfTable || !o.has(of.Name) { // only summaries have lists of objects
		return "", valueError(n.at, "the argument is a field of the unnested column, or element")
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

// node is a value of a JSON document and the path that leads to it.
type node struct {
	at []string
	v  any
}

// parse reads one JSON document. Its errors concern the body as a whole.
func parse(data []byte) (node, error) {
	n := node{at: []string{"body"}}
	if !utf8.Valid(data) {
		return n, n.fail("json_invalid", "the body is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&n.v); err != nil {
		if err == io.EOF {
			return n, n.fail("missing", "Field required")
		}
		return n, n.fail("json_invalid", "JSON decode error")
	}
	if _, err := d.Token(); err != io.EOF {
		return n, n.fail("json_invalid", "JSON decode error")
	}
	return n, nil
}

// fail returns a fault at this place. It never repeats the value.
func (n node) fail(code, sentence string) *fault.Error { return failAt(n.at, code, sentence) }

func failAt(at []string, code, sentence string) *fault.Error {
	return fault.New(fault.Invalid, sentence).At(at...).WithType(code)
}

// valueError returns the error for a well-formed value that is not valid at its place.
func valueError(at []string, sentence string) *fault.Error {
	return failAt(at, "value_error", "Value error, "+sentence)
}

func (n node) child(name string, v any) node { return node{append(slices.Clone(n.at), name), v} }

// object returns the node as an object, or an error if it is not one.
func (n node) object() (object, error) {
	m, ok := n.v.(map[string]any)
	if !ok {
		return object{}, n.fail("model_attributes_type", "Input should be a valid dictionary or object to extract fields from")
	}
	return object{n, m}, nil
}

// object is a node with access to its fields.
type object struct {
	node
	fields map[string]any
}

func (o object) has(name string) bool { _, ok := o.fields[name]; return ok }

// need returns a field of the object, or an error if it is missing.
func (o object) need(name string) (node, error) {
	v, ok := o.fields[name]
	n := o.child(name, v)
	if !ok {
		return n, n.fail("missing", "Field required")
	}
	return n, nil
}

// take returns an optional field. It returns false if the field is missing or null.
func (o object) take(name string) (node, bool) {
	v := o.fields[name]
	return o.child(name, v), v != nil
}

// only refuses unknown fields. Ignoring one could give another answer than the caller
// expects.
func (o object) only(names ...string) error {
	for _, name := range slices.Sorted(maps.Keys(o.fields)) {
		if !slices.Contains(names, name) {
			return o.child(name, nil).fail("extra_forbidden", "Extra inputs are not permitted")
		}
	}
	return nil
}

// items returns the elements of a list. It returns an error if the node is no list, or
// has fewer elements than least or more than most.
func (n node) items(least, most int) ([]node, error) {
	list, ok := n.v.([]any)
	switch {
	case !ok:
		return nil, n.fail("list_type", "Input should be a valid list")
	case len(list) < least:
		return nil, n.fail("too_short", "List should have at least "+strconv.Itoa(least)+" items")
	case len(list) > most:
		return nil, n.fail("too_long", "List should have at most "+strconv.Itoa(most)+" items")
	}
	all := make([]node, len(list))
	for i, v := range list {
		all[i] = n.child(strconv.Itoa(i), v)
	}
	return all, nil
}

// text returns a string. It returns an error if the node is no string or has more than
// most bytes.
func (n node) text(most int) (string, error) {
	s, ok := n.v.(string)
	if !ok {
		return "", n.fail("string_type", "Input should be a valid string")
	}
	if len(s) > most {
		return "", n.fail("string_too_long", "String should have at most "+strconv.Itoa(most)+" characters")
	}
	return s, nil
}

// word reads one of a few strings.
func (n node) word(allowed []string) (string, error) {
	s, ok := n.v.(string)
	if !ok || !slices.Contains(allowed, s) {
		return "", n.fail("enum", fault.EnumMessage(allowed))
	}
	return s, nil
}

// integer reads a whole number between two bounds.
func (n node) integer(least, most int) (int, error) {
	number, ok := n.v.(json.Number)
	if !ok {
		return 0, n.fail("int_type", "Input should be a valid integer")
	}
	i, err := strconv.Atoi(number.String())
	switch {
	case err != nil:
		return 0, n.fail("int_type", "Input should be a valid integer")
	case i < least:
		return 0, n.fail("greater_than_equal", "Input should be greater than or equal to "+strconv.Itoa(least))
	case i > most:
		return 0, n.fail("less_than_equal", "Input should be less than or equal to "+strconv.Itoa(most))
	}
	return i, nil
}
