package results

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/identity"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/results/refrange"
	"hale/internal/platform/secrets"
)

// Status says whether more results are to come.
type Status string

// The statuses.
const (
	Partial Status = "partial"
	Final   Status = "final"
)

// Statuses lists the statuses.
var Statuses = []Status{Final, Partial}

// Type is the form of a result's text.
//
// Reference 3.
type Type string

// The types of result.
const (
	Numeric Type = "numeric"     // a decimal
	Range   Type = "range"       // <5, >=60, 10-20
	Comment Type = "comment"     // words
	Coded   Type = "coded_value" // an upper-case constant
)

// Types lists the types of result.
var Types = []Type{Numeric, Range, Comment, Coded}

// Revision is one version of an order's results with its number and time.
type Revision struct {
	Order orders.ID
	// Number counts from 1.
	Number    int
	CreatedAt time.Time
	// HasPDF reports that the lab sent a document.
	HasPDF bool
	// ReplacedBy is the number of the newest revision; 0 when this is it.
	ReplacedBy int
	Version
}

// Version holds the results, merged from all reports up to then.
type Version struct {
	Status    Status `json:"status"`
	Corrected bool   `json:"corrected,omitempty"`
	// Interpretation is the worst of the results' interpretations.
	Interpretation orders.Interpretation `json:"interpretation"`
	// CalledCritical is true if notes without values say that a value is critical.
	// The interpretation is then critical, whatever the results are.
	CalledCritical bool            `json:"called_critical,omitempty"`
	Results        []Result        `json:"results,omitempty"`
	Missing        []MissingResult `json:"missing,omitempty"`
	Samples        []Sample        `json:"samples,omitempty"`
	Laboratory     string          `json:"laboratory,omitempty"`
	CLIA           string          `json:"clia,omitempty"`
	Account        string          `json:"account,omitempty"` // number
	// Patient is the person on the last report that names one.
	Patient networks.ReportedPatient `json:"patient,omitzero"`
	// Reviews are the decisions of persons that a report belongs to the order.
	Reviews  []Review `json:"reviews,omitempty"`
	Comments []string `json:"comments,omitempty"`
	// Warnings are doubts that a program or a person must know of.
	Warnings []Warning `json:"warnings,omitempty"`
}

// Review is the decision of a person that a report without a certain order
// belongs to this one. Personal.
type Review struct {
	Result   uuid.UUID                `json:"result"`   // in the queue of unmatched results
	Decision string                   `json:"decision"` // of the matching: the doubt
	By       string                   `json:"by"`
	At       time.Time                `json:"at"`
	Note     string                   `json:"note,omitempty"`
	Patient  networks.ReportedPatient `json:"patient,omitzero"` // as reported
	// Confirmed lists the facts of the patient that differ from the order's or
	// are missing, and that the person confirmed.
	Confirmed []identity.Problem `json:"confirmed,omitempty"`
}

// LogValue keeps a person out of logs.
func (Review) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// LogValue keeps results out of logs.
func (Version) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// HasMissing reports whether an expected result is absent.
func (v *Version) HasMissing() bool { return len(v.Missing) > 0 }

// Result is one value.
//
// Reference 3, BiomarkerResult.
type Result struct {
	Name string `json:"name"`
	Slug string `json:"slug"`
	// ProviderID is the lab's code of the result, TestID the code of its test.
	// SubID separates several values of one code.
	ProviderID string `json:"provider_id,omitempty"`
	TestID     string `json:"test_id,omitempty"`
	SubID      string `json:"sub_id,omitempty"`
	LOINC      string `json:"loinc,omitempty"`
	LOINCSlug  string `json:"loinc_slug,omitempty"`

	Type Type   `json:"type"`
	Text string `json:"text"`
	// Number is set for numeric results.
	Number *float64 `json:"number,omitempty"`
	// Unit is as printed; UCUM is the same unit in that system, empty when it
	// is unknown.
	Unit string `json:"unit,omitempty"`
	UCUM string `json:"ucum,omitempty"`
	// Notes are the lab's. The notes of a text result begin with the text.
	Notes []string `json:"notes,omitempty"`

	Range Reference `json:"range"`
	// Above and Below are nil when the comparison is undecided.
	Above          *bool                 `json:"above,omitempty"`
	Below          *bool                 `json:"below,omitempty"`
	Interpretation orders.Interpretation `json:"interpretation"`
	Flag           string                `json:"flag,omitempty"` // the lab's own flag
	// Conflict is set when the flag contradicts the value.
	Conflict Conflict `json:"conflict,omitempty"`
	Status   string   `json:"status,omitempty"` // HL7 table 0085: P, F, C
	// Finality is the status in one word, also for a lab that sends none.
	Finality Finality `json:"finality,omitempty"`
	// Previous is the value that this one replaces; nil when there is none.
	Previous *Previous `json:"previous,omitempty"`

	At         networks.Moment `json:"at"`
	Laboratory string          `json:"laboratory,omitempty"` // key into the sample's
	Sample     string          `json:"sample,omitempty"`     // key of the sample
	// Markers are the ordered markers that require this result; empty for a
	// result that was not ordered.
	Markers []Marker `json:"markers,omitempty"`

	row   resultNames // of the catalogue; set while a version is built
	group string      // of its specimen
}

// Finality is the status of a value.
type Finality string

// The finalities.
const (
	PreliminaryValue Finality = "preliminary"
	FinalValue       Finality = "final"
	CorrectedValue   Finality = "corrected"
)

// Previous is an earlier value of an observation.
type Previous struct {
	Text           string                `json:"text"`
	Unit           string                `json:"unit,omitempty"`
	Interpretation orders.Interpretation `json:"interpretation"`
	Flag           string                `json:"flag,omitempty"`
	// Range is as printed. Range and Notes are empty in revisions that were stored
	// before the fields existed.
	Range      string    `json:"range,omitempty"`
	Notes      []string  `json:"notes,omitempty"`
	Finality   Finality  `json:"finality"`
	ReportedAt time.Time `json:"reported_at"` // the time of its report
}

// Conflict is a contradiction between a lab's flag and the value.
type Conflict string

// The conflicts. A flag that means normal is overruled. Any other flag counts,
// because the lab may know more than the range says.
const (
	NormalOutsideRange Conflict = "normal_outside_range"          // outside the range on the report
	NormalBeyondLimit  Conflict = "normal_beyond_critical_limit"  // at or beyond the catalogue's critical limit
	InsideRange        Conflict = "high_or_low_inside_range"      // the value is inside the range on the report
	OtherSide          Conflict = "high_or_low_on_the_other_side" // the value is on the other side of that range
	CriticalInNote     Conflict = "critical_in_note_only"         // a note says critical, the flag does not
)

// ConflictNote says that the lab's flag contradicts the value; it is empty
// without a contradiction.
func (r *Result) ConflictNote() string {
	switch r.Conflict {
	case NormalOutsideRange:
		return fmt.Sprintf("The laboratory flagged this value %s (normal). It is outside the laboratory's own range.", r.Flag)
	case NormalBeyondLimit:
		return fmt.Sprintf("The laboratory flagged this value %s (normal). It is beyond the critical limit.", r.Flag)
	case CriticalInNote:
		return "The laboratory says in a note that this value is critical. Its flag does not."
	case InsideRange:
		return fmt.Sprintf("The laboratory flagged this value %s. It is inside the laboratory's own range.", r.Flag)
	case OtherSide:
		return fmt.Sprintf("The laboratory flagged this value %s. It is on the other side of the laboratory's own range.", r.Flag)
	}
	return ""
}

// Reference is a result's reference range.
type Reference struct {
	// Text is as printed; empty when the lab printed none.
	Text string          `json:"text,omitempty"`
	Kind refrange.Kind   `json:"kind,omitempty"`
	Low  *refrange.Bound `json:"low,omitempty"`
	High *refrange.Bound `json:"high,omitempty"`
	From ReferenceSource `json:"from,omitempty"`
}

// ReferenceSource is the source of bounds.
type ReferenceSource string

// The sources of bounds: the lab's report, or the catalogue's range of the
// lab's assay for the patient's sex and age.
const (
	FromReport    ReferenceSource = "report"
	FromCatalogue ReferenceSource = "catalogue"
)

// Marker is an ordered marker that requires a result.
//
// Reference 3, ParentBiomarkerData.
type Marker struct {
	ID         catalogue.MarkerID `json:"id"`
	Name       string             `json:"name"`
	Slug       string             `json:"slug"`
	ProviderID string             `json:"provider_id,omitempty"`
}

// MissingResult is an expected result that will not come.
//
// Reference 3, MissingBiomarkerResult.
type MissingResult struct {
	Name       string   `json:"name"`
	Slug       string   `json:"slug"`
	ProviderID string   `json:"provider_id,omitempty"`
	TestID     string   `json:"test_id,omitempty"`
	LOINC      string   `json:"loinc,omitempty"`
	LOINCSlug  string   `json:"loinc_slug,omitempty"`
	Failure    Failure  `json:"failure"`
	Note       string   `json:"note,omitempty"`
	Markers    []Marker `json:"markers,omitempty"`
	// Reported is true when the lab reports it as missing; other missing
	// results are only absent.
	Reported bool `json:"said,omitempty"`
	// Sample is the key of its sample; empty if the lab reported nothing about it.
	Sample string `json:"sample,omitempty"`
	// Elsewhere reports that the result is listed for another specimen or
	// another reading, so no other sample is needed for it.
	Elsewhere bool `json:"elsewhere,omitempty"`
	// Previous is the value that the lab withdrew at WithdrawnAt; nil if it withdrew none.
	Previous    *Previous `json:"previous,omitempty"`
	WithdrawnAt time.Time `json:"withdrawn_at,omitzero"`

	row   resultNames // of the catalogue; set while a version is built
	scope missingScope
}

// Sample is one specimen.
//
// Reference 3, SampleData.
type Sample struct {
	// Key names the sample in its order: the number of the sample, or otherwise that of
	// the order.
	Key string `json:"key"`
	// Control is the requisition or control number.
	Control      string                         `json:"control,omitempty"`
	Specimen     networks.Specimen              `json:"specimen"`
	Laboratories map[string]networks.Laboratory `json:"laboratories,omitempty"`
}
