package labs

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/api"
	"hale/internal/labs/catalogue"
	"hale/internal/people/users/person"
	"hale/internal/platform/store"
)

func (h *Handlers) practiceRoutes() []api.Route {
	return []api.Route{
		api.Get("/v2/team/practice", h.listPractices, "List the clinics under which your team orders").Tag("order"),
		api.Put("/v2/team/practice", h.setPractice, "Set the clinic under which your team orders").Tag("order").Refuses("unknown_lab_account"),
		api.Delete("/v2/team/practice", h.removePractice, "Remove a clinic under which your team orders").Tag("order"),
	}
}

// practiceBody is a practice in JSON.
type practiceBody struct {
	LabAccountID *catalogue.AccountID `json:"lab_account_id" format:"uuid" nullable:"true" doc:"Lab account of the clinic. It is null for the clinic of all accounts without a clinic of their own."`
	Name         string               `json:"name"`
	Address      practiceAddressBody  `json:"address"`
	PhoneNumber  string               `json:"phone_number"`
	FaxNumber    *string              `json:"fax_number" nullable:"true"`
	AfterHours   *string              `json:"after_hours_number" nullable:"true" doc:"Telephone number for critical results when the clinic is closed."`
}

type practiceAddressBody struct {
	FirstLine  string  `json:"first_line"`
	SecondLine *string `json:"second_line" nullable:"true"`
	City       string  `json:"city"`
	State      string  `json:"state"`
	Zip        string  `json:"zip"`
	Country    string  `json:"country"`
}

func practiceOf(account *catalogue.AccountID, p catalogue.Practice) practiceBody {
	a := p.Address
	return practiceBody{
		LabAccountID: account, Name: p.Name, PhoneNumber: p.Phone, FaxNumber: api.TextOrNull(p.Fax), AfterHours: api.TextOrNull(p.AfterHours),
		Address: practiceAddressBody{a.FirstLine, api.TextOrNull(a.SecondLine), a.City, a.State, a.Zip, a.Country},
	}
}

type practicesBody struct {
	Data []practiceBody `json:"data" nullable:"false" doc:"Clinics. The clinic of the team is the first."`
}

func (h *Handlers) listPractices(ctx context.Context, c api.Caller, _ *api.Empty) (*api.Out[practicesBody], error) {
	body := practicesBody{}
	err := h.DB.Read(ctx, func(tx *store.Tx) error {
		all, err := catalogue.Practices(ctx, tx, c.Team)
		body.Data = []practiceBody{}
		for _, p := range all {
			body.Data = append(body.Data, practiceOf(p.Account, p.Practice))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(body), nil
}

type setPracticeIn struct {
	Body setPracticeInBody
}

type setPracticeInBody struct {
	LabAccountID *catalogue.AccountID `json:"lab_account_id" required:"false" format:"uuid" nullable:"true" doc:"Lab account of the clinic. Absent or null means all accounts without a clinic of their own."`
	Name         string               `json:"name" maxLength:"100"`
	Address      practiceAddressIn    `json:"address"`
	PhoneNumber  string               `json:"phone_number"`
	FaxNumber    *string              `json:"fax_number" required:"false" nullable:"true"`
	AfterHours   *string              `json:"after_hours_number" required:"false" nullable:"true" doc:"Telephone number for critical results when the clinic is closed."`
}

// TransformSchema states the rules of the domain.
func (setPracticeInBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{
		"name": api.StateText(catalogue.LongestPractice), "phone_number": api.StatePhone(),
		"fax_number": api.StatePhone().OrEmpty(), "after_hours_number": api.StatePhone().OrEmpty(),
	})
}

type practiceAddressIn struct {
	FirstLine  string  `json:"first_line"`
	SecondLine *string `json:"second_line" required:"false" nullable:"true"`
	City       string  `json:"city"`
	State      string  `json:"state" doc:"State of two letters."`
	Zip        string  `json:"zip" doc:"ZIP code such as 12345 or 12345-6789."`
	Country    *string `json:"country" required:"false" nullable:"true" doc:"Country code. The default is US."`
}

// TransformSchema states the rules of the domain. State and zip depend on the country.
func (practiceAddressIn) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	line := api.StateText(person.MaxLine)
	us := api.Object(nil, map[string]*huma.Schema{
		"country": {Pattern: person.USPattern}, "state": {Pattern: person.WordsPattern(person.StateCodes(), true)}, "zip": {Pattern: person.ZipPattern},
	})
	abroad := api.Object([]string{"country"}, map[string]*huma.Schema{"country": {Type: huma.TypeString, Pattern: person.AbroadPattern}})
	return api.State(s, map[string]api.Keywords{
		"first_line": line, "second_line": api.StateOptional(person.MaxLine), "city": line, "state": line, "zip": api.StateText(person.MaxZip),
		"": api.StateAny(us, abroad),
	})
}

func (h *Handlers) setPractice(ctx context.Context, c api.Caller, in *setPracticeIn) (*api.Out[practiceBody], error) {
	b := in.Body
	p := catalogue.Practice{
		Name: b.Name, Phone: b.PhoneNumber, Fax: api.TextOf(b.FaxNumber), AfterHours: api.TextOf(b.AfterHours),
		Address: person.Address{
			FirstLine: b.Address.FirstLine, SecondLine: api.TextOf(b.Address.SecondLine), City: b.Address.City, State: b.Address.State,
			Zip: b.Address.Zip, Country: api.TextOf(b.Address.Country),
		},
	}
	err := h.DB.Write(ctx, func(tx *store.Tx) (err error) {
		p, err = catalogue.SetPractice(ctx, tx, c.Team, b.LabAccountID, p)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(practiceOf(b.LabAccountID, p)), nil
}

type removePracticeIn struct {
	LabAccountID api.Maybe[catalogue.AccountID] `query:"lab_account_id" format:"uuid" doc:"Lab account of the clinic. The default is the clinic of all lab accounts."`
}

func (h *Handlers) removePractice(ctx context.Context, c api.Caller, in *removePracticeIn) (*api.Out[practicesBody], error) {
	err := h.DB.Write(ctx, func(tx *store.Tx) error {
		return catalogue.RemovePractice(ctx, tx, c.Team, in.LabAccountID.Pointer())
	})
	if err != nil {
		return nil, err
	}
	return h.listPractices(ctx, c, nil)
}
