package xmlscan

import (
	"bytes"
	"math"
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
		return plainText(raw)
	}
	var out strings.Builder
	for {
		i := bytes.IndexByte(raw, '&')
		if i < 0 {
			out.WriteString(plainText(raw))
			return out.String()
		}
		out.WriteString(plainText(raw[:i]))
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

func plainText(raw []byte) string {
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

// powers of ten that a float64 holds exactly.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// Number reads a decimal number. Short numbers, which nearly all are, take one
// division. Digits and power of ten are exact, so the quotient is the nearest
// float64, as strconv would find. Number refuses NaN and infinities.
func Number(b []byte) (float64, bool) {
	if len(b) == 0 || len(b) > 64 {
		return 0, false
	}
	digits := b
	negative := b[0] == '-'
	if negative {
		digits = b[1:]
	}
	mantissa, point := int64(0), -1
	if len(digits) > 16 {
		return slowNumber(b)
	}
	for i, c := range digits {
		switch {
		case c-'0' <= 9:
			mantissa = mantissa*10 + int64(c-'0')
		case c == '.' && point < 0:
			point = i
		default:
			return slowNumber(b)
		}
	}
	value, decimals := float64(mantissa), 0
	if point >= 0 {
		decimals = len(digits) - 1 - point
	}
	if len(digits) == 0 || (point >= 0 && len(digits) == 1) || mantissa > 1<<53 {
		return slowNumber(b)
	}
	value /= powers[decimals]
	if negative {
		value = -value
	}
	return value, true
}

func slowNumber(b []byte) (float64, bool) {
	for _, c := range b { // no hex floats, no underscores, no "Inf"
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return 0, false
		}
	}
	value, err := strconv.ParseFloat(string(b), 64)
	return value, err == nil && !math.IsInf(value, 0) && !math.IsNaN(value)
}
