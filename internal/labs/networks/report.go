package networks

import (
	"cmp"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/pdfs"
	"hale/internal/platform/civil"
)

// Report is one report of a network about one order. Zero fields mean that it
// says nothing about them.
type Report struct {
	// Placer is our order id as text, when the network repeats it.
	Placer string
	// SampleID is the requisition, control or accession number.
	SampleID string
	// OtherPlacers and OtherSamples are further numbers of the order and of
	// its samples on the report. They may be another order's.
	OtherPlacers []string `json:",omitempty"`
	OtherSamples []string `json:",omitempty"`
	// Lab is the slug of the lab, empty for an unknown sender: its results
	// wait for review. Account is the customer number.
	Lab, Account string
	// Patient is the lab's patient of the sample.
	Patient ReportedPatient
	// IdentityByNumber marks a lab that never sends names: our order number
	// alone identifies the patient.
	IdentityByNumber bool `json:",omitempty"`
	At               time.Time
	// Sent is the time of the message; zero without one. Of two reports with
	// one time, the one that was sent later counts.
	Sent time.Time `json:",omitzero"`
	// DateOnly reports that the lab gave the time of the report only as a date.
	DateOnly bool `json:",omitempty"`

	// Status is a low-level order status that the network observed (transit_customer,
	// delivered_to_lab, sample_error …); empty when the report only brings results.
	Status string
	// Tests are the tests that Status is about, by the lab's codes and by LOINC as the
	// lab wrote them. A lab may cancel one test of an order that continues. Empty
	// means the whole order. Without a Status they are the tests of notes without values.
	Tests []string
	// Refused are the tests that the lab cancelled or will not do, named as in Tests. A
	// report has them only beside another Status, a rejected specimen or values. In a
	// report without these, Status says that the lab cancelled, and Tests names the tests.
	Refused []string `json:",omitempty"`
	// Detail is a status_detail word; empty when there is none.
	Detail string
	// Reason is the reason for a refusal in the lab's own words; empty without
	// one. With Refused it is the reason for those. Personal.
	Reason string `json:",omitempty"`
	// Collected is the time of collection on the sample. Results have it for
	// each specimen; a report without results has it here.
	Collected Moment `json:",omitzero"`
	Shipment  *Shipment
	Visit     *Visit
	Results   *ResultSet
}

// Placers lists the order numbers on the report, ours first.
func (r *Report) Placers() []string {
	return distinctTexts(append([]string{r.Placer}, r.OtherPlacers...))
}

// Samples lists the sample numbers on the report, SampleID first. An order number that
// is no id of ours may be one: a lab that reads our bar code gives it in any field.
func (r *Report) Samples() []string {
	all := append([]string{r.SampleID}, r.OtherSamples...)
	if r.Results != nil {
		all = append(all, r.Results.Specimen.Number)
	}
	for _, number := range r.Placers() {
		if uuid.Validate(number) != nil {
			all = append(all, number)
		}
	}
	return distinctTexts(all)
}

// distinctTexts returns the texts that are not empty, each once.
func distinctTexts(all []string) []string {
	var some []string
	for _, text := range all {
		if text != "" && !slices.Contains(some, text) {
			some = append(some, text)
		}
	}
	return some
}

// Shipment is a carrier's report of one leg of a kit.
type Shipment struct {
	// Inbound is the leg to the lab.
	Inbound                              bool
	Courier, TrackingNumber, TrackingURL string
}

// Visit is a report of a phlebotomy provider or a service center about an
// appointment.
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
	// TestsOnly says that the results are final for the tests that they are of. The order
	// waits for its other tests.
	TestsOnly bool `json:",omitempty"`
	Specimen  Specimen
	// Specimens are further specimens; a result names its own.
	Specimens []Specimen `json:",omitempty"`
	Results   []Result
	// Missing are the tests that the lab will not report.
	Missing []MissingResult
	// Announced are the lab's codes and LOINC codes of tests that the lab is still
	// working on, such as a reflex test that it added.
	Announced []string `json:",omitempty"`
	// PDF is the lab's own report; nil when it sent none. MorePDFs are its
	// further documents, in their order, and Refused the problems of those that
	// cannot be shown.
	PDF      []byte
	MorePDFs [][]byte       `json:",omitempty"`
	Refused  []pdfs.Problem `json:",omitempty"`
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
	Type                          string `json:",omitempty"` // in words
	Collected, Received, Reported Moment
	Fasting                       *bool
	Volume, Information           string
}

// Key names a specimen among those of a report.
func (s *Specimen) Key() string {
	if s.Number == "" && s.Type == "" && !s.Collected.Time.IsZero() {
		return s.Collected.Text()
	}
	return cmp.Or(s.Number, s.Type)
}

// Moment is an instant with its written offset, in seconds east of UTC; Offset
// is nil without one.
type Moment struct {
	Time   time.Time
	Offset *int
}

// Text returns a moment in its local time, without an offset if that is unknown.
func (m Moment) Text() string {
	if m.Offset == nil {
		return m.Time.UTC().Format("2006-01-02T15:04:05")
	}
	return m.Time.In(time.FixedZone("", *m.Offset)).Format("2006-01-02T15:04:05-07:00")
}

// Result is one measured value as the lab wrote it.
type Result struct {
	// ProviderID is the lab's own code of the result, TestProviderID the code
	// of the test that it was ordered under.
	ProviderID, TestProviderID string
	Name                       string
	LOINC                      string
	// Value is always text. Type is numeric, range, comment or coded_value;
	// when empty, it follows from the value.
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
	// Specimen is the key of one of the further specimens; empty for the first.
	Specimen string `json:",omitempty"`
	// Parent is the result that this one belongs to, such as the organism of a
	// susceptibility; zero for none.
	Parent Parent `json:",omitzero"`
}

// Parent names a result of the same order by its code, its sub-id and its value in
// words, as far as they are known. The code is as the lab wrote it.
type Parent struct{ Code, SubID, Value string }

// Namings returns the names of the values.
func (s *ResultSet) Namings() []catalogue.Naming {
	all := make([]catalogue.Naming, 0, len(s.Results))
	for i := range s.Results {
		r := &s.Results[i]
		all = append(all, catalogue.NewNaming(r.TestProviderID, r.ProviderID, r.LOINC, r.Name))
	}
	return all
}

// HasOld reports whether the newest value of an ordered test was observed before a time,
// although its specimen was not. A cumulative report repeats such values of earlier orders.
func (s *ResultSet) HasOld(ordered []*catalogue.Marker, before time.Time) bool {
	type names struct{ code, loinc string }
	newest := map[names]time.Time{}
	unknown := map[names]bool{} // without a time, or of an old specimen
	for i := range s.Results {
		r := &s.Results[i]
		isOf := func(m *catalogue.Marker) bool {
			named := func(e catalogue.Result) bool {
				return r.ProviderID != "" && e.ProviderID == r.ProviderID || r.LOINC != "" && e.LOINC == r.LOINC
			}
			return r.TestProviderID != "" && m.ProviderID == r.TestProviderID || slices.ContainsFunc(m.Results, named)
		}
		if !slices.ContainsFunc(ordered, isOf) {
			continue
		}
		key := names{r.ProviderID, r.LOINC}
		if drawn := s.specimenOf(r).Collected.Time; r.At.Time.IsZero() || !drawn.IsZero() && drawn.Before(before) {
			unknown[key] = true
		}
		if r.At.Time.After(newest[key]) {
			newest[key] = r.At.Time
		}
	}
	for key, at := range newest {
		if !unknown[key] && at.Before(before) {
			return true
		}
	}
	return false
}

func (s *ResultSet) specimenOf(r *Result) *Specimen {
	for i := range s.Specimens {
		if r.Specimen != "" && s.Specimens[i].Key() == r.Specimen {
			return &s.Specimens[i]
		}
	}
	return &s.Specimen
}

// MissingResult is a result that will not come.
type MissingResult struct {
	ProviderID, TestProviderID, Name, LOINC string
	// Reason is a FailureType of the reference; when empty, it follows from
	// Note.
	Reason, Note string
	// Refused reports that the lab would not measure it, rather than could
	// not.
	Refused bool `json:",omitempty"`
	// Rest reports that earlier values stay, and only the rest of the test
	// will not come.
	Rest bool `json:",omitempty"`
	// Confirms reports that the last value before is final, and is not sent
	// again. Without such a value the result is missing.
	Confirms bool `json:",omitempty"`
	// SubID, At and Parent are those of the value; they determine which of several
	// values is meant. Empty means all.
	SubID  string `json:",omitempty"`
	At     Moment `json:",omitzero"`
	Parent Parent `json:",omitzero"`
	// Flag is a critical flag of the confirmation; it replaces that of the value.
	Flag string `json:",omitempty"`
	// Specimen is the key of one of the further specimens; empty for the first.
	Specimen string `json:",omitempty"`
}

// Laboratory performed a test.
type Laboratory struct {
	Name, CLIA, Phone, Director string
	Address                     *Address
}
