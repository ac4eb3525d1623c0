package api

import (
	"slices"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/matching"
	"hale/internal/labs/orders"
	"hale/internal/people/users"
)

// unmatchedBody is a result in the queue.
//
// Reference 1.17, UnmatchedResult.
type unmatchedBody struct {
	ID             matching.ID           `json:"id" format:"uuid" doc:"Of the raw result."`
	Status         matching.Status       `json:"status" doc:"matched, pending_customer_review, pending_ops_review, resolved."`
	Decision       matching.Decision     `json:"decision_code" doc:"What was found out: match_sample_id, match_completed, match_cancelled, wrong_collection, wrong_lab, multiple_demo_match, match_sample_id_mismatch_demo, match_demo, no_match."`
	SubReasons     []string              `json:"sub_reason_codes" doc:"lab_account_mismatch."`
	Reason         string                `json:"reason" doc:"The decision for people."`
	Patient        orNull[reviewPatient] `json:"patient" doc:"Null once it was forgotten."`
	Lab            reviewLab             `json:"lab"`
	Markers        []reviewMarker        `json:"markers"`
	Interpretation orders.Interpretation `json:"interpretation" doc:"By the lab's own flags: normal, abnormal, critical, unknown."`
	ResultStatus   string                `json:"result_status" enum:"final,partial"`
	Note           *string               `json:"note"`
	Action         *matching.Action      `json:"resolution_action" doc:"accept, reject, unsure; null while nothing was decided."`
	ResolvedUserID orders.NullID         `json:"resolved_user_id"`
	ResolvedOrder  orders.NullID         `json:"resolved_order_id"`
	AllowedActions []matching.Action     `json:"allowed_actions" doc:"What you may do. Empty once it is decided."`
	Groups         []reviewGroup         `json:"candidate_groups" doc:"Orders that it may belong to by their users, the likeliest first."`
	CreatedAt      Time                  `json:"created_at"`
	UpdatedAt      Time                  `json:"updated_at"`
	ReviewedAt     *Time                 `json:"reviewed_at" nullable:"true"`
}

type reviewPatient struct {
	FirstName *string `json:"first_name"`
	LastName  *string `json:"last_name"`
	DOB       *Time   `json:"dob" nullable:"true"`
	Gender    *string `json:"gender" doc:"As the lab wrote it."`
}

type reviewLab struct {
	ID   catalogue.LabID `json:"id" doc:"0 for a lab that is not in the catalogue."`
	Name string          `json:"name"`
	Slug string          `json:"slug"`
}

type reviewMarker struct {
	ProviderID *string `json:"provider_id" doc:"The lab's own code."`
	Name       *string `json:"name"`
}

type reviewGroup struct {
	UserID     users.ID          `json:"user_id" format:"uuid"`
	Candidates []reviewCandidate `json:"candidates"`
}

type reviewCandidate struct {
	Type          matching.Kind        `json:"candidate_type" doc:"provenance_order: the report itself names it. order_option: another that it may be."`
	OrderID       orders.ID            `json:"order_id" format:"uuid"`
	TransactionID orders.TransactionID `json:"order_transaction_id" format:"uuid"`
	LastStatus    orders.Status        `json:"last_status"`
	Confidence    matching.Confidence  `json:"confidence_level" doc:"high, medium, low."`
	Score         float64              `json:"confidence_score" doc:"0 to 1."`
	Reasons       []matching.Reason    `json:"reasons"`
	Overlap       reviewOverlap        `json:"marker_overlap"`
	StatusContext reviewStatus         `json:"status_context"`
}

type reviewOverlap struct {
	Ordered  int `json:"ordered" doc:"Markers of the order."`
	Reported int `json:"reported" doc:"Tests on the report."`
	Shared   int `json:"shared"`
}

type reviewStatus struct {
	Status   string `json:"status" doc:"The event string."`
	Terminal bool   `json:"terminal" doc:"Nothing more is expected of the order."`
}

func unmatchedOf(i *matching.Item, offered *catalogue.Catalogue) unmatchedBody {
	body := unmatchedBody{
		ID: i.ID, Status: i.Status, Decision: i.Decision, SubReasons: i.SubReasons(), Reason: i.Decision.Sentence(), Lab: reviewLab{ID: i.Lab},
		Markers: []reviewMarker{}, Interpretation: i.Interpretation, ResultStatus: "final", AllowedActions: i.Actions(), Groups: groupsOf(i.Candidates),
		CreatedAt: Time(i.CreatedAt), UpdatedAt: Time(i.UpdatedAt), ReviewedAt: wireTime(i.ReviewedAt), ResolvedOrder: orders.NullIDOf(i.Order),
	}
	if i.Partial {
		body.ResultStatus = "partial"
	}
	if i.Action != "" {
		body.Action = &i.Action
	}
	if i.User != nil {
		id := i.User.UUID()
		body.ResolvedUserID.Value = &id
	}
	lab, known := offered.Lab(i.Lab)
	body.Lab.Name, body.Lab.Slug = lab.Name, lab.Slug
	if s := i.Summary; s != nil {
		p := s.Patient
		body.Patient = nullable(&reviewPatient{orNone(p.FirstName), orNone(p.LastName), dayTime(p.DOB), orNone(p.Gender)})
		body.Note = orNone(s.Note)
		for _, m := range s.Markers {
			body.Markers = append(body.Markers, reviewMarker{orNone(m.ProviderID), orNone(m.Name)})
		}
		if !known {
			body.Lab.Name, body.Lab.Slug = s.LabSlug, s.LabSlug
		}
	}
	return body
}

// groupsOf puts candidates of one user together, in the order of the likeliest
// of each.
func groupsOf(all []matching.Candidate) []reviewGroup {
	groups := []reviewGroup{}
	for _, c := range all {
		at := slices.IndexFunc(groups, func(g reviewGroup) bool { return g.UserID == c.User })
		if at < 0 {
			at = len(groups)
			groups = append(groups, reviewGroup{UserID: c.User})
		}
		groups[at].Candidates = append(groups[at].Candidates, reviewCandidate{
			Type: c.Kind, OrderID: c.Order, TransactionID: c.Transaction, LastStatus: c.Status,
			Confidence: c.Confidence(), Score: c.Score, Reasons: c.Reasons, Overlap: reviewOverlap(c.Overlap),
			StatusContext: reviewStatus{c.Status.Full(c.Method), c.Status.Terminal()},
		})
	}
	return groups
}
