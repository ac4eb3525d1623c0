package fault

import "strings"

// NotInEnum makes the fault of a value outside a closed list of words. The
// caller adds the place.
func NotInEnum[T ~string](words []T) *Error {
	return New(Invalid, EnumMessage(words)).WithType("enum")
}

// EnumMessage lists the words that a field accepts: Input should be 'a', 'b' or
// 'c'. Every 422 of type enum has this form.
//
// Reference 5.1, enum.
func EnumMessage[T ~string](words []T) string {
	var b strings.Builder
	b.WriteString("Input should be ")
	for i, word := range words {
		switch {
		case i > 0 && i == len(words)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString("'" + string(word) + "'")
	}
	return b.String()
}
