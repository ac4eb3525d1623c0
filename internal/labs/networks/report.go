package networks

import (
	"time"

	"hale/internal/platform/civil"
)

// Report is one thing that a network says of one order. Its zero fields say
// nothing.
type Report struct {
	// Placer is our order id as text, when the network repeats it.
	Placer string
	// SampleID is the requisition, control or accession number.
	SampleID string
	// Lab is the slug of the lab, empty for a sender that nobody knows: its results
	// wait for review. Account is the customer number.
	Lab, Account string
	// Patient is who the lab believes the sample is from.
	Patient ReportedPatient
	At      time.Time

	// Status is a low-level order status that the network observed (transit_customer,
	// delivered_to_lab, sample_error …); empty when the report only brings results.
	Status string
	// Tests name what Status speaks of, by the lab's codes and by LOINC as the lab
	// wrote them: it may cancel one test of an order that goes on. Empty means the
	// whole order.
	Tests []string
	// Refused name in the same way the tests that the lab cancelled or will not do,
	// beside what Status, a rejected specimen or values say of others.
	Refused []string `json:",omitempty"`
	// Detail is a status_detail word; empty when there is none.
	Detail string
	// Reason is why the lab says no, in its own words; empty when it gave none.
	// Beside Refused it is why those are. Personal.
	Reason string `json:",omitempty"`
	// Collected is when the sample was taken, as it is written on it. Results have
	// it for each specimen; a report without results says it here.
	Collected Moment `json:",omitzero"`
	Shipment  *Shipment
	Visit     *Visit
	Results   *ResultSet
}

// Shipment is what a carrier says of one leg of a kit.
type Shipment struct {
	// Inbound is the way back, to the lab.
	Inbound                              bool
	Courier, TrackingNumber, TrackingURL string
}

// Visit is what a phlebotomy provider or a PSC says of an appointment.
type Visit struct {
	// BookingID is the network's own.
	BookingID string
	// Status is pending, reserved, scheduled, in_progress, completed or cancelled.
	Status     string
	Start, End time.Time
}

// ReportedPatient is the person on a lab's report. Personal: never log it.
type ReportedPatient struct {
	FirstName, LastName string
	DOB                 civil.Date `json:",omitzero"`
	Gender              string
}

// ResultSet is one version of the results of one order.
type ResultSet struct {
	// Partial results are followed by more.
	Partial bool
	// Corrected results replace final ones.
	Corrected bool
	Specimen  Specimen
	Results   []Result
	// Missing are tests that the lab says it will not report.
	Missing []Missing
	// PDF is the lab's own report; nil when it sent none.
	PDF []byte
	// Laboratories performed the tests, by the key that results name.
	Laboratories map[string]Laboratory
	CLIA         string
	Laboratory   string
	Comments     []string
}

// Specimen is the sample and its times; each with its offset when the lab
// gave one.
type Specimen struct {
	Number                        string
	Collected, Received, Reported Moment
	Fasting                       *bool
	Volume, Information           string
}

// Moment is an instant with the offset it was written in, in seconds east of
// UTC; Offset is nil when none was given.
type Moment struct {
	Time   time.Time
	Offset *int
}

// Result is one measured value, as the lab wrote it.
type Result struct {
	// ProviderID is the lab's own code of the result, TestProviderID of the test
	// it was ordered under.
	ProviderID, TestProviderID string
	Name                       string
	LOINC                      string
	// Value is always text. Type is numeric, range, comment or coded_value; empty
	// leaves it to be found from the value.
	Value, Type string
	Unit        string
	Range       string
	// Flag is the lab's abnormal flag (H, L, HH, LL, A, AA …).
	Flag string
	// Status is F, P, C, X … of HL7 table 0085.
	Status     string
	Notes      []string
	Laboratory string
	At         Moment
	SubID      string
}

// Missing is a result that will not come.
type Missing struct {
	ProviderID, TestProviderID, Name, LOINC string
	// Reason is a FailureType of the reference; empty when it must be found from
	// Note.
	Reason, Note string
	// Refused reports that the lab would not measure it, rather than could not.
	Refused bool `json:",omitempty"`
	// Rest reports that no value is taken away: what came before stays, and the
	// rest of the test will not come.
	Rest bool `json:",omitempty"`
}

// Laboratory performed a test.
type Laboratory struct {
	Name, CLIA, Phone, Director string
	Address                     *Address
}
