package nightscout

import (
	"strings"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/sheet"
)

var (
	carbs    = sheet.Key{Resource: "carbohydrates", Source: sourceOf("app")}
	injected = sheet.Key{Resource: "insulin_injection", Type: "rapid_acting", Extra: bolus, Source: sourceOf("app")}
	pumped   = sheet.Key{Resource: "insulin_injection", Type: "rapid_acting", Extra: bolus, Source: sourceOf("insulin_pump")}
)

// bolus has the words of all insulin. Nightscout itself counts the insulin of
// every treatment as a bolus. So the words have delivery_mode, and neither
// delivery_form nor bolus_purpose. The type of a treatment adds no words,
// because a person may correct it. A series has one set of words. With words of
// its type, a corrected dose would be in a second series, and so be stored twice.
var bolus = wearables.ExtraText("bolus", "", "")

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
		key := injected
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
		mapped(d, count)
	}
}

// isPump reports whether a pump gave the insulin. Then the record names the pump's
// driver, or the loop decided on the dose. Other insulin was typed.
func (r *record) isPump() bool {
	return r.PumpID != "" || r.PumpType != "" || r.SMB == "true" || r.EventType == "SMB"
}

// isFingerprick reports whether the treatment has a drop of blood. A sensor's value in
// a treatment is among the entries already.
func (r *record) isFingerprick() bool {
	return r.Glucose != "" && strings.EqualFold(string(r.GlucoseType), "finger")
}

// blood returns the glucose of the drop of blood in mmol/L. If there is none, it returns
// the counter of the reason. The unit is the one that the page showed. A number without a
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
	mapped(d, count)
}
