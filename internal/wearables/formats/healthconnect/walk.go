package healthconnect

import (
	"encoding/json"
	"errors"
	"io"

	"hale/internal/platform/fault"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

const (
	// maxRecord bounds one record that is JSON, in bytes. A route of some hours
	// with a place each second has five million.
	maxRecord = 16 << 20
	// maxDepth bounds the number of lists and objects around a record.
	maxDepth = 6
)

// objectPlace is the place of an object.
type objectPlace struct {
	form    *form // the record that the lists around it are named for; may be nil
	webhook bool  // inside a payload of HC Webhook
	depth   int
}

// walker reads a file. Lists under the names of records and pages are read one object
// at a time; all other values are fields.
//
// The walk of package replies accepts no list name that is also a field, as weight,
// height and distance are here.
type walker struct {
	decoder *json.Decoder
	record  func(d replies.Document, at objectPlace) (bool, error) // whether an object is a record
	nothing func(object bool) error                                // handles a value that neither is a record nor contains one
	ended   func()                                                 // is called when a record ends
}

// walk finds the records of a file, in order. It returns io.ErrUnexpectedEOF if the file
// ends too early. If one of the functions record and nothing returns an error, the walk
// ends with it.
func (w *walker) walk(in *sheet.BoundedReader) error {
	w.decoder = json.NewDecoder(in)
	w.decoder.UseNumber()
	w.ended = in.Next
	for {
		token, err := w.decoder.Token()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := w.element(token, objectPlace{}); err != nil {
			return unexpectedEnd(err)
		}
	}
}

// unexpectedEnd returns io.ErrUnexpectedEOF for io.EOF, because the file ends in the middle
// of a value. It returns other errors unchanged.
func unexpectedEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// element reads a value of a list, or of the file, after its first token.
func (w *walker) element(token json.Token, at objectPlace) error {
	defer w.ended()
	switch token {
	case json.Delim('['):
		return w.list(at)
	case json.Delim('{'):
		_, holds, err := w.object(at)
		if err != nil || holds {
			return err
		}
		return w.nothing(true)
	}
	return w.nothing(false)
}

var errDeep = fault.New(fault.Unprocessable, "the file has lists inside of lists inside of lists")

func (w *walker) list(at objectPlace) error {
	if at.depth++; at.depth > maxDepth {
		return errDeep
	}
	for w.decoder.More() {
		token, err := w.decoder.Token()
		if err != nil {
			return err
		}
		if err := w.element(token, at); err != nil {
			return err
		}
	}
	_, err := w.decoder.Token()
	return err
}

// object reads an object and its end. holds is true if it is a record or contains
// records. Otherwise raw is the object, which is a field of the object around it.
func (w *walker) object(at objectPlace) (raw json.RawMessage, holds bool, err error) {
	if at.depth++; at.depth > maxDepth {
		return nil, false, errDeep
	}
	fields := map[string]json.RawMessage{}
	for w.decoder.More() {
		token, err := w.decoder.Token()
		if err != nil {
			return nil, false, err
		}
		name, _ := token.(string) // the decoder accepts only a string as a name
		field, some, err := w.field(name, at, fields)
		if err != nil {
			return nil, false, err
		}
		// An object that contains records is no record, so the reader does not keep its
		// other fields: between the records they could be endless.
		if holds = holds || some; !holds || isWebhookField(name) {
			fields[name] = field
		}
	}
	if _, err := w.decoder.Token(); err != nil {
		return nil, false, err
	}
	if holds {
		return nil, true, nil
	}
	if raw, err = json.Marshal(fields); err != nil {
		return nil, false, err
	}
	d, _ := replies.Parse(raw) // it was marshaled here
	holds, err = w.record(d, at)
	return raw, holds, err
}

// field reads the value of a name. fields are those before it.
func (w *walker) field(name string, at objectPlace, fields map[string]json.RawMessage) (raw json.RawMessage, holds bool, err error) {
	inner, may := at.inside(name, fields)
	if !may {
		err = w.decoder.Decode(&raw)
		return raw, false, err
	}
	token, err := w.decoder.Token()
	if err != nil {
		return nil, false, err
	}
	switch token {
	case json.Delim('['):
		return nil, true, w.list(inner)
	case json.Delim('{'):
		return w.object(inner)
	}
	raw, err = json.Marshal(token)
	return raw, false, err
}

// pages are names of lists that may hold records of any kind.
var pages = map[string]bool{
	"records":     true, // a page of react-native-health-connect
	"result":      true, // the same in its early versions
	"data":        true, // the request of HCGateway's client
	"raw_records": true, // such pages by the names of their records, in one object
}

// isWebhookField reports whether a field shows that HC Webhook wrote the file.
func isWebhookField(name string) bool { return name == "app_version" || name == "timestamp" }

// inside holds the place of the value of a name, and whether it may contain records.
// fields are those before it.
func (p objectPlace) inside(name string, fields map[string]json.RawMessage) (objectPlace, bool) {
	p.webhook = p.webhook || len(fields["app_version"]) > 0 && len(fields["timestamp"]) > 0
	if pages[name] {
		return p, true
	}
	if f := formNamed(name); f != nil {
		p.form = f
		return p, true
	}
	return p, false
}
