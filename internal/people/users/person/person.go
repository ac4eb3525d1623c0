package person

import (
	"log/slog"

	"hale/internal/platform/secrets"
)

// Address is a postal address. Outside the United States, State and Zip have the
// country's own form.
type Address struct {
	FirstLine   string `json:"first_line"`
	SecondLine  string `json:"second_line,omitempty"`
	City        string `json:"city"`
	State       string `json:"state"`   // US: two letters
	Zip         string `json:"zip"`     // US: 12345 or 12345-6789
	Country     string `json:"country"` // ISO 3166-1, two letters
	AccessNotes string `json:"access_notes,omitempty"`
}

// Guarantor is a person who is liable for a bill, or who speaks for a patient (medical
// proxy).
//
// Spec: Insurance record, GuarantorDetails.
type Guarantor struct {
	FirstName       string  `json:"first_name"`
	LastName        string  `json:"last_name"`
	PhoneNumber     string  `json:"phone_number"`
	Email           string  `json:"email,omitempty"`
	Address         Address `json:"address"`
	HouseholdIncome *int64  `json:"household_income,omitempty"` // US dollars a year
	HouseholdSize   *int64  `json:"household_size,omitempty"`   // people
}

// LogValue keeps personal data out of logs.
func (Address) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// LogValue keeps personal data out of logs.
func (Guarantor) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }
