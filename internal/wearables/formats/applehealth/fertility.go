package applehealth

import "strings"

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

// fertility has the rules for the diary of a cycle. An entry belongs to the cycle of its
// day. The resource is the list of the summary that gets the entry.
var fertility = []rule{
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
