package xmlscan

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// walked writes a document as a walker sees it: +parent/name=text for an opening tag,
// -name for a closing one.
func walked(in io.Reader) (string, error) {
	w := NewWalker(in)
	var b strings.Builder
	for {
		name, tag, err := w.Next()
		switch {
		case err != nil:
			return strings.TrimSpace(b.String()), err
		case tag == nil:
			fmt.Fprintf(&b, "-%s ", name)
		default:
			fmt.Fprintf(&b, "+%s/%s=%s ", w.Parent(), name, w.PeekText())
		}
	}
}

func TestWalker(t *testing.T) {
	for in, want := range map[string]string{
		`<a><b>1</b></a>`:                    "+/a= +a/b=1 -b -a",
		`<x:a><y:b> &lt;2 </y:b></x:a>`:      "+/a= +a/b=<2 -b -a",
		`<a><b/><c>3</c></a>`:                "+/a= +a/b= -b +a/c=3 -c -a",
		`<a><b>1<c>2</b></a>`:                "+/a= +a/b=1 +b/c=2 -b -a", // c is never closed
		`<a></z><b>1</b></a>`:                "+/a= +a/b=1 -b -a",        // z was never opened
		`<!-- <q> --><a><![CDATA[<r>]]></a>`: "+/a=<r> -a",
		`<a> <![CDATA[ &lt;1 ]] > ]]> </a>`:  "+/a=&lt;1 ]] > -a", // nothing in it is decoded
		`<a>1<![CDATA[2]]></a>`:              "+/a=1 -a",
		`<a><![CDATA[]]></a>`:                "+/a= -a",
	} {
		for _, wrap := range []func(io.Reader) io.Reader{wholeReader, iotest.OneByteReader} {
			if got, err := walked(wrap(strings.NewReader(in))); got != want || !errors.Is(err, io.EOF) {
				t.Errorf("%s\ngot  %s, %v\nwant %s", in, got, err, want)
			}
		}
	}
}

// A value is read wherever it is in the window.
func TestWalkerTextAcrossWindows(t *testing.T) {
	const n = 60_000
	doc := "<r>" + strings.Repeat(`<v k="1">12345</v>`, n) + "</r>"
	w, seen := NewWalker(iotest.HalfReader(strings.NewReader(doc))), 0
	for {
		name, tag, err := w.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if tag != nil && name == "v" {
			if text := w.PeekText(); text != "12345" || string(tag.Attr("k")) != "1" {
				t.Fatalf("element %d: %q, %q", seen, text, tag.Attr("k"))
			}
			seen++
		}
	}
	if seen != n {
		t.Errorf("%d elements", seen)
	}
}

func TestWalkerDepth(t *testing.T) {
	if _, err := walked(strings.NewReader(strings.Repeat("<a>", maxDepth+1))); !IsCut(err) {
		t.Error(err)
	}
}

func TestUTF8(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"latin":         {"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe9</a>", "é"},
		"declared":      {`<?xml version="1.0" encoding="UTF-8"?><a>é</a>`, "é"},
		"bare":          {"<a>é</a>", "é"},
		"little endian": {"\xFF\xFE<\x00a\x00>\x00\xe9\x00<\x00/\x00a\x00>\x00", "é"},
		"big endian":    {"\xFE\xFF\x00<\x00a\x00>\xD8\x3C\xDF\x31\x00<\x00/\x00a\x00>", "\U0001F331"},
	} {
		in, err := UTF8(strings.NewReader(c.in))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, err := walked(in); got != "+/a="+c.want+" -a" || !errors.Is(err, io.EOF) {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	if _, err := UTF8(strings.NewReader(`<?xml version="1.0" encoding="UTF-32"?><a/>`)); !errors.Is(err, ErrCharset) {
		t.Error(err)
	}
}
