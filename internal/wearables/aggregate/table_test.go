package aggregate_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/aggregate"
)

// A result as Parquet, read back by the library's own reader: names in their
// order, types, values and nulls.
func TestParquet(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, "")
		r.day("activity", "2026-03-01", watch, `{"steps":9000,"distance":6500.5,"wheelchair_use":true}`)
		r.day("activity", "2026-02-27", phone, `{"steps":1}`)
		c := func(name string) string { return `{"activity":"` + name + `"}` }
		table, err := r.table("2026-03-01", 10, `{"select":[`+c("steps")+`,{"index":"activity"},`+c("distance_meter")+`,`+c("wheelchair_use")+`,`+c("source_type")+`]}`)
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := table.WriteParquet(&file); err != nil {
			t.Fatal(err)
		}
		type wanted struct {
			Steps    *int64   `parquet:"steps,optional"`
			At       *int32   `parquet:"timestamp,optional,date"`
			Distance *float64 `parquet:"distance_meter,optional"`
			Chair    *bool    `parquet:"wheelchair_use,optional"`
			Type     *string  `parquet:"source_type,optional"`
		}
		rows, err := parquet.Read[wanted](bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			t.Fatal(err)
		}
		last := rows[len(rows)-1]
		if len(rows) != 2 || *last.Steps != 9000 || *last.At != 20513 || *last.Distance != 6500.5 || !*last.Chair || *last.Type != "watch" {
			t.Errorf("%d rows, the last one %+v", len(rows), last)
		}
		if rows[0].Distance != nil || *rows[0].At != 20511 {
			t.Errorf("the first row %+v", rows[0])
		}
		opened, err := parquet.OpenFile(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range opened.Schema().Fields() {
			names = append(names, fmt.Sprintf("%s:%s", f.Name(), f.Type()))
		}
		if got := strings.Join(names, " "); got != "steps:INT(64,true) timestamp:DATE distance_meter:DOUBLE wheelchair_use:BOOLEAN source_type:STRING" {
			t.Errorf("columns %s", got)
		}
	})
}

// Buckets are floating timestamps, and an archive has one file for each query.
func TestParquetArchive(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, "")
		r.samples("heartrate", watch, 3600, []string{"2026-03-01T08:00:00Z", "2026-03-01T08:01:00Z"}, []float64{60, 61})
		hourly, err := r.table("2026-03-01", 1, groupRows([]string{trunc(1, "hour", "timeseries")}, aggregateOf("mean", value("heartrate"))))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := aggregate.WriteArchive(&out, []*aggregate.Table{hourly, hourly}, time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		zipped, err := gzip.NewReader(&out)
		if err != nil {
			t.Fatal(err)
		}
		archive := tar.NewReader(zipped)
		for _, name := range []string{"0.parquet", "1.parquet"} {
			header, err := archive.Next()
			if err != nil || header.Name != name {
				t.Fatalf("%v, %v", header, err)
			}
			file, err := io.ReadAll(archive)
			if err != nil {
				t.Fatal(err)
			}
			opened, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
			if err != nil {
				t.Fatal(err)
			}
			column := opened.Schema().Fields()[0]
			if got := column.Name() + " " + column.Type().String(); got != "group_key.0 TIMESTAMP(isAdjustedToUTC=false,unit=MICROS)" {
				t.Errorf("the bucket is %s", got)
			}
			reader := parquet.NewReader(bytes.NewReader(file))
			rows := make([]parquet.Row, 4)
			n, err := reader.ReadRows(rows)
			if err != nil && !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			want := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC).UnixMicro()
			if n != 1 || rows[0][0].Int64() != want || rows[0][1].Double() != 60.5 {
				t.Errorf("%d rows: %v", n, rows[:n])
			}
		}
		if _, err := archive.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("more files: %v", err)
		}
	})
}
