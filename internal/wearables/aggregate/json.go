package aggregate

import (
	"encoding/json"
	"strconv"
	"time"

	"hale/internal/wearables"
	"hale/internal/wearables/aggregate/query"
)

// AppendJSON appends the table as {"column": [values], …}, straight from its
// columns. spill may send what is written so far on its way; nil keeps it.
//
// Reference 7.12, AggregationResult.
func (t *Table) AppendJSON(dst []byte, spill wearables.Spill) []byte {
	dst = append(dst, '{')
	for i := range t.Columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		c := &t.Columns[i]
		name, _ := json.Marshal(c.Name) // a string always marshals
		dst = append(append(dst, name...), ":["...)
		for row := range c.Null {
			if row > 0 {
				dst = append(dst, ',')
			}
			dst = c.appendJSON(dst, row)
			if spill != nil {
				dst = spill(dst)
			}
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// Floating times on the wire: no offset, and no fraction without need.
const (
	momentLayout = "2006-01-02T15:04:05.999999"
	dateLayout   = time.DateOnly
)

func (v *Vector) appendJSON(dst []byte, row int) []byte {
	if v.Null[row] {
		return append(dst, "null"...)
	}
	switch v.Kind {
	case query.Moment:
		return append(time.UnixMicro(v.Time[row]).UTC().AppendFormat(append(dst, '"'), momentLayout), '"')
	case query.Date:
		return append(time.UnixMicro(v.Time[row]).UTC().AppendFormat(append(dst, '"'), dateLayout), '"')
	case query.Text:
		return wearables.AppendTextOrNull(dst, v.Text[row])
	case query.Flag:
		return strconv.AppendBool(dst, v.Num[row] != 0)
	default:
		return wearables.AppendNumber(dst, v.Num[row])
	}
}

// ParseTable reads a table that AppendJSON wrote for a plan.
func ParseTable(data []byte, p *query.Plan) (*Table, error) {
	var doc map[string][]any
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	t := Empty(p)
	for i := range t.Columns {
		c := &t.Columns[i]
		for _, v := range doc[c.Name] {
			c.appendParsed(v)
		}
	}
	return t, nil
}

func (v *Vector) appendParsed(value any) {
	switch value := value.(type) {
	case bool:
		f := 0.0
		if value {
			f = 1
		}
		v.appendNumber(f)
	case float64:
		v.appendNumber(value)
	case string:
		if v.Kind == query.Text {
			v.appendText(value)
			return
		}
		t, err := time.Parse(momentLayout, value)
		if v.Kind == query.Date {
			t, err = time.Parse(dateLayout, value)
		}
		if err != nil {
			v.appendNull()
			return
		}
		v.appendTime(t.UnixMicro())
	default:
		v.appendNull()
	}
}
