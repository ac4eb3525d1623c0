package whoopexport

import (
	"context"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/sheet"
)

// strap is the source of all values. A band is worn as a watch is.
var strap = wearables.Source{Provider: Provider, Type: "watch"}

// atOnce counts the summaries that are stored together.
const atOnce = 500

// verdict is the outcome of a row.
type verdict int

const (
	verdictMapped verdict = iota
	skipped
	badDate
	badValue
	tooMany // another is kept in its place
)

// sink stores summaries; *files.Store is one.
type sink interface {
	Summaries(ctx context.Context, all []wearables.Summary, streams ...wearables.Stream) error
	ReportProgress(done, total, records, skipped int64)
}

// reader reads the tables of one export.
type reader struct {
	report        *files.Report
	zone          *time.Location // the user's fallback zone; nil when none is set
	sink          sink
	left, limit   int64 // bytes of all tables
	size          int64 // of all tables, as stated in the file
	reportedBytes int64 // the bytes at the last progress report

	summaries []wearables.Summary
	nights    map[string]*night // by key
	days      map[civil.Date]cycle
}

func (r *reader) read(ctx context.Context, all []source) error {
	r.nights, r.days = map[string]*night{}, map[civil.Date]cycle{}
	r.reportProgress(0)
	for _, one := range all {
		if err := r.table(ctx, one); err != nil {
			return err
		}
	}
	r.storeNights()
	r.storeDays()
	return r.flush(ctx, true)
}

// table reads a table, and keeps data before any damage.
func (r *reader) table(ctx context.Context, from source) error {
	in, err := from.open()
	if err != nil {
		return errDamagedZip
	}
	defer in.Close()
	rows := sheet.NewRows(&boundedTables{in, &r.left, r.limit})
	h, ok, err := sheet.Head(rows, 1, func(sheet.Header) bool { return true })
	if err != nil || !ok {
		return err
	}
	wall := &sheet.Wall{Zone: r.zone}
	for {
		cells, err := rows.Next()
		var malformed *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &malformed):
			r.report.Damaged++
			continue
		case errors.Is(err, errDamagedZip):
			r.report.Damaged++
			r.report.Truncated = true
			return nil
		case err != nil:
			return err
		}
		r.take(from.table, row{h, cells, wall})
		r.reportProgress(progressEvery)
		if err := r.flush(ctx, false); err != nil {
			return err
		}
	}
}

// take reads a row and counts it.
func (r *reader) take(t *table, one row) {
	count := r.report.Type(t.name)
	r.report.Records++
	count.Read++
	became := skipped
	if t.take != nil {
		became = t.take(r, one)
	}
	switch became {
	case verdictMapped:
		count.Mapped++
		r.report.Mapped++
		return
	case skipped:
		count.Skipped++
	case badDate:
		count.BadDate++
	case badValue:
		count.BadValue++
	case tooMany:
		count.TooMany++
	}
	r.report.Left(count)
}

// skipFields counts columns of a stored row that have no resource as skipped.
func (r *reader) skipFields(one row, columns map[string]string) {
	for column, name := range columns {
		if one.text(column) != "" {
			count := r.report.Type(name)
			count.Read++
			count.Skipped++
			r.report.Left(count)
		}
	}
}

// flush stores the gathered summaries if there are enough for a batch, or at the end.
func (r *reader) flush(ctx context.Context, end bool) error {
	if end || len(r.summaries) >= atOnce {
		for part := range slices.Chunk(r.summaries, atOnce) {
			if err := r.sink.Summaries(ctx, part); err != nil {
				return err
			}
		}
		r.summaries = nil
		r.reportProgress(0)
	}
	return ctx.Err()
}

// progressEvery is the number of bytes between two progress reports.
const progressEvery = 1 << 20

// reportProgress reports the progress, unless fewer bytes than every were read since the last
// report.
func (r *reader) reportProgress(every int64) {
	done := r.limit - r.left
	r.report.Bytes = done
	if done-r.reportedBytes >= every {
		r.reportedBytes = done
		r.sink.ReportProgress(done, max(done, r.size), r.report.Records, r.report.Skipped())
	}
}
