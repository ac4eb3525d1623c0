// Package nightscout reads the data of a Nightscout server, as its API and backup tools
// write it: JSON arrays, or one object a line. The records are entries (sensor
// readings), treatments (insulin, carbohydrates, notes) and the pump's history in the
// form of openaps.
//
// Nightscout is the wearer's own server and collects from sensors and pumps of any
// manufacturer, so no provider of the catalogue matches. Its data is stored under
// `manual` with the app id "nightscout". The name of a manufacturer would mix it with
// that manufacturer's own export.
//
//	nightscout.go  recognizes a file; the stream of records; instants and offsets
//	record.go      the fields of all three documents, and their samples
//
// Facts come from the OpenAPI document of cgm-remote-monitor and public samples.
package nightscout

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/sheet"
)

// Provider is the provider of data from the wearer's own server; see the package.
const Provider = "manual"

// AppID distinguishes the data from typed data.
const AppID = "nightscout"

// Kind is a list of Nightscout's records.
var Kind = files.Kind{Name: "nightscout", Title: "Nightscout JSON", Provider: Provider, Check: check, Run: run}

var errUnlike = files.NewUnlikeError("the file is no JSON list of Nightscout's entries or treatments")

func check(path string, limit int64) error {
	return sheet.Check(path, limit, func(in io.Reader) error {
		_, err := open(in)
		return err
	})
}

func run(ctx context.Context, in files.Input) (*files.Outcome, error) {
	return sheet.Run(ctx, in, Provider, read)
}

// list is a document at its first record.
type list struct {
	decoder *json.Decoder
	in      *sheet.BoundedReader
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
			return unexpectedEnd(err)
		}
		return io.EOF
	}
	*r = record{}
	err := l.decoder.Decode(r)
	if l.array {
		return unexpectedEnd(err)
	}
	return err
}

func unexpectedEnd(err error) error {
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
	takeRecord(d, &l.first)
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
		takeRecord(d, &r)
		if err := d.Flush(ctx, l.in.Bytes, false); err != nil {
			return err
		}
	}
}

// takeRecord adds the values of a record.
func takeRecord(d *sheet.Document, r *record) {
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

// countMapped counts a record that was converted.
func countMapped(d *sheet.Document, count *files.TypeCount) {
	count.Mapped++
	d.Report.Mapped++
}

// moment returns the time of a record in UTC microseconds, and the offset of the place in
// seconds, or wearables.NoOffset. It returns false if the record has no time.
//
// Servers write times in UTC and the uploader's offset beside it, in minutes. An offset
// of 0 may mean that the uploader sent UTC, or that the person lives there. So the reader
// ignores it, and the user's fallback zone applies. A time with an offset of its own has
// the person's place.
func (r *record) moment(zone *time.Location) (at int64, offset int32, ok bool) {
	stated := wearables.NoOffset
	for _, s := range []text{r.DateString, r.CreatedAt, r.Timestamp} {
		moment, own, good := parse(string(s))
		if !good {
			continue
		}
		if !ok {
			at, ok = moment.UnixMicro(), true
		}
		if own != 0 && stated == wearables.NoOffset {
			stated = own
		}
	}
	if ms, good := r.Date.integer(); good && ms > 0 {
		at, ok = ms*1000, true // has precedence over the text: some uploaders write local time with a Z
	} else if ms, good := r.Timestamp.integer(); good && !ok && ms > 1e11 {
		at, ok = ms*1000, true
	}
	if minutes, good := r.UTCOffset.integer(); good && minutes != 0 && minutes >= -14*60 && minutes <= 14*60 {
		stated = int32(minutes * 60)
	}
	if stated == wearables.NoOffset {
		stated = sheet.OffsetAt(zone, at)
	}
	return at, stated, ok
}

// parse reads an ISO time with a zone: Z, +02:00 or +0200. A time without a zone is no
// instant.
func parse(s string) (at time.Time, offset int32, ok bool) {
	if len(s) < len("2006-01-02T15:04Z") || len(s) > 40 {
		return at, 0, false
	}
	s = strings.Replace(s, " ", "T", 1)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999Z0700", "2006-01-02T15:04Z07:00"} {
		if at, err := time.Parse(layout, s); err == nil {
			_, seconds := at.Zone()
			return at, int32(seconds), true
		}
	}
	return at, 0, false
}
