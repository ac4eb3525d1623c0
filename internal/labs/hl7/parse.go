package hl7

import (
	"bytes"
	"fmt"
	"strings"
)

// SyntaxError reports where a message cannot be read. It never repeats the
// content.
type SyntaxError struct {
	// Segment and Field count from 1; Field is 0 for the segment as a whole.
	Segment, Field int
	// Offset is the byte in the message, counted from 0.
	Offset  int
	Problem string
}

func (e *SyntaxError) Error() string {
	if e.Field == 0 {
		return fmt.Sprintf("hl7: segment %d, byte %d: %s", e.Segment, e.Offset, e.Problem)
	}
	return fmt.Sprintf("hl7: segment %d, field %d, byte %d: %s", e.Segment, e.Field, e.Offset, e.Problem)
}

// Parse reads one message. Segments may end in CR, as the standard says, or in
// LF or CRLF. A line that begins no segment continues the field before it: it
// is joined with an escaped line break. The error is a *SyntaxError.
func Parse(data []byte) (*Message, error) {
	body := bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	body = bytes.TrimLeft(body, "\r\n \t")
	start := len(data) - len(body)
	d, err := delimiters(body, start)
	if err != nil {
		return nil, err
	}
	if i := bytes.IndexAny(body, forbiddenBytes); i >= 0 {
		lines := bytes.FieldsFunc(body[:i+1], func(r rune) bool { return r == '\r' || r == '\n' })
		return nil, &SyntaxError{Segment: len(lines), Offset: start + i, Problem: "a framing or NUL byte inside the message"}
	}
	charset, err := detectCharset(body, d, start)
	if err != nil {
		return nil, err
	}
	m := &Message{Delimiters: d, Charset: charset}
	lines, ok := m.lines(charset.decode(body))
	if !ok {
		return nil, &SyntaxError{Segment: len(lines) + 1, Offset: start, Problem: "a header is followed by a line that is not a segment"}
	}
	m.cut(lines)
	return m, nil
}

// forbiddenBytes are the bytes that frame a message on the wire (MLLP) and so
// never occur in one, and NUL.
const forbiddenBytes = "\x00\x0b\x1c"

// delimiters reads MSH-1 and MSH-2.
func delimiters(body []byte, start int) (Delimiters, error) {
	if !bytes.HasPrefix(body, []byte("MSH")) {
		return Delimiters{}, &SyntaxError{Segment: 1, Offset: start, Problem: "a message begins with MSH"}
	}
	if len(body) < 4 || !mayDelimit(body[3]) {
		return Delimiters{}, &SyntaxError{Segment: 1, Field: 1, Offset: start + 3, Problem: "no field separator after MSH"}
	}
	d := Delimiters{Field: body[3]}
	encoding, _, _ := bytes.Cut(firstLine(body[4:]), body[3:4])
	if len(encoding) < 2 || len(encoding) > 5 {
		return Delimiters{}, &SyntaxError{Segment: 1, Field: 2, Offset: start + 4, Problem: "needs 2 to 5 encoding characters"}
	}
	for i, c := range encoding {
		if !mayDelimit(c) || bytes.IndexByte(encoding, c) != i {
			return Delimiters{}, &SyntaxError{Segment: 1, Field: 2, Offset: start + 4 + i, Problem: "encoding characters must be different marks"}
		}
	}
	for i, to := range []*byte{&d.Component, &d.Repetition, &d.Escape, &d.Subcomponent, &d.Truncation} {
		if i < len(encoding) {
			*to = encoding[i]
		}
	}
	return d, nil
}

// mayDelimit allows the printable marks of ASCII, except the quotation mark,
// because "" is a value.
func mayDelimit(c byte) bool {
	letter := c|0x20 >= 'a' && c|0x20 <= 'z'
	digit := c >= '0' && c <= '9'
	return c > ' ' && c < 0x7f && !letter && !digit && c != '"'
}

func firstLine(body []byte) []byte {
	if i := bytes.IndexAny(body, "\r\n"); i >= 0 {
		return body[:i]
	}
	return body
}

// cut cuts lines into segments. All fields of the message share one array.
func (m *Message) cut(lines []string) {
	d := m.Delimiters
	count := 0
	for _, line := range lines {
		count += 2 + strings.Count(line, string(d.Field)) // one more in a header
	}
	fields := make([]string, 0, count)
	m.Segments = make([]Segment, 0, len(lines))
	for _, line := range lines {
		first := len(fields)
		if isHeader(line) {
			fields = append(fields, line[:3], line[3:4])
			line = line[4:]
		}
		for {
			i := strings.IndexByte(line, d.Field)
			if i < 0 {
				break
			}
			fields = append(fields, line[:i])
			line = line[i+1:]
		}
		fields = append(fields, line)
		m.Segments = append(m.Segments, Segment{fields[first:len(fields):len(fields)], d})
	}
}

func isHeader(line string) bool {
	return len(line) > 3 && (strings.HasPrefix(line, "MSH") || strings.HasPrefix(line, "BHS") || strings.HasPrefix(line, "FHS"))
}

// lines cuts the text at its line ends and joins broken lines. It reports
// false, with the lines so far, when a header would continue on a second line.
// Headers contain no text, and a wrong guess would change how the whole message
// is read.
func (m *Message) lines(text string) ([]string, bool) {
	lineBreak := " "
	if e := m.Delimiters.Escape; e != 0 {
		lineBreak = string(e) + ".br" + string(e)
	}
	lines := make([]string, 0, 16)
	var broken strings.Builder // the last line, while it grows
	mend := func() {
		if broken.Len() > 0 {
			lines[len(lines)-1] = broken.String()
			broken = strings.Builder{}
		}
	}
	for len(text) > 0 {
		line := text
		if i := strings.IndexAny(text, "\r\n"); i >= 0 {
			line, text = text[:i], text[i+1:]
		} else {
			text = ""
		}
		if m.isSegmentStart(line) {
			mend()
			lines = append(lines, line)
			continue
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		last := lines[len(lines)-1]
		if isHeader(last) {
			return lines, false
		}
		switch {
		case broken.Len() > 0:
			broken.WriteString(lineBreak)
		case len(last) == 3: // a bare name has no field to continue
			broken.WriteString(last + string(m.Delimiters.Field))
		default:
			broken.WriteString(last + lineBreak)
		}
		broken.WriteString(line)
	}
	mend()
	return lines, true
}

// isSegmentStart reports whether a line is a segment: three capitals and the
// field separator. Three capitals alone may be a word of a broken text, so
// they must name a segment of the standard or a Z segment.
func (m *Message) isSegmentStart(line string) bool {
	if len(line) < 3 || line[0] < 'A' || line[0] > 'Z' || !isCapital(line[1]) || !isCapital(line[2]) {
		return false
	}
	if len(line) > 3 {
		return line[3] == m.Delimiters.Field
	}
	return line[0] == 'Z' || strings.Contains(bareSegments, line)
}

func isCapital(c byte) bool { return c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' }

// bareSegments are the segments that are known without a field.
const bareSegments = "PID PD1 NTE PV1 PV2 NK1 AL1 IN1 IN2 IN3 GT1 ORC OBR OBX TQ1 TQ2 DG1 SPM SAC PRT CTD CTI FT1 BLG DSC MSA ERR SFT UAC TXA BTS FTS"
