package push

import "strconv"

// powersOfTen lists the powers of ten that a double holds exactly.
var powersOfTen = [...]float64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// number reads a JSON number. With up to 15 digits and no exponent one division is exact;
// strconv parses others.
func (s *scanner) number() (float64, error) {
	if c := s.peek(); c != '-' && (c < '0' || c > '9') {
		return 0, s.mismatch("float_type", "Input should be a valid number")
	}
	start := s.pos
	i, b := start, s.b
	negative := b[i] == '-'
	if negative {
		i++
	}
	mantissa, digits, decimals := uint64(0), 0, 0
	whole := i
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		mantissa = mantissa*10 + uint64(b[i]-'0')
	}
	digits = i - whole
	if digits == 0 || digits > 1 && b[whole] == '0' {
		s.pos = i
		return 0, s.bad()
	}
	if i < len(b) && b[i] == '.' {
		point := i
		for i++; i < len(b) && b[i]-'0' <= 9; i++ {
			mantissa = mantissa*10 + uint64(b[i]-'0')
		}
		decimals = i - point - 1
		if decimals == 0 {
			s.pos = i
			return 0, s.bad()
		}
		digits += decimals
	}
	simple := digits <= 15
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		simple = false
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		exponent := i
		for i < len(b) && b[i]-'0' <= 9 {
			i++
		}
		if i == exponent {
			s.pos = i
			return 0, s.bad()
		}
	}
	s.pos = i
	if !simple {
		f, err := strconv.ParseFloat(string(b[start:i]), 64)
		if err != nil {
			return 0, s.wrong(notFinite, "Input should be a finite number")
		}
		return f, nil
	}
	f := float64(mantissa) / powersOfTen[decimals]
	if negative {
		f = -f
	}
	return f, nil
}

// numberForms is the set of forms of numbers in a text.
type numberForms byte

const (
	formWhole  numberForms = 1 << iota // 72
	fractions                          // 72.5, as short as it can be
	decimals                           // 72.0
	otherForms                         // 72.50
)

// plainNumber reads a number of up to 15 digits without sign and exponent. n is 0 if b
// does not begin with one.
func plainNumber(b []byte) (f float64, n int, l numberForms) {
	mantissa := uint64(0)
	for n < len(b) && b[n]-'0' <= 9 {
		mantissa = mantissa*10 + uint64(b[n]-'0')
		n++
	}
	if n == 0 || n > 15 || n > 1 && b[0] == '0' {
		return 0, 0, 0
	}
	if n == len(b) || b[n] != '.' {
		return float64(mantissa), n, formWhole
	}
	point := n
	for n++; n < len(b) && b[n]-'0' <= 9; n++ {
		mantissa = mantissa*10 + uint64(b[n]-'0')
	}
	places := n - point - 1
	if places == 0 || n > 16 {
		return 0, 0, 0
	}
	f = float64(mantissa) / powersOfTen[places]
	switch {
	case b[n-1] != '0' && f >= 1e-3: // smaller ones have an exponent
		return f, n, fractions
	case b[n-1] == '0' && places == 1:
		return f, n, decimals
	}
	return f, n, otherForms
}
