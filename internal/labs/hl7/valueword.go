package hl7

import (
	"regexp"
	"strings"
)

// ValueWord is the meaning of words that labs write in place of a value.
type ValueWord string

// The meanings.
const (
	// NotPerformed means that there will be no value, for any test.
	NotPerformed ValueWord = "not performed"
	// NotMeasured means the same if the test has numbers. HEMOLYZED is an
	// answer of a test that describes the specimen.
	NotMeasured ValueWord = "not measured"
	// SeeNote means that a test with numbers has none, and that a note says why.
	SeeNote ValueWord = "see note"
	// Pending means that the value is still to come.
	Pending ValueWord = "pending"
)

const (
	theTest   = `(?:the )?(?:(?:test|assay|analysis|procedure|specimen|sample|result|value|order|report|final|final report)s? )?(?:(?:was|were|is|are|has been|have been|still) )*`
	itsReason = `(?: (?:by|per|at|due|because|since|on|for|from|as|with|see|pending) .*| (?:by lab|today))?`
	aSpecimen = `(?:specimen|sample|serum|plasma|blood|urine|stool|material)`
)

// valueWords has the patterns of the meanings, tried in this order. Each
// matches the whole first clause. Words that are an answer of some test, such
// as INSUFFICIENT, NONE, ND and NR, are in none.
var valueWords = []struct {
	is      ValueWord
	pattern *regexp.Regexp
}{
	{Pending, wholeClause(
		theTest+`(?:pending|pend|pndg|in progress|in process|to follow|will follow|not yet (?:available|complete|completed|performed|reported|final)|being repeated|awaiting|awaited|outstanding|awaiting .*|to be (?:reported|determined|announced))(?: .*)?`,
		`(?:repeat|repeating|repeat testing|testing|analysis|incubation)(?: is)? (?:in progress|in process|ongoing|pending|underway|to follow)(?: .*)?`,
		`tbd|tba|tbr|repeating|referred|(?:sent|referred) (?:out|to (?:a |the )?ref.*)|send ?out|in lab`,
	)},
	{NotPerformed, wholeClause(
		`(?:tnp|dnp|dnr|tnr|qns)`+`(?: .*)?`,
		theTest+`(?:not (?:performed|done|tested|run|resulted|reported|processed|analy[sz]ed|completed|calculated|calculable|computed)|cancell?ed|cancel|discontinued)`+itsReason,
		`(?:test|result|specimen|sample|order) rejected`+itsReason,
		`(?:`+aSpecimen+` )?(?:quantity (?:was |is )?(?:not sufficient|insufficient)|(?:insufficient|inadequate|not enough) (?:quantity|volume|amount|`+aSpecimen+`)|volume (?:not sufficient|insufficient)|quantity limited)(?: .*)?`,
		`(?:unable to|cannot|can not|could not|not able to) (?:be )?(?:perform|report|calculate|compute|result|process|analy[sz]e|run)(?:ed|d)?(?: .*)?`,
		`no (?:specimen|sample|result|results|value)(?: (?:was |were )?(?:received|available|obtained|reported|submitted|collected))?`,
		`not received|never received`+itsReason,
		aSpecimen+` (?:was |were )?(?:not received|never received|not collected|lost|lost in transit|leaked)(?: .*)?`,
		`(?:lab|laboratory) (?:error|accident|cancel|cancell?ed)`,
	)},
	{NotMeasured, wholeClause(
		`(?:`+aSpecimen+` )?(?:(?:is|was|too|grossly|gross|severely|markedly|moderately|slightly|mildly|visibly|partially) )*(?:ha?emoly[sz]ed|ha?emolysis|clotted|clots?|clot (?:detected|present)|lipa?emic|lipa?emia|icteric|contaminated|unsatisfactory|unacceptable|insufficient for .*|unlabell?ed|mislabell?ed|damaged|broken|expired|too old)(?: `+aSpecimen+`)?(?: .*)?`,
		`(?:wrong|incorrect|improper) (?:tube|container|specimen|sample)(?: .*)?`,
		`rejected`+itsReason,
		`(?:unable to|cannot|can not|could not|not able to) (?:be )?(?:determine|obtain|measure|quantitate|quantify|assess|evaluate|interpret)(?:d|ed)?(?: .*)?`,
		`(?:results? )?(?:not available|unavailable|invalid|void|np|error|failed|interference)`,
		`(?:instrument|analy[sz]er|technical|reagent|equipment) (?:error|failure|problem|malfunction)(?: .*)?`,
		`-{2,}|\*+|\.+|\?+|#+`,
	)},
	{SeeNote, wholeClause(
		`(?:please )?(?:see|refer to) .*`, `comment|note|n/a|na|not (?:applicable|indicated|required|needed)(?: .*)?`,
	)},
}

func wholeClause(patterns ...string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:` + strings.Join(patterns, "|") + `)$`)
}

// clauseEnd ends the first clause of a text.
var clauseEnd = regexp.MustCompile(`[.;,:(!\n\r]| [-–—/] |\w/\w\w`)

// FindValueWord returns the meaning of a value in words; empty if the words are
// an answer. The first clause decides.
func FindValueWord(text string) ValueWord {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > maxValueWords || strings.Contains("0123456789<>+", text[:1]) {
		return ""
	}
	clause := strings.TrimLeft(text, `"'([*`)
	if clause == "" || strings.Trim(clause, "-*.?#") == "" {
		clause = text
	} else if at := clauseEnd.FindStringIndex(clause); at != nil {
		if clause[at[0]] > ' ' && at[1]-at[0] > 1 { // a slash between words
			at[0]++
		}
		clause = clause[:at[0]]
	}
	clause = strings.Join(strings.Fields(strings.ReplaceAll(strings.Trim(clause, `"')]*`), "_", " ")), " ")
	if clause == "" {
		clause = text
	}
	for _, w := range valueWords {
		if !w.pattern.MatchString(clause) {
			continue
		}
		if (w.is == NotMeasured || w.is == SeeNote) && strings.ContainsAny(text, "0123456789") {
			return "" // perhaps the number is the value
		}
		return w.is
	}
	return ""
}

// maxValueWords bounds a value in words; a longer one is a report in prose.
const maxValueWords = 400
