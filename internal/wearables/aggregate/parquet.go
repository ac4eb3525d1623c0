package aggregate

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"hale/internal/wearables/aggregate/query"
)

// rowsAtOnce is how many rows are turned into Parquet's own values at once.
const rowsAtOnce = 4096

// WriteParquet writes the table as one Parquet file with its columns in their
// order. All columns are optional. Moments are timestamps in microseconds that
// are not adjusted to UTC, which is how Parquet says floating.
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
	root := ordered{Group: parquet.Group{}}
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

// ordered is a group that keeps the order in which its columns were selected;
// parquet.Group sorts them by name.
type ordered struct {
	parquet.Group
	names []string
}

// Fields lists the columns in their order.
func (g ordered) Fields() []parquet.Field {
	fields := g.Group.Fields()
	slices.SortFunc(fields, func(a, b parquet.Field) int {
		return slices.Index(g.names, a.Name()) - slices.Index(g.names, b.Name())
	})
	return fields
}

// present is the definition level of an optional value that is there.
const present = 1

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
	return value.Level(0, present, column)
}

const dayUS = int64(24 * time.Hour / time.Microsecond)
