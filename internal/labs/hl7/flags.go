package hl7

import (
	"slices"
	"strings"
	"unicode"
)

// Flag is a row of HL7 table 0078 (OBX-8), or a word that labs print in its
// place.
type Flag struct {
	Code string
	// Interpretation is critical, abnormal, unknown or normal; empty if the
	// flag states none.
	Interpretation string
	// High and Low state whether the value is above or below the range.
	High, Low bool
	// Display is the text of the FHIR code system v3-ObservationInterpretation;
	// empty when the flag is no code of it.
	Display string
}

// The flags that the service writes itself.
const (
	FlagCriticalHigh = "HH"
	FlagCriticalLow  = "LL"
	FlagCritical     = "AA"
	FlagHigh         = "H"
	FlagLow          = "L"
	FlagAbnormal     = "A"
	FlagNormal       = "N"
	FlagUnclear      = "IND"
)

// Flags lists the known flags, the worst first. WorstFlag relies on the order.
var Flags = []Flag{
	{Code: FlagCritical, Interpretation: "critical", Display: "Critical abnormal"},
	{Code: FlagCriticalHigh, Interpretation: "critical", High: true, Display: "Critical high"},
	{Code: FlagCriticalLow, Interpretation: "critical", Low: true, Display: "Critical low"},
	{Code: "!!", Interpretation: "critical"},
	{Code: "HC", Interpretation: "critical", High: true},
	{Code: "LC", Interpretation: "critical", Low: true},
	{Code: "HU", Interpretation: "critical", High: true},
	{Code: "LU", Interpretation: "critical", Low: true},
	{Code: "PANIC", Interpretation: "critical"},
	{Code: "CRITICAL", Interpretation: "critical"},
	{Code: "CRIT", Interpretation: "critical"},
	{Code: "HP", Interpretation: "critical", High: true},
	{Code: "LP", Interpretation: "critical", Low: true},
	{Code: "PH", Interpretation: "critical", High: true},
	{Code: "PL", Interpretation: "critical", Low: true},
	{Code: "CH", Interpretation: "critical", High: true},
	{Code: "CL", Interpretation: "critical", Low: true},
	{Code: "H*", Interpretation: "critical", High: true},
	{Code: "L*", Interpretation: "critical", Low: true},
	{Code: "**", Interpretation: "critical"},
	{Code: "***", Interpretation: "critical"},
	{Code: "CR", Interpretation: "critical"},
	{Code: "C", Interpretation: "critical"},
	{Code: "P", Interpretation: "critical"},

	{Code: FlagAbnormal, Interpretation: "abnormal", Display: "Abnormal"},
	{Code: FlagHigh, Interpretation: "abnormal", High: true, Display: "High"},
	{Code: FlagLow, Interpretation: "abnormal", Low: true, Display: "Low"},
	{Code: "!", Interpretation: "abnormal"},
	{Code: "*", Interpretation: "abnormal"},
	{Code: ">", Interpretation: "abnormal", High: true, Display: "Off scale high"},
	{Code: "<", Interpretation: "abnormal", Low: true, Display: "Off scale low"},
	{Code: "↑", Interpretation: "abnormal", High: true},
	{Code: "↓", Interpretation: "abnormal", Low: true},
	{Code: "ABNORMAL", Interpretation: "abnormal"},
	{Code: "HIGH", Interpretation: "abnormal", High: true},
	{Code: "LOW", Interpretation: "abnormal", Low: true},
	{Code: "HI", Interpretation: "abnormal", High: true},
	{Code: "LO", Interpretation: "abnormal", Low: true},
	{Code: "POS", Interpretation: "abnormal", Display: "Positive"},
	{Code: "DET", Interpretation: "abnormal", Display: "Detected"},
	{Code: "RR", Interpretation: "abnormal"},
	{Code: "WR", Interpretation: "abnormal"},
	{Code: "R", Interpretation: "abnormal", Display: "Resistant"},
	{Code: "I", Interpretation: "abnormal", Display: "Intermediate"},
	{Code: "NS", Interpretation: "abnormal", Display: "Non-susceptible"},
	{Code: "SDD", Interpretation: "abnormal", Display: "Susceptible-dose dependent"},

	{Code: FlagUnclear, Interpretation: "unknown", Display: "Indeterminate"},

	{Code: "NEG", Interpretation: "normal", Display: "Negative"},
	{Code: "ND", Interpretation: "normal", Display: "Not detected"},
	{Code: "NR", Interpretation: "normal"},
	{Code: "S", Interpretation: "normal", Display: "Susceptible"},
	{Code: FlagNormal, Interpretation: "normal", Display: "Normal"},
	{Code: "NORMAL", Interpretation: "normal"},
}

// FindFlag looks up a flag as a lab prints it: in any case, perhaps in brackets
// or with marks behind it. Words such as "Critical High" are critical. Of
// several flags in one text the worst counts. For any other text ok is false:
// the flag says something that the service does not know.
func FindFlag(printed string) (flag Flag, ok bool) {
	i := flagIndex(printed)
	if i < 0 {
		return Flag{}, false
	}
	return Flags[i], true
}

func flagIndex(printed string) int {
	code := strings.ToUpper(strings.Trim(printed, " ()[]"))
	if i := codeIndex(code); i >= 0 {
		return i
	}
	if i := codeIndex(criticalCode(code)); i >= 0 {
		return i
	}
	if bare := strings.TrimRight(code, "!*?#.+"); bare != "" && bare != code {
		return flagIndex(bare)
	}
	return joinedIndex(strings.FieldsFunc(code, func(r rune) bool { return strings.ContainsRune(", ~;/\t", r) }))
}

// joinedIndex returns the index of the worst of several flags. If that one is
// critical, all flags together decide whether it is high or low. Beside a word
// that is no flag, only critical flags of several characters count, such as HH
// and LL. C and P may be letters of the text.
func joinedIndex(parts []string) int {
	if len(parts) < 2 || slices.ContainsFunc(parts, isNegation) {
		return -1
	}
	worst, allKnown, high, low := len(Flags), true, false, false
	for _, part := range parts {
		i := flagIndex(part)
		if i < 0 || len(part) == 1 && slices.ContainsFunc(parts, func(other string) bool { return flagIndex(other) < 0 }) {
			allKnown = false
			continue
		}
		worst, high, low = min(worst, i), high || Flags[i].High, low || Flags[i].Low
	}
	critical := worst < len(Flags) && Flags[worst].Interpretation == "critical"
	switch {
	case !allKnown && !critical:
		return -1
	case critical && high && !low:
		return codeIndex(FlagCriticalHigh)
	case critical && low && !high:
		return codeIndex(FlagCriticalLow)
	}
	return worst
}

func isNegation(word string) bool {
	return slices.Contains([]string{"NO", "NON", "NOT", "NONCRITICAL", "UNCRITICAL"}, word)
}

func codeIndex(code string) int {
	return slices.IndexFunc(Flags, func(f Flag) bool { return f.Code == code })
}

// criticalCode returns the code of a flag in words that says critical or panic;
// it is empty for other words, and for "not critical".
func criticalCode(words string) string {
	parts := strings.FieldsFunc(words, func(r rune) bool { return !unicode.IsLetter(r) })
	has := func(all ...string) bool {
		return slices.ContainsFunc(all, func(one string) bool { return slices.Contains(parts, one) })
	}
	switch {
	case !strings.Contains(words, "CRITICAL") && !strings.Contains(words, "PANIC") && !has("CRIT"),
		slices.ContainsFunc(parts, isNegation):
		return ""
	case strings.Contains(words, "HIGH"), has("H", "HI"):
		return FlagCriticalHigh
	case strings.Contains(words, "LOW"), has("L", "LO"):
		return FlagCriticalLow
	}
	return FlagCritical
}

// WorstFlag returns the worst of the flags that a lab gives one value, as
// printed. An unknown flag is as bad as an unclear one: worse than a flag that
// means normal.
func WorstFlag(printed []string) string {
	worst, best := "", len(Flags)
	for _, one := range printed {
		i := flagIndex(one)
		if i < 0 {
			i = codeIndex(FlagUnclear)
		}
		if strings.TrimSpace(one) != "" && i < best {
			worst, best = one, i
		}
	}
	return worst
}

// FlagFor returns the flag of a value that has an interpretation and may be
// above or below its range. It is empty for a value without either.
func FlagFor(interpretation string, above, below bool) string {
	switch {
	case interpretation == "critical" && above:
		return FlagCriticalHigh
	case interpretation == "critical" && below:
		return FlagCriticalLow
	case interpretation == "critical":
		return FlagCritical
	case above:
		return FlagHigh
	case below:
		return FlagLow
	case interpretation == "abnormal":
		return FlagAbnormal
	case interpretation == "normal":
		return FlagNormal
	}
	return ""
}
