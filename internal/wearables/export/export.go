package export

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/providers"
	"hale/internal/wearables/resources"
	"hale/internal/wearables/storage"
)

// Format is a file format.
type Format string

// The formats.
const (
	CSV     Format = "csv"
	Parquet Format = "parquet"
	FHIR    Format = "fhir"
)

// Formats lists the formats.
var Formats = []Format{CSV, Parquet, FHIR}

// ContentType returns the media type of a format.
func (f Format) ContentType() string {
	switch f {
	case Parquet:
		return "application/vnd.apache.parquet"
	case FHIR:
		return "application/fhir+ndjson"
	default:
		return "text/csv"
	}
}

// Request selects the data.
type Request struct {
	User     users.User
	Resource string // empty means all
	Provider string // empty means all
	// From and To bound the start of samples, [From, To) in UTC microseconds. FirstDay and
	// LastDay bound the calendar date of summaries.
	From, To          int64
	FirstDay, LastDay string
	Format            Format
}

// row is a sample, a summary or the stream of a workout.
type row struct {
	resource, kind string // kind is the type of a sample
	id             uuid.UUID
	source         wearables.Source
	start, end     int64 // UTC microseconds; 0 for none
	day            string
	offset         int32
	value, second  *float64 // second is the diastolic pressure
	unit           string
	document       []byte // JSON of a summary or stream
}

// sink writes rows to a file.
type sink interface {
	write(r *row) error
	close() error
}

// Write writes the data of one user. An error means that the file is not complete.
func Write(ctx context.Context, db *store.DB, w io.Writer, r Request) error {
	e := exporter{db: db, Request: r}
	switch r.Format {
	case Parquet:
		e.out = newParquet(w, r.User.ID.UUID())
	case FHIR:
		e.out = newFHIR(w, r.User.ID.UUID())
	default:
		e.out = newCSV(w, r.User.ID.UUID())
	}
	if err := e.all(ctx); err != nil {
		return err
	}
	if err := e.out.close(); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

type exporter struct {
	Request
	db  *store.DB
	out sink
}

func (e *exporter) selects(resource string) bool {
	return e.Resource == "" || wearables.EventName(e.Resource) == wearables.EventName(resource)
}

func (e *exporter) all(ctx context.Context) error {
	for _, d := range wearables.Documents() {
		withStreams := d.Name == "workouts" && e.selects(wearables.WorkoutStream)
		if !e.selects(d.Name) && !withStreams {
			continue
		}
		if err := e.summaries(ctx, d, withStreams); err != nil {
			return err
		}
	}
	for _, r := range wearables.Resources() {
		if r.Text || r.Name == resources.Hypnogram || !e.selects(r.Name) { // documents, and views of them
			continue
		}
		if err := e.samples(ctx, &r); err != nil {
			return err
		}
	}
	return nil
}

// summariesAtOnce bounds the summaries in memory.
const summariesAtOnce = 200

func (e *exporter) summaries(ctx context.Context, d *wearables.Document, withStreams bool) error {
	q := storage.SummaryQuery{Resource: d.Name, Provider: e.Provider, From: e.FirstDay, To: e.LastDay, Limit: summariesAtOnce}
	for {
		var rows []row
		n := 0
		err := e.db.Read(ctx, func(tx *store.Tx) error {
			page, err := storage.ListSummaries(ctx, tx, e.User.Team.UUID(), e.User.ID.UUID(), q)
			if err != nil {
				return err
			}
			rows, n = rows[:0], len(page)
			for i := range page {
				if rows, err = e.summary(ctx, tx, rows, &page[i], withStreams); err != nil {
					return err
				}
			}
			if n > 0 {
				q.After = &page[n-1]
			}
			return nil
		})
		if err != nil {
			return err
		}
		for i := range rows {
			if err := e.out.write(&rows[i]); err != nil {
				return fmt.Errorf("export: %w", err)
			}
		}
		if n < summariesAtOnce {
			return nil
		}
	}
}

// summary appends the rows of a summary and, of a workout, of its stream.
func (e *exporter) summary(ctx context.Context, tx *store.Tx, rows []row, s *storage.StoredSummary, withStreams bool) ([]row, error) {
	document, err := storage.AppendSummary(nil, s, providers.LogosOf(tx))
	if err != nil {
		return rows, err
	}
	one := row{resource: s.Resource, id: s.ID, source: s.Source, start: s.Begins(), day: s.Day, offset: wearables.NoOffset, document: document}
	if d, _ := wearables.DocumentNamed(s.Resource); d.End != "" {
		if fields, err := wearables.ParseDocument(s.Body); err == nil {
			text, _ := fields[d.End].(string)
			if at, err := time.Parse(time.RFC3339, text); err == nil {
				one.end = at.UnixMicro()
			}
		}
	}
	if e.selects(s.Resource) {
		rows = append(rows, one)
	}
	if !withStreams {
		return rows, nil
	}
	stream, err := storage.ReadStream(ctx, tx, s)
	if err != nil || len(stream.Time) == 0 {
		return rows, err
	}
	one.resource, one.document = wearables.WorkoutStream, wearables.AppendStream(nil, stream)
	return append(rows, one), nil
}

func (e *exporter) samples(ctx context.Context, r *wearables.Resource) error {
	q := storage.SamplesQuery{Resource: r.Name, Provider: e.Provider, From: e.From, To: e.To}
	for {
		var groups []wearables.Samples
		var next *storage.Place
		err := e.db.Read(ctx, func(tx *store.Tx) (err error) {
			groups, next, err = storage.ListSamples(ctx, tx, e.User.Team.UUID(), e.User.ID.UUID(), q)
			return err
		})
		if err != nil {
			return err
		}
		for i := range groups {
			if err := e.group(&groups[i], r); err != nil {
				return fmt.Errorf("export: %w", err)
			}
		}
		if q.After = next; next == nil {
			return nil
		}
	}
}

func (e *exporter) group(g *wearables.Samples, r *wearables.Resource) error {
	for i := range g.Time {
		one := row{resource: r.Name, kind: g.Type, source: g.Source, start: g.Time[i], offset: wearables.NoOffset, value: &g.Value[i], unit: r.Unit}
		if len(g.End) > 0 && r.Interval {
			one.end = g.End[i]
		}
		if len(g.Offset) > 0 {
			one.offset = g.Offset[i]
		}
		if len(g.Value2) > 0 && r.Pair {
			one.second = &g.Value2[i]
		}
		if err := e.out.write(&one); err != nil {
			return err
		}
	}
	return nil
}
