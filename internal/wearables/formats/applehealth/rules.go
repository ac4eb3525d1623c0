package applehealth

import (
	"strings"

	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/xmlscan"
	"hale/internal/wearables/units"
)

const (
	quantity = "HKQuantityTypeIdentifier"
	category = "HKCategoryTypeIdentifier"
)

// shape says how the reader converts a record.
type shape uint8

const (
	point      shape = iota // one measurement at its start
	span                    // a sum or state over start to end
	portion                 // an amount that adds up with others of the same moment
	occurrence              // a category record that counts as 1
	minutes                 // a category record whose value is its length in minutes
	standHour               // 1 with the type stood or idle
	sleepStage              // a stage, or the time in bed
	systolic                // half of a blood pressure
	diastolic               // the other half
	restingHR               // a fact of the day
	walkingHR               // a fact of the day
	height                  // a fact of the person
	cycleNote               // an entry of a cycle's diary
	onTheWay                // a reading of a sensor during a workout; kind says which
)

// rule maps a HealthKit type to a series.
type rule struct {
	name     string // as in the record's type attribute
	shape    shape
	resource string    // our series
	kind     string    // its `type` word
	sport    string    // the source's sport
	units    spellings // nil for categories
	words    words     // of a cycleNote; nil when it has no value
	nutrient string    // its place in a meal, such as macros.protein; empty for none
}

// rules are all families together, by type.
var rules = func() map[string]*rule {
	all := map[string]*rule{}
	for _, family := range [][]rule{vitalRules, movementRules, bodyRules, nutritionRules, mindRules, fertilityRules, courseRules} {
		for i := range family {
			all[family[i].name] = &family[i]
		}
	}
	return all
}()

// shortName returns a type without its prefix, such as StepCount, for reports. It returns
// "other" for types that do not look like HealthKit's, so that a report contains only
// identifiers.
func shortName(raw []byte) string {
	name := string(raw)
	for _, prefix := range []string{quantity, category, "HKDataType", "HKCorrelationTypeIdentifier", "HKClinicalTypeIdentifier"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" && len(rest) <= 80 && identifier(rest) {
			return rest
		}
	}
	return "other"
}

func identifier(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if (c < 'a' || c > 'z') && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return true
}

// spellings are the units in which a quantity comes. A unit that is not listed
// makes the record rejected: a wrong number is worse than none.
type spellings map[string]units.Scale

var unitOne = units.Identity

// Units of the families.
var (
	countUnits       = spellings{"count": unitOne, "": unitOne}
	insulinUnits     = spellings{"IU": unitOne, "U": unitOne}
	heartRateUnits   = spellings{"count/min": unitOne, "bpm": unitOne, "count/s": units.Multiply(60)}
	breathUnits      = spellings{"count/min": unitOne, "count/s": units.Multiply(60)}
	millisecondUnits = spellings{"ms": unitOne, "s": units.Multiply(1000)}
	percentUnits     = spellings{"%": units.Multiply(100)} // the export writes 0.97 for 97 %
	metreUnits       = spellings{
		"m": unitOne, "km": units.Multiply(1000), "cm": units.Divide(100), "mi": units.Mile,
		"yd": units.Yard, "ft": units.Foot, "in": units.Inch,
	}
	centimetreUnits = spellings{
		"cm": unitOne, "m": units.Multiply(100), "mm": units.Divide(10), "km": units.Multiply(100000),
		"in": units.Multiply(2.54), "ft": units.Multiply(30.48), "yd": units.Multiply(91.44),
	}
	kilocalorieUnits = spellings{"kcal": unitOne, "Cal": unitOne, "kJ": units.Kilojoule, "J": units.Joule, "cal": units.Divide(1000)}
	kilogramUnits    = spellings{
		"kg": unitOne, "g": units.Divide(1000), "lb": units.Pound,
		"st": units.Stone, "oz": units.Ounce,
	}
	gramUnits      = spellings{"g": unitOne, "mg": units.Divide(1000), "mcg": units.Divide(1e6), "kg": units.Multiply(1000), "oz": units.Multiply(28.349523125)}
	milligramUnits = spellings{"mg": unitOne, "g": units.Multiply(1000), "mcg": units.Divide(1000)}
	microgramUnits = spellings{"mcg": unitOne, "mg": units.Multiply(1000), "g": units.Multiply(1e6)}
	// Apple writes mmol with the molar mass it used: mmol<180.1558800000541>/L.
	millimoleUnits  = spellings{"mmol/L": unitOne, "mg/dL": units.Glucose, "mg/L": units.Divide(180.182), "g/L": units.Ratio(1000, 180.182)}
	mercuryUnits    = spellings{"mmHg": unitOne, "kPa": units.Kilopascal, "cmAq": units.CentimetreWater}
	celsiusUnits    = spellings{"degC": unitOne, "degF": units.Fahrenheit, "K": units.Kelvin}
	millilitreUnits = spellings{
		"mL": unitOne, "ml": unitOne, "L": units.Multiply(1000), "l": units.Multiply(1000), "cL": units.Multiply(10), "dL": units.Multiply(100),
		"fl_oz_us": units.FluidOunceUS, "fl_oz_imp": units.FluidOunceImperial,
		"cup_us": units.CupUS, "cup_imp": units.CupImperial, "pt_us": units.PintUS,
	}
	litreUnits          = spellings{"L": unitOne, "l": unitOne, "mL": units.Divide(1000), "ml": units.Divide(1000)}
	litrePerMinuteUnits = spellings{"L/min": unitOne, "L/s": units.Multiply(60), "mL/min": units.Divide(1000)}
	minuteUnits         = spellings{"min": unitOne, "s": units.Divide(60), "hr": units.Multiply(60), "h": units.Multiply(60)}
	inVO2               = spellings{"mL/min·kg": unitOne, "mL/kg·min": unitOne, "mL/(kg*min)": unitOne, "ml/(kg*min)": unitOne}
	wattUnits           = spellings{"W": unitOne, "kW": units.Multiply(1000)}
)

// unitName removes the differences in the spelling of one unit.
func unitName(raw []byte) string {
	name := strings.TrimSpace(xmlscan.Unescape(raw))
	if open := strings.IndexByte(name, '<'); open >= 0 {
		if end := strings.IndexByte(name[open:], '>'); end >= 0 {
			name = name[:open] + name[open+end+1:]
		}
	}
	return name
}

// bodyRules maps measurements of the body. Height has no series, but a field of the profile.
var bodyRules = []rule{
	{name: quantity + "BodyMass", resource: "body_weight", units: kilogramUnits},
	{name: quantity + "BodyFatPercentage", resource: "body_fat", units: percentUnits},
	{name: quantity + "BodyMassIndex", shape: span, resource: "body_mass_index", units: countUnits},
	{name: quantity + "LeanBodyMass", shape: span, resource: "lean_body_mass", units: kilogramUnits},
	{name: quantity + "WaistCircumference", shape: span, resource: "waist_circumference", units: centimetreUnits},
	{name: quantity + "Height", shape: height, units: centimetreUnits},
}

// mindRules is rest, light and habits.
var mindRules = []rule{
	{name: category + "SleepAnalysis", shape: sleepStage},
	{name: category + "SleepApneaEvent", shape: occurrence, resource: "sleep_apnea_alert"},
	{name: quantity + "AppleSleepingBreathingDisturbances", shape: span, resource: "sleep_breathing_disturbance", units: countUnits},
	{name: category + "MindfulSession", shape: minutes, resource: "mindfulness_minutes"},
	{name: category + "HandwashingEvent", shape: occurrence, resource: "handwashing"},
	{name: quantity + "TimeInDaylight", shape: span, resource: "daylight_exposure", units: minuteUnits},
	{name: quantity + "UVExposure", shape: span, resource: "uv_exposure", units: countUnits},
}

// sleepStages maps the stages of SleepAnalysis to the codes of the API. InBed is no stage
// but the bounds of a night. Older exports use Asleep in place of AsleepUnspecified.
var sleepStages = map[string]int8{
	"HKCategoryValueSleepAnalysisInBed":             derive.InBed,
	"HKCategoryValueSleepAnalysisAsleep":            derive.Asleep,
	"HKCategoryValueSleepAnalysisAsleepUnspecified": derive.Asleep,
	"HKCategoryValueSleepAnalysisAsleepDeep":        derive.Deep,
	"HKCategoryValueSleepAnalysisAsleepCore":        derive.Light,
	"HKCategoryValueSleepAnalysisAsleepREM":         derive.REM,
	"HKCategoryValueSleepAnalysisAwake":             derive.Awake,
}

// movementRules maps activity of the body: sums over an interval.
//
// The sport of the source separates distance by bicycle, in water, on snow and in a
// wheelchair from distance on foot.
var movementRules = []rule{
	{name: quantity + "StepCount", shape: span, resource: "steps", units: countUnits},
	{name: quantity + "DistanceWalkingRunning", shape: span, resource: "distance", units: metreUnits},
	{name: quantity + "DistanceCycling", shape: span, resource: "distance", sport: "cycling", units: metreUnits},
	{name: quantity + "DistanceSwimming", shape: span, resource: "distance", sport: "swimming", units: metreUnits},
	{name: quantity + "DistanceWheelchair", shape: span, resource: "distance", sport: "wheelchair_pushing", units: metreUnits},
	{name: quantity + "DistanceDownhillSnowSports", shape: span, resource: "distance", sport: "downhill_skiing", units: metreUnits},
	{name: quantity + "DistanceCrossCountrySkiing", shape: span, resource: "distance", sport: "cross_country_skiing", units: metreUnits},
	{name: quantity + "DistanceRowing", shape: span, resource: "distance", sport: "rowing", units: metreUnits},
	{name: quantity + "DistancePaddleSports", shape: span, resource: "distance", sport: "paddle_sports", units: metreUnits},
	{name: quantity + "DistanceSkatingSports", shape: span, resource: "distance", sport: "skating_sports", units: metreUnits},
	{name: quantity + "SwimmingStrokeCount", shape: span, resource: "workout_swimming_stroke", sport: "swimming", units: countUnits},
	{name: quantity + "PushCount", shape: span, resource: "wheelchair_push", units: countUnits},
	{name: quantity + "ActiveEnergyBurned", shape: span, resource: "calories_active", units: kilocalorieUnits},
	{name: quantity + "BasalEnergyBurned", shape: span, resource: "calories_basal", units: kilocalorieUnits},
	{name: quantity + "FlightsClimbed", shape: span, resource: "floors_climbed", units: countUnits},
	{name: quantity + "AppleExerciseTime", shape: span, resource: "workout_duration", units: minuteUnits},
	{name: quantity + "AppleStandTime", shape: span, resource: "stand_duration", units: minuteUnits},
	{name: category + "AppleStandHour", shape: standHour, resource: "stand_hour"},
	{name: quantity + "NumberOfTimesFallen", shape: span, resource: "fall", units: countUnits},
}

// insulin has the type rapid_acting if the record states a bolus. Basal insulin has no
// type: from a pump it is rapid-acting too, from a pen it is not.
const insulin = "insulin_injection"

// delivered reads the reason for which insulin was given: 1 is basal, 2 a bolus.
func (p *pendingRecord) delivered(reason string) {
	switch reason {
	case "1":
		p.words = basalDose
	case "2":
		p.kind, p.words = "rapid_acting", bolusDose
	}
}

var (
	basalDose = wearables.ExtraText("basal", "", "")
	bolusDose = wearables.ExtraText("bolus", "", "")
)

// thermometers are the words for where one was.
//
// Source: HKBodyTemperatureSensorLocation.
var thermometers = map[string]string{
	"1": "armpit", "2": "body", "3": "ear", "4": "finger", "5": "gastrointestinal", "6": "mouth", "7": "rectum", "8": "toe",
	"9": "eardrum", "10": "temporal_artery", "11": "forehead",
}

// vitalRules maps measurements of heart, blood and lungs.
//
// HeartRateVariabilitySDNN is SDNN, but the reference's unit is rmssd. The number is
// stored unchanged, and its type is sdnn.
var vitalRules = []rule{
	{name: quantity + "HeartRate", resource: "heartrate", units: heartRateUnits},
	{name: quantity + "RestingHeartRate", shape: restingHR, units: heartRateUnits},
	{name: quantity + "WalkingHeartRateAverage", shape: walkingHR, units: heartRateUnits},
	{name: quantity + "HeartRateVariabilitySDNN", resource: "hrv", kind: "sdnn", units: millisecondUnits},
	{name: quantity + "HeartRateRecoveryOneMinute", shape: span, resource: "heart_rate_recovery_one_minute", units: heartRateUnits},
	{name: quantity + "AtrialFibrillationBurden", shape: span, resource: "afib_burden", units: percentUnits},
	{name: category + "HighHeartRateEvent", shape: occurrence, resource: "heart_rate_alert", kind: "high_heart_rate"},
	{name: category + "LowHeartRateEvent", shape: occurrence, resource: "heart_rate_alert", kind: "low_heart_rate"},
	{name: category + "IrregularHeartRhythmEvent", shape: occurrence, resource: "heart_rate_alert", kind: "irregular_rhythm"},
	{name: quantity + "OxygenSaturation", resource: "blood_oxygen", units: percentUnits},
	{name: quantity + "BloodGlucose", resource: "glucose", units: millimoleUnits},
	{name: quantity + "BloodPressureSystolic", shape: systolic, resource: "blood_pressure", units: mercuryUnits},
	{name: quantity + "BloodPressureDiastolic", shape: diastolic, resource: "blood_pressure", units: mercuryUnits},
	{name: quantity + "RespiratoryRate", resource: "respiratory_rate", units: breathUnits},
	{name: quantity + "VO2Max", shape: span, resource: "vo2_max", units: inVO2},
	{name: quantity + "BodyTemperature", shape: span, resource: "body_temperature", units: celsiusUnits},
	{name: quantity + "BasalBodyTemperature", shape: span, resource: "basal_body_temperature", units: celsiusUnits},
	{name: quantity + "ForcedExpiratoryVolume1", shape: span, resource: "forced_expiratory_volume_1", units: litreUnits},
	{name: quantity + "ForcedVitalCapacity", shape: span, resource: "forced_vital_capacity", units: litreUnits},
	{name: quantity + "PeakExpiratoryFlowRate", shape: span, resource: "peak_expiratory_flow_rate", units: litrePerMinuteUnits},
	{name: quantity + "InsulinDelivery", shape: span, resource: insulin, units: insulinUnits},
	{name: quantity + "InhalerUsage", shape: span, resource: "inhaler_usage", units: countUnits},
}

// words maps the values of a category to the words of the API. The keys are the last
// parts of HealthKit's names.
type words map[string]string

// of reads a value such as HKCategoryValueMenstrualFlowLight.
func (w words) of(value []byte) (string, bool) {
	for i := len(value) - 1; i > 0; i-- {
		if word, ok := w[string(value[i:])]; ok && strings.HasPrefix(string(value), "HKCategoryValue") {
			return word, true
		}
	}
	return "", false
}

var (
	flows       = words{"Unspecified": "unspecified", "None": "none", "Light": "light", "Medium": "medium", "Heavy": "heavy"}
	testResults = words{"Negative": "negative", "Positive": "positive", "Indeterminate": "indeterminate"}
)

// fertilityRules has the rules for the diary of a cycle. An entry belongs to the cycle of its
// day. The resource is the list of the summary that gets the entry.
var fertilityRules = []rule{
	{name: category + "MenstrualFlow", shape: cycleNote, resource: "menstrual_flow", words: flows},
	{name: category + "IntermenstrualBleeding", shape: cycleNote, resource: "intermenstrual_bleeding"},
	{name: category + "CervicalMucusQuality", shape: cycleNote, resource: "cervical_mucus", words: words{
		"Dry": "dry", "Sticky": "sticky", "Creamy": "creamy", "Watery": "watery", "EggWhite": "egg_white",
	}},
	{name: category + "Contraceptive", shape: cycleNote, resource: "contraceptive", words: words{
		"Unspecified": "unspecified", "Implant": "implant", "Injection": "injection", "IntrauterineDevice": "iud",
		"IntravaginalRing": "intravaginal_ring", "Oral": "oral", "Patch": "patch",
	}},
	{name: category + "OvulationTestResult", shape: cycleNote, resource: "ovulation_test", words: words{
		"Negative": "negative", "Positive": "positive", "Indeterminate": "indeterminate",
		"LuteinizingHormoneSurge": "luteinizing_hormone_surge", "EstrogenSurge": "estrogen_surge",
	}},
	{name: category + "PregnancyTestResult", shape: cycleNote, resource: "home_pregnancy_test", words: testResults},
	{name: category + "ProgesteroneTestResult", shape: cycleNote, resource: "home_progesterone_test", words: testResults},
	{name: category + "SexualActivity", shape: cycleNote, resource: "sexual_activity"},
	{name: category + "PersistentIntermenstrualBleeding", shape: cycleNote, resource: deviations, kind: "persistent_intermenstrual_bleeding"},
	{name: category + "ProlongedMenstrualPeriods", shape: cycleNote, resource: deviations, kind: "prolonged_menstrual_periods"},
	{name: category + "IrregularMenstrualCycles", shape: cycleNote, resource: deviations, kind: "irregular_menstrual_cycles"},
	{name: category + "InfrequentMenstrualCycles", shape: cycleNote, resource: deviations, kind: "infrequent_menstrual_cycles"},
}

const deviations = "detected_deviations"

// wordField maps each list to the name of its word field. Entries of other lists have a
// date alone, or a value of their own.
var wordField = map[string]string{
	"menstrual_flow": "flow", "cervical_mucus": "quality", "contraceptive": "type", deviations: "deviation",
	"ovulation_test": "test_result", "home_pregnancy_test": "test_result", "home_progesterone_test": "test_result",
}
