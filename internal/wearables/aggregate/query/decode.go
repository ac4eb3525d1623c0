package query

import (
	"slices"

	"hale/internal/platform/civil"
)

// Bounds of one request. A question that needs more is better asked in parts.
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

// DecodeBatch reads the body of a request. Every fault names the place.
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
		return t, wrong(n.at, "a placeholder stands for something that you fill in")
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
			return c, wrong(item.at, "this provider stands twice in the list")
		}
		c.Overrides = append(c.Overrides, slug)
	}
	return c, nil
}

// DecodeQuery reads the field name of the object in data, which holds a query,
// and the query's config beside it. It is how a stored query is made.
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
	if q.Select, err = decodeExprs(list, 1, mostExprs, selectable); err != nil {
		return q, err
	}
	if list, ok := o.take("group_by"); ok {
		if q.GroupBy, err = decodeExprs(list, 0, mostKeys, groupable); err != nil {
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
