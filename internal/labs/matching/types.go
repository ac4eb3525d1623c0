package matching

import (
	"log/slog"
	"slices"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/ids"
	"hale/internal/platform/secrets"
	"hale/internal/platform/teams"
)

// Status is the state of a result in the queue.
type Status string

// The statuses. An arrived result is not judged yet and is not shown.
const (
	Arrived        Status = "arrived"
	Matched        Status = "matched" // automatically, by a safe match
	TeamReview     Status = "pending_customer_review"
	OperatorReview Status = "pending_ops_review" // operators decide
	Resolved       Status = "resolved"
)

// ListedStatuses are the statuses of results in the queue.
var ListedStatuses = []Status{TeamReview, OperatorReview, Resolved}

// Decision says how a result was matched.
type Decision string

// The decisions.
const (
	// SampleMatch found the order by its sample or number.
	SampleMatch Decision = "match_sample_id"
	// CompletedMatch found an order that has its results already.
	CompletedMatch Decision = "match_completed"
	// CancelledMatch found an order that was cancelled.
	CancelledMatch Decision = "match_cancelled"
	// WrongCollection found an order whose sample cannot have been taken yet.
	WrongCollection Decision = "wrong_collection"
	// WrongLab found the person's order, placed with another lab.
	WrongLab Decision = "wrong_lab"
	// SeveralPeople found more than one possible order.
	SeveralPeople Decision = "multiple_demo_match"
	// OtherPerson found an order by its sample, with another patient.
	OtherPerson Decision = "match_sample_id_mismatch_demo"
	// PersonMatch found one open order by the person alone. It always waits
	// for review.
	PersonMatch Decision = "match_demo"
	// NoMatch found no order.
	NoMatch Decision = "no_match"
)

// Decisions lists the decisions.
var Decisions = []Decision{
	SampleMatch, CompletedMatch, CancelledMatch, WrongCollection, WrongLab, SeveralPeople, OtherPerson, PersonMatch, NoMatch,
}

// sentences describe the decisions. They name no person.
var sentences = map[Decision]string{
	SampleMatch:     "The result names the sample of this order.",
	CompletedMatch:  "The result fits an order that has its results already.",
	CancelledMatch:  "The result fits an order that was cancelled or has failed.",
	WrongCollection: "The result fits an order whose sample cannot have been taken yet.",
	WrongLab:        "The result fits an order that was placed with another lab.",
	SeveralPeople:   "The result fits several orders.",
	OtherPerson:     "The result names the sample of an order, but the person on it is not the order's patient.",
	PersonMatch:     "The person on the result is the patient of one open order; the sample is not known.",
	NoMatch:         "The result fits no order.",
}

// Sentence describes the decision.
func (d Decision) Sentence() string { return sentences[d] }

// Action is a decision about a result.
type Action string

// The actions.
const (
	Accept Action = "accept" // the result belongs to an order
	Reject Action = "reject" // the result belongs to no user of this team
	Unsure Action = "unsure" // an operator should decide
)

// Confidence is the level of a candidate's score.
type Confidence string

// The levels of confidence.
const (
	High   Confidence = "high"
	Medium Confidence = "medium"
	Low    Confidence = "low"
)

// Kind is the source of a candidate.
type Kind string

// The kinds of candidate: an order that the report names, and any other that
// it may belong to.
const (
	Provenance Kind = "provenance_order"
	Option     Kind = "order_option"
)

// Reason is a fact for or against a candidate. Each problem of package identity
// is one.
type Reason string

// The reasons.
const (
	SameSample        Reason = "sample_id_match"
	OtherAccount      Reason = "lab_account_mismatch"
	CompletedOrder    Reason = "matched_completed_order"
	CancelledOrder    Reason = "matched_cancelled_order"
	InvalidCollection Reason = "invalid_collection_state"
	PersonDiffers     Reason = "demographic_mismatch"
	PersonSame        Reason = "demographic_match"
	OtherNetwork      Reason = "network_mismatch"
	OtherLab          Reason = "possible_wrong_lab"
	SameLab           Reason = "same_lab"
	SameUser          Reason = "same_user" // the user of another, likelier candidate
	MarkersExact      Reason = "marker_overlap_exact"
	MarkersPartial    Reason = "marker_overlap_partial"
	MarkersNone       Reason = "marker_overlap_none"
	// CodeConflict and UnknownCode are the problems of codes.
	CodeConflict Reason = Reason(catalogue.CodeConflict)
	UnknownCode  Reason = Reason(catalogue.UnknownCode)
	// OldValues means that an ordered test has only a value from before the order.
	OldValues Reason = "old_values"
)

// AccountMismatch is the only reason below a decision.
const AccountMismatch = "lab_account_mismatch"

func contains[T comparable](all []T, one T) bool { return slices.Contains(all, one) }

// ID identifies a result in the queue. It equals the id of the report.
type ID = ids.ID[Item]

// Item is a result in the queue.
//
// Reference 1.17, UnmatchedResult.
type Item struct {
	ID       ID
	Team     teams.ID
	Status   Status
	Decision Decision
	// AccountDiffers means that the lab reported the result for another of its
	// accounts.
	AccountDiffers bool
	Lab            catalogue.LabID // 0 for a lab that is not in the catalogue
	Network        string
	// Key names the report in the history of the order. It never changes.
	Key            string
	Partial        bool
	Interpretation orders.Interpretation
	Action         Action // empty while undecided
	User           *users.ID
	Order          *orders.ID
	CreatedAt      time.Time
	UpdatedAt      time.Time
	ReviewedAt     *time.Time
	ReviewedBy     string // the person or key that decided last

	// Summary is nil once the result is forgotten.
	Summary    *Summary
	Candidates []Candidate // the likeliest first

	body []byte // sealed
}

// LogValue names only the result.
func (i Item) LogValue() slog.Value { return slog.StringValue(i.ID.String()) }

// Reviewable reports whether the team may decide.
func (i *Item) Reviewable() bool { return i.Status == TeamReview }

// Actions returns the possible actions of the team.
func (i *Item) Actions() []Action {
	if !i.Reviewable() {
		return []Action{}
	}
	return []Action{Accept, Reject, Unsure}
}

// Summary is the part of a report that reviewers see. Personal.
type Summary struct {
	Patient  Person   `json:"patient"`
	LabSlug  string   `json:"lab_slug"` // as reported
	SampleID string   `json:"sample_id,omitempty"`
	Account  string   `json:"account,omitempty"`
	Markers  []Marker `json:"markers,omitempty"`
	Note     string   `json:"note,omitempty"` // the reviewer's
}

// LogValue keeps a person out of logs.
func (Summary) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// Person identifies the patient on a report or an order.
type Person struct {
	FirstName string     `json:"first_name,omitempty"`
	LastName  string     `json:"last_name,omitempty"`
	DOB       civil.Date `json:"dob,omitzero"`
	Gender    string     `json:"gender,omitempty"`
}

// LogValue keeps a person out of logs.
func (Person) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// Marker is a reported test, in the lab's words.
type Marker struct {
	ProviderID string `json:"provider_id,omitempty"`
	Name       string `json:"name,omitempty"`

	loinc string
}

// Candidate is an order that a result may belong to.
type Candidate struct {
	User  users.ID
	Order orders.ID
	Kind  Kind
	// SamePerson means that the order's patient is the person on the report.
	SamePerson bool
	Grounds

	// The order as it is now; set when the candidate is read.
	Transaction orders.TransactionID
	Status      orders.Status
	Method      orders.Method
}

// Grounds are a candidate's score with its reasons.
type Grounds struct {
	Score   float64  `json:"score"` // 0 to 1
	Reasons []Reason `json:"reasons"`
	Overlap Overlap  `json:"overlap"`
}

// Confidence returns the level of the score.
func (g Grounds) Confidence() Confidence {
	switch {
	case g.Score >= highScore:
		return High
	case g.Score >= mediumScore:
		return Medium
	}
	return Low
}

// summarise returns the part of a report that reviewers see.
func summarise(r networks.Report) Summary {
	return Summary{
		Patient: Person{r.Patient.FirstName, r.Patient.LastName, r.Patient.DOB, r.Patient.Gender},
		LabSlug: r.Lab, SampleID: r.SampleID, Account: r.Account, Markers: reportedMarkers(r.Results),
	}
}
