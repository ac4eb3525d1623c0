package sheet

import (
	"errors"
	"io"
	"strings"
	"testing"

	"hale/internal/fault"
)

func TestRowsPassOverTheByteOrderMark(t *testing.T) {
	for _, text := range []string{"\ufeffa,b\n1,2\n", "a;b\r\n1;2", "\"a\",\"b\"\n\"1\",\"2\"\n"} {
		rows := NewRows(strings.NewReader(text))
		h, ok, err := Head(rows, 1, func(h Header) bool { return h.Column("a") == 0 && h.Column("b") == 1 })
		if err != nil || !ok || h.Len() != 2 {
			t.Fatalf("%q: %v %v %v", text, h, ok, err)
		}
		row, err := rows.Next()
		if err != nil || Cell(row, 0) != "1" || Cell(row, 1) != "2" || Cell(row, 2) != "" || Cell(row, -1) != "" {
			t.Errorf("%q: %q %v", text, row, err)
		}
		if _, err := rows.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("%q: %v at the end", text, err)
		}
	}
}

// endless is a document that is one open quote.
type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	if e.read == 0 {
		p[0] = '"'
	}
	e.read += int64(len(p))
	return len(p), nil
}

func TestRowsRefuseAnEndlessRow(t *testing.T) {
	in := &endless{}
	_, err := NewRows(in).Next()
	if !fault.Is(err, fault.Unprocessable) {
		t.Error(err)
	}
	if in.read > 2*MaxRecord {
		t.Errorf("%d bytes were read", in.read)
	}
	// While looking for a header it only says that there is none.
	if _, ok, err := Head(NewRows(&endless{}), 3, func(Header) bool { return true }); ok || err != nil {
		t.Errorf("%v %v", ok, err)
	}
}
