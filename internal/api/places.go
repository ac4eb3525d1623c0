package api

import (
	"context"
	"math"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/places"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

func (a *API) placeRoutes() []route {
	return []route{
		get("/v3/order/psc/info", a.pscInfo, "List a lab's patient service centers near a ZIP code"),
		get("/v3/order/area/info", a.areaInfo, "Tell what is to be had in a ZIP code: phlebotomy at home, and service centers by lab"),
	}
}

// radius is a distance in miles, which is a word on the wire.
type radius string

// Schema lists the distances.
func (radius) Schema(huma.Registry) *huma.Schema {
	var words []string
	for _, miles := range places.Radii {
		words = append(words, strconv.Itoa(miles))
	}
	s := wordsOf(words)
	s.Default = strconv.Itoa(places.DefaultRadius)
	return s
}

// miles is the distance; nothing means the default.
func (r radius) miles() float64 {
	if n, err := strconv.Atoi(string(r)); err == nil {
		return float64(n)
	}
	return places.DefaultRadius
}

// capability is a word for what a service center can do.
type capability string

// Schema lists the words.
func (capability) Schema(huma.Registry) *huma.Schema { return wordsOf(places.CapabilityNames[:]) }

func capabilitiesOf(words []capability) places.Capabilities {
	all, _ := places.CapabilitiesOf(textsOf(words)...) // the schema has let no other word through
	return all
}

// viewer is how the caller looks at places.
func viewer(c Caller) places.Viewer {
	return places.Viewer{Team: c.Team, Sandbox: c.Environment == teams.Sandbox}
}

type pscInfoIn struct {
	ZipCode      string              `query:"zip_code" required:"true" pattern:"^\\d{5}$" doc:"5 digits."`
	LabID        catalogue.LabID     `query:"lab_id" required:"true"`
	Radius       radius              `query:"radius" default:"25" doc:"Miles."`
	Capabilities []capability        `query:"capabilities,explode" doc:"Only centers that have all of these; repeat the parameter."`
	LabAccountID catalogue.AccountID `query:"lab_account_id" format:"uuid" doc:"Account that the order will be placed under."`
}

// pscInfoBody is a lab's service centers around a ZIP code, nearest first.
//
// Spec: GET /v3/order/psc/info. Reference 2.2, where site_code, location and
// supported_bill_types come from.
type pscInfoBody struct {
	LabID  int64     `json:"lab_id"`
	Slug   string    `json:"slug" doc:"The list of labs may grow."`
	Places []pscBody `json:"patient_service_centers" doc:"At most 30."`
}

// pscBody is one patient service center.
//
// Spec: Patient service center (PSC).
type pscBody struct {
	Metadata           pscMetadata `json:"metadata"`
	Distance           string      `json:"distance" doc:"Whole miles from the middle of the ZIP code."`
	SiteCode           string      `json:"site_code" doc:"The lab's own name for the center, by which appointments are made."`
	SupportedBillTypes []string    `json:"supported_bill_types" doc:"client_bill, commercial_insurance, patient_bill_passthrough, patient_bill. The list may grow."`
	Location           lngLat      `json:"location"`
	Capabilities       []string    `json:"capabilities" doc:"stat, appointment_scheduling_via_junction, appointment_scheduling_with_lab. The list may grow."`
}

// pscMetadata is the address of a service center. Its texts are empty, not
// null, where nothing is known.
type pscMetadata struct {
	Name        string            `json:"name"`
	State       string            `json:"state"`
	City        string            `json:"city"`
	ZipCode     string            `json:"zip_code"`
	FirstLine   string            `json:"first_line"`
	SecondLine  string            `json:"second_line"`
	PhoneNumber string            `json:"phone_number"`
	FaxNumber   string            `json:"fax_number"`
	Hours       orNull[hoursBody] `json:"hours" doc:"Opening hours on the clock of the place; null when not known."`
	Website     *string           `json:"website"`
}

// hoursBody is a week. A day with an empty list is closed.
type hoursBody struct {
	Monday    []openingTime `json:"monday"`
	Tuesday   []openingTime `json:"tuesday"`
	Wednesday []openingTime `json:"wednesday"`
	Thursday  []openingTime `json:"thursday"`
	Friday    []openingTime `json:"friday"`
	Saturday  []openingTime `json:"saturday"`
	Sunday    []openingTime `json:"sunday"`
}

// openingTime is a part of a day.
type openingTime struct {
	Open  string `json:"open" doc:"07:00"`
	Close string `json:"close" doc:"15:30; 24:00 is the end of the day."`
}

type lngLat struct {
	Lng float64 `json:"lng" minimum:"-180" maximum:"180"`
	Lat float64 `json:"lat" minimum:"-90" maximum:"90"`
}

func (a *API) pscInfo(ctx context.Context, c Caller, in *pscInfoIn) (*out[pscInfoBody], error) {
	var body pscInfoBody
	err := a.db.Read(ctx, func(tx *store.Tx) error {
		offered, err := catalogue.For(ctx, tx, c.Team)
		if err != nil {
			return err
		}
		lab, known := offered.Lab(in.LabID)
		if !known {
			return fault.New(fault.NotFound, "Lab not found.")
		}
		if !in.LabAccountID.IsZero() {
			account, err := catalogue.ChooseAccount(ctx, tx, c.Team, lab.ID, &in.LabAccountID, false)
			if err != nil {
				return err
			}
			lab.Billings = billingsOf(account)
		}
		body, err = a.pscsNear(ctx, tx, c, lab, in.ZipCode, in.Radius, in.Capabilities)
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(body), nil
}

// billingsOf are the ways to pay that an account allows in any state.
func billingsOf(account catalogue.Account) (all []catalogue.Billing) {
	for _, b := range catalogue.Billings {
		if len(account.AllowedBilling[b]) > 0 {
			all = append(all, b)
		}
	}
	return all
}

// pscsNear are a lab's service centers around a ZIP code. An order that knows
// its ZIP code and lab asks it the same.
func (a *API) pscsNear(ctx context.Context, tx *store.Tx, c Caller, lab catalogue.Lab, zip string, r radius, caps []capability) (pscInfoBody, error) {
	body := pscInfoBody{LabID: lab.ID, Slug: lab.Slug, Places: []pscBody{}}
	place, known := places.Zip(zip)
	q := places.Query{Lab: lab.Slug, From: place.Point, Miles: r.miles(), Capabilities: capabilitiesOf(caps)}
	found, err := a.Places.Near(ctx, tx, viewer(c), q)
	if err != nil || !known || !place.Located { // nothing is near a place that is not on the map
		return body, err
	}
	for _, site := range found.Sites {
		body.Places = append(body.Places, pscOf(site, textsOf(lab.Billings)))
	}
	return body, nil
}

func pscOf(s places.NearSite, billings []string) pscBody {
	body := pscBody{
		Metadata: pscMetadata{
			Name: s.Name, State: s.State, City: s.City, ZipCode: s.ZIP, FirstLine: s.FirstLine, SecondLine: s.SecondLine,
			PhoneNumber: s.Phone, FaxNumber: s.Fax, Hours: nullable(hoursOf(s.Hours)),
		},
		Distance: strconv.Itoa(int(math.Round(s.Miles))), SiteCode: s.Code, SupportedBillTypes: billings,
		Location: lngLat{s.Lng, s.Lat}, Capabilities: s.Capabilities.Names(),
	}
	if s.Website != "" {
		body.Metadata.Website = &s.Website
	}
	return body
}

func hoursOf(h *places.Hours) *hoursBody {
	if h == nil {
		return nil
	}
	day := func(n int) []openingTime {
		times := make([]openingTime, len(h[n]))
		for i, span := range h[n] {
			times[i] = openingTime{places.ClockText(span.Open), places.ClockText(span.Close)}
		}
		return times
	}
	return &hoursBody{day(0), day(1), day(2), day(3), day(4), day(5), day(6)}
}
