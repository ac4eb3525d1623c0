package nightscout

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"

	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/sheet"
)

// list is a document at its first record.
type list struct {
	decoder *json.Decoder
	in      *sheet.Bounded
	array   bool
	first   record
}

// open reads the first record. It must be a record of Nightscout.
func open(in io.Reader) (*list, error) {
	l := &list{in: sheet.NewBounded(in)}
	start := bufio.NewReader(l.in)
	head, _ := start.Peek(512) // the first record returns an error again
	head = bytes.TrimLeft(head, " \t\r\n")
	if len(head) == 0 || head[0] != '[' && head[0] != '{' {
		return nil, errUnlike
	}
	l.decoder = json.NewDecoder(start)
	if l.array = head[0] == '['; l.array {
		if _, err := l.decoder.Token(); err != nil {
			return nil, errUnlike
		}
	}
	if !l.decoder.More() || l.decoder.Decode(&l.first) != nil {
		return nil, errUnlike
	}
	if f := &l.first; !f.isEntry() && !f.isTreatment() && !f.isPumpEvent() {
		return nil, errUnlike
	}
	return l, nil
}

// next reads the next record into r. It returns io.EOF at the end, and
// io.ErrUnexpectedEOF if the document ends too early.
func (l *list) next(r *record) error {
	l.in.Next()
	if l.array && !l.decoder.More() {
		if _, err := l.decoder.Token(); err != nil {
			return unexpected(err)
		}
		return io.EOF
	}
	*r = record{}
	err := l.decoder.Decode(r)
	if l.array {
		return unexpected(err)
	}
	return err
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// read reads a document to its end, and keeps data before any damage.
func read(ctx context.Context, d *sheet.Document) error {
	l, err := open(d.File)
	if err != nil {
		return err
	}
	take(d, &l.first)
	for {
		var r record
		err := l.next(&r)
		var mistyped *json.UnmarshalTypeError
		var syntax *json.SyntaxError
		switch {
		case errors.Is(err, io.EOF):
			return d.Flush(ctx, l.in.Bytes, true)
		case errors.Is(err, io.ErrUnexpectedEOF):
			d.Report.Truncated = true
			return d.Flush(ctx, l.in.Bytes, true)
		case errors.As(err, &syntax): // the start of the next record is unknown
			d.Report.Damaged++
			d.Report.Truncated = true
			return d.Flush(ctx, l.in.Bytes, true)
		case errors.As(err, &mistyped): // no object
			d.Report.Damaged++
			continue
		case err != nil:
			return errors.Join(d.Flush(ctx, l.in.Bytes, true), err)
		}
		take(d, &r)
		if err := d.Flush(ctx, l.in.Bytes, false); err != nil {
			return err
		}
	}
}

// take adds the values of a record.
func take(d *sheet.Document, r *record) {
	d.Report.Records++
	switch {
	case r.isEntry():
		takeEntry(d, r)
	case r.isPumpEvent():
		takePumpEvent(d, r)
	case r.isTreatment():
		takeTreatment(d, r)
	default:
		skip(d, "other")
	}
}

func skip(d *sheet.Document, name string) {
	count := d.Report.Type(name)
	count.Read++
	count.Skipped++
	d.Report.Left(count)
}

// mapped counts a record that was converted.
func mapped(d *sheet.Document, count *files.TypeCount) {
	count.Mapped++
	d.Report.Mapped++
}
