package replies

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"

	"hale/internal/wearables/formats/sheet"
)

// maxDepth bounds the number of lists and objects around a document.
const maxDepth = 8

var errTooLong = sheet.NewTooLongError(MaxRecord)

// takeFunc handles a document with its resource. The resource is nil if none is
// known, and the document is nil for a value that is no object. An error ends
// the walk.
type takeFunc func(r *Resource, d *Document) error

// walker reads a file and finds its documents.
type walker struct {
	decoder *json.Decoder
	lists   []string
	reading Reading
	found   takeFunc
	next    func()     // is called when a record ends; may be nil
	lost    func()     // is called if the file ends in a document; may be nil
	late    *lateField // may be nil
}

// walk finds the documents of a file, in order. Lists under the provider's names are read
// one document at a time; all other values must fit into one record. walk returns
// io.ErrUnexpectedEOF if the file ends too early.
func (w *walker) walk(in *sheet.BoundedReader) error {
	w.decoder = json.NewDecoder(in)
	w.decoder.UseNumber()
	for {
		token, err := w.decoder.Token()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := w.after(token, place{}); err != nil {
			return unexpectedEnd(err)
		}
		w.ended()
	}
}

// place is the position of a value.
type place struct {
	under string
	outer *Document
	depth int
}

func (p place) inside(under string, outer *Document) place { return place{under, outer, p.depth + 1} }

// deeper returns the place of an element of a list. It has the name of the
// list.
func (p place) deeper() place { p.depth++; return p }

func (w *walker) ended() {
	if w.next != nil {
		w.next()
	}
}

// after continues after the first token of a value.
func (w *walker) after(token json.Token, at place) error {
	switch token {
	case json.Delim('['):
		return w.list(at)
	case json.Delim('{'):
		return w.object(at)
	}
	return w.found(nil, nil)
}

// list reads the elements of a list and its end.
func (w *walker) list(at place) error {
	for w.decoder.More() {
		var raw json.RawMessage
		if err := w.decoder.Decode(&raw); err != nil {
			return w.ends(err, at.deeper())
		}
		if err := w.inside(raw, at.deeper()); err != nil {
			return err
		}
		w.ended()
	}
	_, err := w.decoder.Token()
	return err
}

// object reads an object and its end. The object is a document, or has lists of
// documents by name.
func (w *walker) object(at place) error {
	d := &Document{Under: at.under, fields: map[string]json.RawMessage{}, outer: at.outer}
	page := 0  // its number, once a list of it was met
	last := "" // of its fields
	held := 0  // bytes of its fields; lists between them must not let it grow without limit
	for w.decoder.More() {
		name, err := w.decoder.Token()
		if err != nil {
			return w.endsIn(err, d, "", at.depth)
		}
		key, _ := name.(string) // the decoder accepts only a string as a name
		if at.depth < maxDepth && slices.Contains(w.lists, key) {
			token, err := w.decoder.Token()
			if err != nil {
				return w.endsIn(err, d, "", at.depth)
			}
			if _, compound := token.(json.Delim); compound {
				if page == 0 {
					page = w.late.open(d)
				}
				if token == json.Delim('[') && !w.decoder.More() { // a reply without any is one too
					d.fields[key] = json.RawMessage("[]")
				}
				if err := w.after(token, at.inside(key, d)); err != nil {
					return err
				}
				continue
			}
			if d.fields[key], err = json.Marshal(token); err != nil {
				return err
			}
			w.late.see(page, key, d.fields[key])
			continue
		}
		var raw json.RawMessage
		if err := w.decoder.Decode(&raw); err != nil {
			return w.endsIn(err, d, key, at.depth)
		}
		d.fields[key], last = raw, key
		if held += len(key) + len(raw); held > MaxRecord {
			return errTooLong
		}
		w.late.see(page, key, raw)
	}
	if _, err := w.decoder.Token(); err != nil {
		if isUnfinished(d.fields[last]) {
			delete(d.fields, last)
		}
		return w.endsIn(err, d, "", at.depth)
	}
	return w.document(d, page > 0, at.depth)
}

// inside reads a value that is in memory.
func (w *walker) inside(raw json.RawMessage, at place) error {
	switch raw[0] {
	case '{':
		d := &Document{Under: at.under, outer: at.outer}
		if err := json.Unmarshal(raw, &d.fields); err != nil {
			return err
		}
		return w.document(d, false, at.depth)
	case '[':
		var all []json.RawMessage
		if err := json.Unmarshal(raw, &all); err != nil {
			return err
		}
		if at.depth >= maxDepth {
			return w.found(nil, nil)
		}
		for _, one := range all {
			if err := w.inside(one, at.deeper()); err != nil {
				return err
			}
		}
		return nil
	}
	return w.found(nil, nil)
}

// document passes a document to found. A value that is no document may contain some. An
// object around a page also has words that contain none, such as next_token.
func (w *walker) document(d *Document, page bool, depth int) error {
	if r := w.reading.recognise(*d); r != nil {
		return w.found(r, d)
	}
	holds := page
	for _, name := range slices.Sorted(maps.Keys(d.fields)) {
		if raw := d.fields[name]; depth < maxDepth && mayHold(raw) {
			holds = true
			if err := w.inside(raw, place{name, d, depth + 1}); err != nil {
				return err
			}
		}
	}
	if holds {
		return nil
	}
	return w.found(nil, d)
}

// mayHold reports whether a value is an object, or a list that begins with an object
// or a list. A list of words is a field like any other.
func mayHold(raw json.RawMessage) bool {
	if raw[0] == '[' {
		raw = bytes.TrimLeft(raw[1:], " \t\r\n")
	}
	return len(raw) > 0 && (raw[0] == '[' || raw[0] == '{')
}

// unexpectedEnd converts the end of a file to io.ErrUnexpectedEOF, because the
// file ends in the middle of a value.
func unexpectedEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Bounds of the remembered fields that follow a list.
const (
	mostLate    = 1 << 16 // pages
	longestLate = 256     // bytes of a field
)

// lateField has fields that follow a list of the same object in the file, by the
// number of the object. Both passes through the file count objects in the same way.
type lateField struct {
	names []string
	found map[int]map[string]json.RawMessage
	known bool // set in the second pass
	page  int
}

// open numbers an object whose first list begins, from 1. In the second pass it
// adds the fields that the first pass found after the object's lists.
func (l *lateField) open(d *Document) int {
	if l == nil {
		return 1
	}
	l.page++
	if l.known {
		for name, raw := range l.found[l.page] {
			if !d.Has(name) {
				d.fields[name] = raw
			}
		}
	}
	return l.page
}

// see remembers a field that follows a list.
func (l *lateField) see(page int, name string, raw json.RawMessage) {
	if l == nil || l.known || page == 0 || len(raw) > longestLate || !slices.Contains(l.names, name) {
		return
	}
	if l.found[page] == nil {
		if len(l.found) == mostLate {
			return
		}
		if l.found == nil {
			l.found = map[int]map[string]json.RawMessage{}
		}
		l.found[page] = map[string]json.RawMessage{}
	}
	l.found[page][name] = raw
}

// lookAhead scans a file for the fields behind lists, and returns to its start. Damage
// will show again.
func (m *Maker) lookAhead(file io.ReadSeeker) (*lateField, error) {
	if len(m.Late) == 0 {
		return nil, nil
	}
	l := &lateField{names: m.Late}
	in := sheet.NewBoundedTo(file, MaxRecord)
	w := &walker{lists: m.Lists, found: func(*Resource, *Document) error { return nil }, next: in.Next, late: l}
	_ = w.walk(in)
	l.known, l.page = true, 0
	_, err := file.Seek(0, io.SeekStart)
	return l, err
}
