package hl7v2

import (
	"cmp"
	"strings"

	"hale/internal/labs/networks"
)

// withdrawn results were posted by mistake: D deleted, W of a wrong patient.
func (e *entry) withdrawn() bool { return e.Status == "D" || e.Status == "W" }

// notPerformed are results that will not come, by status or by what labs write
// in place of a value.
func (e *entry) notPerformed() bool {
	if e.Status == "X" {
		return true
	}
	switch strings.ToUpper(e.Value) {
	case "TNP", "DNP", "DNR", "QNS", "TEST NOT PERFORMED", "NOT PERFORMED", "TEST CANCELLED", "TEST CANCELED":
		return true
	}
	return false
}

func (e *entry) missing(why string) networks.Missing {
	m := networks.Missing{
		ProviderID: e.ProviderID, TestProviderID: e.TestProviderID, Name: e.Name, LOINC: e.LOINC,
		Note: lines(append([]string{why}, e.Notes...)...),
	}
	if strings.EqualFold(e.Value, "QNS") {
		m.Reason = "quantity_not_sufficient_failure"
	}
	return e.test.missing(m)
}

// missing adds what is known of the test: its code, and why its specimen was
// rejected.
func (t *test) missing(m networks.Missing) networks.Missing {
	m.TestProviderID = t.code
	for _, code := range t.rejects {
		m.Reason = cmp.Or(m.Reason, rejections[code].reason)
	}
	return m
}
