package xmlscan

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"hale/internal/testdata"
	"hale/internal/wearables/formats/applehealth/applehealthtest"
)

// tagText writes a tag in one line, so that two readers can be compared.
func tagText(name string, attrs []xml.Attr, depth string) string {
	var b strings.Builder
	b.WriteString(depth + name)
	for _, a := range attrs {
		fmt.Fprintf(&b, " %s=%q", a.Name.Local, a.Value)
	}
	return b.String()
}

// scanAll lists the tags that Scanner finds.
func scanAll(in io.Reader) ([]string, *Scanner, error) {
	var tags []string
	s := New(in)
	for {
		tag, err := s.Next()
		if err != nil {
			return tags, s, err
		}
		if tag.Kind != Closing {
			attrs := make([]xml.Attr, len(tag.Attrs))
			for i, a := range tag.Attrs {
				attrs[i] = xml.Attr{Name: xml.Name{Local: local(string(a.Name))}, Value: Unescape(a.Value)}
			}
			tags = append(tags, tagText(local(string(tag.Name)), attrs, "<"))
		}
		if tag.Kind != Opening {
			tags = append(tags, tagText(local(string(tag.Name)), nil, "</"))
		}
	}
}

func local(name string) string { return name[strings.IndexByte(name, ':')+1:] }

// decodeAll lists the tags that encoding/xml finds.
func decodeAll(in io.Reader) ([]string, error) {
	var tags []string
	d := xml.NewDecoder(in)
	for {
		token, err := d.Token()
		if err != nil {
			return tags, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			for i := range t.Attr {
				t.Attr[i].Value = plainText([]byte(t.Attr[i].Value))
			}
			tags = append(tags, tagText(t.Name.Local, t.Attr, "<"))
		case xml.EndElement:
			tags = append(tags, tagText(t.Name.Local, nil, "</"))
		}
	}
}

func sameTags(t *testing.T, data []byte, wrap func(io.Reader) io.Reader) {
	t.Helper()
	want, wantErr := decodeAll(bytes.NewReader(data))
	got, s, gotErr := scanAll(wrap(bytes.NewReader(data)))
	if !errors.Is(gotErr, io.EOF) || !errors.Is(wantErr, io.EOF) || s.Damaged != 0 {
		t.Fatalf("scanner: %v, %d damaged; encoding/xml: %v", gotErr, s.Damaged, wantErr)
	}
	if s.Offset() != int64(len(data)) {
		t.Errorf("offset %d of %d bytes", s.Offset(), len(data))
	}
	if len(got) != len(want) {
		t.Fatalf("%d tags, encoding/xml finds %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("tag %d:\n%s\nwant\n%s", i, got[i], want[i])
		}
	}
}

func wholeReader(r io.Reader) io.Reader { return r }

var publicExports = []string{
	"wearables/apple-health/hkimport-export.xml",
	"wearables/apple-health/export6s3sample.xml",
	"wearables/apple-health/dogsheep-export.xml",
	"wearables/apple-health/dogsheep-route.gpx",
}

func TestScannerAgreesWithEncodingXML(t *testing.T) {
	for _, name := range publicExports {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(testdata.Shared(t, name))
			if err != nil {
				t.Fatal(err)
			}
			sameTags(t, data, wholeReader)
			sameTags(t, data, iotest.HalfReader)
		})
	}
	t.Run("generated", func(t *testing.T) {
		var file bytes.Buffer
		if _, err := applehealthtest.Write(&file, applehealthtest.Options{Days: 7}); err != nil {
			t.Fatal(err)
		}
		sameTags(t, file.Bytes(), wholeReader)
		sameTags(t, file.Bytes(), oddReader)
	})
}

// oddReader gives pieces of uneven length, so that tags are cut at every place.
func oddReader(r io.Reader) io.Reader { return &pieces{in: r, size: 1} }

type pieces struct {
	in   io.Reader
	size int
}

func (p *pieces) Read(b []byte) (int, error) {
	p.size = p.size*3%8191 + 1
	return p.in.Read(b[:min(len(b), p.size)])
}

func TestScannerShapes(t *testing.T) {
	cases := []struct{ name, in, want string }{
		{"empty element", `<a b="1"/>`, `<a b="1"|</a`},
		{"single quotes", `<a b='say "hi"'/>`, `<a b="say \"hi\""|</a`},
		{"greater-than in a value", `<a b="1 > 0"></a>`, `<a b="1 > 0"|</a`},
		{"entities", `<a b="&lt;&amp;&#65;&#x42;&quot;&apos;&gt;"/>`, `<a b="<&AB\"'>"|</a`},
		{"unknown entity stays", `<a b="R&D &nope;"/>`, `<a b="R&D &nope;"|</a`},
		{"spaces around the equal sign", "<a b\n = \"1\"\t/>", `<a b="1"|</a`},
		{"comment with tags", `<!-- <b> --><a/>`, `<a|</a`},
		{"cdata with tags", `<a><![CDATA[<b c="]">]]></a>`, `<a|</a`},
		{"instruction", `<?xml version="1.0"?><a/>`, `<a|</a`},
		{"doctype", `<!DOCTYPE a [ <!-- ]> ' --> <!ELEMENT a (b)> <!ENTITY c "]>"> ]><a/>`, `<a|</a`},
		{"doctype without subset", `<!DOCTYPE a SYSTEM "a.dtd"><a/>`, `<a|</a`},
		{"byte order mark", "\uFEFF<a/>", `<a|</a`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, wrap := range []func(io.Reader) io.Reader{wholeReader, iotest.OneByteReader} {
				tags, s, err := scanAll(wrap(strings.NewReader(c.in)))
				if got := strings.Join(tags, "|"); got != c.want || !errors.Is(err, io.EOF) || s.Damaged != 0 {
					t.Errorf("got %s, %v, %d damaged, want %s", got, err, s.Damaged, c.want)
				}
			}
		})
	}
}

func TestScannerDamage(t *testing.T) {
	long := strings.Repeat("x", maxTag+1)
	cases := []struct {
		name, in, want string
		damaged        int64
		err            error
	}{
		{"unclosed quote costs one tag", `<r><a b="1/><c d="2"/></r>`, `<r|<c d="2"|</c|</r`, 1, io.EOF},
		{"missing quote", `<r><a b=1/><c/></r>`, `<r|<c|</c|</r`, 1, io.EOF},
		{"no value", `<r><a b/><c/></r>`, `<r|<c|</c|</r`, 1, io.EOF},
		{"lone less-than", `<r>1 < 2<c/></r>`, `<r|<c|</c|</r`, 1, io.EOF},
		{"cut in a tag", `<r><a b="1"/><a b="2`, `<r|<a b="1"|</a`, 0, io.ErrUnexpectedEOF},
		{"cut in a comment", `<r><!-- a`, `<r`, 0, io.ErrUnexpectedEOF},
		{"cut in the doctype", `<!DOCTYPE a [ `, ``, 0, io.ErrUnexpectedEOF},
		{"doctype without end", `<!DOCTYPE a [` + strings.Repeat(" ", windowSize), ``, 0, errDoctype},
		{"tag without end", `<r><a b="` + long, `<r`, 0, errTagTooLong},
		{"tag without end before another", `<r><a b="` + long + `<c/></r>`, `<r`, 0, errTagTooLong},
		{"unclosed quote far from the end", `<r><a b="1/><c/>` + long, `<r|<c|</c`, 1, io.EOF},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tags, s, err := scanAll(strings.NewReader(c.in))
			if got := strings.Join(tags, "|"); got != c.want || !errors.Is(err, c.err) || s.Damaged != c.damaged {
				t.Errorf("got %s, %v, %d damaged\nwant %s, %v, %d", got, err, s.Damaged, c.want, c.err, c.damaged)
			}
		})
	}
}

// simpleDTD is a DTD without quotes, comments and brackets in brackets.
var simpleDTD = regexp.MustCompile(`^[^\[\]<>"']*(\[\s*(<[^\[\]<>"'-]*>\s*)*\]\s*)?>`)

// closesDTD reports whether the text between the brackets of each DTD is simple enough
// to see that they are closed.
func closesDTD(data []byte) bool {
	for {
		_, rest, found := bytes.Cut(data, []byte("<!"))
		if !found {
			return true
		}
		if data = rest; !bytes.HasPrefix(rest, []byte("--")) && !bytes.HasPrefix(rest, []byte("[CDATA[")) && !simpleDTD.Match(rest) {
			return false
		}
	}
}

func FuzzScanner(f *testing.F) {
	f.Add([]byte(`<?xml version="1.0"?><!DOCTYPE a [<!ELEMENT a EMPTY>]><a b="1" c='&lt;'><d/></a>`), uint8(3))
	f.Add([]byte(`<r><a b="1/><c d="2"/><!-- x --><![CDATA[ ]]></r>`), uint8(1))
	f.Add([]byte(`<!DOCTYPE a [<!ELEMENT a EMPTY>A><a/>`), uint8(3)) // the subset is never closed
	f.Add([]byte(`<!DOCTYPE a [<d MENT]><a/><d/>`), uint8(5))        // nor its content
	f.Fuzz(func(t *testing.T, data []byte, size uint8) {
		whole, _, wholeErr := scanAll(bytes.NewReader(data))
		cut, s, cutErr := scanAll(&pieces{in: bytes.NewReader(data), size: int(size)})
		if strings.Join(whole, "\n") != strings.Join(cut, "\n") || !errors.Is(cutErr, wholeErr) {
			t.Fatalf("the size of reads changes the result: %v and %v", wholeErr, cutErr)
		}
		if s.Offset() > int64(len(data)) {
			t.Fatalf("offset %d past %d bytes", s.Offset(), len(data))
		}
		// Where encoding/xml accepts a document, the tags are the same. It does not
		// mind a DTD whose brackets do not match, which is no XML.
		if want, err := decodeAll(bytes.NewReader(data)); errors.Is(err, io.EOF) && asciiNames(want) && closesDTD(data) {
			if strings.Join(whole, "\n") != strings.Join(want, "\n") {
				t.Fatalf("scanner %q\nencoding/xml %q", whole, want)
			}
		}
	})
}

// asciiNames reports whether no name has a colon or a byte outside ASCII: there
// encoding/xml applies rules about names that an export never needs.
func asciiNames(tags []string) bool {
	for _, tag := range tags {
		for _, c := range []byte(tag) {
			if c >= 0x80 || c == ':' {
				return false
			}
		}
	}
	return true
}

func BenchmarkScanner(b *testing.B) {
	var file bytes.Buffer
	if _, err := applehealthtest.Write(&file, applehealthtest.Options{Bytes: 32 << 20}); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(file.Len()))
	b.ReportAllocs()
	for b.Loop() {
		s := New(bytes.NewReader(file.Bytes()))
		for {
			if _, err := s.Next(); err != nil {
				break
			}
		}
	}
}
