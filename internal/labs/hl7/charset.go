package hl7

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// Charset is the character set of a message, by its name in MSH-18 (HL7 table
// 0211). The zero Charset is UTF-8, which includes ASCII.
type Charset struct {
	name string
	// table is nil for UTF-8.
	table *charmap.Charmap
}

// Charsets by the names of HL7 table 0211.
var (
	UTF8   = Charset{name: "UNICODE UTF-8"}
	ASCII  = Charset{name: "ASCII"}
	Latin1 = Charset{"8859/1", charmap.ISO8859_1}
)

var charsets = map[string]Charset{
	"":        UTF8,
	"ASCII":   ASCII,
	"UNICODE": UTF8,
	"UTF8":    UTF8,
	"88591":   Latin1,
	"88592":   {"8859/2", charmap.ISO8859_2},
	"88593":   {"8859/3", charmap.ISO8859_3},
	"88594":   {"8859/4", charmap.ISO8859_4},
	"88595":   {"8859/5", charmap.ISO8859_5},
	"88596":   {"8859/6", charmap.ISO8859_6},
	"88597":   {"8859/7", charmap.ISO8859_7},
	"88598":   {"8859/8", charmap.ISO8859_8},
	"88599":   {"8859/9", charmap.ISO8859_9},
	"885915":  {"8859/15", charmap.ISO8859_15},
	"1252":    {"WINDOWS-1252", charmap.Windows1252},
}

// spellings removes the parts by which spellings of a character set differ:
// UNICODE UTF-8, utf-8, ISO_8859-1, ISO IR100, windows-1252.
var spellings = strings.NewReplacer("UNICODE UTF", "UTF", "WINDOWS", "", "ISO", "", "US-", "", "CP", "", "-", "", "_", "", "/", "", " ", "")

// CharsetNamed finds a character set by its name in MSH-18 or a usual spelling.
func CharsetNamed(name string) (Charset, bool) {
	c, ok := charsets[spellings.Replace(strings.ToUpper(strings.TrimSpace(name)))]
	return c, ok
}

// String returns the name for MSH-18.
func (c Charset) String() string {
	if c.name == "" {
		return UTF8.name
	}
	return c.name
}

// detectCharset finds the character set of a message. MSH-18 decides, with two
// exceptions. If it is empty, ASCII or UTF-8 but the bytes are not valid UTF-8,
// the message is Latin-1, which labs send without declaring it. A message
// declared as ASCII that has other valid UTF-8 is UTF-8, because ASCII could not
// write these characters again.
func detectCharset(body []byte, d Delimiters, start int) (Charset, error) {
	// After the cut at the field separator, MSH-18 is at index 17: MSH-1 is the
	// separator itself.
	header := firstLine(body)
	var declared []byte
	if fields := bytes.SplitN(header, []byte{d.Field}, 19); len(fields) > 17 {
		declared, _, _ = bytes.Cut(fields[17], []byte{d.Repetition})
		declared, _, _ = bytes.Cut(declared, []byte{d.Component})
	}
	charset, known := CharsetNamed(string(declared))
	if !known {
		return Charset{}, &SyntaxError{Segment: 1, Field: 18, Offset: start, Problem: "a character set that is not supported"}
	}
	switch {
	case charset.table == nil && !utf8.Valid(body):
		return Latin1, nil
	case charset == ASCII && !isASCII(body):
		return UTF8, nil
	}
	return charset, nil
}

// decode converts bytes to text, in the one copy that parsing makes.
func (c Charset) decode(data []byte) string {
	if c.table == nil {
		return string(data)
	}
	var text strings.Builder
	text.Grow(len(data) + len(data)/16)
	for _, b := range data {
		if b < utf8.RuneSelf {
			text.WriteByte(b)
			continue
		}
		text.WriteRune(c.table.DecodeByte(b))
	}
	return text.String()
}

// encode converts text to bytes. It reports false for a character that the set
// lacks.
func (c Charset) encode(text string) ([]byte, bool) {
	if c.table == nil {
		return []byte(text), c != ASCII || isASCII(text)
	}
	data, err := c.table.NewEncoder().Bytes([]byte(text))
	return data, err == nil
}
