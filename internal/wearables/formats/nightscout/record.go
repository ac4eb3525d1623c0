package nightscout

import (
	"encoding/json"
	"strconv"
	"strings"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/sheet"
)

// text is a field that uploaders write as text, as a number or as null. Other values
// are empty.
type text string

// UnmarshalJSON accepts every JSON value.
func (t *text) UnmarshalJSON(raw []byte) error {
	*t = ""
	switch c := raw[0]; {
	case c == '"':
		return json.Unmarshal(raw, (*string)(t))
	case c == '-' || c >= '0' && c <= '9':
		*t = text(raw)
	case string(raw) == "true":
		*t = "true"
	}
	return nil
}

// number returns the field as a number above zero. It returns false for any other value.
func (t text) number() (float64, bool) {
	v, ok := sheet.Number(strings.TrimSpace(string(t)))
	return v, ok && v > 0
}

// integer returns the field as a whole number, or false if it is not a number in range.
// It drops a fraction.
func (t text) integer() (int64, bool) {
	n, err := strconv.ParseInt(string(t), 10, 64)
	if err == nil {
		return n, true
	}
	v, ok := sheet.Number(string(t)) // 1.5279243e12
	return int64(v), ok && v > -1e15 && v < 1e15
}

// record has the fields that the reader uses from entries, treatments and pump history.
// Names, notes and serial numbers are not among them.
type record struct {
	Type text `json:"type"` // entries: sgv, mbg, cal
	SGV  text `json:"sgv"`  // mg/dL
	MBG  text `json:"mbg"`  // mg/dL

	EventType   text `json:"eventType"` // treatments
	Carbs       text `json:"carbs"`     // g
	Insulin     text `json:"insulin"`   // units
	Glucose     text `json:"glucose"`   // in Units
	GlucoseType text `json:"glucoseType"`
	Units       text `json:"units"`
	SMB         text `json:"isSMB"`
	PumpID      text `json:"pumpId"`
	PumpType    text `json:"pumpType"`

	PumpEvent text `json:"_type"`  // pump history: Bolus, TempBasal, …
	Amount    text `json:"amount"` // units

	Date       text `json:"date"` // milliseconds of Unix time
	DateString text `json:"dateString"`
	CreatedAt  text `json:"created_at"`
	Timestamp  text `json:"timestamp"`
	UTCOffset  text `json:"utcOffset"` // minutes
}

// These methods report the kind of document that a record belongs to.
func (r *record) isEntry() bool {
	named := r.Type == "sgv" || r.Type == "mbg" || r.Type == "cal"
	return named || (r.SGV != "" || r.MBG != "") && (r.Date != "" || r.DateString != "")
}

func (r *record) isTreatment() bool {
	return (r.EventType != "" || r.Carbs != "" || r.Insulin != "") && (r.CreatedAt != "" || r.Timestamp != "")
}

func (r *record) isPumpEvent() bool { return r.PumpEvent != "" && r.Timestamp != "" }

// sourceOf returns the source of a type of device.
func sourceOf(kind string) wearables.Source {
	return wearables.Source{Provider: Provider, Type: kind, AppID: AppID}
}

var (
	sensor = sheet.Key{Resource: "glucose", Type: "automatic", Source: sourceOf("automatic")}
	finger = sheet.Key{Resource: "glucose", Source: sourceOf("fingerprick")}
)

// A sensor's reading, in mg/dL. Numbers up to 38 are codes of errors. 39 and
// 401 mean below and above the range of the sensor.
const (
	lastCode     = 38
	belowMeasure = 39
	aboveMeasure = 401
)

// takeEntry reads an entry. Entries are always in mg/dL.
func takeEntry(d *sheet.Document, r *record) {
	name, field, key := "sgv", r.SGV, sensor
	switch {
	case r.Type == "mbg" || r.Type == "" && r.SGV == "":
		name, field, key = "mbg", r.MBG, finger
	case r.Type != "sgv" && r.Type != "":
		skip(d, listedName(string(r.Type), "cal", "rawbg", "etc"))
		return
	}
	value, ok := field.number()
	if ok && name == "sgv" && (value == belowMeasure || value == aboveMeasure) {
		skip(d, "sgv outside the range")
		return
	}
	count := d.Report.Type(name)
	count.Read++
	at, offset, good := r.moment(d.Zone)
	switch {
	case !good:
		count.BadDate++
		d.Report.Left(count)
		return
	case !ok, name == "sgv" && value <= lastCode:
		count.BadValue++
		d.Report.Left(count)
		return
	}
	d.Gather.At(key, at, offset, value/sheet.MilligramsPerMillimole)
	countMapped(d, count)
}

// listedName returns a listed name, so that reports contain no typed text.
func listedName(name string, list ...string) string {
	for _, k := range list {
		if name == k {
			return name
		}
	}
	return "other"
}

var (
	carbs           = sheet.Key{Resource: "carbohydrates", Source: sourceOf("app")}
	injectedInsulin = sheet.Key{Resource: "insulin_injection", Type: "rapid_acting", Extra: bolusText, Source: sourceOf("app")}
	pumped          = sheet.Key{Resource: "insulin_injection", Type: "rapid_acting", Extra: bolusText, Source: sourceOf("insulin_pump")}
)

// bolusText has the words of all insulin. Nightscout itself counts the insulin of
// every treatment as a bolus. So the words have delivery_mode, and neither
// delivery_form nor bolus_purpose. The type of a treatment adds no words,
// because a person may correct it. A series has one set of words. With words of
// its type, a corrected dose would be in a second series, and so be stored twice.
var bolusText = wearables.ExtraText("bolus", "", "")

// treatmentTypes lists the names that careportal and the common uploaders use.
var treatmentTypes = []string{
	"BG Check", "Snack Bolus", "Meal Bolus", "Correction Bolus", "Carb Correction", "Combo Bolus", "Bolus", "SMB", "Bolus Wizard",
	"Announcement", "Note", "Question", "Exercise", "Site Change", "Sensor Start", "Sensor Change", "Sensor Stop",
	"Pump Battery Change", "Insulin Change", "Temp Basal Start", "Temp Basal End", "Temp Basal", "Profile Switch",
	"D.A.D. Alert", "Temporary Target", "OpenAPS Offline", "<none>",
}

// takeTreatment reads a treatment: one may have insulin, carbohydrates and a
// drop of blood at once. Basal rates have no series of ours.
func takeTreatment(d *sheet.Document, r *record) {
	name := "treatment"
	if r.EventType != "" {
		name = listedName(string(r.EventType), treatmentTypes...)
	}
	count := d.Report.Type(name)
	count.Read++
	insulin, hasInsulin := r.Insulin.number()
	grams, hasGrams := r.Carbs.number()
	if !hasInsulin && !hasGrams && !r.isFingerprick() {
		count.Skipped++
		d.Report.Left(count)
		return
	}
	at, offset, ok := r.moment(d.Zone)
	if !ok {
		count.BadDate++
		d.Report.Left(count)
		return
	}
	kept := hasInsulin || hasGrams
	if hasInsulin {
		key := injectedInsulin
		if r.isPump() {
			key = pumped
		}
		d.Portion(key, at, offset, insulin)
	}
	if hasGrams {
		d.Portion(carbs, at, offset, grams)
	}
	if r.isFingerprick() {
		switch value, problem := r.blood(count); {
		case problem == nil:
			d.Gather.At(finger, at, offset, value)
			kept = true
		case !kept:
			*problem++
			d.Report.Left(count)
		}
	}
	if kept {
		countMapped(d, count)
	}
}

// isPump reports whether a pump gave the insulin. Then the record names the pump's
// driver, or the loop decided on the dose. Other insulin was typed.
func (r *record) isPump() bool {
	return r.PumpID != "" || r.PumpType != "" || r.SMB == "true" || r.EventType == "SMB"
}

// isFingerprick reports whether the treatment has a fingerprick value. A sensor's value in
// a treatment is among the entries already.
func (r *record) isFingerprick() bool {
	return r.Glucose != "" && strings.EqualFold(string(r.GlucoseType), "finger")
}

// blood returns the fingerprick glucose in mmol/L. If there is none, it returns the
// counter of the reason. The unit is the one that the page showed. A number without a
// unit is refused, because it could be in either unit.
func (r *record) blood(count *files.TypeCount) (value float64, problem *int64) {
	value, ok := r.Glucose.number()
	unit := strings.ToLower(string(r.Units))
	switch {
	case !ok:
		return 0, &count.BadValue
	case strings.HasPrefix(unit, "mg"):
		return value / sheet.MilligramsPerMillimole, nil
	case strings.HasPrefix(unit, "mmol"):
		return value, nil
	}
	return 0, &count.BadUnit
}

// pumpEvents lists the known names of events in openaps' pump history.
var pumpEvents = []string{
	"Bolus", "BolusWizard", "TempBasal", "TempBasalDuration", "PumpSuspend", "PumpResume", "Prime", "Rewind", "CalBGForPH", "BGReceived",
}

// takePumpEvent reads an event of the pump's history. Only a bolus is insulin
// whose amount is known.
func takePumpEvent(d *sheet.Document, r *record) {
	name := listedName(string(r.PumpEvent), pumpEvents...)
	if name != "Bolus" {
		skip(d, name)
		return
	}
	count := d.Report.Type(name)
	count.Read++
	amount, ok := r.Amount.number()
	if !ok {
		count.BadValue++
		d.Report.Left(count)
		return
	}
	at, offset, ok := r.moment(d.Zone)
	if !ok {
		count.BadDate++
		d.Report.Left(count)
		return
	}
	d.Portion(pumped, at, offset, amount)
	countMapped(d, count)
}
