package wearables

import "strings"

// Samples of some resources carry words besides the common fields: where a
// thermometer was, what an injection was for. All samples of a series share
// them, as they share its type, so they are kept as one text: the words in the
// order of the resource's table with commas between them, and empty where there
// is none.
//
// Reference 7.7.

// ExtraText is the text of words, one for each field of the resource's table in
// its order; an empty one means null.
func ExtraText[T string | []byte](words ...T) string {
	text, empty := []byte(nil), true
	for i, word := range words {
		if i > 0 {
			text = append(text, ',')
		}
		text, empty = append(text, word...), empty && len(word) == 0
	}
	if empty {
		return ""
	}
	return string(text)
}

// ExtraWord is the word of a field in a text; empty when there is none.
func (r *Resource) ExtraWord(text, field string) string {
	words := strings.Split(text, ",")
	for i := range min(len(words), len(r.Extra)) {
		if r.Extra[i].Name == field {
			return words[i]
		}
	}
	return ""
}

// AppendExtra appends the fields of a text behind the others of an object.
func (r *Resource) AppendExtra(dst []byte, text string) []byte {
	for _, e := range r.Extra {
		dst = append(AppendText(append(dst, ','), e.Name), ':')
		dst = AppendTextOrNull(dst, r.ExtraWord(text, e.Name))
	}
	return dst
}
