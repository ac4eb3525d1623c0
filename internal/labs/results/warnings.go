package results

import (
	"time"

	"hale/internal/labs/networks"
	"hale/internal/platform/civil"
)

// Warning is a doubt about results. Personal.
type Warning struct {
	Code WarningCode `json:"code"`
	// Detail is the problem of a document, the time as the lab reported it, or the name of
	// a result.
	Detail string `json:"detail,omitempty"`
	Sample string `json:"sample,omitempty"` // key of the sample
}

// WarningCode says what is in doubt.
type WarningCode string

// The codes.
const (
	DocumentRefused          WarningCode = "document_refused"
	ReportedAfterReceipt     WarningCode = "reported_after_receipt"
	CollectedAfterReceipt    WarningCode = "collected_after_receipt"
	CollectedBeforeBirth     WarningCode = "collected_before_birth"
	CollectedLongBeforeOrder WarningCode = "collected_long_before_order"
	CorrectionWithoutResult  WarningCode = "correction_without_result"
	SpecimenUnknown          WarningCode = "specimen_unknown"
)

// Message says the warning in a sentence.
func (w Warning) Message() string {
	switch w.Code {
	case DocumentRefused:
		return "The laboratory sent a document that cannot be shown: " + w.Detail + "."
	case ReportedAfterReceipt:
		return "The laboratory dated the report after its arrival: " + w.Detail + ". The time of arrival was used."
	case CollectedAfterReceipt:
		return "The laboratory reported a time of collection after the receipt of the sample or after the report: " + w.Detail + "."
	case CollectedBeforeBirth:
		return "The laboratory reported a time of collection before the patient's birth: " + w.Detail + "."
	case CollectedLongBeforeOrder:
		return "The laboratory reported a time of collection more than a year before the order: " + w.Detail + "."
	case CorrectionWithoutResult:
		return "The laboratory corrected a result that it had not reported before: " + w.Detail + "."
	case SpecimenUnknown:
		return "The laboratory did not say which of several specimens has this value: " + w.Detail + "."
	}
	return string(w.Code)
}

// removeImpossibleTimes removes the times of collection and observation that
// cannot be right, so that nothing shows or uses them as facts. It returns a
// warning for each.
func (e *expectations) removeImpossibleTimes(m *mergedReport) []Warning {
	var all []Warning
	check := func(at *networks.Moment, key string, received networks.Moment) {
		code := e.doubtAbout(*at, received, m.reportedAt)
		if code == "" {
			return
		}
		w := Warning{code, at.Text(), key}
		*at = networks.Moment{}
		for _, known := range all {
			if known == w {
				return
			}
		}
		all = append(all, w)
	}
	for i := range m.samples {
		s := &m.samples[i]
		check(&s.Specimen.Collected, s.Key, s.Specimen.Received)
	}
	for i := range m.results {
		r := &m.results[i]
		check(&r.At, r.sample, networks.Moment{})
	}
	return all
}

const (
	// clockDifference is the tolerated difference between two clocks of a lab.
	clockDifference = time.Hour
	// zoneDifference is the greatest difference of a time without an offset.
	zoneDifference = 15 * time.Hour
)

// doubtAbout says why a time of collection cannot be right; empty if it can.
func (e *expectations) doubtAbout(at, received networks.Moment, reported time.Time) WarningCode {
	if at.Time.IsZero() {
		return ""
	}
	isAfter := func(end time.Time, offset *int) bool {
		tolerance := clockDifference
		if (at.Offset == nil) != (offset == nil) {
			tolerance = zoneDifference
		}
		if hour, minute, second := AtOffset(end, offset).Clock(); hour+minute+second == 0 {
			tolerance += 24 * time.Hour // only a date
		}
		return !end.IsZero() && at.Time.After(end.Add(tolerance))
	}
	utc := 0
	day := civil.DateOf(AtOffset(at.Time, at.Offset))
	p := e.order.Body.Patient
	switch {
	case isAfter(received.Time, received.Offset), isAfter(reported, &utc):
		return CollectedAfterReceipt
	case p != nil && !p.BirthDate.IsZero() && day.Before(p.BirthDate):
		return CollectedBeforeBirth
	case !e.order.CreatedAt.IsZero() && at.Time.Before(e.order.CreatedAt.AddDate(-1, 0, 0)):
		return CollectedLongBeforeOrder
	}
	return ""
}
