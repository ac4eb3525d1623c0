package extract

import "fmt"

// Document holds the words of a report, page by page.
type Document struct {
	Pages []Page `json:"pages"`
}

// Page holds one page's words. The unit of all lengths is the page's own: points
// for a text page, pixels for an image. Only proportions count.
type Page struct {
	Number int     `json:"number"` // from 1
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
	Source Source  `json:"source"`
	Words  []Word  `json:"words"`
	// Second is another reading of the same page. Values that both readings
	// agree on are trusted; others need review. It is nil for text pages.
	Second []Word `json:"second,omitempty"`
	// Struck are the places of words that a line strikes out. They are not among
	// Words.
	Struck []Box `json:"struck,omitempty"`
	// LowResolution marks an image in which two readings can make the same
	// mistake in a digit, such as a fax of 100 dpi.
	LowResolution bool `json:"low_resolution,omitempty"`
}

// Source names how a page's words were read.
type Source string

// The sources of words.
const (
	FromText Source = "text" // the file's own characters
	FromOCR  Source = "ocr"  // recognised in an image
)

// Word is one printed word.
type Word struct {
	Text       string  `json:"text"`
	Box        Box     `json:"box"`
	Confidence float64 `json:"confidence"` // 0 to 1; 1 for text pages
	Bold       bool    `json:"bold,omitempty"`
	// Original is the word's box on the page as it was uploaded, when an image
	// was straightened before it was read.
	Original *Box `json:"original,omitempty"`
	cut      bool // a smaller digit behind it, which is taken for a mark, may belong to it
}

// Box is a rectangle. Y grows downwards from the top of the page.
type Box struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// Result is all that a report says.
type Result struct {
	Metadata Metadata `json:"metadata"`
	Rows     []Row    `json:"rows"`
	// Pages describes the pages in order. Boxes of rows are fractions of them.
	Pages []PageInfo `json:"pages"`
}

// PageInfo describes a page that was read.
type PageInfo struct {
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
	Source Source  `json:"source"`
}

// Metadata describes the report. Texts are as printed, and empty when the
// report does not say. Dates are YYYY-MM-DD, and empty when the printed text
// can mean more than one day.
type Metadata struct {
	FirstName     string `json:"first_name"`
	LastName      string `json:"last_name"`
	BirthText     string `json:"birth_text"`
	BirthDate     string `json:"birth_date"`
	Gender        string `json:"gender"` // male, female or other; empty when the report does not say
	Lab           string `json:"lab"`
	CollectedText string `json:"collected_text"`
	CollectedDate string `json:"collected_date"`
	ReportedText  string `json:"reported_text"`
	ReportedDate  string `json:"reported_date"`
	Specimen      string `json:"specimen"` // the accession or specimen number
	// BirthOfOther reports that the only birth date is one of another person, such as the
	// mother.
	BirthOfOther bool `json:"birth_of_other,omitempty"`
	// SeveralPatients reports that pages, or heads between tables, name different persons.
	SeveralPatients bool `json:"several_patients,omitempty"`
	// SeveralCollections reports that the report states several days of collection.
	// CollectedDate is the first of them.
	SeveralCollections bool `json:"several_collections,omitempty"`
	// Others are the persons that differ from the one above.
	Others []Person `json:"others,omitempty"`
}

// Person is a person that a page names. Personal.
type Person struct {
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	BirthDate string `json:"birth_date"` // YYYY-MM-DD, or as printed if it can mean more than one day
	Gender    string `json:"gender"`     // as in Metadata
}

// Row is one result.
type Row struct {
	Name  string `json:"name"`  // as printed
	Value string `json:"value"` // as printed, without flag and unit
	Type  Type   `json:"type"`
	// Number is the value of a numeric, percentage or comparator value.
	Number *float64 `json:"number,omitempty"`
	// Comparator is <, <=, > or >=.
	Comparator string `json:"comparator,omitempty"`
	Unit       string `json:"unit"`           // as printed
	UCUM       string `json:"ucum,omitempty"` // empty when the unit is not known
	Range      Range  `json:"range"`
	Flag       string `json:"flag"` // as printed, such as H or *
	// Note has the words beside the value, as printed.
	Note string `json:"note,omitempty"`
	// Interpretation is normal, abnormal, critical or unknown.
	Interpretation string `json:"interpretation"`
	AboveMax       bool   `json:"above_max"`
	BelowMin       bool   `json:"below_min"`
	Panel          string `json:"panel"`
	SampleType     string `json:"sample_type"`      // of the API: urine, serum_plasma_blood, ...
	Kind           string `json:"measurement_kind"` // direct, calculated, ratio or unknown
	Sensitivity    string `json:"sensitivity"`      // sensitive, insensitive or unknown

	// Matches are the LOINC candidates, the best first, five at most.
	Matches []Match     `json:"matches"`
	Status  MatchStatus `json:"match_status"`

	Page       int     `json:"page"` // from 1
	Box        Box     `json:"box"`  // in fractions of the page
	Confidence float64 `json:"confidence"`
	// ValueBox is the place of the value on the straightened image, and
	// OtherValue the value of the other reading. Package pages uses them to look
	// at a value again.
	ValueBox   *Box   `json:"-"`
	culture    bool   // an organism, or a drug tested against it
	place      Box    // on the straightened page, in parts of its longer side
	OtherValue string `json:"-"`
	// NeedsReview asks for a person. Reasons says why, in words of the Reason
	// constants.
	NeedsReview bool     `json:"needs_review"`
	Reasons     []Reason `json:"reasons,omitempty"`
}

// Type is a result's type in the API.
type Type string

// The types of values.
const (
	Numeric    Type = "numeric"
	Ranged     Type = "range" // a comparator or an interval
	Comment    Type = "comment"
	Boolean    Type = "boolean"
	Duration   Type = "duration"
	Percentage Type = "percentage"
	Ratio      Type = "ratio"
)

// Match is a LOINC code that may be the row's.
type Match struct {
	Code       string   `json:"code"`
	Name       string   `json:"name"` // the official name
	Display    string   `json:"display"`
	Aliases    []string `json:"aliases,omitempty"`
	Confidence float64  `json:"confidence"` // 0 to 1, for ranking
}

// MatchStatus says how sure the first match is.
type MatchStatus string

// The states of a row's LOINC code.
const (
	AutoMatch   MatchStatus = "auto_match"
	ReviewMatch MatchStatus = "needs_review"
	NoMatch     MatchStatus = "no_match"
)

// Range is a reference range.
type Range struct {
	Text string    `json:"text"` // as printed
	Kind RangeKind `json:"kind"`
	Min  *float64  `json:"min,omitempty"`
	Max  *float64  `json:"max,omitempty"`
	// MinExclusive and MaxExclusive say that the bound itself is outside.
	MinExclusive bool `json:"min_exclusive,omitempty"`
	MaxExclusive bool `json:"max_exclusive,omitempty"`
	// Expected is the normal answer in words, such as Negative, or a titre.
	Expected string `json:"expected,omitempty"`
	// Choices are the printed ranges by sex, age, phase or band. Min and Max are
	// those of the one that applies; they are nil when the report does not say
	// enough to choose.
	Choices []Choice `json:"choices,omitempty"`
}

// Choice is one of several printed ranges.
type Choice struct {
	Label        string   `json:"label"` // as printed, such as Male or Sufficient
	Text         string   `json:"text"`
	Min          *float64 `json:"min,omitempty"`
	Max          *float64 `json:"max,omitempty"`
	MinExclusive bool     `json:"min_exclusive,omitempty"`
	MaxExclusive bool     `json:"max_exclusive,omitempty"`
}

// RangeKind is the notation of a range.
type RangeKind string

// The notations.
const (
	RangeNone     RangeKind = "none" // absent, or "Not established"
	RangeInterval RangeKind = "interval"
	RangeUpper    RangeKind = "upper"
	RangeLower    RangeKind = "lower"
	RangeWords    RangeKind = "text"
	RangeTitre    RangeKind = "titer"
	RangeSexed    RangeKind = "sexed"
	RangeAges     RangeKind = "ages"
	RangePhases   RangeKind = "phases"
	RangeBands    RangeKind = "bands"
	RangeOther    RangeKind = "other" // printed, but in no known notation
)

// Reason says why a row needs review.
type Reason string

// The reasons for review.
const (
	LowConfidence    Reason = "low_confidence"    // the recogniser is unsure of the value
	ReadingsDisagree Reason = "readings_disagree" // two readings found different values
	LowResolution    Reason = "low_resolution"    // an image too coarse to trust
	ReadOnce         Reason = "read_once"         // only one of two readings found the row
	NameUncertain    Reason = "name_uncertain"    // the name is close to a known one, not equal
	Implausible      Reason = "implausible_value" // far outside what the analyte can have
	UnitMissing      Reason = "unit_missing"      // a number without the unit it needs
	UnitUnknown      Reason = "unit_unknown"      // a unit outside the table
	UnitConflict     Reason = "unit_conflict"     // a unit that does not fit the analyte, or the unit of the range
	RangeUnreadable  Reason = "range_unreadable"  // a range in no known notation
	FlagDisagrees    Reason = "flag_disagrees"    // the printed flag contradicts value and range
	PrecisionDiffers Reason = "precision_differs" // fewer decimals than the range has
	ValueUnreadable  Reason = "value_unreadable"  // the value has a shape of no grammar
	StruckOut        Reason = "struck_out"        // a word of the row is struck out
	ColumnUncertain  Reason = "column_uncertain"  // several columns may hold the current value
	OlderResult      Reason = "older_result"      // the row has a value only in the column of an earlier date
	ValueMissing     Reason = "value_missing"     // the row has no value
	CodeDiffers      Reason = "code_differs"      // the printed LOINC code is none of the name
	ValueDoubted     Reason = "value_doubted"     // words beside the value may cast doubt on it
	SentenceUnclear  Reason = "sentence_unclear"  // running text that may not state the current value
	NumberUncertain  Reason = "number_uncertain"  // the printed number can mean several numbers
)

// Failure says why a document gave no result, in a word for programs and a
// sentence for people. The sentence holds nothing of the document.
type Failure struct {
	Reason FailureReason
	Detail string
}

// FailureReason is the API's failure_reason.
type FailureReason string

// The reasons of failures.
const (
	InvalidInput    FailureReason = "invalid_input"
	LowQuality      FailureReason = "low_quality"
	NotEnglish      FailureReason = "not_english"
	TooManyPages    FailureReason = "too_many_pages"
	ProcessingError FailureReason = "processing_error"
)

func (f *Failure) Error() string { return fmt.Sprintf("%s: %s", f.Reason, f.Detail) }
