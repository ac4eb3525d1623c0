package matching

import (
	"log/slog"
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

// ID identifies a result in the queue. It is that of the raw report.
type ID = ids.Of[Item]

// Item is a result in the queue.
//
// Reference 1.17, UnmatchedResult.
type Item struct {
	ID       ID
	Team     teams.ID
	Status   Status
	Decision Decision
	// AccountDiffers means that the lab reported it for another of its accounts.
	AccountDiffers bool
	Lab            catalogue.LabID // 0 for one that the catalogue does not have
	Network        string
	// Key names the report for ever, for the history of the order.
	Key            string
	Partial        bool
	Interpretation orders.Interpretation
	Action         Action // empty while nothing was decided
	User           *users.ID
	Order          *orders.ID
	CreatedAt      time.Time
	UpdatedAt      time.Time
	ReviewedAt     *time.Time

	// Summary is nil once it was forgotten.
	Summary    *Summary
	Candidates []Candidate // the likeliest first

	body []byte // sealed
}

// LogValue names the result and nothing else.
func (i Item) LogValue() slog.Value { return slog.StringValue(i.ID.String()) }

// Reviewable reports whether the team may decide.
func (i *Item) Reviewable() bool { return i.Status == ByTeam }

// Actions are what the team may do.
func (i *Item) Actions() []Action {
	if !i.Reviewable() {
		return []Action{}
	}
	return []Action{Accept, Reject, Unsure}
}

// Summary is what reviewers are shown of a report. Personal.
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

// Person is who a report or an order says that the sample is from.
type Person struct {
	FirstName string     `json:"first_name,omitempty"`
	LastName  string     `json:"last_name,omitempty"`
	DOB       civil.Date `json:"dob,omitzero"`
	Gender    string     `json:"gender,omitempty"`
}

// LogValue keeps a person out of logs.
func (Person) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// Marker is what was measured, in the lab's words.
type Marker struct {
	ProviderID string `json:"provider_id,omitempty"`
	Name       string `json:"name,omitempty"`
}

// Candidate is an order that a result may belong to.
type Candidate struct {
	User  users.ID
	Order orders.ID
	Kind  Kind
	// Alike means that the order's patient is the person on the report.
	Alike bool
	Grounds

	// Of the order as it is now; filled in by reading.
	Transaction orders.TransactionID
	Status      orders.Status
	Method      orders.Method
}

// Grounds are a candidate's score and what it is made of.
type Grounds struct {
	Score   float64  `json:"score"` // 0 to 1
	Reasons []Reason `json:"reasons"`
	Overlap Overlap  `json:"overlap"`
}

// Confidence is the level of the score.
func (g Grounds) Confidence() Confidence {
	switch {
	case g.Score >= sureFrom:
		return High
	case g.Score >= likelyFrom:
		return Medium
	}
	return Low
}

// summarise is what a report shows to reviewers.
func summarise(r networks.Report) Summary {
	return Summary{
		Patient: Person{r.Patient.FirstName, r.Patient.LastName, r.Patient.DOB, r.Patient.Gender},
		LabSlug: r.Lab, SampleID: r.SampleID, Account: r.Account, Markers: reported(r.Results),
	}
}
