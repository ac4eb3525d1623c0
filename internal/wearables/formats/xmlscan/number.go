package xmlscan

import (
	"math"
	"strconv"
)

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
