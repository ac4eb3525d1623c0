// Package applehealthtest writes synthetic HealthKit exports in the shapes of real
// ones. An export has a DTD, one block of records per type, several sources that
// overlap, and metadata. It also has correlations that repeat records, workouts with
// routes, rings and the person. The same options always give the same bytes.
//
// All values are invented.
package applehealthtest

import (
	"archive/zip"
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"time"
)

// Options set the size and the content of an export. One day takes about half a mebibyte.
type Options struct {
	Bytes int64          // aim for this size; the file ends with a whole day
	Days  int            // or write exactly so many days
	Seed  uint64         // another seed, another person
	End   time.Time      // the day of the export; 2026-03-31 when zero
	Zone  *time.Location // where the person lives; Europe/Berlin when nil
}

// Stats count the content of an export.
type Stats struct {
	Bytes    int64
	Days     int
	Records  int            // top-level records, the copies in correlations not counted
	Types    map[string]int // the same by HealthKit type
	Workouts int
	Routes   int
	Rings    int
}

const bytesPerDay = 470_000

type writer struct {
	*bufio.Writer
	n       int64
	o       Options
	first   time.Time // local midnight of the first day
	rand    *rand.Rand
	line    []byte
	stats   Stats
	routes  []route
	created time.Time
}

// Write writes an export.xml.
func Write(out io.Writer, o Options) (Stats, error) {
	w, err := write(out, o)
	return w.stats, err
}

// WriteZip writes the zip as the phone does: the export, the clinical document, and one
// GPX file per route.
func WriteZip(out io.Writer, o Options) (Stats, error) {
	archive := zip.NewWriter(out)
	xml, err := archive.Create("apple_health_export/Export.xml")
	if err != nil {
		return Stats{}, err
	}
	w, err := write(xml, o)
	if err != nil {
		return Stats{}, err
	}
	cda, err := archive.Create("apple_health_export/export_cda.xml")
	if err != nil {
		return Stats{}, err
	}
	if _, err := io.WriteString(cda, `<?xml version="1.0"?><ClinicalDocument xmlns="urn:hl7-org:v3"></ClinicalDocument>`); err != nil {
		return Stats{}, err
	}
	for _, r := range w.routes {
		member, err := archive.Create("apple_health_export" + r.path)
		if err != nil {
			return Stats{}, err
		}
		if err := w.gpx(member, r); err != nil {
			return Stats{}, err
		}
	}
	return w.stats, archive.Close()
}

func write(out io.Writer, o Options) (*writer, error) {
	w := newWriter(out, o)
	w.text(header)
	w.textf("<HealthData locale=\"en_DE\">\n <ExportDate value=\"%s\"/>\n", w.created.Format(layout))
	w.text(` <Me HKCharacteristicTypeIdentifierDateOfBirth="1984-05-17" HKCharacteristicTypeIdentifierBiologicalSex="HKBiologicalSexFemale" HKCharacteristicTypeIdentifierBloodType="HKBloodTypeNotSet" HKCharacteristicTypeIdentifierFitzpatrickSkinType="HKFitzpatrickSkinTypeNotSet" HKCharacteristicTypeIdentifierCardioFitnessMedicationsUse="None"/>` + "\n")
	for _, k := range kinds {
		w.records(k)
	}
	w.sleep()
	w.correlations()
	w.workouts()
	w.rings()
	w.text("</HealthData>\n")
	if err := w.Flush(); err != nil {
		return w, err
	}
	w.stats.Bytes = w.n
	return w, nil
}

func newWriter(out io.Writer, o Options) *writer {
	if o.Days == 0 {
		o.Days = max(1, int((o.Bytes+bytesPerDay-1)/bytesPerDay))
	}
	if o.Zone == nil {
		o.Zone = berlin()
	}
	if o.End.IsZero() {
		o.End = time.Date(2026, 3, 31, 0, 0, 0, 0, o.Zone)
	}
	y, m, d := o.End.In(o.Zone).Date()
	return &writer{
		Writer:  bufio.NewWriterSize(out, 1<<18),
		o:       o,
		first:   time.Date(y, m, d-o.Days, 0, 0, 0, 0, o.Zone),
		rand:    rand.New(rand.NewPCG(o.Seed, 0x68616c65)),
		created: time.Date(y, m, d, 18, 4, 11, 0, o.Zone),
		stats:   Stats{Days: o.Days, Types: map[string]int{}},
	}
}

func berlin() *time.Location {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		return time.FixedZone("CET", 3600)
	}
	return zone
}

// day returns the local midnight at which day i begins. Day 0 is the first of the export.
func (w *writer) day(i int) time.Time {
	y, m, d := w.first.Date()
	return time.Date(y, m, d+i, 0, 0, 0, 0, w.o.Zone)
}

func (w *writer) text(s string) {
	n, _ := w.WriteString(s) // bufio keeps the first error for Flush
	w.n += int64(n)
}

func (w *writer) textf(format string, args ...any) { w.text(fmt.Sprintf(format, args...)) }

func (w *writer) flushLine() {
	n, _ := w.Writer.Write(w.line)
	w.n += int64(n)
	w.line = w.line[:0]
}

const layout = "2006-01-02 15:04:05 -0700"

const header = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE HealthData [
<!-- HealthKit Export Version: 14 -->
<!ELEMENT HealthData (ExportDate,Me,(Record|Correlation|Workout|ActivitySummary|ClinicalRecord)*)>
<!ATTLIST HealthData
  locale CDATA #REQUIRED
>
` + `<!ELEMENT Record ((MetadataEntry|HeartRateVariabilityMetadataList)*)>
<!ATTLIST Record
  type          CDATA #REQUIRED
  unit          CDATA #IMPLIED
  value         CDATA #IMPLIED
  sourceName    CDATA #REQUIRED
  sourceVersion CDATA #IMPLIED
  device        CDATA #IMPLIED
  creationDate  CDATA #IMPLIED
  startDate     CDATA #REQUIRED
  endDate       CDATA #REQUIRED
>
` + `<!-- Note: Any Records that appear as children of a correlation also appear as top-level records in this document. -->
<!ELEMENT Correlation ((MetadataEntry|Record)*)>
<!ELEMENT Workout ((MetadataEntry|WorkoutEvent|WorkoutRoute|WorkoutStatistics)*)>
<!ELEMENT FileReference EMPTY>
<!ATTLIST FileReference
  path CDATA #REQUIRED
>
]>
`
