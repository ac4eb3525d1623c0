package matching

import "slices"

// Status is where a result is in the queue.
type Status string

// The statuses. Arrived is shown to nobody: the result is not judged yet.
const (
	Arrived  Status = "arrived"
	Matched  Status = "matched" // by itself, beyond doubt
	ByTeam   Status = "pending_customer_review"
	ByOps    Status = "pending_ops_review" // those who run the service decide
	Resolved Status = "resolved"
)

// Decision says what was found out about a result.
type Decision string

// The decisions.
const (
	// SampleMatch found the order by its sample or number.
	SampleMatch Decision = "match_sample_id"
	// CompletedMatch found an order that has its results already.
	CompletedMatch Decision = "match_completed"
	// CancelledMatch found an order that was given up.
	CancelledMatch Decision = "match_cancelled"
	// WrongCollection found an order of which no sample can have been taken yet.
	WrongCollection Decision = "wrong_collection"
	// WrongLab found the person's order, placed with another lab.
	WrongLab Decision = "wrong_lab"
	// SeveralPeople found more than one order that it may be.
	SeveralPeople Decision = "multiple_demo_match"
	// OtherPerson found an order by its sample, of somebody else.
	OtherPerson Decision = "match_sample_id_mismatch_demo"
	// PersonMatch found one open order by the person alone.
	PersonMatch Decision = "match_demo"
	// NoMatch found nothing.
	NoMatch Decision = "no_match"
)

// sentences say a decision to people. They name no person.
var sentences = map[Decision]string{
	SampleMatch:     "The result names the sample of this order.",
	CompletedMatch:  "The result fits an order that has its results already.",
	CancelledMatch:  "The result fits an order that was cancelled or has failed.",
	WrongCollection: "The result fits an order of which no sample can have been taken yet.",
	WrongLab:        "The result fits an order that was placed with another lab.",
	SeveralPeople:   "The result fits several orders.",
	OtherPerson:     "The result names the sample of an order, but the person on it is not the order's patient.",
	PersonMatch:     "The person on the result is the patient of one open order; the sample is not known.",
	NoMatch:         "The result fits no order.",
}

// Sentence is the decision for people.
func (d Decision) Sentence() string { return sentences[d] }

// Action is what is done with a result.
type Action string

// The actions.
const (
	Accept Action = "accept" // it is the result of an order
	Reject Action = "reject" // it is nobody's of this team
	Unsure Action = "unsure" // somebody else should look at it
)

// Confidence sums up a candidate's score.
type Confidence string

// The levels of confidence.
const (
	High   Confidence = "high"
	Medium Confidence = "medium"
	Low    Confidence = "low"
)

// Kind says where a candidate comes from.
type Kind string

// The kinds of candidate: an order that the report itself names, and any other
// that it may belong to.
const (
	Provenance Kind = "provenance_order"
	Option     Kind = "order_option"
)

// Reason is a ground for or against a candidate.
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
	OtherLab          Reason = "possible_wrong_lab"
	SameLab           Reason = "same_lab"
	SameUser          Reason = "same_user" // as another, likelier candidate
	MarkersExact      Reason = "marker_overlap_exact"
	MarkersPartial    Reason = "marker_overlap_partial"
	MarkersNone       Reason = "marker_overlap_none"
)

// AccountMismatch is the one reason below a decision.
const AccountMismatch = "lab_account_mismatch"

func has[T comparable](all []T, one T) bool { return slices.Contains(all, one) }
