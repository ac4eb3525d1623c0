package reports

import (
	"math"

	"github.com/google/uuid"

	"hale/internal/labs/identity"
	"hale/internal/labs/orders"
	"hale/internal/labs/reports/extract"
	"hale/internal/people/users"
)

// JobDocument is a job on the wire, in answers and events.
//
// Reference 4, ParsingJob. The fields from job_id on are additions; one page of the
// reference has job_id in place of id.
type JobDocument struct {
	ID          ID                              `json:"id" format:"uuid"`
	Status      string                          `json:"status" doc:"started, pending_review, completed or failed. The list may grow."`
	Failure     *string                         `json:"failure_reason" nullable:"true" doc:"invalid_input, low_quality, not_english, too_many_pages or processing_error; null for a report that a reviewer rejected; accepting it reopens it."`
	Data        orders.Null[ReportDataDocument] `json:"data" doc:"Results of the report. They are null until the job is completed."`
	NeedsReview bool                            `json:"needs_human_review" doc:"A review was requested."`
	IsReviewed  bool                            `json:"is_reviewed" doc:"A reviewer accepted the results or rejected the report."`

	JobID     ID                                `json:"job_id" format:"uuid" doc:"The same as id."`
	UserID    users.ID                          `json:"user_id" format:"uuid"`
	Message   *string                           `json:"failure_message" nullable:"true" doc:"Reason of the failure, for people."`
	Reasons   []ReviewReason                    `json:"review_reasons" nullable:"false" doc:"Reasons of the review: review_requested, patient_mismatch, patient_unknown, contradicts_stored_result, dates_implausible, several_collections. The list may grow."`
	Patient   PatientMatch                      `json:"patient_match" doc:"The person on the report compared with the user: match, mismatch or unknown. Empty until the report is read."`
	Problems  []identity.Problem                `json:"patient_problems" nullable:"false" doc:"The facts that differ: last_name_mismatch, first_name_mismatch, birth_date_mismatch, sex_mismatch; several_persons if pages, or heads between tables, name different persons."`
	Pages     int                               `json:"pages" doc:"Number of pages. It is 0 until the report is read."`
	Worst     *string                           `json:"interpretation" nullable:"true" doc:"The most severe interpretation of the results: critical, abnormal, unknown or normal. Null until the report is read. Known before a reviewer accepts."`
	Repeats   orders.Null[ResultOriginDocument] `json:"repeats" doc:"The order or report that has all results of this report already."`
	CreatedAt orders.Instant                    `json:"created_at"`
	UpdatedAt orders.Instant                    `json:"updated_at"`
}

// Subject returns the user of the report, whose key seals a stored answer.
func (d JobDocument) Subject() uuid.UUID { return d.UserID.UUID() }

// ReportDataDocument contains the results of a report.
//
// Reference 4, ParsedLabReportData.
type ReportDataDocument struct {
	Metadata ReportMetadataDocument `json:"metadata"`
	Results  []ReportRowDocument    `json:"results" nullable:"false"`
}

// ReportMetadataDocument describes a report. Personal.
//
// Reference 4, ResultMetadata. The dates are free text, as printed; sex and the last three
// fields are additions.
type ReportMetadataDocument struct {
	FirstName   *string `json:"patient_first_name" nullable:"true"`
	LastName    *string `json:"patient_last_name" nullable:"true"`
	BirthDate   *string `json:"dob" nullable:"true" doc:"Date of birth as printed."`
	Gender      string  `json:"gender" doc:"Gender: male, female or other. It is also other if the report does not state a sex."`
	Sex         *string `json:"sex" nullable:"true" doc:"male, female or other, if the report states it."`
	Lab         *string `json:"lab_name" nullable:"true"`
	Reported    *string `json:"date_reported" nullable:"true" doc:"Date of the report as printed."`
	Collected   *string `json:"date_collected" nullable:"true" doc:"Date of the collection as printed."`
	Specimen    *string `json:"specimen_number" nullable:"true"`
	BirthDay    *string `json:"birth_date" nullable:"true" doc:"Date of birth as yyyy-mm-dd. It is null if the printed text can mean more than one day."`
	ReportedOn  *string `json:"reported_on" nullable:"true" doc:"Day of the report as yyyy-mm-dd."`
	CollectedOn *string `json:"collected_on" nullable:"true" doc:"Day of the collection as yyyy-mm-dd."`
}

// ReportRowDocument is one result.
//
// Reference 4, LabReportResult. The fields from row on are additions.
type ReportRowDocument struct {
	Name           string               `json:"test_name"`
	Value          string               `json:"value" doc:"Value as printed."`
	Sample         string               `json:"sample_type" doc:"urine, serum_plasma_blood, capillary_blood, stool, saliva, other or unknown."`
	Kind           string               `json:"measurement_kind" doc:"direct, calculated, ratio or unknown."`
	Type           string               `json:"type" doc:"numeric, range, comment, boolean, duration, percentage or ratio."`
	Units          *string              `json:"units" nullable:"true" doc:"Unit as printed."`
	Max            *float64             `json:"max_reference_range" nullable:"true"`
	Min            *float64             `json:"min_reference_range" nullable:"true"`
	Panel          *string              `json:"source_panel_name" nullable:"true"`
	Sensitivity    string               `json:"sensitivity" doc:"sensitive, insensitive or unknown."`
	Matches        []LoincMatchDocument `json:"loinc_matches" nullable:"false" doc:"LOINC codes, the best first, at most five."`
	MatchStatus    string               `json:"loinc_match_status" doc:"auto_match, needs_review or no_match."`
	Interpretation string               `json:"interpretation" doc:"normal, abnormal, critical or unknown."`
	Above          *bool                `json:"is_above_max_range" nullable:"true" doc:"Whether the value is above the range. It is null if undecided."`
	Below          *bool                `json:"is_below_min_range" nullable:"true" doc:"Whether the value is below the range. It is null if undecided."`

	Row         int                               `json:"row" doc:"Number that identifies the result in its report. Reviewers refer to it."`
	Number      *float64                          `json:"number" nullable:"true" doc:"The value of a number or of a number with a comparator."`
	Comparator  *string                           `json:"comparator" nullable:"true" doc:"<, <=, > or >="`
	UCUM        *string                           `json:"ucum_unit" nullable:"true" doc:"The unit as UCUM, if known."`
	Range       *string                           `json:"reference_range" nullable:"true" doc:"Reference range as printed."`
	Flag        *string                           `json:"source_flag" nullable:"true" doc:"Flag as printed, such as H."`
	Note        *string                           `json:"note" nullable:"true" doc:"Words beside the value, as printed, such as hemolyzed."`
	Page        int                               `json:"page" doc:"Number of the page, from 1."`
	Box         ReportBoxDocument                 `json:"box" doc:"Place of the result, in fractions of the page."`
	Confidence  float64                           `json:"confidence" doc:"Confidence, a number from 0 to 1."`
	NeedsReview bool                              `json:"needs_review" doc:"Whether a person should compare this result with the report. The reader is not sure of it."`
	Reasons     []extract.Reason                  `json:"review_reasons" nullable:"false"`
	Repeats     orders.Null[ResultOriginDocument] `json:"repeats" doc:"The same result, stored before from an order or another report. It counts once."`
}

// ReportBoxDocument is a rectangle in fractions of the page, from its upper left corner.
type ReportBoxDocument struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// LoincMatchDocument is a LOINC code that may be the result's.
//
// Reference 4, LoincMatch.
type LoincMatchDocument struct {
	Code       string   `json:"loinc_code"`
	Name       string   `json:"loinc_name"`
	Display    string   `json:"display_name"`
	Aliases    []string `json:"aliases" nullable:"false"`
	Confidence float64  `json:"confidence_score" doc:"Number from 0 to 1, for ranking."`
}

// ResultOriginDocument names the source of a result.
type ResultOriginDocument struct {
	Kind    OriginKind    `json:"kind" doc:"order or report"`
	OrderID orders.NullID `json:"order_id"`
	JobID   orders.NullID `json:"job_id" doc:"The parsing job of a report."`
	Row     *int          `json:"row" nullable:"true" doc:"The row of the report."`
}

// DocumentOf returns a job for the wire. r has its results, or nil. compat uses only the
// status words of the reference, which has none for a job that waits for a reviewer.
func DocumentOf(j *Job, r *Revision, compat bool) JobDocument {
	d := JobDocument{
		ID: j.ID, JobID: j.ID, UserID: j.User, Status: string(j.Status), Failure: textOrNil(string(j.Failure)), Message: textOrNil(j.Message),
		NeedsReview: j.Requested, IsReviewed: j.Reviewed, Reasons: append([]ReviewReason{}, j.Reasons...), Patient: j.Patient,
		Problems: append([]identity.Problem{}, j.Problems...), Pages: j.Pages, Worst: textOrNil(string(j.Worst)), Repeats: orders.Null[ResultOriginDocument]{Value: originOrNil(j.Repeats)},
		CreatedAt: orders.Instant(j.CreatedAt), UpdatedAt: orders.Instant(j.UpdatedAt),
	}
	if compat && j.Status == PendingReview {
		d.Status = string(Started)
	}
	if r != nil && j.HasResults() {
		data := DataOf(&r.Version)
		d.Data.Value = &data
	}
	return d
}

// DataOf returns the results of a version for the wire.
func DataOf(v *Version) ReportDataDocument {
	m := v.Metadata
	d := ReportDataDocument{
		Metadata: ReportMetadataDocument{
			FirstName: textOrNil(m.FirstName), LastName: textOrNil(m.LastName), BirthDate: textOrNil(m.BirthText), Gender: "other", Sex: textOrNil(m.Gender),
			Lab: textOrNil(m.Lab), Reported: textOrNil(m.ReportedText), Collected: textOrNil(m.CollectedText), Specimen: textOrNil(m.Specimen),
			BirthDay: textOrNil(m.BirthDate), ReportedOn: textOrNil(m.ReportedDate), CollectedOn: textOrNil(m.CollectedDate),
		},
		Results: []ReportRowDocument{},
	}
	if m.Gender == "male" || m.Gender == "female" {
		d.Metadata.Gender = m.Gender
	}
	for i := range v.Rows {
		if !v.Removed[i] {
			d.Results = append(d.Results, v.rowDocument(i))
		}
	}
	return d
}

func (v *Version) rowDocument(i int) ReportRowDocument {
	r := &v.Rows[i]
	d := ReportRowDocument{
		Row: i, Name: r.Name, Value: r.Value, Sample: orUnknown(r.SampleType), Kind: orUnknown(r.Kind), Type: string(r.Type), Units: textOrNil(r.Unit),
		Max: finiteOrNil(r.Range.Max), Min: finiteOrNil(r.Range.Min), Panel: textOrNil(r.Panel), Sensitivity: orUnknown(r.Sensitivity),
		Matches: []LoincMatchDocument{}, MatchStatus: string(r.Status), Interpretation: orUnknown(r.Interpretation),
		Number: finiteOrNil(r.Number), Comparator: textOrNil(r.Comparator), UCUM: textOrNil(r.UCUM), Range: textOrNil(r.Range.Text),
		Flag: textOrNil(r.Flag), Note: textOrNil(r.Note), Page: r.Page, Box: ReportBoxDocument(r.Box), Confidence: r.Confidence,
		NeedsReview: r.NeedsReview, Reasons: append([]extract.Reason{}, r.Reasons...),
	}
	if d.Type == "" {
		d.Type = string(extract.Comment)
	}
	if d.MatchStatus == "" {
		d.MatchStatus = string(extract.NoMatch)
	}
	if isCompared(r) {
		above, below := r.AboveMax, r.BelowMin
		d.Above, d.Below = &above, &below
	}
	for _, m := range r.Matches[:min(len(r.Matches), 5)] {
		d.Matches = append(d.Matches, LoincMatchDocument{m.Code, m.Name, m.Display, append([]string{}, m.Aliases...), m.Confidence})
	}
	if o, repeated := v.Repeated[i]; repeated {
		d.Repeats.Value = originOrNil(&o)
	}
	return d
}

// originOrNil returns an origin for the wire.
func originOrNil(o *Origin) *ResultOriginDocument {
	if o == nil {
		return nil
	}
	d := ResultOriginDocument{Kind: o.Kind}
	if o.Kind == FromOrder {
		order := o.Order
		d.OrderID = orders.NullID{Value: &order}
		return &d
	}
	job, row := o.Job.UUID(), o.Row
	d.JobID = orders.NullID{Value: &job}
	if row >= 0 {
		d.Row = &row
	}
	return &d
}

func textOrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// finiteOrNil omits numbers that JSON does not have.
func finiteOrNil(n *float64) *float64 {
	if n == nil || math.IsInf(*n, 0) || math.IsNaN(*n) {
		return nil
	}
	return n
}

// isCompared reports whether the value was compared with the range with a clear outcome.
func isCompared(r *extract.Row) bool {
	return r.AboveMax || r.BelowMin || r.Interpretation == "normal" && r.Number != nil
}
