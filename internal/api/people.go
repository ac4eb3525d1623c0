package api

import (
	"github.com/danielgtaylor/huma/v2"

	"hale/internal/people/users"
	"hale/internal/people/users/person"
	"hale/internal/platform/fault"
)

// The parts that demographics and insurance share on the wire.

// addressIn takes both forms of the zip code: zip_code as in the spec's user
// address, zip as in its other addresses and in the reference.
//
// Appendix A 5.
type addressIn struct {
	FirstLine   string  `json:"first_line"`
	SecondLine  *string `json:"second_line" required:"false"`
	City        string  `json:"city"`
	State       string  `json:"state" doc:"In the United States, two letters."`
	Zip         *string `json:"zip" required:"false" doc:"12345 or 12345-6789. Either this or zip_code."`
	ZipCode     *string `json:"zip_code" required:"false" doc:"Another name for zip."`
	Country     *string `json:"country" required:"false" doc:"Two letters; US when absent."`
	AccessNotes *string `json:"access_notes" required:"false" maxLength:"1000" doc:"How to reach the door."`
}

// address is the domain's form; at is where it stood, for the fault.
func (a addressIn) address(at ...string) (person.Address, *fault.Error) {
	zip := word(a.Zip)
	if zip == "" {
		zip = word(a.ZipCode)
	}
	domain := person.Address{
		FirstLine: a.FirstLine, SecondLine: word(a.SecondLine), City: a.City, State: a.State, Zip: zip,
		Country: word(a.Country), AccessNotes: word(a.AccessNotes),
	}
	if a.Zip == nil && a.ZipCode == nil {
		return domain, fault.New(fault.Invalid, "Field required").At(append(at, "zip")...).WithType("missing")
	}
	return domain, nil
}

// addressBody is an address going out, with both names of the zip code.
// second_line is empty when there is none; the spec has no null there.
type addressBody struct {
	FirstLine   string `json:"first_line"`
	SecondLine  string `json:"second_line"`
	City        string `json:"city"`
	State       string `json:"state"`
	Zip         string `json:"zip"`
	ZipCode     string `json:"zip_code"`
	Country     string `json:"country"`
	AccessNotes string `json:"access_notes,omitempty"`
}

func addressOf(a person.Address) addressBody {
	return addressBody{a.FirstLine, a.SecondLine, a.City, a.State, a.Zip, a.Zip, a.Country, a.AccessNotes}
}

type guarantorIn struct {
	FirstName       string    `json:"first_name"`
	LastName        string    `json:"last_name"`
	PhoneNumber     string    `json:"phone_number"`
	Email           *string   `json:"email" required:"false"`
	Address         addressIn `json:"address"`
	HouseholdIncome *int64    `json:"household_income" required:"false" minimum:"0" doc:"US dollars a year."`
	HouseholdSize   *int64    `json:"household_size" required:"false" minimum:"0" doc:"People."`
}

func (g guarantorIn) guarantor(at ...string) (person.Guarantor, *fault.Error) {
	address, err := g.Address.address(append(at, "address")...)
	return person.Guarantor{
		FirstName: g.FirstName, LastName: g.LastName, PhoneNumber: g.PhoneNumber, Email: word(g.Email), Address: address,
		HouseholdIncome: g.HouseholdIncome, HouseholdSize: g.HouseholdSize,
	}, err
}

// guarantorFrom is the domain's form, nil for none.
func guarantorFrom(in objectOrNull[guarantorIn], at ...string) (*person.Guarantor, *fault.Error) {
	if in.Value == nil {
		return nil, nil
	}
	guarantor, err := in.Value.guarantor(at...)
	return &guarantor, err
}

// guarantorBody leaves out what is not known: the spec has no null there.
type guarantorBody struct {
	FirstName       string      `json:"first_name"`
	LastName        string      `json:"last_name"`
	PhoneNumber     string      `json:"phone_number"`
	Email           string      `json:"email,omitempty"`
	Address         addressBody `json:"address"`
	HouseholdIncome *int64      `json:"household_income,omitempty"`
	HouseholdSize   *int64      `json:"household_size,omitempty"`
}

func guarantorOf(g person.Guarantor) guarantorBody {
	return guarantorBody{g.FirstName, g.LastName, g.PhoneNumber, g.Email, addressOf(g.Address), g.HouseholdIncome, g.HouseholdSize}
}

// word is what a field that may be null says; nothing when it is null.
func word[T ~string](w *T) string {
	if w == nil {
		return ""
	}
	return string(*w)
}

// orNone is a text that is null when it is empty.
func orNone(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// Words of the demographics' closed lists. OpenAPI names them; the domain
// refuses others.
type (
	race         string
	ethnicity    string
	orientation  string
	identityWord string
)

func (race) Schema(huma.Registry) *huma.Schema         { return oneOf(users.Races) }
func (ethnicity) Schema(huma.Registry) *huma.Schema    { return oneOf(users.Ethnicities) }
func (orientation) Schema(huma.Registry) *huma.Schema  { return oneOf(users.Orientations) }
func (identityWord) Schema(huma.Registry) *huma.Schema { return oneOf(users.Identities) }

func oneOf(words []string) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString, Nullable: true}
	for _, w := range words {
		s.Enum = append(s.Enum, w)
	}
	s.PrecomputeMessages()
	return s
}
