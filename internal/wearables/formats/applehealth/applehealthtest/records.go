package applehealthtest

import (
	"strconv"
	"time"
)

type source struct {
	name, version, device string // as in the file, with entities
}

var (
	watch = source{
		"Sam’s Apple\u00a0Watch", "10.3.1",
		", name:Apple Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,2, software:10.3.1, creation date:2024-02-20 07:11:02 +0000&gt;",
	}
	phone = source{
		"Sam’s iPhone", "17.4",
		", name:iPhone, manufacturer:Apple Inc., model:iPhone, hardware:iPhone14,5, software:17.4, creation date:2024-03-08 10:00:00 +0000&gt;",
	}
	scale  = source{"Weigh &amp; See", "2160040", ", name:Scale, manufacturer:Withings, model:Body+, hardware:5&gt;"}
	manual = source{"Health", "17.4", ""}
	sensor = source{"Glucose Dot", "8", ""}
)

// kind is one block of records: how many a day, how long each lasts, and the
// range its values are drawn from.
type kind struct {
	name     string
	unit     string
	source   *source
	perDay   int // spread over the waking hours, or over all 24
	allDay   bool
	every    int // only every so many days
	seconds  int // length of one record
	low      float64
	high     float64
	decimals int
	metadata string
	sharp    bool // at the hour sharp: the halves of one blood pressure
}

const motionXML = `  <MetadataEntry key="HKMetadataKeyHeartRateMotionContext" value="1"/>` + "\n"

const heartBeatsXML = `  <HeartRateVariabilityMetadataList>
   <InstantaneousBeatsPerMinute bpm="66" time="8:41:32.34 AM"/>
   <InstantaneousBeatsPerMinute bpm="68" time="8:41:33.21 AM"/>
  </HeartRateVariabilityMetadataList>
`

const userEnteredXML = `  <MetadataEntry key="HKWasUserEntered" value="1"/>` + "\n"

const quantity, category = "HKQuantityTypeIdentifier", "HKCategoryTypeIdentifier"

// kinds are in the order of a real export, which sorts by type.
var kinds = []kind{
	{name: quantity + "BodyMassIndex", unit: "count", source: &scale, perDay: 1, every: 3, low: 22, high: 24, decimals: 4},
	{name: quantity + "Height", unit: "cm", source: &manual, perDay: 1, every: 400, low: 171, high: 171, metadata: userEnteredXML},
	{name: quantity + "BodyMass", unit: "kg", source: &scale, perDay: 1, every: 3, low: 66, high: 69, decimals: 2},
	{name: quantity + "HeartRate", unit: "count/min", source: &watch, perDay: 420, allDay: true, low: 48, high: 148, metadata: motionXML},
	{name: quantity + "OxygenSaturation", unit: "%", source: &watch, perDay: 18, allDay: true, low: 0.93, high: 1, decimals: 2},
	{name: quantity + "BodyFatPercentage", unit: "%", source: &scale, perDay: 1, every: 3, low: 0.24, high: 0.27, decimals: 3},
	{name: quantity + "RespiratoryRate", unit: "count/min", source: &watch, perDay: 16, allDay: true, low: 12, high: 18, decimals: 1},
	{name: quantity + "BloodGlucose", unit: "mmol&lt;180.1558800000541&gt;/L", source: &sensor, perDay: 24, allDay: true, low: 4, high: 9, decimals: 1},
	{name: quantity + "BloodPressureSystolic", unit: "mmHg", source: &manual, perDay: 1, every: 4, low: 110, high: 131, metadata: userEnteredXML, sharp: true},
	{name: quantity + "BloodPressureDiastolic", unit: "mmHg", source: &manual, perDay: 1, every: 4, low: 70, high: 84, metadata: userEnteredXML, sharp: true},
	{name: quantity + "StepCount", unit: "count", source: &phone, perDay: 64, seconds: 540, low: 4, high: 410},
	{name: quantity + "StepCount", unit: "count", source: &watch, perDay: 96, seconds: 420, low: 4, high: 360},
	{name: quantity + "DistanceWalkingRunning", unit: "km", source: &phone, perDay: 64, seconds: 540, low: 0.01, high: 0.4, decimals: 5},
	{name: quantity + "DistanceWalkingRunning", unit: "km", source: &watch, perDay: 90, seconds: 300, low: 0.01, high: 0.3, decimals: 5},
	{name: quantity + "BasalEnergyBurned", unit: "Cal", source: &watch, perDay: 96, allDay: true, seconds: 880, low: 14, high: 17, decimals: 3},
	{name: quantity + "ActiveEnergyBurned", unit: "Cal", source: &watch, perDay: 160, seconds: 240, low: 0.2, high: 9, decimals: 3},
	{name: quantity + "FlightsClimbed", unit: "count", source: &phone, perDay: 6, seconds: 20, low: 1, high: 3},
	{name: quantity + "AppleExerciseTime", unit: "min", source: &watch, perDay: 28, seconds: 60, low: 1, high: 1},
	{name: quantity + "DietaryWater", unit: "mL", source: &manual, perDay: 3, low: 150, high: 500, metadata: userEnteredXML},
	{name: quantity + "RestingHeartRate", unit: "count/min", source: &watch, perDay: 1, low: 52, high: 60},
	{name: quantity + "VO2Max", unit: "mL/min·kg", source: &watch, perDay: 1, every: 5, low: 38, high: 43, decimals: 2},
	{name: quantity + "WalkingHeartRateAverage", unit: "count/min", source: &watch, perDay: 1, low: 84, high: 101},
	{name: quantity + "EnvironmentalAudioExposure", unit: "dBASPL", source: &watch, perDay: 24, seconds: 1700, low: 40, high: 75, decimals: 3},
	{name: quantity + "HeartRateVariabilitySDNN", unit: "ms", source: &watch, perDay: 7, allDay: true, seconds: 60, low: 24, high: 88, decimals: 4, metadata: heartBeatsXML},
	{name: quantity + "AppleStandTime", unit: "min", source: &watch, perDay: 40, seconds: 300, low: 1, high: 5},
}

// records writes the block of one kind over all days. The records of one
// block follow each other without overlap.
func (w *writer) records(k kind) {
	every := max(1, k.every)
	for d := 0; d < w.o.Days; d += every {
		midnight := w.day(d)
		from, span := 7*3600, 15*3600
		if k.allDay {
			from, span = 0, 23*3600 // the shortest day
		}
		step := span / k.perDay
		for i := range k.perDay {
			jitter := w.rand.IntN(max(1, step-k.seconds))
			if k.sharp {
				jitter = 0
			}
			start := midnight.Add(time.Duration(from+i*step+jitter) * time.Second)
			w.record(k, start, start.Add(time.Duration(k.seconds)*time.Second), w.value(k))
		}
	}
}

func (w *writer) value(k kind) string {
	v := k.low + w.rand.Float64()*(k.high-k.low)
	return strconv.FormatFloat(v, 'f', k.decimals, 64)
}

func (w *writer) record(k kind, start, end time.Time, value string) {
	w.recordAt(" ", k, start, end, value)
	w.stats.Records++
	w.stats.Types[k.name]++
}

func (w *writer) recordAt(indent string, k kind, start, end time.Time, value string) {
	b := append(w.line[:0], indent...)
	b = append(b, `<Record type="`...)
	b = append(b, k.name...)
	b = w.appendSource(append(b, '"'), k.source)
	if k.unit != "" {
		b = append(append(append(b, ` unit="`...), k.unit...), '"')
	}
	b = append(end.Add(time.Minute).AppendFormat(append(b, ` creationDate="`...), layout), '"')
	b = append(start.AppendFormat(append(b, ` startDate="`...), layout), '"')
	b = append(end.AppendFormat(append(b, ` endDate="`...), layout), '"')
	b = append(append(append(b, ` value="`...), value...), '"')
	if k.metadata == "" {
		w.line = append(b, "/>\n"...)
		w.flushLine()
		return
	}
	b = append(append(b, ">\n"...), k.metadata...)
	w.line = append(append(b, indent...), "</Record>\n"...)
	w.flushLine()
}

// appendSource adds the attributes of a source. The pointer in the device text
// changes, as it does in real files.
func (w *writer) appendSource(b []byte, s *source) []byte {
	b = append(append(append(b, ` sourceName="`...), s.name...), `" sourceVersion="`...)
	b = append(append(b, s.version...), '"')
	if s.device == "" {
		return b
	}
	b = append(b, ` device="&lt;&lt;HKDevice: 0x28`...)
	b = strconv.AppendUint(b, 0x1000000+uint64(w.rand.IntN(1<<20))*16, 16)
	return append(append(append(b, "&gt;"...), s.device...), '"')
}
