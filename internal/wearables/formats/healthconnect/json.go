package healthconnect

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"

	"hale/internal/platform/fault"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

var (
	errNoRecords = files.NewUnlikeError("the file holds no records of Health Connect")
	errNameless  = fault.New(fault.Unprocessable, "the records do not say what they are: put them into an object, as a list under the name of their type")
	errFound     = errors.New("healthconnect: a record was found")
)

// dialect describes how a writer of JSON writes a record: its own fields, the place of
// its values, and their form.
type dialect struct {
	is     func(d replies.Document, at objectPlace) bool
	values func(d replies.Document) replies.Document // the object with the values
	about  func(d replies.Document, f *form) writtenRecord
	flat   bool // HC Webhook's names and units
}

// dialects, the strictest first.
var dialects = []dialect{
	{is: isWebhook, values: sameDocument, about: webhook, flat: true},
	{is: isGateway, values: func(d replies.Document) replies.Document { return d.Inner("data") }, about: gateway},
	{is: isClient, values: sameDocument, about: client},
}

func sameDocument(d replies.Document) replies.Document { return d }

func isGateway(d replies.Document, _ objectPlace) bool {
	return d.Text("app") != "" && d.Text("start") != "" && d.Has("end") && !d.Inner("data").Empty()
}

func isClient(d replies.Document, _ objectPlace) bool {
	if d.Text("time") == "" && d.Text("startTime") == "" {
		return false
	}
	meta := d.Inner("metadata")
	return meta.Text("dataOrigin") != "" || meta.Text("id") != "" || formNamed(d.Text("recordType")) != nil
}

// recordForm is a record with its dialect. Its form is nil if its kind is unknown.
type recordForm struct {
	*dialect
	form   *form
	doc    replies.Document // all of it
	values replies.Document
}

// recognizeRecord recognizes an object; ok is false if it is no record. Its own fields take
// precedence over the name of its list.
func recognizeRecord(d replies.Document, at objectPlace) (r recordForm, ok bool) {
	for i := range dialects {
		by := &dialects[i]
		if !by.is(d, at) {
			continue
		}
		r = recordForm{dialect: by, doc: d, values: by.values(d)}
		r.form = cmp.Or(formNamed(d.Text("recordType")), at.form, typeOf(d, by), formOf(r.values))
		return r, true
	}
	return r, false
}

// typeOf returns the record type of capacitor-health-connect. In HC Webhook, type is
// that of an exercise.
func typeOf(d replies.Document, by *dialect) *form {
	if by.flat {
		return nil
	}
	return formNamed(d.Text("type"))
}

// checkJSON looks at the first object.
func checkJSON(path string, limit int64) error {
	return sheet.Check(path, limit, func(in io.Reader) error {
		refused := error(nil)
		w := &walker{
			record: func(d replies.Document, at objectPlace) (bool, error) {
				r, ok := recognizeRecord(d, at)
				if !ok {
					return false, nil
				}
				if r.form == nil {
					refused = errNameless
				}
				return true, errFound
			},
			nothing: func(bool) error { return errNoRecords },
		}
		if errors.Is(w.walk(sheet.NewBoundedTo(in, maxRecord)), errFound) {
			return refused
		}
		return errNoRecords
	})
}

// runJSON puts all records into a database like the phone's, and imports that.
func runJSON(ctx context.Context, in files.Input, outcome *files.Outcome) error {
	if err := checkJSON(in.Path, in.Limit); err != nil {
		return err
	}
	file, err := os.Open(in.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	s, err := newStaging(ctx, in.Path)
	if err != nil {
		return err
	}
	defer s.discard()
	r := &reader{stage: s, report: &outcome.Report, size: info.Size(), progress: in.Progress}
	if err := errors.Join(r.read(ctx, file), s.finish()); err != nil {
		return err
	}
	db, err := open(ctx, s.path)
	if err != nil {
		return err
	}
	defer db.Close()
	return importDatabase(ctx, in, db, info.Size()/2, info.Size(), outcome)
}

// rows stores records; *staging is one.
type rows interface {
	add(f *form, w *writtenRecord, values ...any) (row int64, twice bool, err error)
	samplesOf(f *form, w *writtenRecord) (row int64, err error)
	insert(table string, values ...any) error
}

// reader turns the records of a file into rows.
type reader struct {
	stage    rows
	report   *files.Report
	size     int64
	progress func(files.Progress)
}

// read reads a file to its end, and keeps data before any damage.
func (r *reader) read(ctx context.Context, file io.Reader) error {
	in := sheet.NewBoundedTo(file, maxRecord)
	read := int64(0)
	w := &walker{
		record: func(d replies.Document, at objectPlace) (bool, error) {
			one, ok := recognizeRecord(d, at)
			if !ok {
				return false, ctx.Err()
			}
			if read++; read%sheet.FlushSize == 0 {
				r.reportProgress(in.Bytes)
			}
			return true, errors.Join(r.take(one), ctx.Err())
		},
		nothing: func(object bool) error {
			if object {
				r.skip("other")
			} else {
				r.report.Damaged++
			}
			return ctx.Err()
		},
	}
	err := w.walk(in)
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		r.report.Truncated = true
		return nil
	case errors.As(err, &syntax): // the start of the next record is unknown
		r.report.Damaged++
		r.report.Truncated = true
		return nil
	}
	return err
}

// recognizeRecord reports the progress of reading, which is half of the work; storing is the other
// half.
func (r *reader) reportProgress(done int64) {
	if r.progress != nil {
		r.progress(files.Progress{Step: files.Reading, Done: done / 2, Total: r.size})
	}
}

// skip counts a record without a resource.
func (r *reader) skip(name string) {
	count := r.report.Type(name)
	count.Read++
	count.Skipped++
	r.report.Records++
	r.report.Left(count)
}

// take turns a record into rows.
func (r *reader) take(one recordForm) error {
	f := one.form
	switch {
	case f == nil:
		r.skip("unnamed")
		return nil
	case one.flat && isComputed(one.doc, f):
		r.skip(name(f.table) + " summed")
		return nil
	}
	w := one.about(one.doc, f)
	if len(w.app) > longestPackage { // an unknown record, and a file may have thousands
		w.app = ""
	}
	switch {
	case f.table == sleepTable:
		return r.sleep(one, &w)
	case f.table == exerciseTable:
		return r.exercise(one, &w)
	case f.many != nil:
		return r.series(one, &w)
	}
	values := f.values(one.values)
	if one.flat {
		values = f.flatValues(one.values)
	}
	_, err := r.add(f, &w, values...)
	return err
}

// add adds a record; row is 0 when the file has it a second time.
func (r *reader) add(f *form, w *writtenRecord, values ...any) (row int64, err error) {
	row, twice, err := r.stage.add(f, w, values...)
	if twice {
		r.report.Copies++
	}
	return row, err
}
