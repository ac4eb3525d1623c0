package xmlscan

import (
	"bytes"
	"errors"
	"io"
	"slices"
)

// maxDepth bounds the nesting of elements.
const maxDepth = 100

// errDepth ends the reading of a document that is nested too deep to be useful.
var errDepth = errors.New("elements are nested more than 100 deep")

// Walker follows the nesting of a document. Names have no prefix, because a file may
// choose any prefix for a namespace.
type Walker struct {
	*Scanner
	path  []string
	names map[string]string // so that each name is one string for the whole file
	empty bool              // the element that was opened last has no closing tag
}

// NewWalker returns a walker over a document in UTF-8.
func NewWalker(in io.Reader) *Walker {
	return &Walker{Scanner: NewSize(in, 1<<17), names: map[string]string{}}
}

// Next moves to the next opening or closing tag. For an opening one, tag has the
// attributes of the element. For a closing one, tag is nil. At the end of the document
// the error is io.EOF.
func (w *Walker) Next() (name string, tag *Tag, err error) {
	if w.empty {
		w.empty = false
		return w.pop(len(w.path) - 1), nil, nil
	}
	for {
		w.ahead(lookAhead)
		if tag, err = w.Scanner.Next(); err != nil {
			return "", nil, err
		}
		name = w.local(tag.Name)
		if tag.Kind != Closing {
			if len(w.path) >= maxDepth {
				return "", nil, errDepth
			}
			w.path = append(w.path, name)
			w.empty = tag.Kind == Empty
			return name, tag, nil
		}
		// An element whose closing tag is missing ends with the one around it.
		for at, open := range slices.Backward(w.path) {
			if open == name {
				return w.pop(at), nil, nil
			}
		}
		w.Damaged++
	}
}

// lookAhead is the number of bytes after a tag that the window has once the tag is
// read. So the text after the tag can be read while the tag stays valid.
const lookAhead = 8 << 10

func (w *Walker) pop(at int) string {
	name := w.path[at]
	w.path = w.path[:at]
	return name
}

// Depth returns the number of open elements, including the one that was opened last.
func (w *Walker) Depth() int { return len(w.path) }

// Parent returns the name of the element around the one that was opened last, or "".
func (w *Walker) Parent() string {
	if len(w.path) < 2 {
		return ""
	}
	return w.path[len(w.path)-2]
}

// Within reports whether an element of that name is open.
func (w *Walker) Within(name string) bool { return slices.Contains(w.path, name) }

// maxNames bounds the names that the walker keeps; formats have some dozens.
const maxNames = 1000

func (w *Walker) local(raw []byte) string {
	raw = raw[bytes.IndexByte(raw, ':')+1:]
	if name, ok := w.names[string(raw)]; ok {
		return name
	}
	name := string(raw)
	if len(w.names) < maxNames {
		w.names[name] = name
	}
	return name
}

// Attr returns the value of an attribute by its name without prefix, as in the file.
func (t *Tag) Attr(name string) []byte {
	for _, a := range t.Attrs {
		if string(a.Name[bytes.IndexByte(a.Name, ':')+1:]) == name {
			return a.Value
		}
	}
	return nil
}
