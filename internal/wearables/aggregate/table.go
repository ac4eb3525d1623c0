package aggregate

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"hale/internal/wearables"
	"hale/internal/wearables/aggregate/query"
)

// Table is a result: columns of equal length, in the order of the select.
type Table struct {
	Columns []Column
}

// Column is one column of a result.
type Column struct {
	Name string
	Vector
}

// Len returns the number of rows.
func (t *Table) Len() int {
	if len(t.Columns) == 0 {
		return 0
	}
	return t.Columns[0].Len()
}

// Bytes estimates the size of the table in memory and when written. A text counts once
// per occurrence.
func (t *Table) Bytes() (n int) {
	for i := range t.Columns {
		n += t.Len() * width(t.Columns[i].Kind)
		for _, text := range t.Columns[i].Text {
			n += len(text)
		}
	}
	return n
}

// Pick returns a new table with the given rows, in the given order.
func (t *Table) Pick(rows []int32) *Table {
	out := &Table{Columns: make([]Column, len(t.Columns))}
	for i := range t.Columns {
		out.Columns[i] = Column{t.Columns[i].Name, t.Columns[i].pick(rows)}
	}
	return out
}

// Only returns a table with the given columns, in the given order. Both tables share the
// values.
func (t *Table) Only(columns []int) *Table {
	out := &Table{Columns: make([]Column, len(columns))}
	for i, c := range columns {
		out.Columns[i] = t.Columns[c]
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

// NewEmptyTable returns the result table of a plan, without rows.
func NewEmptyTable(p *query.Plan) *Table {
	t := &Table{Columns: make([]Column, len(p.Outputs))}
	for i, o := range p.Outputs {
		t.Columns[i] = Column{o.Name, Vector{Kind: o.Kind}}
	}
	return t
}

// Equal reports whether two rows of tables with the same columns are equal.
func Equal(a *Table, i int, b *Table, j int) bool {
	for k := range a.Columns {
		v, w := &a.Columns[k].Vector, &b.Columns[k].Vector
		if string(appendCode(nil, v, i)) != string(appendCode(nil, w, j)) {
			return false
		}
	}
	return true
}

// Code encodes a row's values in some columns. Rows have the same code only if these
// values are equal.
func (t *Table) Code(row int, columns []int) string {
	var code []byte
	for _, c := range columns {
		code = appendCode(code, &t.Columns[c].Vector, row)
	}
	return string(code)
}

// AppendJSON appends the table as {"column": [values], …}, directly from its columns.
// spill may send the text so far; nil collects all of it.
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
	t := NewEmptyTable(p)
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

// rowsAtOnce is the number of rows that are converted to Parquet values at once.
const rowsAtOnce = 4096

// WriteParquet writes the table as one Parquet file with its columns in their order.
// All columns are optional. Moments are timestamps in microseconds that are not
// adjusted to UTC: Parquet's form of floating time.
func (t *Table) WriteParquet(w io.Writer) error {
	out := parquet.NewWriter(w, t.schema(), parquet.Compression(&zstd.Codec{}))
	rows := make([]parquet.Row, 0, rowsAtOnce)
	for row := range t.Len() {
		values := make(parquet.Row, len(t.Columns))
		for i := range t.Columns {
			values[i] = t.Columns[i].parquetValue(row, i)
		}
		if rows = append(rows, values); len(rows) == rowsAtOnce || row == t.Len()-1 {
			if _, err := out.WriteRows(rows); err != nil {
				return fmt.Errorf("aggregate: writing Parquet: %w", err)
			}
			rows = rows[:0]
		}
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("aggregate: writing Parquet: %w", err)
	}
	return nil
}

// WriteArchive writes tables as a gzip-compressed tar of Parquet files, named
// 0.parquet, 1.parquet and so on.
//
// Reference 7.12, the archive answer of a query; it names no file names.
func WriteArchive(w io.Writer, tables []*Table, at time.Time) error {
	zipped := gzip.NewWriter(w)
	archive := tar.NewWriter(zipped)
	for i, t := range tables {
		var file bytes.Buffer
		if err := t.WriteParquet(&file); err != nil {
			return err
		}
		header := &tar.Header{Name: fmt.Sprintf("%d.parquet", i), Mode: 0o644, Size: int64(file.Len()), ModTime: at.Truncate(time.Second)}
		if err := archive.WriteHeader(header); err != nil {
			return fmt.Errorf("aggregate: writing an archive: %w", err)
		}
		if _, err := archive.Write(file.Bytes()); err != nil {
			return fmt.Errorf("aggregate: writing an archive: %w", err)
		}
	}
	if err := archive.Close(); err != nil {
		return fmt.Errorf("aggregate: writing an archive: %w", err)
	}
	return zipped.Close()
}

func (t *Table) schema() *parquet.Schema {
	root := orderedGroup{Group: parquet.Group{}}
	for i := range t.Columns {
		c := &t.Columns[i]
		root.Group[c.Name] = parquet.Optional(leaf(c.Kind))
		root.names = append(root.names, c.Name)
	}
	return parquet.NewSchema("result", root)
}

func leaf(k query.Kind) parquet.Node {
	switch k {
	case query.Moment:
		return parquet.TimestampAdjusted(parquet.Microsecond, false)
	case query.Date:
		return parquet.Date()
	case query.Text:
		return parquet.String()
	case query.Flag:
		return parquet.Leaf(parquet.BooleanType)
	case query.Integer:
		return parquet.Leaf(parquet.Int64Type)
	default:
		return parquet.Leaf(parquet.DoubleType)
	}
}

// orderedGroup is a group that keeps the order in which its columns were selected;
// parquet.Group sorts them by name.
type orderedGroup struct {
	parquet.Group
	names []string
}

// Fields lists the columns in their order.
func (g orderedGroup) Fields() []parquet.Field {
	fields := g.Group.Fields()
	slices.SortFunc(fields, func(a, b parquet.Field) int {
		return slices.Index(g.names, a.Name()) - slices.Index(g.names, b.Name())
	})
	return fields
}

// levelPresent is the definition level of an optional value that is not null.
const levelPresent = 1

func (v *Vector) parquetValue(row, column int) parquet.Value {
	if v.Null[row] {
		return parquet.NullValue().Level(0, 0, column)
	}
	var value parquet.Value
	switch v.Kind {
	case query.Moment:
		value = parquet.Int64Value(v.Time[row])
	case query.Date:
		value = parquet.Int32Value(int32(v.Time[row] / dayUS))
	case query.Text:
		value = parquet.ByteArrayValue([]byte(v.Text[row]))
	case query.Flag:
		value = parquet.BooleanValue(v.Num[row] != 0)
	case query.Integer:
		value = parquet.Int64Value(int64(v.Num[row]))
	default:
		value = parquet.DoubleValue(v.Num[row])
	}
	return value.Level(0, levelPresent, column)
}

const dayUS = int64(24 * time.Hour / time.Microsecond)
