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

// bolus are the words of all insulin, as Nightscout itself counts the insulin of
// every treatment as a bolus: delivery_mode, and neither delivery_form nor
// bolus_purpose. The type of a treatment, which a person may correct, adds none:
// a series has one set of words, and a dose that moved from one series to
// another would be there twice.
var bolus = wearables.ExtraText("bolus", "", "")

// treatmentTypes are the names that careportal and the common uploaders give.
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

// isPump reports whether a pump gave the insulin: the record names its driver, or the
// loop's decision. Other insulin was typed.
func (r *record) isPump() bool {
	return r.PumpID != "" || r.PumpType != "" || r.SMB == "true" || r.EventType == "SMB"
}

// isFingerprick reports whether the treatment has a drop of blood. A sensor's value in
// a treatment is among the entries already.
func (r *record) isFingerprick() bool {
	return r.Glucose != "" && strings.EqualFold(string(r.GlucoseType), "finger")
}

// blood is the drop of blood in mmol/L, or the count that says why there is
// none. The unit is the one that the page showed; without one the number could
// mean either.
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

// pumpEvents are the names of openaps' pump history that we know.
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
