package hl7

import (
	"slices"
	"strings"
)

// Flag is a row of HL7 table 0078 (OBX-8), or a word that labs print in its
// place.
type Flag struct {
	Code string
	// Interpretation is critical, abnormal, unknown or normal; empty when the
	// flag says nothing of that.
	Interpretation string
	// High and Low say on which side of the range the value is.
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
	{Code: "POS", Interpretation: "abnormal", Display: "Positive"},
	{Code: "DET", Interpretation: "abnormal", Display: "Detected"},
	{Code: "RR", Interpretation: "abnormal"},
	{Code: "WR", Interpretation: "abnormal"},

	{Code: "R", Display: "Resistant"},
	{Code: "I", Display: "Intermediate"},
	{Code: "S", Display: "Susceptible"},

	{Code: FlagUnclear, Interpretation: "unknown", Display: "Indeterminate"},

	{Code: "NEG", Interpretation: "normal", Display: "Negative"},
	{Code: "ND", Interpretation: "normal", Display: "Not detected"},
	{Code: "NR", Interpretation: "normal"},
	{Code: FlagNormal, Interpretation: "normal", Display: "Normal"},
	{Code: "NORMAL", Interpretation: "normal"},
}

// FindFlag looks up a flag as a lab prints it: in any case, perhaps in brackets.
func FindFlag(printed string) (Flag, bool) {
	i := flagIndex(printed)
	if i < 0 {
		return Flag{}, false
	}
	return Flags[i], true
}

func flagIndex(printed string) int {
	code := strings.ToUpper(strings.Trim(printed, " ()[]"))
	return slices.IndexFunc(Flags, func(f Flag) bool { return f.Code == code })
}

// WorstFlag returns the worst of the flags that a lab gives one value, as
// printed. Without a known flag it returns the first.
func WorstFlag(printed []string) string {
	worst, best := "", len(Flags)
	for _, one := range printed {
		if i := flagIndex(one); i >= 0 && i < best {
			worst, best = one, i
		}
	}
	if worst == "" && len(printed) > 0 {
		return printed[0]
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
