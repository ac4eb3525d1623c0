package people

import (
	"context"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/api"
	"hale/internal/people/users"
	"hale/internal/people/users/person"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

func (h *Handlers) demographicsRoutes() []api.Route {
	return []api.Route{
		api.Patch("/v2/user/{user_id}/info", h.putInfo, "Create or replace a user's demographics").Sensitive(),
		api.Get("/v2/user/{user_id}/info/latest", h.latestInfo, "Get a user's demographics"),
	}
}

// infoIn has the demographics of a request.
//
// Reference 5.7, UserInfoCreateRequest.
type infoIn struct {
	FirstName         string                        `json:"first_name" doc:"1 to 50 ASCII letters, digits, and - . , ' with single spaces between words."`
	LastName          string                        `json:"last_name" doc:"1 to 50 characters, as in first_name."`
	Email             string                        `json:"email" doc:"E-mail address of at most 254 characters."`
	PhoneNumber       string                        `json:"phone_number" doc:"Telephone number, stored as E.164. A number without a country code is North American."`
	Gender            string                        `json:"gender" doc:"Text of 1 to 50 characters."`
	DOB               api.DateText                  `json:"dob" doc:"Date of birth, not in the future and at most 130 years ago."`
	Address           addressIn                     `json:"address"`
	MedicalProxy      api.ObjectOrNull[GuarantorIn] `json:"medical_proxy" required:"false" doc:"The representative of a minor."`
	Race              *race                         `json:"race" required:"false"`
	Ethnicity         *ethnicity                    `json:"ethnicity" required:"false"`
	SexualOrientation *orientation                  `json:"sexual_orientation" required:"false"`
	GenderIdentity    *identityWord                 `json:"gender_identity" required:"false"`
}

// TransformSchema states the rules of the domain.
func (infoIn) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{
		"first_name": api.StateName(), "last_name": api.StateName(), "email": api.StateEmail(), "phone_number": api.StatePhone(),
		"gender": api.StateText(users.MaxGender),
	})
}

type putInfoIn struct {
	api.UserPath
	Body infoIn
}

// infoBody has the demographics of an answer.
//
// Spec: Latest user info.
type infoBody struct {
	FirstName         string         `json:"first_name"`
	LastName          string         `json:"last_name"`
	Email             string         `json:"email"`
	PhoneNumber       string         `json:"phone_number"`
	Gender            string         `json:"gender"`
	DOB               civil.Date     `json:"dob" format:"date"`
	Address           addressBody    `json:"address"`
	MedicalProxy      *guarantorBody `json:"medical_proxy,omitempty"`
	Race              *string        `json:"race" doc:"Text as in the request. The list may grow."`
	Ethnicity         *string        `json:"ethnicity" doc:"Text as in the request. The list may grow."`
	SexualOrientation *string        `json:"sexual_orientation" doc:"Text as in the request. The list may grow."`
	GenderIdentity    *string        `json:"gender_identity" doc:"Text as in the request. The list may grow."`
}

func infoOf(i users.Info) infoBody {
	body := infoBody{
		FirstName: i.FirstName, LastName: i.LastName, Email: i.Email, PhoneNumber: i.PhoneNumber, Gender: i.Gender, DOB: i.BirthDate,
		Address: addressOf(i.Address), Race: api.TextOrNull(i.Race), Ethnicity: api.TextOrNull(i.Ethnicity),
		SexualOrientation: api.TextOrNull(i.SexualOrientation), GenderIdentity: api.TextOrNull(i.GenderIdentity),
	}
	if i.MedicalProxy != nil {
		proxy := guarantorOf(*i.MedicalProxy)
		body.MedicalProxy = &proxy
	}
	return body
}

func (b infoIn) info() (users.Info, error) {
	info := users.Info{
		FirstName: b.FirstName, LastName: b.LastName, Email: b.Email, PhoneNumber: b.PhoneNumber, Gender: b.Gender,
		Race: api.TextOf(b.Race), Ethnicity: api.TextOf(b.Ethnicity), SexualOrientation: api.TextOf(b.SexualOrientation), GenderIdentity: api.TextOf(b.GenderIdentity),
	}
	var err1, err2, err3 *fault.Error
	info.BirthDate, err1 = b.DOB.Date("dob")
	info.Address, err2 = b.Address.address("body", "address")
	info.MedicalProxy, err3 = GuarantorFrom(b.MedicalProxy, "body", "medical_proxy")
	return info, fault.Join(err1, err2, err3)
}

func (h *Handlers) putInfo(ctx context.Context, c api.Caller, in *putInfoIn) (*api.Out[infoBody], error) {
	info, err := in.Body.info()
	if err != nil {
		return nil, err
	}
	var stored users.Info
	err = h.DB.Write(ctx, func(tx *store.Tx) (err error) {
		stored, err = users.PutInfo(ctx, tx, c.Team, in.UserID, info)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(infoOf(stored)), nil
}

func (h *Handlers) latestInfo(ctx context.Context, c api.Caller, in *api.UserPath) (*api.Out[infoBody], error) {
	var info users.Info
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		info, err = users.LatestInfo(ctx, tx, c.Team, in.UserID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(infoOf(info)), nil
}

// Types that demographics and insurance share.

// addressIn accepts both names of the zip code. The specification's user address has
// zip_code. Its other addresses and the reference have zip.
//
// Appendix A 5.
type addressIn struct {
	FirstLine   string  `json:"first_line"`
	SecondLine  *string `json:"second_line" required:"false"`
	City        string  `json:"city"`
	State       string  `json:"state" doc:"State. In the United States, it has two letters."`
	Zip         *string `json:"zip" required:"false" doc:"ZIP code such as 12345 or 12345-6789. Either this or zip_code is required."`
	ZipCode     *string `json:"zip_code" required:"false" doc:"Another name for zip."`
	Country     *string `json:"country" required:"false" doc:"Country of two letters. The default is US."`
	AccessNotes *string `json:"access_notes" required:"false" maxLength:"1000" doc:"Directions to the door."`
}

// TransformSchema states the rules of the domain. They depend on the country, and zip_code
// counts only without a zip.
func (addressIn) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	text := func(pattern string) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Pattern: pattern} }
	none := 0
	alternative := func(country *huma.Schema, state, zip string, required ...string) []*huma.Schema {
		of := func(name string, more map[string]*huma.Schema) *huma.Schema {
			more["country"], more["state"], more[name] = country, &huma.Schema{Pattern: state}, text(zip)
			return api.Object(append(slices.Clip(required), name), more)
		}
		return []*huma.Schema{
			of("zip", map[string]*huma.Schema{}),
			of("zip_code", map[string]*huma.Schema{"zip": {MaxLength: &none}}),
		}
	}
	return api.State(s, map[string]api.Keywords{
		"first_line": api.StateText(person.MaxLine), "second_line": api.StateOptional(person.MaxLine), "city": api.StateText(person.MaxLine),
		"access_notes": api.StateOptional(person.MaxNotes),
		"": api.StateAny(append(
			alternative(&huma.Schema{Pattern: person.USPattern}, person.WordsPattern(person.StateCodes(), true), person.ZipPattern),
			alternative(text(person.AbroadPattern), person.TextPattern(person.MaxLine), person.TextPattern(person.MaxZip), "country")...)...),
	})
}

// address converts an address. at is its place in the request, for the fault.
func (a addressIn) address(at ...string) (person.Address, *fault.Error) {
	zip := api.TextOf(a.Zip)
	if zip == "" {
		zip = api.TextOf(a.ZipCode)
	}
	domain := person.Address{
		FirstLine: a.FirstLine, SecondLine: api.TextOf(a.SecondLine), City: a.City, State: a.State, Zip: zip,
		Country: api.TextOf(a.Country), AccessNotes: api.TextOf(a.AccessNotes),
	}
	if a.Zip == nil && a.ZipCode == nil {
		return domain, fault.New(fault.Invalid, "Field required").At(append(at, "zip")...).WithType("missing")
	}
	return domain, nil
}

// addressBody is an address of an answer, with both names of the zip code. second_line
// is empty if there is none, because the specification has no null there.
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

type GuarantorIn struct {
	FirstName       string    `json:"first_name"`
	LastName        string    `json:"last_name"`
	PhoneNumber     string    `json:"phone_number"`
	Email           *string   `json:"email" required:"false"`
	Address         addressIn `json:"address"`
	HouseholdIncome *int64    `json:"household_income" required:"false" minimum:"0" doc:"Income in US dollars per year."`
	HouseholdSize   *int64    `json:"household_size" required:"false" minimum:"0" doc:"Number of people in the household."`
}

// TransformSchema states the rules of the domain.
func (GuarantorIn) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{
		"first_name": api.StateName(), "last_name": api.StateName(), "phone_number": api.StatePhone(), "email": api.StateEmail().OrEmpty(),
	})
}

func (g GuarantorIn) guarantor(at ...string) (person.Guarantor, *fault.Error) {
	address, err := g.Address.address(append(at, "address")...)
	return person.Guarantor{
		FirstName: g.FirstName, LastName: g.LastName, PhoneNumber: g.PhoneNumber, Email: api.TextOf(g.Email), Address: address,
		HouseholdIncome: g.HouseholdIncome, HouseholdSize: g.HouseholdSize,
	}, err
}

// GuarantorFrom converts a guarantor; nil for none.
func GuarantorFrom(in api.ObjectOrNull[GuarantorIn], at ...string) (*person.Guarantor, *fault.Error) {
	if in.Value == nil {
		return nil, nil
	}
	guarantor, err := in.Value.guarantor(at...)
	return &guarantor, err
}

// guarantorBody omits unknown fields, because the specification has no null there.
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

// Words of the closed lists in demographics. OpenAPI names them; the domain refuses
// other words.
type (
	race         string
	ethnicity    string
	orientation  string
	identityWord string
)

func (race) Schema(huma.Registry) *huma.Schema         { return api.EnumOf(users.Races) }
func (ethnicity) Schema(huma.Registry) *huma.Schema    { return api.EnumOf(users.Ethnicities) }
func (orientation) Schema(huma.Registry) *huma.Schema  { return api.EnumOf(users.Orientations) }
func (identityWord) Schema(huma.Registry) *huma.Schema { return api.EnumOf(users.Identities) }
