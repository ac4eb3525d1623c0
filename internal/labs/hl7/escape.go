package hl7

import (
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Unescape resolves the escape sequences of a value:
//
//   - delimiters: \F\ \S\ \T\ \R\ \E\ \P\
//   - bytes: \X0D\
//   - line breaks and formatting: \.br\ \.sp2\
//   - highlighting, which is dropped: \H\ \N\
//
// Other text, such as a path with backslashes, stays as it is.
func (d Delimiters) Unescape(text string) string {
	i := indexByte(text, d.Escape)
	if i < 0 {
		return text
	}
	var out strings.Builder
	out.Grow(len(text))
	for i >= 0 {
		out.WriteString(text[:i])
		text = text[i:]
		end := strings.IndexByte(text[1:], d.Escape)
		if end < 0 {
			break
		}
		if replacement, ok := d.resolve(text[1 : end+1]); ok {
			out.WriteString(replacement)
			text = text[end+2:]
		} else { // its closing character may open the next
			out.WriteByte(text[0])
			text = text[1:]
		}
		i = strings.IndexByte(text, d.Escape)
	}
	out.WriteString(text)
	return out.String()
}

// resolve returns the text of one escape sequence, given without its escape
// characters.
func (d Delimiters) resolve(code string) (string, bool) {
	if code == "" {
		return "", false
	}
	if len(code) == 1 {
		for _, s := range d.letters() {
			if s.letter == code[0] && s.mark != 0 {
				return string(s.mark), true
			}
		}
		return "", code == "H" || code == "N" // highlighting on and off
	}
	switch code[0] {
	case '.':
		return resolveFormat(code[1:])
	case 'X':
		return decodeHex(code[1:])
	case 'C', 'M': // a switch of the character set within a field (ISO 2022)
		_, err := hex.DecodeString(code[1:])
		return "", err == nil
	}
	return "", false
}

type letter struct{ letter, mark byte }

func (d Delimiters) letters() [6]letter {
	return [6]letter{
		{'F', d.Field},
		{'S', d.Component},
		{'T', d.Subcomponent},
		{'R', d.Repetition},
		{'E', d.Escape},
		{'P', d.Truncation},
	}
}

// resolveFormat resolves the commands of formatted text (type FT). Line breaks
// are kept; other layout is dropped.
func resolveFormat(command string) (string, bool) {
	if len(command) < 2 {
		return "", false
	}
	n := 1
	if rest := strings.TrimLeft(command[2:], " +-"); rest != "" {
		count, err := strconv.Atoi(rest)
		if err != nil || count < 0 || count > 100 {
			return "", false
		}
		n = count
	}
	switch command[:2] {
	case "br", "ce":
		return "\n", true
	case "sp":
		return strings.Repeat("\n", max(n, 1)), true
	case "sk":
		return strings.Repeat(" ", n), true
	case "in", "ti", "fi", "nf":
		return "", true
	}
	return "", false
}

// decodeHex resolves \X..\. Line ends become a newline, NUL is dropped, and
// bytes that are not valid UTF-8 are read as Latin-1.
func decodeHex(digits string) (string, bool) {
	data, err := hex.DecodeString(digits)
	if err != nil || len(data) == 0 {
		return "", false
	}
	text := string(data)
	if !utf8.ValidString(text) {
		text = Latin1.decode(data)
	}
	return lineEnds.Replace(text), true
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "")

// Quote escapes text for a component. Line ends become \.br\, other control
// characters bytes in hexadecimal. Without an escape character a space
// replaces each character that would cut the message.
func (d Delimiters) Quote(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r < utf8.RuneSelf && d.isDelimiter(byte(r)) }) < 0 {
		return text
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	var out strings.Builder
	for i := range len(text) {
		c := text[i]
		switch {
		case c >= ' ' && !d.isDelimiter(c):
			out.WriteByte(c)
		case d.Escape == 0:
			out.WriteByte(' ')
		case c == '\n':
			d.writeEscape(&out, ".br")
		case c < ' ':
			d.writeEscape(&out, "X"+strings.ToUpper(hex.EncodeToString([]byte{c})))
		default:
			for _, s := range d.letters() {
				if s.mark == c {
					d.writeEscape(&out, string(s.letter))
				}
			}
		}
	}
	return out.String()
}

func (d Delimiters) writeEscape(out *strings.Builder, code string) {
	out.WriteByte(d.Escape)
	out.WriteString(code)
	out.WriteByte(d.Escape)
}

func (d Delimiters) isDelimiter(c byte) bool {
	return c != 0 && (c == d.Field || c == d.Component || c == d.Subcomponent || c == d.Repetition || c == d.Escape || c == d.Truncation)
}
