package results

import (
	"regexp"
	"slices"
	"strings"
)

// Failure says why a result is missing.
//
// Reference 3, FailureType.
type Failure string

// The failures.
const (
	QuantityNotSufficient Failure = "quantity_not_sufficient_failure" // too little of the sample
	InsufficientVolume    Failure = "insufficient_volume"             // a tube filled too low
	CollectionProcess     Failure = "collection_process_failure"      // the draw, or how the sample was treated after it
	DropOff               Failure = "drop_off_failure"                // on its way to the lab
	InternalLab           Failure = "internal_lab_failure"            // in the lab
	OrderEntry            Failure = "order_entry_failure"             // the lab does not know that it was ordered
	NonFailure            Failure = "non_failure"                     // it is reported elsewhere
	UnknownFailure        Failure = "unknown_failure"
	PatientCondition      Failure = "patient_condition_failure"     // something in the blood disturbs the test
	MissingResultCalc     Failure = "missing_result_calc_failure"   // a calculated value lacks its inputs
	MissingDemoCalc       Failure = "missing_demo_aoe_calc_failure" // a calculated value lacks age, sex or an answer
)

// Failures lists them all.
var Failures = []Failure{
	QuantityNotSufficient, CollectionProcess, DropOff, InternalLab, OrderEntry, NonFailure, UnknownFailure, PatientCondition,
	MissingResultCalc, MissingDemoCalc, InsufficientVolume,
}

// Redrawable reports whether a new sample can bring the result, and the lab or
// the way of the sample is why there is none.
func (f Failure) Redrawable() bool {
	return slices.Contains([]Failure{QuantityNotSufficient, InsufficientVolume, CollectionProcess, DropOff, InternalLab}, f)
}

// rule infers a failure from what a lab writes.
type rule struct {
	failure Failure
	says    *regexp.Regexp
}

// rules are tried in this order: the more special ones first. docs/results.md
// prints them.
var rules = []rule{
	{MissingDemoCalc, saying(`(calculat\w*|comput\w*|risk score).*(\bage\b|\bsex\b|gender|\bweight\b|\bheight\b|gestation|demographic|race|information not (given|provided|received))`)},
	{MissingDemoCalc, saying(`(\bage\b|\bsex\b|gender|\bweight\b|\bheight\b|gestation\w*|date of birth).*(missing|not (given|provided|received|stated)).*(calculat|comput)`)},
	{MissingResultCalc, saying(`(unable|not able|cannot|can not|could not|not) (to )?(be )?(calculat|comput)`, `calculation (is )?not (possible|performed|valid)`, `not calculated`, `component\w* (is |are )?(missing|not available)`)},
	{PatientCondition, saying(`lipa?emi[ac]`, `icteric`, `icterus`, `heterophil`, `paraprotein`, `interfering (substance|antibod)`, `cold agglutinin`, `interference`, `turbid`)},
	{NonFailure, saying(`duplicate`, `reported (separately|elsewhere|under)`, `see (separate|other) report`, `included in`, `replaced by`, `already (reported|performed)`)},
	{OrderEntry, saying(
		`not ordered`, `no test (was )?(ordered|requested)`, `order(ing)? (entry )?error`, `test code`, `not on (the )?requisition`,
		`wrong test (was )?ordered`, `invalid order`, `discontinued`, `name mis-?match`, `demographic`, `no (collection )?date`,
	)},
	{InsufficientVolume, saying(`(insufficient|inadequate|low|short) (sample |specimen |fill )?volume`, `volume (was |is )?(insufficient|too low|inadequate)`, `under-?filled`, `short draw`)},
	{QuantityNotSufficient, saying(
		`\bqns\b`, `quantity (was |is )?not sufficient`,
		`(insufficient|inadequate|not enough|too little) (quantity|amount|blood|serum|plasma|urine|saliva|stool|material|specimen|sample)`,
		`(specimen|sample) (was |is |too )*(insufficient|too small)`,
	)},
	{CollectionProcess, saying(
		`ha?emoly[sz]`, `clot`, `not (been )?(centrifuged|spun)`, `unspun`,
		`(wrong|incorrect|improper|unacceptable|inappropriate) (tube|container|specimen|sample|collection|anticoagulant|preservative|handling)`,
		`improperly (collected|handled|labell?ed|processed|stored)`, `contaminat`, `(un|mis)-?labell?ed`,
		`not (refrigerated|cooled|frozen|protected from light)`, `expired (tube|container|kit)`, `overfilled`,
	)},
	{DropOff, saying(
		`(leak|spill|broken|cracked|crushed|damaged)`, `(received|arrived) (thawed|warm|ambient|frozen|at (the )?wrong temperature|too late|beyond|outside)`,
		`stability`, `too old`, `delay\w* (in )?(transit|transport|receipt)`, `(lost|delayed) in transit`, `(specimen|sample) (has )?expired`, `temperature`,
		`(specimen|sample) not received`, `no (specimen|sample) received`,
	)},
	{InternalLab, saying(
		`(lab|laborator\w+) (accident|error|failure)`, `instrument`, `analy[sz]er`, `reagent`, `technical (problem|difficult|error|failure|issue)`,
		`equipment`, `lost (in|at|by) (the )?lab`, `quality control`, `\bqc\b`, `unable to (obtain|report) (a )?(valid|reliable)`, `repeated(ly)? fail`,
	)},
}

func saying(patterns ...string) *regexp.Regexp {
	return regexp.MustCompile(`(?is)` + strings.Join(patterns, "|"))
}

// infer finds a failure in what a lab writes.
func infer(text string) Failure {
	text = strings.Join(strings.Fields(text), " ")
	for _, r := range rules {
		if r.says.MatchString(text) {
			return r.failure
		}
	}
	return UnknownFailure
}
