package extract

import (
	"regexp"
	"slices"
	"strings"
)

var (
	specimenLabel = regexp.MustCompile(`(?i)\b(?:specimen|sample|spec\.?)(?: type)?\s*:\s*`)
	urineWords    = regexp.MustCompile(`(?i)\b(?:urine|urinalysis|urinary)\b`)
	bloodWords    = regexp.MustCompile(`(?i)\b(?:serum|plasma|blood|ha?ematology|cbc)\b`)
	stoolWords    = regexp.MustCompile(`(?i)\b(?:stool|fa?eces|fa?ecal)\b`)
	salivaWords   = regexp.MustCompile(`(?i)\bsaliva\b`)
	swabWords     = regexp.MustCompile(`(?i)\b(?:swab|csf|sputum|synovial|semen|cerebrospinal|pleural|peritoneal|pericardial|ascit\w*|amniotic|drain(?:age)? fluid|body fluid|joint fluid|sweat|dialysate|bile|vitreous|aspirate)\b`)
)

// specimenIn returns the API's sample type that a text names, or nothing.
func specimenIn(text string) string {
	switch {
	case urineWords.MatchString(text):
		return "urine"
	case stoolWords.MatchString(text):
		return "stool"
	case salivaWords.MatchString(text):
		return "saliva"
	case swabWords.MatchString(text):
		return "other"
	case bloodWords.MatchString(text):
		return "serum_plasma_blood"
	}
	return ""
}

var (
	// stoolNames and swabNames are words of names that state the specimen of a test. In a
	// heading, they may be words of a department or a disease.
	stoolNames = regexp.MustCompile(`(?i)\bclostridi\w+ difficile\b|\bc\.? ?diff(?:icile)?\b|\bcalprotectin\b|\b(?:pancreatic |faecal |fecal )elastase\b|\bova (?:and|&) parasites?\b`)
	// fitName is the faecal immunochemical test. "Fit" alone is a word.
	fitName   = regexp.MustCompile(`\b(?:q?FIT|i?FOBT)\b|(?i)\boccult blood\b.*\b(?:immunochemical|guaiac)\b`)
	swabNames = regexp.MustCompile(`(?i)\b(?:nose|nasal|nares|nostrils?|throat|(?:naso|oro)?-?pharyn\w*|tonsils?|rectal|rectum|perianal|perineum|groin|axilla\w*|vaginal?|cervix|endocervical|urethral?|penile|genital|wound|conjunctiva\w*|` +
		`bronchial|bronchoalveolar|bal|tracheal|biopsy)\b`)
)

// bloodTest is a word of tests of blood, such as antibodies of genital herpes.
var bloodTest = regexp.MustCompile(`(?i)\b(?:antibod(?:y|ies)|abs?|ig[agme])\b`)

// specimenOfName returns the API's sample type that the name of a test states, or nothing.
func specimenOfName(name string) string {
	s := specimenIn(name)
	switch {
	case fitName.MatchString(name) && s != "urine":
		return "stool"
	case s != "" || bloodTest.MatchString(name):
		return s
	case stoolNames.MatchString(name):
		return "stool"
	case swabNames.MatchString(name):
		return "other"
	}
	return ""
}

// specimenHeader is the header of a column of specimens.
var specimenHeader = regexp.MustCompile(`(?i)^(?:specimen|sample|spec\.?)(?: type| source| material)?$|^(?:source|matrix|material)$`)

// specimenCodes are the printed abbreviations of specimens, in upper case.
var specimenCodes = map[string]string{
	"S": "serum_plasma_blood", "SER": "serum_plasma_blood", "SERUM": "serum_plasma_blood", "SST": "serum_plasma_blood", "P": "serum_plasma_blood", "PLAS": "serum_plasma_blood", "B": "serum_plasma_blood",
	"BLD": "serum_plasma_blood", "WB": "serum_plasma_blood", "EDTA": "serum_plasma_blood", "CITRATE": "serum_plasma_blood", "HEPARIN": "serum_plasma_blood", "VENOUS": "serum_plasma_blood", "ARTERIAL": "serum_plasma_blood",
	"CAPILLARY": "serum_plasma_blood", "U": "urine", "UR": "urine", "MSU": "urine", "ST": "stool", "L": "other", "FLUID": "other",
}

// takeGroup uses the text in the column of specimens or of panels.
func (r *reader) takeGroup(d *draft, text string) {
	if slices.ContainsFunc(r.columns, func(c column) bool { return specimenHeader.MatchString(c.text) }) {
		d.takeSpecimen(text)
		return
	}
	d.panel, d.specimen = text, specimenIn(text)
}

// takeSpecimen uses the text in the column of specimens. It decides the code. A row with
// a text that is not known needs a review.
func (d *draft) takeSpecimen(text string) {
	specimen := specimenIn(text)
	if specimen == "" {
		specimen = specimenCodes[strings.ToUpper(strings.Trim(firstWord(text), " ,;()."))]
	}
	switch {
	case specimen != "":
		d.specimen = specimen
	case strings.ContainsAny(text, "0123456789") || !startsWithLetter(text): // the number of a specimen
	default:
		d.reasons = append(slices.Clone(d.reasons), NameUncertain)
	}
}
