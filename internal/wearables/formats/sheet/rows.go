package sheet

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
)

// Rows reads a CSV document row by row. Rows may have any number of cells,
// since exporters leave out the last empty ones.
type Rows struct {
	csv *csv.Reader
	in  *BoundedReader
}

// NewRows starts at the beginning of a document. Cells are separated by commas, or by
// semicolons if the first line has more of them. Spreadsheets in some languages write
// semicolons.
func NewRows(in io.Reader) *Rows {
	bounded := NewBounded(in)
	buffer := bufio.NewReaderSize(bounded, 1<<16)
	start, _ := buffer.Peek(4096) // the first row returns an error again
	line, _, _ := bytes.Cut(start, []byte("\n"))
	r := &Rows{csv: csv.NewReader(buffer), in: bounded}
	if bytes.Count(line, []byte(";")) > bytes.Count(line, []byte(",")) {
		r.csv.Comma = ';'
	}
	r.csv.FieldsPerRecord = -1
	r.csv.LazyQuotes = true
	r.csv.ReuseRecord = true
	return r
}

// Next returns the next row, or io.EOF at the end. The row is valid until the next call.
func (r *Rows) Next() ([]string, error) {
	r.in.Next()
	return r.csv.Read()
}

// Bytes counts the bytes read so far.
func (r *Rows) Bytes() int64 { return r.in.Bytes }

// Header finds the columns of a document by their names.
type Header struct {
	names []string
}

// NewHeader returns the header of a document from the row with the names of the columns.
func NewHeader(row []string) Header {
	names := make([]string, len(row))
	for i, name := range row {
		names[i] = strings.ToLower(strings.TrimSpace(name))
	}
	return Header{names}
}

// Len returns the number of columns.
func (h Header) Len() int { return len(h.names) }

// Name returns the name of a column in lower case, or "" if there is no such column.
func (h Header) Name(i int) string { return Cell(h.names, i) }

// Column returns the position of the first column with one of the names. A name
// that ends in "…" matches columns that start with it. Without a match Column
// returns -1.
func (h Header) Column(names ...string) int {
	for _, want := range names {
		want = strings.ToLower(want)
		prefix, starts := strings.CutSuffix(want, "…")
		for i, name := range h.names {
			if name == want || starts && strings.HasPrefix(name, prefix) {
				return i
			}
		}
	}
	return -1
}

// Cell returns a cell without spaces around it, or "" if the row does not have the
// column.
func Cell(row []string, column int) string {
	if column < 0 || column >= len(row) {
		return ""
	}
	return strings.TrimSpace(row[column])
}

// Head reads up to most rows from the start of a document until one is a header. It
// returns false if none is.
func Head(rows *Rows, most int, is func(Header) bool) (h Header, ok bool, err error) {
	for range most {
		row, err := rows.Next()
		if errors.Is(err, io.EOF) || errors.Is(err, errTooLong) {
			return Header{}, false, nil
		}
		if err != nil {
			return Header{}, false, err
		}
		if h := NewHeader(row); is(h) {
			return h, true, nil
		}
	}
	return Header{}, false, nil
}

// MilligramsPerMillimole turns glucose in mg/dL into mmol/L.
const MilligramsPerMillimole = 18.0182

// Number reads a decimal number, with a point, or with a comma as some
// languages write it. It refuses NaN, infinities and hexadecimal numbers.
func Number(s string) (float64, bool) {
	if s == "" || len(s) > 40 || strings.Trim(s, "0123456789+-.,eE") != "" {
		return 0, false
	}
	if strings.Count(s, ",") == 1 && !strings.Contains(s, ".") {
		s = strings.Replace(s, ",", ".", 1)
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil && !math.IsInf(v, 0)
}

// Glucose reads a concentration and turns it into mmol/L. The unit is how the
// file calls it.
func Glucose(s, unit string) (float64, bool) {
	v, ok := Number(s)
	if ok && !IsMillimolar(unit) {
		v /= MilligramsPerMillimole
	}
	return v, ok
}

// IsMillimolar reports whether a unit, or the name of a column with one, is mmol/L.
func IsMillimolar(unit string) bool { return strings.Contains(strings.ToLower(unit), "mmol") }

// IsGlucoseUnit reports whether a text names one of the two units of glucose.
func IsGlucoseUnit(unit string) bool {
	return IsMillimolar(unit) || strings.Contains(strings.ToLower(unit), "mg/dl")
}
