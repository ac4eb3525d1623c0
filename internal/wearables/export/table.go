package export

import (
	"encoding/csv"
	"io"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
)

// Line is a row of a table. Absent values are empty, or null in Parquet. It is exported
// for the Parquet library.
type Line struct {
	User      string   `parquet:"user_id,dict"`
	Resource  string   `parquet:"resource,dict"`
	ID        string   `parquet:"id,optional"`
	Provider  string   `parquet:"provider,dict"`
	Source    string   `parquet:"source_type,dict"`
	App       string   `parquet:"app_id,optional,dict"`
	Device    string   `parquet:"device_id,optional,dict"`
	Workout   string   `parquet:"workout_id,optional,dict"`
	Sport     string   `parquet:"sport,optional,dict"`
	Type      string   `parquet:"type,optional,dict"`
	Start     *int64   `parquet:"start,optional,timestamp(microsecond)"`
	End       *int64   `parquet:"end,optional,timestamp(microsecond)"`
	Day       string   `parquet:"calendar_date,optional,dict"`
	Offset    *int32   `parquet:"timezone_offset,optional,dict"`
	Value     *float64 `parquet:"value,optional"`
	Diastolic *float64 `parquet:"diastolic,optional"`
	Unit      string   `parquet:"unit,optional,dict"`
	Document  string   `parquet:"document,optional"`
}

// header has the columns of a CSV file.
var header = []string{
	"user_id", "resource", "id", "provider", "source_type", "app_id", "device_id", "workout_id", "sport", "type",
	"start", "end", "calendar_date", "timezone_offset", "value", "diastolic", "unit", "document",
}

func (r *row) line(user string) Line {
	l := Line{
		User: user, Resource: r.resource, Provider: r.source.Provider, Source: r.source.Type, App: r.source.AppID,
		Device: textOf(r.source.DeviceID), Workout: textOf(r.source.WorkoutID), Sport: r.source.Sport, Type: r.kind,
		Day: r.day, Value: r.value, Diastolic: r.second, Unit: r.unit, Document: string(r.document),
	}
	if r.id != uuid.Nil {
		l.ID = r.id.String()
	}
	if r.start != 0 {
		l.Start = &r.start
	}
	if r.end != 0 {
		l.End = &r.end
	}
	if r.offset != wearables.NoOffset {
		l.Offset = &r.offset
	}
	return l
}

func textOf(id *uuid.UUID) string {
	if id == nil {
		return ""
	}
	return id.String()
}

// csvFile writes a CSV file.
type csvFile struct {
	out  *csv.Writer
	user string
	rows int
}

func newCSV(w io.Writer, user uuid.UUID) sink {
	return &csvFile{out: csv.NewWriter(w), user: user.String()}
}

func (f *csvFile) write(r *row) error {
	if f.rows == 0 {
		if err := f.out.Write(header); err != nil {
			return err
		}
	}
	f.rows++
	l := r.line(f.user)
	offset := ""
	if l.Offset != nil {
		offset = strconv.Itoa(int(*l.Offset))
	}
	return f.out.Write([]string{
		l.User, l.Resource, l.ID, l.Provider, l.Source, l.App, l.Device, l.Workout, l.Sport, l.Type,
		moment(l.Start), moment(l.End), l.Day, offset, numeral(l.Value), numeral(l.Diastolic), l.Unit, l.Document,
	})
}

func (f *csvFile) close() error {
	if f.rows == 0 {
		if err := f.out.Write(header); err != nil {
			return err
		}
	}
	f.out.Flush()
	return f.out.Error()
}

func moment(us *int64) string {
	if us == nil {
		return ""
	}
	return civil.Instant(time.UnixMicro(*us)).String()
}

func numeral(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}

// linesAtOnce is the number of rows that are handed to the Parquet library at once.
const linesAtOnce = 1024

// rowsAtOnce is the size of a row group, which is in memory until it is written.
const rowsAtOnce = 50_000

// parquetFile writes a Parquet file.
type parquetFile struct {
	out  *parquet.GenericWriter[Line]
	user string
	rows []Line
}

func newParquet(w io.Writer, user uuid.UUID) sink {
	out := parquet.NewGenericWriter[Line](w, parquet.Compression(&zstd.Codec{}), parquet.MaxRowsPerRowGroup(rowsAtOnce))
	return &parquetFile{out: out, user: user.String()}
}

func (f *parquetFile) write(r *row) error {
	one := *r // the line points to its fields
	f.rows = append(f.rows, one.line(f.user))
	if len(f.rows) < linesAtOnce {
		return nil
	}
	return f.flush()
}

func (f *parquetFile) flush() error {
	_, err := f.out.Write(f.rows)
	clear(f.rows)
	f.rows = f.rows[:0]
	return err
}

func (f *parquetFile) close() error {
	if err := f.flush(); err != nil {
		return err
	}
	return f.out.Close()
}
