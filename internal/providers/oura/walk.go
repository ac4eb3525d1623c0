package oura

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"

	"hale/internal/providers/sheet"
)

// deepest is how many lists and objects a document may lie inside.
const deepest = 4

// found takes a document with its resource; nil is what no resource is known
// for, and a nil document what is no object. An error ends the walk.
type found func(r *resource, d document) error

// walker goes through a file.
type walker struct {
	decoder *json.Decoder
	found   found
}

// walk finds the documents of a file, in order. Lists under the names that
// Oura gives them are read one document at a time; everything else must fit
// into one record. io.ErrUnexpectedEOF says that the file ends too early.
func walk(in *sheet.Bounded, found found) error {
	w := &walker{json.NewDecoder(in), found}
	for {
		token, err := w.decoder.Token()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := w.after(token, 0); err != nil {
			return unexpected(err)
		}
	}
}

// after goes on behind the first token of a value.
func (w *walker) after(token json.Token, depth int) error {
	switch token {
	case json.Delim('['):
		return w.list(depth)
	case json.Delim('{'):
		return w.object(depth)
	}
	return w.found(nil, nil)
}

// list reads the elements of a list and its end.
func (w *walker) list(depth int) error {
	for w.decoder.More() {
		var raw json.RawMessage
		if err := w.decoder.Decode(&raw); err != nil {
			return err
		}
		if err := w.inside(raw, depth+1); err != nil {
			return err
		}
	}
	_, err := w.decoder.Token()
	return err
}

// object reads an object and its end: a document, or lists of documents by
// name.
func (w *walker) object(depth int) error {
	d, page := document{}, false
	for w.decoder.More() {
		name, err := w.decoder.Token()
		if err != nil {
			return err
		}
		key, _ := name.(string) // the decoder takes nothing else for a name
		if depth < deepest && listNames[key] {
			token, err := w.decoder.Token()
			if err != nil {
				return err
			}
			if _, compound := token.(json.Delim); compound {
				page = true
				if err := w.after(token, depth+1); err != nil {
					return err
				}
			}
			continue
		}
		var raw json.RawMessage
		if err := w.decoder.Decode(&raw); err != nil {
			return err
		}
		d[key] = raw
	}
	if _, err := w.decoder.Token(); err != nil {
		return err
	}
	return w.document(d, page, depth)
}

// inside goes through a value that is in memory.
func (w *walker) inside(raw json.RawMessage, depth int) error {
	switch raw[0] {
	case '{':
		var d document
		if err := json.Unmarshal(raw, &d); err != nil {
			return err
		}
		return w.document(d, false, depth)
	case '[':
		var all []json.RawMessage
		if err := json.Unmarshal(raw, &all); err != nil {
			return err
		}
		if depth >= deepest {
			return w.found(nil, nil)
		}
		for _, one := range all {
			if err := w.inside(one, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	return w.found(nil, nil)
}

// document hands a document on. What is none may hold some; around a page
// there are words, such as its next_token, that are none.
func (w *walker) document(d document, page bool, depth int) error {
	if r := recognise(d); r != nil {
		return w.found(r, d)
	}
	holds := page
	for _, name := range slices.Sorted(maps.Keys(d)) {
		if raw := d[name]; depth < deepest && mayHold(raw) {
			holds = true
			if err := w.inside(raw, depth+1); err != nil {
				return err
			}
		}
	}
	if holds {
		return nil
	}
	return w.found(nil, d)
}

// mayHold is whether a value is an object, or a list that begins with one or
// with a list: a list of words is a field like any other.
func mayHold(raw json.RawMessage) bool {
	if raw[0] == '[' {
		raw = bytes.TrimLeft(raw[1:], " \t\r\n")
	}
	return raw[0] == '[' || raw[0] == '{'
}

// unexpected is the end of the file in the middle of a value.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
