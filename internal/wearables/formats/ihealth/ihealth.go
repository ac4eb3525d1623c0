// Package ihealth reads the replies of iHealth's API: a page per kind of measurement,
// with the records in a list and their unit beside it.
//
// A time is the local clock time, in seconds as if it were UTC. TimeZone is the clock's
// offset from UTC: "-0800", or a number of hours. Public samples show it, where a
// device sent its measurement seconds before LastChangeTime, which is in UTC. Only
// sport has its times in UTC: a local reading would put them hours after they were
// sent.
//
// Facts come from iHealth's reference and public samples.
package ihealth

import (
	"strconv"
	"strings"
	"time"

	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
	"hale/internal/wearables/sports"
)

// Provider is the catalogue's name for iHealth.
const Provider = "ihealth"

// maker describes iHealth's files. HeartOfDays prevents a heart rate of days from being
// derived, because a pulse beside a blood pressure is not the heart rate of a day.
var maker = replies.Maker{
	WallClock: true,
	Kind:      "ihealth", Title: "iHealth JSON", Provider: Provider, HeartOfDays: true,
	Lists: listNames, Late: []string{"BPUnit", "BGUnit", "WeightUnit", "DistanceUnit"}, Open: open,
}

// Kind is a file of iHealth's replies.
var Kind = maker.Files()

// reader reads iHealth's records of one file.
type reader struct{ *replies.Reader }

// sourceOf returns the source of a document: a device of the given type, or the app if
// the value was typed in.
func sourceOf(d replies.Document, device string) wearables.Source {
	if d.Text("DataSource") == "Manual" {
		device = "app"
	}
	return wearables.Source{Provider: Provider, Type: device}
}

// listNames are the names of the lists of records.
var listNames = []string{"BPDataList", "BGDataList", "BODataList", "WeightDataList", "ARDataList", "SRDataList", "SPORTDataList"}

// open returns the resources in the order in which they are matched with a
// record.
func open(r *replies.Reader) replies.Reading {
	m := &reader{r}
	return replies.Reading{Resources: []replies.Resource{
		{Name: "blood pressure", Keys: []string{"HP", "LP", "MDate"}, Take: m.pressure},
		{Name: "glucose", Keys: []string{"BG", "MDate"}, Take: m.glucose},
		{Name: "oxygen", Keys: []string{"BO", "MDate"}, Take: m.oxygen},
		{Name: "weight", Keys: []string{"WeightValue", "MDate"}, Take: m.weight},
		{Name: "activity", Keys: []string{"Steps", "DistanceTraveled", "MDate"}, Take: m.day},
		{Name: "sleep", Keys: []string{"HoursSlept", "StartTime", "EndTime"}, Take: m.sleep},
		{Name: "sport", Keys: []string{"SportName", "SportStartTime", "SportEndTime"}, Take: m.sport},
		{Name: "empty", Is: isEmpty},
	}}
}

// isEmpty reports whether a page has no records.
func isEmpty(d replies.Document) bool {
	return (d.Has("RecordCount") || d.Has("CurrentRecordCount")) && d.EmptyList(listNames...)
}

// offsetOf returns the offset of a record's clock from UTC, in seconds east: "-0800",
// "+05:30", "-8", or a number of hours.
func offsetOf(d replies.Document) (int32, bool) {
	var seconds float64
	if hours, ok := d.Number("TimeZone"); ok {
		seconds = 3600 * hours
	} else if seconds, ok = parseNumber(d.Text("TimeZone")); !ok {
		return wearables.NoOffset, false
	}
	if !replies.IsOffset(int64(seconds)) {
		return wearables.NoOffset, false
	}
	return int32(seconds), true
}

// parseNumber reads an offset that is a text.
func parseNumber(text string) (float64, bool) {
	for _, layout := range []string{"-0700", "-07:00", "Z0700", "-07"} {
		if at, err := time.Parse(layout, text); err == nil {
			_, seconds := at.Zone()
			return float64(seconds), true
		}
	}
	hours, err := strconv.Atoi(text)
	return 3600 * float64(hours), err == nil
}

// moment returns the instant of a field with a local clock time, and the offset
// of the clock. If the record does not state its zone, the user's fallback zone
// applies.
func (r *reader) moment(d replies.Document, field string) (at int64, offset int32, ok bool) {
	wall, ok := d.Unix(field)
	if !ok {
		return 0, wearables.NoOffset, false
	}
	if offset, known := offsetOf(d); known {
		return wall.Add(-time.Duration(offset) * time.Second).UnixMicro(), offset, true
	}
	clock := sheet.Wall{Zone: r.Zone}
	at, offset = clock.Instant(wall)
	return at, offset, true
}

const metresPerKilometre, metresPerMile = 1000, 1609.344

// day reads the totals of the day that its clock showed. Calories are those of
// the whole day, resting ones included.
func (r *reader) day(d replies.Document) replies.Verdict {
	wall, ok := d.Unix("MDate")
	factor, known := unit(d, "DistanceUnit", metresPerKilometre, metresPerMile)
	switch {
	case !ok:
		return replies.BadDate
	case !known:
		return replies.BadUnit
	}
	body := replies.Activity{
		Total: d.Positive("Calories"), Steps: d.Whole("Steps"), Distance: replies.Times(d.Amount("DistanceTraveled"), factor),
	}
	if offset, known := offsetOf(d); known {
		body.Offset = &offset
	}
	return r.Activity(sourceOf(d, "watch"), replies.LocalDay(wall, 0), body)
}

// mmHgPerKilopascal turns a pressure in kPa into mmHg.
const mmHgPerKilopascal = 7.50061683

// unit returns the factor of a page's unit. The unit is a number, and factors
// are in iHealth's order. ok is false for any other number, and for a page
// without a unit, such as a truncated page. Otherwise pounds could pass for
// kilograms.
func unit(d replies.Document, field string, factors ...float64) (factor float64, ok bool) {
	n, whole := d.Around(field).Integer(field)
	if !whole || n < 0 || n >= int64(len(factors)) {
		return 0, false
	}
	return factors[n], true
}

// pressure reads a blood pressure with its pulse.
func (r *reader) pressure(d replies.Document) replies.Verdict {
	at, offset, ok := r.moment(d, "MDate")
	factor, known := unit(d, "BPUnit", 1, mmHgPerKilopascal)
	high, low := d.Positive("HP"), d.Positive("LP")
	switch {
	case !ok:
		return replies.BadDate
	case !known:
		return replies.BadUnit
	case high == nil || low == nil:
		return replies.BadValue
	}
	source := sourceOf(d, "cuff")
	r.Gather.Pair(sheet.Key{Resource: "blood_pressure", Source: source}, at, offset, *high*factor, *low*factor)
	if pulse := d.Positive("HR"); pulse != nil {
		r.Gather.At(sheet.Key{Resource: "heartrate", Source: source}, at, offset, *pulse)
	}
	if irregular := d.Positive("IsArr"); irregular != nil {
		r.Part("blood pressure.IsArr", replies.Skipped)
	}
	return replies.Mapped
}

// glucose reads a meter's value of a drop of blood.
func (r *reader) glucose(d replies.Document) replies.Verdict {
	at, offset, ok := r.moment(d, "MDate")
	factor, known := unit(d, "BGUnit", 1/sheet.MilligramsPerMillimole, 1)
	value := d.Positive("BG")
	switch {
	case !ok:
		return replies.BadDate
	case !known:
		return replies.BadUnit
	case value == nil:
		return replies.BadValue
	}
	r.Gather.At(sheet.Key{Resource: "glucose", Source: sourceOf(d, "fingerprick")}, at, offset, *value*factor)
	r.SkipFields("glucose", d, "Carbs")
	return replies.Mapped
}

// oxygen reads a saturation with its pulse. There is no word for an oximeter.
func (r *reader) oxygen(d replies.Document) replies.Verdict {
	at, offset, ok := r.moment(d, "MDate")
	value := d.Positive("BO")
	switch {
	case !ok:
		return replies.BadDate
	case value == nil:
		return replies.BadValue
	}
	source := sourceOf(d, "unknown")
	r.Gather.At(sheet.Key{Resource: "blood_oxygen", Source: source}, at, offset, *value)
	if pulse := d.Positive("HR"); pulse != nil {
		r.Gather.At(sheet.Key{Resource: "heartrate", Source: source}, at, offset, *pulse)
	}
	return replies.Mapped
}

// Kilograms.
const (
	perPound = 0.45359237
	perStone = 6.35029318
)

// weight reads a weighing. Zero means not measured. The share of fat and of water is in
// percent; that of bone and muscle has no unit and no resource.
func (r *reader) weight(d replies.Document) replies.Verdict {
	at, offset, ok := r.moment(d, "MDate")
	factor, known := unit(d, "WeightUnit", 1, perPound, perStone)
	value := d.Positive("WeightValue")
	switch {
	case !ok:
		return replies.BadDate
	case !known:
		return replies.BadUnit
	case value == nil:
		return replies.BadValue
	}
	source := sourceOf(d, "scale")
	r.Gather.At(sheet.Key{Resource: "body_weight", Source: source}, at, offset, *value*factor)
	if fat := d.Positive("FatValue"); fat != nil {
		r.Gather.At(sheet.Key{Resource: "body_fat", Source: source}, at, offset, *fat)
	}
	if index := d.Positive("BMI"); index != nil {
		r.Gather.Span(sheet.Key{Resource: "body_mass_index", Source: source}, at, at, offset, *index)
	}
	r.Body(source, time.UnixMicro(at).UTC(), offset, replies.Body{Water: d.Positive("WaterValue")})
	for _, part := range []string{"BoneValue", "MuscaleValue", "DCI"} {
		if d.Positive(part) != nil {
			r.Part("weight."+part, replies.Skipped)
		}
	}
	return replies.Mapped
}

// sleep reads a night. HoursSlept has minutes in it.
func (r *reader) sleep(d replies.Document) replies.Verdict {
	start, _, began := r.moment(d, "StartTime")
	end, offset, ended := r.moment(d, "EndTime")
	if !began || !ended {
		return replies.BadDate
	}
	n := replies.Night{
		ID: d.Word("DataID"), Source: sourceOf(d, "watch"), Start: time.UnixMicro(start).UTC(), End: time.UnixMicro(end).UTC(), Offset: offset,
		Sleep: replies.Sleep{Total: replies.RoundNumber(replies.Times(d.Positive("HoursSlept"), 60)), Efficiency: d.Positive("SleepEfficiency")},
	}
	became := r.Night(n)
	if became != replies.Mapped {
		return became
	}
	for _, part := range []string{"Awaken", "FallSleep"} { // how often; and how long, in no stated unit
		if d.Positive(part) != nil {
			r.Part("sleep."+part, replies.Skipped)
		}
	}
	return replies.Mapped
}

// sport reads a workout, whose times are in UTC.
func (r *reader) sport(d replies.Document) replies.Verdict {
	start, began := d.Unix("SportStartTime")
	end, ended := d.Unix("SportEndTime")
	if !began || !ended || end.Before(start) || end.Sub(start) > files.LongestWorkout {
		return replies.BadDate
	}
	offset, known := offsetOf(d)
	if !known {
		offset = sheet.OffsetAt(r.Zone, start.UnixMicro())
	}
	name := files.Text(d.Text("SportName"))
	kind, _, _ := strings.Cut(name, ",") // "Swimming, breaststroke"
	r.Workout(derive.Workout{
		ID: files.Text(d.Word("DataID")), Title: name, Sport: sports.OfWord(kind), Source: sourceOf(d, "watch"),
		Start: start.UnixMicro(), End: end.UnixMicro(), Offset: offset, Kcal: d.Positive("Calories"),
	})
	return replies.Mapped
}
