package xmlscan

import "bytes"

type tagState uint8

const (
	tagComplete tagState = iota
	tagCut               // the window ends inside the tag
	tagDamaged
)

// parseTag reads the tag at the start of window, which begins with '<', into
// tag. It returns how many bytes it takes; of a damaged tag, how many to skip
// to come to where the next one may start.
func parseTag(tag *Tag, window []byte) (int, tagState) {
	i := 1
	tag.Kind, tag.Attrs = Opening, tag.Attrs[:0]
	if len(window) > 1 && window[1] == '/' {
		tag.Kind, i = Closing, 2
	}
	start := i
	for i < len(window) && isName(window[i]) {
		i++
	}
	if i == len(window) {
		return 0, tagCut
	}
	if i == start {
		return 1, tagDamaged
	}
	tag.Name = window[start:i]
	n, state := parseAttrs(tag, window, i)
	// A tag contains no '<', not even in quotes: if one does, a quote before it was
	// never closed and the rest is another tag.
	if state != tagCut {
		if inner := bytes.IndexByte(window[1:n], '<'); inner >= 0 {
			return 1 + inner, tagDamaged
		}
	}
	return n, state
}

// parseAttrs reads attributes from window[i:] up to the end of the tag.
func parseAttrs(tag *Tag, window []byte, i int) (int, tagState) {
	for {
		for i < len(window) && isSpace(window[i]) {
			i++
		}
		if i == len(window) {
			return 0, tagCut
		}
		switch window[i] {
		case '>':
			return i + 1, tagComplete
		case '/':
			if i+1 == len(window) {
				return 0, tagCut
			}
			if window[i+1] != '>' || tag.Kind == Closing {
				return i, tagDamaged
			}
			tag.Kind = Empty
			return i + 2, tagComplete
		}
		start := i
		for i < len(window) && isName(window[i]) {
			i++
		}
		name := window[start:i]
		for i < len(window) && isSpace(window[i]) {
			i++
		}
		if i == len(window) {
			return 0, tagCut
		}
		if len(name) == 0 || window[i] != '=' {
			return i, tagDamaged
		}
		i++
		for i < len(window) && isSpace(window[i]) {
			i++
		}
		if i == len(window) {
			return 0, tagCut
		}
		quote := window[i]
		if quote != '"' && quote != '\'' {
			return i, tagDamaged
		}
		i++
		length := bytes.IndexByte(window[i:], quote)
		if length < 0 {
			return 0, tagCut
		}
		tag.Attrs = append(tag.Attrs, Attr{Name: name, Value: window[i : i+length]})
		i += length + 1
	}
}

// nameBytes marks the bytes of names of elements and attributes. Bytes from 0x80 on
// belong to letters outside ASCII.
var nameBytes = func() (set [256]bool) {
	for c := range set {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c >= 0x80,
			c == '_', c == '-', c == ':', c == '.':
			set[c] = true
		}
	}
	return set
}()

func isName(c byte) bool { return nameBytes[c] }

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// doctypeEnd returns the length of the <!…> declaration at the start of
// window, or 0 when the window ends before it does.
func doctypeEnd(window []byte) int {
	depth := 0                         // of the brackets around the internal subset
	for i := 3; i < len(window); i++ { // the first byte is that of a name
		switch window[i] {
		case '[':
			depth++
		case ']':
			depth--
		case '>':
			if depth <= 0 {
				return i + 1
			}
		case '"', '\'':
			n := bytes.IndexByte(window[i+1:], window[i])
			if n < 0 {
				return 0
			}
			i += 1 + n
		case '<':
			if bytes.HasPrefix(window[i:], []byte("<!--")) {
				n := bytes.Index(window[i+4:], []byte("-->"))
				if n < 0 {
					return 0
				}
				i += 4 + n + 2
			}
		}
	}
	return 0
}
