package extract

import (
	"regexp"
	"slices"
	"strings"
)

// answerUse says where an answer in words counts.
type answerUse uint8

const (
	resultWord     answerUse = 1 << iota // a value in words
	yesNoWord                            // a value that is a yes-or-no answer
	negativeAnswer                       // means negative
	positiveAnswer                       // begins an answer that is not negative
	plainForm                            // answers a test for something that is there or not
	besideName                           // stands behind the name of a test, in one cell with it
)

// yesOrNo is a value in words that is a yes-or-no answer.
const yesOrNo = resultWord | yesNoWord

// answer is an answer in words, in lower case.
type answer struct {
	word string
	uses answerUse
	// expected is the form of the answer as an expected value. It is empty if no range has
	// the answer.
	expected string
}

// answerTable has one row per answer.
var answerTable = []answer{
	{word: "not detected", uses: yesOrNo | negativeAnswer, expected: "Not Detected"},
	{word: "none detected", uses: yesOrNo | negativeAnswer, expected: "Not Detected"},
	{word: "undetected", uses: yesOrNo | negativeAnswer},
	{word: "undetectable", uses: yesOrNo | negativeAnswer, expected: "Not Detected"},
	{word: "not reactive", uses: yesOrNo | negativeAnswer, expected: "Non Reactive"},
	{word: "not present", uses: yesOrNo | negativeAnswer},
	{word: "not isolated", uses: yesOrNo | negativeAnswer},
	{word: "not found", uses: yesOrNo | negativeAnswer},
	{word: "none found", uses: yesOrNo | negativeAnswer},
	{word: "none isolated", uses: yesOrNo | negativeAnswer},
	{word: "non-reactive", uses: yesOrNo | negativeAnswer | besideName, expected: "Non Reactive"},
	{word: "non reactive", uses: yesOrNo | negativeAnswer, expected: "Non Reactive"},
	{word: "nonreactive", uses: yesOrNo | negativeAnswer | plainForm | besideName, expected: "Non Reactive"},
	{word: "weakly reactive", uses: yesOrNo},
	{word: "weak positive", uses: yesOrNo},
	{word: "weakly positive", uses: yesOrNo},
	{word: "borderline", uses: resultWord | plainForm},
	{word: "equivocal", uses: resultWord | plainForm},
	{word: "indeterminate", uses: resultWord | plainForm},
	{word: "inconclusive", uses: resultWord | plainForm},
	{word: "negative", uses: yesOrNo | negativeAnswer | plainForm | besideName, expected: "Negative"},
	{word: "positive", uses: yesOrNo | plainForm | besideName, expected: "Positive"},
	{word: "reactive", uses: yesOrNo | positiveAnswer | plainForm | besideName, expected: "Reactive"},
	{word: "detected", uses: yesOrNo | positiveAnswer | plainForm | besideName, expected: "Detected"},
	{word: "none seen", uses: resultWord | negativeAnswer, expected: "None seen"},
	{word: "not seen", uses: resultWord | negativeAnswer, expected: "None seen"},
	{word: "no growth", uses: resultWord | negativeAnswer, expected: "No growth"},
	{word: "mixed flora", uses: resultWord},
	{word: "mixed growth", uses: resultWord},
	{word: "absent", uses: yesOrNo | negativeAnswer | plainForm | besideName, expected: "Absent"},
	{word: "present", uses: yesOrNo | positiveAnswer | plainForm | besideName, expected: "Present"},
	{word: "trace", uses: resultWord, expected: "Trace"},
	{word: "few", uses: resultWord, expected: "Few"},
	{word: "many", uses: resultWord},
	{word: "moderate", uses: resultWord},
	{word: "occasional", uses: resultWord},
	{word: "rare", uses: resultWord},
	{word: "small", uses: resultWord},
	{word: "large", uses: resultWord},
	{word: "none", uses: resultWord, expected: "None"},
	{word: "nil", uses: resultWord, expected: "Absent"},
	{word: "dark yellow", uses: resultWord},
	{word: "pale yellow", uses: resultWord, expected: "Pale yellow"},
	{word: "light yellow", uses: resultWord},
	{word: "yellow", uses: resultWord, expected: "Yellow"},
	{word: "amber", uses: resultWord},
	{word: "straw", uses: resultWord, expected: "Straw"},
	{word: "colorless", uses: resultWord},
	{word: "colourless", uses: resultWord},
	{word: "red", uses: resultWord},
	{word: "brown", uses: resultWord},
	{word: "orange", uses: resultWord},
	{word: "slightly cloudy", uses: resultWord},
	{word: "slightly hazy", uses: resultWord},
	{word: "clear", uses: resultWord, expected: "Clear"},
	{word: "cloudy", uses: resultWord},
	{word: "turbid", uses: resultWord},
	{word: "hazy", uses: resultWord},
	{word: "not immune", uses: yesOrNo},
	{word: "non-immune", uses: yesOrNo},
	{word: "immune", uses: yesOrNo, expected: "Immune"},
	{word: "normal", uses: resultWord, expected: "Normal"},
	{word: "abnormal", uses: resultWord},
	{word: "susceptible", uses: resultWord, expected: "Susceptible"},
	{word: "resistant", uses: resultWord},
	{word: "intermediate", uses: resultWord},
	{word: "tntc", uses: resultWord},
	{word: "innumerable", uses: resultWord},
	{word: "numerous", uses: resultWord},
	{word: "packed", uses: resultWord},
	{word: "pending", uses: resultWord},
	{word: "result pending", uses: resultWord},
	{word: "to follow", uses: resultWord},
	{word: "awaited", uses: resultWord},
	{word: "in progress", uses: resultWord},
	{word: "in process", uses: resultWord},
	{word: "outstanding", uses: resultWord},
	{word: "not done", uses: resultWord},
	{word: "not performed", uses: resultWord},
	{word: "see note", uses: resultWord},
	{word: "see below", uses: resultWord},
	{word: "see comment", uses: resultWord},
	{word: "tnp", uses: resultWord},
	{word: "qns", uses: resultWord},
	{word: "quantity not sufficient", uses: resultWord},
	{word: "hemolyzed", uses: resultWord},
	{word: "haemolysed", uses: resultWord},
	{word: "cancelled", uses: resultWord},
	{word: "canceled", uses: resultWord},
	{word: "insufficient", uses: resultWord},
	{word: "yes", uses: yesOrNo},
	{word: "no", uses: yesOrNo},
	{word: "pos", uses: yesOrNo | positiveAnswer | plainForm},
	{word: "neg", uses: yesOrNo | negativeAnswer | plainForm, expected: "Negative"},
	{word: "normocytic", uses: resultWord},
	{word: "adequate", uses: resultWord, expected: "Adequate"},
	{word: "rh positive", uses: yesOrNo},
	{word: "rh negative", uses: yesOrNo},
	{word: "negative/trace", expected: "Negative/Trace"},
	{word: "none/few", expected: "None/Few"},
	{word: "yellow/straw", expected: "Yellow/Straw"},
	{word: "straw to yellow", expected: "Straw to yellow"},
	{word: "straw-yellow", expected: "Straw-yellow"},
	{word: "neg/trace", expected: "Negative/Trace"},
	{word: "invalid", uses: plainForm},
	{word: "heterozygous", uses: plainForm},
	{word: "homozygous", uses: plainForm},
	{word: "wild type", uses: plainForm},
	{word: "wild-type", uses: plainForm},
}

func (a *answer) has(use answerUse) bool { return a.uses&use != 0 }

// foldAnswer returns an answer in lower case, without blanks and hyphens.
func foldAnswer(text string) string {
	return strings.NewReplacer("-", "", " ", "").Replace(strings.ToLower(text))
}

// answerPattern returns a pattern that accepts the answers of a use.
func answerPattern(use answerUse) string {
	var all []string
	for i := range answerTable {
		if a := &answerTable[i]; a.has(use) {
			all = append(all, regexp.QuoteMeta(a.word))
		}
	}
	return strings.Join(all, "|")
}

// expectedWords maps a normal answer in lower case to its form.
var expectedWords = func() map[string]string {
	forms := map[string]string{}
	for _, a := range answerTable {
		if a.expected != "" {
			forms[a.word] = a.expected
		}
	}
	return forms
}()

// negativeWords are the answers, as foldAnswer returns them, that mean negative.
var negativeWords = func() (all []string) {
	for i := range answerTable {
		if a := &answerTable[i]; a.has(negativeAnswer) {
			all = append(all, foldAnswer(a.word))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}()

// positiveStart begins an answer that is not negative.
var positiveStart = regexp.MustCompile(`^(?:weakly|weak)?(?:` + answerPattern(positiveAnswer) + `)`)

// answerWords accepts an answer behind the name of a test.
var answerWords = `(?:weakly )?(?:` + answerPattern(besideName) + `)`
