package wearables

import "strings"

// Samples of some resources have further fields with words: where a thermometer was,
// the purpose of an injection. All samples of a series share them, as they share its
// type. They are stored as one text: the words in the order of the resource's table,
// separated by commas; empty without any.
//
// Reference 7.7.

// ExtraText returns the text of words, one for each field of the resource in the order
// of the table. An empty word means null.
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

// ExtraWord returns the word of a field in a text; empty if there is none.
func (r *Resource) ExtraWord(text, field string) string {
	words := strings.Split(text, ",")
	for i := range min(len(words), len(r.Extra)) {
		if r.Extra[i].Name == field {
			return words[i]
		}
	}
	return ""
}

// AppendExtra appends the fields of a text to an object.
func (r *Resource) AppendExtra(dst []byte, text string) []byte {
	for _, e := range r.Extra {
		dst = append(AppendText(append(dst, ','), e.Name), ':')
		dst = AppendTextOrNull(dst, r.ExtraWord(text, e.Name))
	}
	return dst
}
