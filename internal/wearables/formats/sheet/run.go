package sheet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"time"

	"hale/internal/platform/fault"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
)

// DefaultLimit bounds a text export, in bytes. Ten years of a reading each
// minute take some 500 MB.
const DefaultLimit = 1 << 30

// Check checks whether a file is an export. is looks at the start of the file and returns
// an error if it is none. Only the size of an export is checked, because a large file may
// be of another kind.
func Check(path string, limit int64, is func(in io.Reader) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := is(file); err != nil {
		return err
	}
	_, err = size(file, limit)
	return err
}

// size returns the length of a file in bytes, or an error if it is over the limit. Limit
// 0 means DefaultLimit.
func size(file *os.File, limit int64) (int64, error) {
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	if limit == 0 || limit > DefaultLimit {
		limit = DefaultLimit
	}
	if info.Size() > limit {
		return 0, fault.Newf(fault.TooLarge, "the export is larger than %d bytes", limit)
	}
	return info.Size(), nil
}

// Document is an export during reading: the input of the reader, and the target of its
// values.
type Document struct {
	File   io.ReadSeeker
	Zone   *time.Location // the user's fallback zone; nil when none is set
	Report *files.Report
	Gather Gather
	// Keep stores samples. Flush calls it.
	Keep func(ctx context.Context, samples []wearables.Samples) error
	// ReportProgress is called with the number of bytes read; may be nil.
	ReportProgress func(done int64)

	portions map[portionKey]*portion
	moments  []portionKey // keys of portions, in the order of the document
}

// Flush stores the gathered values if there are enough for a batch, or at the end.
func (d *Document) Flush(ctx context.Context, done int64, end bool) error {
	d.Report.Bytes = done
	if end {
		d.portionsUp(math.MinInt64)
	}
	if d.Gather.N < FlushSize && !end {
		return ctx.Err()
	}
	if d.Gather.N > 0 {
		if err := d.Keep(ctx, d.Gather.Take()); err != nil {
			return err
		}
	}
	if d.ReportProgress != nil {
		d.ReportProgress(done)
	}
	return ctx.Err()
}

// Each calls take with every row that has at least least cells, and stores the
// samples that take collects. A shorter row counts as damaged. If the last row
// is shorter, the document counts as truncated.
func (d *Document) Each(ctx context.Context, rows *Rows, least int, take func(row []string)) error {
	for {
		row, err := rows.Next()
		switch {
		case errors.Is(err, io.EOF):
			return d.Flush(ctx, rows.Bytes(), true)
		case err != nil:
			return errors.Join(d.Flush(ctx, rows.Bytes(), true), err)
		}
		if d.Report.Truncated = len(row) < least; d.Report.Truncated {
			d.Report.Damaged++
		} else {
			take(row)
		}
		if err := d.Flush(ctx, rows.Bytes(), false); err != nil {
			return err
		}
	}
}

// Run imports a text export of one provider whose records are all samples.
func Run(ctx context.Context, in files.Input, provider string, read func(context.Context, *Document) error) (*files.Outcome, error) {
	outcome := files.NewOutcome()
	file, err := os.Open(in.Path)
	if err != nil {
		return outcome, err
	}
	defer file.Close()
	total, err := size(file, in.Limit)
	if err != nil {
		return outcome, err
	}
	store, err := in.Store(ctx, provider, outcome)
	if err != nil {
		return outcome, err
	}
	d := &Document{
		File: file, Zone: Zone(in), Report: &outcome.Report, Keep: store.Samples,
		ReportProgress: func(done int64) { store.ReportProgress(done, total, outcome.Records, outcome.Report.Skipped()) },
	}
	if err := read(ctx, d); err != nil {
		return outcome, err
	}
	return outcome, store.Finish(ctx)
}

// mostLooked bounds how much of a document is looked through for its end.
const mostLooked = 16 << 20

// EndsEarly reports whether a file is JSON that ends in the middle. It reports false
// for a file longer than the scanned part.
func EndsEarly(path string) (bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	in := &io.LimitedReader{R: file, N: mostLooked}
	document := NewBoundedTo(in, mostLooked+1)
	start := make([]byte, 512)
	n, err := io.ReadFull(document, start)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return false, err
	}
	start = bytes.TrimLeft(start[:n], " \t\r\n")
	if len(start) == 0 || start[0] != '[' && start[0] != '{' {
		return false, nil
	}
	decoder := json.NewDecoder(io.MultiReader(bytes.NewReader(start), document))
	for open := 0; ; {
		token, err := decoder.Token()
		switch token {
		case json.Delim('['), json.Delim('{'):
			open++
		case json.Delim(']'), json.Delim('}'):
			open--
		}
		if err != nil {
			atEnd := errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) && open > 0
			return atEnd && in.N > 0, nil
		}
	}
}
