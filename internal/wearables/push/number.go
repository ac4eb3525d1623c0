package push

import "strconv"

// exact are the powers of ten that a double holds exactly.
var exact = [...]float64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// number reads a JSON number. One of up to 15 digits and no exponent needs no
// more than one division to be exact; others go to strconv.
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
			return 0, s.wrong("finite_number", "Input should be a finite number")
		}
		return f, nil
	}
	f := float64(mantissa) / exact[decimals]
	if negative {
		f = -f
	}
	return f, nil
}
