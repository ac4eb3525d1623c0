package applehealth

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/xmlscan"
)

// These sizes bound the memory between two chunks.
const (
	flushAt       = 1 << 14 // samples; their events take some 3 MB
	flushWorkouts = 256
	flushPoints   = 1 << 18 // places of routes inside the document
	maxHalves     = 1 << 18 // blood pressures that wait for their other half
	maxSleep      = 1 << 19 // stages of sleep: forty a night for 35 years
	headSize      = 64 << 10
)

// Chunk is a part of an export, ready to be stored.
type Chunk struct {
	Samples  []wearables.Samples
	Workouts []RoutedWorkout
	Facts    derive.Facts        // of days
	Person   *derive.Person      // as far as it is known; the last one is complete
	Sleep    []*derive.Sleeper   // all of it, in the last chunk
	Cycles   []wearables.Summary // menstrual cycles, in the last chunk
	Meals    []wearables.Summary // in the last chunk
	Bytes    int64               // of the document read so far
	Records  int64
	Skipped  int64

	columns *columns
	free    chan *columns
}

// Release returns the memory of Samples to the reader. The caller that stored the chunk
// may call it once; a kept chunk needs no call.
func (c *Chunk) Release() {
	c.columns.reset()
	c.Samples = nil
	select {
	case c.free <- c.columns:
	default:
	}
}

// RoutedWorkout is a workout whose route may be in a file of the zip.
type RoutedWorkout struct {
	derive.Workout
	RoutePath string // such as /workout-routes/route_2019-06-11_3.00pm.gpx
}

// Reader turns the XML document of an export into chunks.
type Reader struct {
	Give func(*Chunk) error // stores a chunk; called by Read, one at a time

	scan    *xmlscan.Scanner
	report  files.Report
	sources *sources
	columns *columns
	free    chan *columns
	types   typeMemo
	zones   zoneMemo

	record        pendingRecord // the record whose children may follow
	halves        map[pressureKey]pressureHalf
	portions      map[portionKey]*foodTotal
	meals         meals
	sleepers      map[int]*derive.Sleeper // by number of the source
	asleep        int
	diaries       map[int]*diary // by number of the source
	diaryEntries  int            // entries in all diaries
	course        course
	workoutSource int // number of the workout's source
	workout       *RoutedWorkout
	workouts      []RoutedWorkout
	points        int
	rings         int64 // days with an ActivitySummary
	inside        int   // depth in correlations
	segment       int   // depth in the parts of a workout
	facts         derive.Facts
	restAt        map[civil.Date]int64
	walkAt        map[civil.Date]int64
	person        derive.Person
	complete      bool // </HealthData> was seen
}

// NewReader returns a reader that gives its chunks to give.
func NewReader(give func(*Chunk) error) *Reader {
	return &Reader{
		Give:    give,
		report:  files.Report{Types: map[string]*files.TypeCount{}},
		sources: newSources(), columns: newColumns(), free: make(chan *columns, 2),
		types: newTypeMemo(), zones: zoneMemo{},
		halves: map[pressureKey]pressureHalf{}, portions: map[portionKey]*foodTotal{}, meals: newMeals(), course: course{of: map[courseKey]*derive.Course{}}, sleepers: map[int]*derive.Sleeper{}, diaries: map[int]*diary{}, facts: derive.Facts{},
		restAt: map[civil.Date]int64{}, walkAt: map[civil.Date]int64{},
	}
}

// Read reads a document to its end. An incomplete or damaged document is no error: the
// data before the damage is passed on, and the report has Truncated. An input that is
// no export is an error of kind Unprocessable.
func (r *Reader) Read(ctx context.Context, in io.Reader) (*files.Report, error) {
	head, err := readHead(in)
	if err != nil {
		return &r.report, err
	}
	r.scan = xmlscan.New(io.MultiReader(bytes.NewReader(head), in))
	stopped := r.tags(ctx)
	r.report.Bytes, r.report.Damaged = r.scan.Offset(), r.scan.Damaged
	switch {
	case errors.Is(stopped, io.EOF):
		r.report.Truncated = !r.complete
	case isCut(stopped):
		r.report.Truncated = true
	default:
		return &r.report, stopped
	}
	r.endRecord()
	r.endWorkout()
	r.unpaired()
	if err := r.eatenUp(); err != nil {
		return &r.report, err
	}
	return &r.report, r.finish()
}

// finish gives the parts that are complete only at the end of the document.
func (r *Reader) finish() error {
	cycles, err := r.cycles()
	if err != nil {
		return err
	}
	meals, err := r.meals.summaries(r.sources.list)
	if err != nil {
		return err
	}
	c := r.chunk()
	c.Meals = meals
	c.Sleep, c.Cycles = slices.Collect(maps.Values(r.sleepers)), cycles
	return r.Give(c)
}

// readHead reads the start of a document and checks that it is an export.
func readHead(in io.Reader) ([]byte, error) {
	head := make([]byte, headSize)
	n, err := io.ReadFull(in, head)
	head = head[:n]
	if err != nil && err != io.EOF && !isCut(err) {
		return nil, err
	}
	if bytes.Contains(head, []byte("<HealthData")) {
		return head, nil
	}
	if bytes.Contains(head, []byte("<ClinicalDocument")) {
		return nil, fault.New(fault.Unprocessable, "this is the clinical document of an Apple Health export; send the zip or its main XML file")
	}
	return nil, files.NewUnlikeError("this is not an Apple Health export: there is no HealthData element at the start")
}

// isCut reports whether an error means that the input ends early, rather than that
// reading failed.
func isCut(err error) bool {
	return xmlscan.IsCut(err) || isCorrupt(err)
}

// tags reads the document tag by tag, until an error: io.EOF at its end.
func (r *Reader) tags(ctx context.Context) error {
	for n := 0; ; n++ {
		tag, err := r.scan.Next()
		if err != nil {
			return err
		}
		if err := r.handle(tag); err != nil {
			return err
		}
		if n&0xfff == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
}

func (r *Reader) handle(tag *xmlscan.Tag) error {
	switch string(tag.Name) {
	case "Record":
		return r.onRecord(tag)
	case "MetadataEntry":
		r.onMetadata(tag)
	case "Correlation":
		r.onCorrelation(tag)
	case "Workout":
		return r.onWorkout(tag)
	case "WorkoutActivity":
		r.nest(&r.segment, tag)
	case "WorkoutStatistics", "FileReference", "Location":
		r.onWorkoutPart(tag)
	case "ActivitySummary":
		r.onRings(tag)
	case "ClinicalRecord", "Audiogram", "VisionPrescription", "StateOfMind":
		r.skipElement(tag)
	case "Me":
		r.onMe(tag)
	case "HealthData":
		r.complete = tag.Kind != xmlscan.Opening
	}
	return nil
}

// skipElement counts an element that is no Record and has no resource. It counts a
// clinical record by its type, because the FHIR document of the record is a separate
// file. It counts other elements by name.
func (r *Reader) skipElement(tag *xmlscan.Tag) {
	if tag.Kind == xmlscan.Closing {
		return
	}
	r.endRecord()
	r.endWorkout()
	name := string(tag.Name)
	if name == "ClinicalRecord" {
		name += shortName(attributes(tag)["type"])
	}
	r.report.Records++
	count := r.report.Type(name)
	count.Read++
	count.Skipped++
	r.report.Left(count)
}

// nest counts the depth in elements of one name.
func (r *Reader) nest(depth *int, tag *xmlscan.Tag) {
	switch tag.Kind {
	case xmlscan.Opening:
		*depth++
	case xmlscan.Closing:
		*depth = max(0, *depth-1)
	case xmlscan.Empty: // opens nothing
	}
}

// flush passes on the gathered data.
func (r *Reader) flush() error { return r.Give(r.chunk()) }

// chunk returns the gathered data.
func (r *Reader) chunk() *Chunk {
	person := r.person
	c := &Chunk{
		Samples: r.columns.samples(), Workouts: r.workouts, Facts: r.facts, Person: &person,
		Bytes: r.scan.Offset(), Records: r.report.Records, Skipped: r.report.Skipped(),
		columns: r.columns, free: r.free,
	}
	r.workouts, r.points = nil, 0
	r.facts = derive.Facts{}
	select {
	case r.columns = <-r.free:
	default:
		r.columns = newColumns()
	}
	return c
}

// onMe reads the person's characteristics. Unset ones are empty or NotSet.
func (r *Reader) onMe(tag *xmlscan.Tag) {
	for _, a := range tag.Attrs {
		value := string(a.Value)
		switch strings.TrimPrefix(string(a.Name), "HKCharacteristicTypeIdentifier") {
		case "DateOfBirth":
			if birth, err := civil.ParseDate(value); err == nil && birth.Year >= 1890 {
				r.person.Birth = birth
			}
		case "BiologicalSex":
			r.person.Sex = map[string]string{
				"HKBiologicalSexFemale": "female", "HKBiologicalSexMale": "male", "HKBiologicalSexOther": "other",
			}[value]
		case "WheelchairUse":
			r.person.Wheelchair = value == "HKWheelchairUseYes"
		}
	}
}

// onRings reads an ActivitySummary: a day's sums, which the phone merged over all
// sources. A day without a watch has zeros, which mean no data.
func (r *Reader) onRings(tag *xmlscan.Tag) {
	if tag.Kind == xmlscan.Closing {
		return
	}
	r.rings++
	a := attributes(tag)
	day, err := civil.ParseDate(string(a["dateComponents"]))
	kcal := positiveOrNil(amount(a["activeEnergyBurned"], a["activeEnergyBurnedUnit"], unitOne, kilocalorieUnits))
	if err != nil || kcal == nil || day.Year < 1970 || day.Year > 2099 {
		return
	}
	f := r.facts[day]
	f.ActiveKcal = kcal
	r.facts[day] = f
}
