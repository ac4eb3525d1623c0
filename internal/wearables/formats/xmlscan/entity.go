package xmlscan

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// entities are the five names that XML defines.
var entities = map[string]string{"lt": "<", "gt": ">", "amp": "&", "quot": `"`, "apos": "'"}

// Unescape returns the text of an attribute value. It decodes entities and numeric
// references. It replaces line ends and tabs by spaces, as XML requires, and replaces
// invalid UTF-8. An invalid reference stays unchanged. Only texts that are kept for
// long pass through here.
func Unescape(raw []byte) string {
	if bytes.IndexByte(raw, '&') < 0 {
		return plain(raw)
	}
	var out strings.Builder
	for {
		i := bytes.IndexByte(raw, '&')
		if i < 0 {
			out.WriteString(plain(raw))
			return out.String()
		}
		out.WriteString(plain(raw[:i]))
		text, n := reference(raw[i:])
		out.WriteString(text)
		raw = raw[i+n:]
	}
}

// reference decodes the reference at the start of raw and returns its length.
func reference(raw []byte) (string, int) {
	end := bytes.IndexByte(raw[:min(len(raw), 12)], ';')
	if end < 0 {
		return "&", 1
	}
	name := string(raw[1:end])
	if text, ok := entities[name]; ok {
		return text, end + 1
	}
	base, digits := 10, strings.TrimPrefix(name, "#")
	if digits == name {
		return "&", 1
	}
	if rest, hex := strings.CutPrefix(digits, "x"); hex {
		base, digits = 16, rest
	}
	r, err := strconv.ParseUint(digits, base, 32)
	if err != nil || r > utf8.MaxRune || !utf8.ValidRune(rune(r)) {
		return "&", 1
	}
	return string(rune(r)), end + 1
}

func plain(raw []byte) string {
	text := strings.ToValidUTF8(string(raw), "\uFFFD")
	if !strings.ContainsAny(text, "\t\n\r") {
		return text
	}
	text = strings.ReplaceAll(text, "\r\n", " ")
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, text)
}
