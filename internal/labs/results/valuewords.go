package results

import (
	"slices"
	"strings"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/hl7"
	"hale/internal/labs/loinc"
	"hale/internal/labs/networks"
	"hale/internal/labs/results/refrange"
)

// separateValueWords removes words from a report's values if they are not
// values. Some say that a value is still to come. Others say why a test has no
// value. The latter become missing results. A critical flag keeps the words as a
// result, so that it reaches a person.
func (e *expectations) separateValueWords(r *Report) {
	word := func(one networks.Result) hl7.ValueWord { return e.valueWord(&one) }
	if !slices.ContainsFunc(r.Set.Results, func(one networks.Result) bool { return word(one) != "" }) {
		return
	}
	var values []networks.Result
	missing := slices.Clone(r.Set.Missing)
	for _, one := range r.Set.Results {
		switch is := word(one); is {
		case "":
			values = append(values, one)
		case hl7.Pending:
			r.Set.Partial = true
		default:
			missing = append(missing, missingOf(one, is))
		}
	}
	r.Set.Results, r.Set.Missing = values, missing
}

// missingOf makes a missing result of words. A note that gives no reason is no
// reason for another sample.
func missingOf(r networks.Result, is hl7.ValueWord) networks.MissingResult {
	m := networks.MissingResult{
		ProviderID: r.ProviderID, TestProviderID: r.TestProviderID, Name: r.Name, LOINC: r.LOINC,
		Note:  strings.Join(append([]string{strings.TrimSpace(r.Value)}, r.Notes...), "\n"),
		SubID: r.SubID, At: r.At, Parent: r.Parent, Specimen: r.Specimen,
	}
	if is == hl7.SeeNote && inferFailure(m.Note) == UnknownFailure {
		m.Reason = string(NonFailure)
	}
	return m
}

// valueWord returns the meaning of a value in words; empty if it is a value.
func (e *expectations) valueWord(r *networks.Result) hl7.ValueWord {
	is := hl7.FindValueWord(r.Value)
	if is == "" {
		return ""
	}
	flag, _ := hl7.FindFlag(r.Flag)
	switch {
	case flag.Interpretation == "critical", is == hl7.SeeNote && flag.Interpretation == "abnormal":
		return ""
	case is != hl7.Pending && is != hl7.NotPerformed && !e.hasNumbers(r):
		return ""
	}
	return is
}

// hasNumbers reports whether a test has numbers: by the catalogue, by the
// LOINC table, or by the type, unit and range on the report. An imported result
// without a unit and limits may be of any kind.
func (e *expectations) hasNumbers(r *networks.Result) bool {
	id := e.identify(r.ProviderID, r.TestProviderID, r.LOINC, r.Name)
	if a := id.assay; a != nil {
		if a.Scale != catalogue.Quantity {
			return false
		}
		if a.Unit != "" || len(a.Ranges) > 0 || a.CriticalLow != nil || a.CriticalHigh != nil {
			return true
		}
	}
	if code, known := loinc.Find(id.loinc); known {
		return code.Scale == "Qn"
	}
	kinds := []refrange.Kind{refrange.Interval, refrange.Upper, refrange.Lower, refrange.Bands, refrange.Sexed}
	return r.Type == string(Numeric) || strings.TrimSpace(r.Unit) != "" || slices.Contains(kinds, refrange.Parse(r.Range).Kind)
}
