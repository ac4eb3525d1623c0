package replies

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
)

// mostOpen bounds the lists and objects that may be open at the end of a text. Deeper
// ones are left out.
const mostOpen = 1000

// openValue is a list or an object that has not ended.
type openValue struct {
	list  bool
	named bool // the name of the next field was read
	whole int  // where the last whole element ends; 0 before there is one
}

// closeValue completes the part of a value with the missing brackets. It returns
// nil if no part of it is complete. If the text ends in an element of a list,
// the result has a part of that element only if partial is set. closeValue reads
// the text once, at any depth.
func closeValue(raw []byte, partial bool) json.RawMessage {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	open, end := listOpenValues(raw)
	if value := raw[:end]; end > 0 && json.Valid(value) {
		return bytes.Clone(value)
	}
	if list := slices.IndexFunc(open, func(o openValue) bool { return o.list }); list >= 0 && !partial {
		open = open[:list+1]
	}
	for len(open) > 0 && open[len(open)-1].whole == 0 {
		open = open[:len(open)-1]
	}
	if len(open) == 0 {
		return nil
	}
	value := bytes.Clone(raw[:open[len(open)-1].whole])
	for _, o := range slices.Backward(open) {
		if o.list {
			value = append(value, ']')
		} else {
			value = append(value, '}')
		}
	}
	if !json.Valid(value) {
		return nil
	}
	return value
}

// listOpenValues lists the open values at the end of a text, from the outside in. For a list
// or object with a complete value inside, it has the end of that value.
func listOpenValues(raw []byte) (open []openValue, end int) {
	for i := 0; i < len(raw); {
		switch c := raw[i]; c {
		case ' ', '\t', '\r', '\n', ',', ':':
			i++
			continue
		case '[', '{':
			if len(open) == mostOpen {
				return open, 0
			}
			open = append(open, openValue{list: c == '['})
			i++
			continue
		case ']', '}':
			i++
			if len(open) == 0 {
				return nil, 0
			}
			if n := len(open) - 1; n > 0 {
				open = open[:n]
			} else if open[0].whole > 0 {
				return nil, i
			} else {
				return nil, 0
			}
		default:
			n := scalar(raw[i:])
			if n == 0 {
				return open, 0
			}
			i += n
		}
		if len(open) == 0 {
			return nil, 0
		}
		in := &open[len(open)-1]
		if in.named = !in.list && !in.named; !in.named {
			in.whole = i
		}
	}
	return open, 0
}

// scalar returns the length of a text, number or word at the start, or 0 if it
// is incomplete. Digits at the end are incomplete, because more could follow.
func scalar(raw []byte) int {
	if raw[0] != '"' {
		n := bytes.IndexAny(raw, ",:]}[{\" \t\r\n")
		switch {
		case n >= 0:
			return n
		case isUnfinished(raw) || !json.Valid(raw):
			return 0
		}
		return len(raw)
	}
	for i := 1; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

// ends reads the part of a list's element in which the file ends, if err says
// that the file ends. Any other error stays as it is.
func (w *walker) ends(err error, at place) error {
	rest, err := w.rest(err)
	if rest == nil {
		return err
	}
	return cmp.Or(w.cut(rest, at), err)
}

// endsIn does the same for a document whose complete fields are known. name is
// the field in which the file ends, and is empty if the file ends between two
// fields.
func (w *walker) endsIn(err error, d *Document, name string, depth int) error {
	rest, err := w.rest(err)
	if rest == nil {
		return err
	}
	if name == "" {
		rest = nil
	}
	return cmp.Or(w.cutDocument(d, name, rest, depth), err)
}

// rest returns the part of the value at which the decoder failed because the file ends;
// nil for other failures.
func (w *walker) rest(err error) ([]byte, error) {
	if err = unexpectedEnd(err); !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	rest, _ := io.ReadAll(w.decoder.Buffered()) // it is in memory
	return rest, err
}

// cut handles the documents of a value in which the file ends.
func (w *walker) cut(raw []byte, at place) error {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 || at.depth >= maxDepth || !mayHold(raw) {
		return nil
	}
	if raw[0] == '{' {
		d := &Document{Under: at.under, outer: at.outer}
		fields, name, rest := cutFields(raw)
		d.fields = fields
		return w.cutDocument(d, name, rest, at.depth)
	}
	whole, rest := cutList(raw)
	for _, one := range whole {
		if err := w.inside(one, at.deeper()); err != nil {
			return err
		}
	}
	return w.cut(rest, at.deeper())
}

// cutDocument handles a document in which the file ends: d has its complete fields, and
// rest the part of the one by that name. A list of values is read up to its end; any
// other field is lost. A value that is no document may contain complete ones.
func (w *walker) cutDocument(d *Document, name string, rest []byte, depth int) error {
	like := &Document{Under: d.Under, fields: maps.Clone(d.fields), outer: d.outer}
	if there := closeValue(rest, true); there != nil {
		like.fields[name] = there
	}
	if r := w.reading.recognise(*like); r != nil {
		if whole := closeValue(rest, false); whole != nil {
			d.fields[name] = whole
		}
		if again := w.reading.recognise(*d); again == r && (r.Values || r.Refuse != "") {
			return w.found(r, d)
		}
		w.lose()
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(d.fields)) {
		if raw := d.fields[name]; depth < maxDepth && mayHold(raw) {
			if err := w.inside(raw, place{name, d, depth + 1}); err != nil {
				return err
			}
		}
	}
	return w.cut(rest, place{name, d, depth + 1})
}

func (w *walker) lose() {
	if w.lost != nil {
		w.lost()
	}
}

// cutList splits a list in which the file ends. It returns the complete
// elements, and the part of the next one.
func cutList(raw []byte) (whole []json.RawMessage, rest []byte) {
	in := json.NewDecoder(bytes.NewReader(raw))
	_, _ = in.Token() // the bracket
	for in.More() {
		one, rest := cutValue(in, raw)
		if one == nil {
			return whole, rest
		}
		whole = append(whole, one)
	}
	return whole, nil
}

// cutFields splits an object in which the file ends. It returns the complete
// fields, and the name and the part of the next one.
func cutFields(raw []byte) (whole map[string]json.RawMessage, name string, rest []byte) {
	whole = map[string]json.RawMessage{}
	in := json.NewDecoder(bytes.NewReader(raw))
	_, _ = in.Token() // the brace
	for in.More() {
		token, err := in.Token()
		name, ok := token.(string)
		if err != nil || !ok {
			break
		}
		one, rest := cutValue(in, raw)
		if one == nil {
			return whole, name, rest
		}
		whole[name] = one
	}
	return whole, "", nil
}

// cutValue returns the next value of a text that ends in the middle. For an
// incomplete value it returns nil and the part.
func cutValue(in *json.Decoder, text []byte) (one json.RawMessage, rest []byte) {
	if in.Decode(&one) != nil {
		rest, _ = io.ReadAll(in.Buffered()) // it is in memory
		return nil, rest
	}
	if in.InputOffset() == int64(len(text)) && isUnfinished(one) {
		return nil, nil
	}
	return one, nil
}

// isUnfinished reports whether more could follow a value at the end of a file: digits of
// a number.
func isUnfinished(raw json.RawMessage) bool {
	return len(raw) > 0 && raw[len(raw)-1] >= '0' && raw[len(raw)-1] <= '9'
}

// CompleteValue returns the complete part of a value in which a text ends; nil if there is
// none.
func CompleteValue(raw []byte) json.RawMessage { return closeValue(raw, false) }
