package sheet

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"hale/internal/platform/fault"
)

func TestRowsSkipTheByteOrderMark(t *testing.T) {
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

// endlessQuote is a document that is one open quote.
type endlessQuote struct{ read int64 }

func (e *endlessQuote) Read(p []byte) (int, error) {
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
	in := &endlessQuote{}
	_, err := NewRows(in).Next()
	if !fault.Is(err, fault.Unprocessable) {
		t.Error(err)
	}
	if in.read > 2*MaxRecord {
		t.Errorf("%d bytes were read", in.read)
	}
	// Head does not return this error. It only reports that there is no header.
	if _, ok, err := Head(NewRows(&endlessQuote{}), 3, func(Header) bool { return true }); ok || err != nil {
		t.Errorf("%v %v", ok, err)
	}
}

// Only a complete byte order mark at the start of a document is skipped. The rest of the
// document is read unchanged, in any sizes of reads.
func TestBoundedReaderSkipsTheByteOrderMark(t *testing.T) {
	for text, want := range map[string]string{
		"\ufeff": "", "\ufeff\ufeff{}": "\ufeff{}", "\xef\xbb": "\xef\xbb", "": "", "{": "{", "\ufeff" + strings.Repeat("x", 100): strings.Repeat("x", 100),
	} {
		for _, in := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text))} {
			b := NewBoundedTo(in, 200)
			got, err := io.ReadAll(b)
			if err != nil || string(got) != want || b.Bytes != int64(len(text)) {
				t.Errorf("%q: %q %v, %d bytes", text, got, err, b.Bytes)
			}
		}
	}
}
