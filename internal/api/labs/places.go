package labs

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/api"
	"hale/internal/labs/catalogue"
	"hale/internal/labs/places"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

func (h *Handlers) placeRoutes() []api.Route {
	return []api.Route{
		api.Get("/v3/order/psc/info", h.pscInfo, "List a lab's patient service centers near a ZIP code").Refuses("lab_account_not_active", "lab_account_other_lab", "unknown_lab_account"),
		api.Get("/v3/order/area/info", h.areaInfo, "Get the services in a ZIP code: phlebotomy at home, and service centers by lab").Refuses("unknown_lab_account"),
	}
}

// radius is a distance in miles, which is text in JSON.
type radius string

// Schema lists the distances.
func (radius) Schema(huma.Registry) *huma.Schema {
	var words []string
	for _, miles := range places.Radii {
		words = append(words, strconv.Itoa(miles))
	}
	s := api.Enum(words)
	s.Default = strconv.Itoa(places.DefaultRadius)
	return s
}

// miles returns the distance, or the default for an empty text.
func (r radius) miles() float64 {
	if n, err := strconv.Atoi(string(r)); err == nil {
		return float64(n)
	}
	return places.DefaultRadius
}

// capability is the name of a capability of a service center.
type capability string

// Schema lists the names.
func (capability) Schema(huma.Registry) *huma.Schema { return api.Enum(places.CapabilityNames[:]) }

func capabilitiesOf(words []capability) places.Capabilities {
	all, _ := places.CapabilitiesOf(textsOf(words)...) // the schema has refused other names
	return all
}

// viewer returns the caller's view of places.
func viewer(c api.Caller) places.Viewer {
	return places.Viewer{Team: c.Team, Sandbox: c.Environment == teams.Sandbox}
}

type pscInfoIn struct {
	ZipCode      string              `query:"zip_code" required:"true" pattern:"^\\d{5}$" doc:"5 digits."`
	LabID        catalogue.LabID     `query:"lab_id" required:"true"`
	Radius       radius              `query:"radius" default:"25" doc:"Radius in miles."`
	Capabilities []capability        `query:"capabilities,explode" doc:"Return only centers that have all of these capabilities. Repeat the parameter for several."`
	LabAccountID catalogue.AccountID `query:"lab_account_id" format:"uuid" doc:"Account of the future order."`
}

// pscInfoBody contains a lab's service centers around a ZIP code, nearest first.
//
// Spec: GET /v3/order/psc/info. Reference 2.2 is the source of site_code, location and
// supported_bill_types.
type pscInfoBody struct {
	LabID  int64     `json:"lab_id"`
	Slug   string    `json:"slug" doc:"The list of labs may grow."`
	Places []pscBody `json:"patient_service_centers" doc:"Centers, at most 30."`
}

// pscBody is one patient service center.
//
// Spec: Patient service center (PSC).
type pscBody struct {
	Metadata           pscMetadata `json:"metadata"`
	Distance           milesText   `json:"distance" doc:"Whole miles from the middle of the ZIP code. A number for teams with the setting reference_compat."`
	SiteCode           string      `json:"site_code" doc:"The lab's code of the center, which appointments require."`
	SupportedBillTypes []string    `json:"supported_bill_types" doc:"client_bill, commercial_insurance, patient_bill_passthrough, patient_bill. The list may grow."`
	Location           lngLat      `json:"location"`
	Capabilities       []string    `json:"capabilities" doc:"stat, appointment_scheduling_via_junction, appointment_scheduling_with_lab. The list may grow."`
}

// milesText is a distance: a text, or a number for teams with reference_compat.
//
// Spec: Patient service center. Reference 2.2, ClientFacingLabLocation.
type milesText struct {
	miles  int
	number bool
}

// Schema declares a text, as the specification does.
func (milesText) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: huma.TypeString} }

// MarshalJSON writes the text or the number.
func (m milesText) MarshalJSON() ([]byte, error) {
	if m.number {
		return strconv.AppendInt(nil, int64(m.miles), 10), nil
	}
	return strconv.AppendQuote(nil, strconv.Itoa(m.miles)), nil
}

// pscMetadata is the address of a service center. Unknown texts are empty, not null.
type pscMetadata struct {
	Name        string                `json:"name"`
	State       string                `json:"state"`
	City        string                `json:"city"`
	ZipCode     string                `json:"zip_code"`
	FirstLine   string                `json:"first_line"`
	SecondLine  string                `json:"second_line"`
	PhoneNumber string                `json:"phone_number"`
	FaxNumber   string                `json:"fax_number"`
	Hours       api.OrNull[hoursBody] `json:"hours" doc:"Opening hours in local time; null if unknown."`
	Website     *string               `json:"website"`
}

// hoursBody contains the opening hours of a week. A day with an empty list is closed.
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
	Open  string `json:"open" doc:"Time of opening, such as 07:00."`
	Close string `json:"close" doc:"Time of closing, such as 15:30. 24:00 is the end of the day."`
}

type lngLat struct {
	Lng float64 `json:"lng" minimum:"-180" maximum:"180"`
	Lat float64 `json:"lat" minimum:"-90" maximum:"90"`
}

func (h *Handlers) pscInfo(ctx context.Context, c api.Caller, in *pscInfoIn) (*api.Out[pscInfoBody], error) {
	var body pscInfoBody
	err := h.DB.Read(ctx, func(tx *store.Tx) error {
		offered, err := catalogue.Load(ctx, tx, c.Team)
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
		body, err = h.pscsNear(ctx, tx, c, lab, in.ZipCode, in.Radius, in.Capabilities)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(body), nil
}

// billingsOf returns the billing types that an account allows in any state.
func billingsOf(account catalogue.Account) (all []catalogue.Billing) {
	for _, b := range catalogue.Billings {
		if len(account.AllowedBilling[b]) > 0 {
			all = append(all, b)
		}
	}
	return all
}

// pscsNear returns a lab's service centers around a ZIP code. An order with a known ZIP
// code and lab uses it too.
func (h *Handlers) pscsNear(ctx context.Context, tx *store.Tx, c api.Caller, lab catalogue.Lab, zip string, r radius, caps []capability) (pscInfoBody, error) {
	body := pscInfoBody{LabID: lab.ID, Slug: lab.Slug, Places: []pscBody{}}
	place, known := places.Zip(zip)
	q := places.Query{Lab: lab.Slug, From: place.Point, Miles: r.miles(), Capabilities: capabilitiesOf(caps)}
	found, err := h.Places.Near(ctx, tx, viewer(c), q)
	if err != nil || !known || !place.Located { // a place without coordinates has no neighbors
		return body, err
	}
	compat, err := teams.ReferenceCompat(ctx, tx, c.Team)
	if err != nil {
		return body, err
	}
	for _, site := range found.Sites {
		psc := pscOf(site, textsOf(lab.Billings))
		psc.Distance.number = compat
		body.Places = append(body.Places, psc)
	}
	return body, nil
}

func pscOf(s places.NearSite, billings []string) pscBody {
	body := pscBody{
		Metadata: pscMetadata{
			Name: s.Name, State: s.State, City: s.City, ZipCode: s.ZIP, FirstLine: s.FirstLine, SecondLine: s.SecondLine,
			PhoneNumber: s.Phone, FaxNumber: s.Fax, Hours: api.Nullable(hoursOf(s.Hours)),
		},
		Distance: milesText{miles: int(math.Round(s.Miles))}, SiteCode: s.Code, SupportedBillTypes: billings,
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

type areaInfoIn struct {
	ZipCode      string              `query:"zip_code" required:"true" pattern:"^\\d{5}$" doc:"5 digits."`
	Radius       radius              `query:"radius" default:"25" doc:"Radius in miles."`
	Lab          string              `query:"lab" deprecated:"true" doc:"Slug of a lab; use labs."`
	Labs         []string            `query:"labs,explode" doc:"Slugs of the labs to search. Repeat the parameter for several. The default is all labs with service centers."`
	LabAccountID catalogue.AccountID `query:"lab_account_id" format:"uuid" doc:"Return only the lab of this account, with its billing types."`
}

// areaInfoBody is the offer around a ZIP code.
//
// Spec: GET /v3/order/area/info.
type areaInfoBody struct {
	ZipCode     string                 `json:"zip_code" pattern:"^\\d{5}(-\\d{4})?$"`
	Phlebotomy  phlebotomyBody         `json:"phlebotomy"`
	CentralLabs map[string]areaLabBody `json:"central_labs" doc:"Object with one entry for each lab, by slug. The list may grow."`
}

type phlebotomyBody struct {
	IsServed  bool                     `json:"is_served"`
	Providers []phlebotomyProviderBody `json:"providers"`
}

// phlebotomyProviderBody contains the tiers of a provider under two names: the
// specification's and the reference's.
type phlebotomyProviderBody struct {
	Name         string   `json:"name" doc:"Provider slug. The list may grow."`
	Tier         []string `json:"tier" doc:"appointment-ready, appointment-request. The list may grow."`
	ServiceTypes []string `json:"service_types" doc:"The same as tier."`
}

// areaLabBody has the fields of the specification, and additional ones of the
// reference: supported_bill_types, lab_id and appointment_with_vital.
//
// Reference 2.2, PSCAreaInfo.
type areaLabBody struct {
	Centers            areaCentersBody `json:"patient_service_centers"`
	SupportedBillTypes []string        `json:"supported_bill_types"`
	LabID              int64           `json:"lab_id"`
}

type areaCentersBody struct {
	WithinRadius int      `json:"within_radius" doc:"Number of centers."`
	Radius       string   `json:"radius" doc:"Radius in miles."`
	Capabilities []string `json:"capabilities" doc:"Capabilities of at least one of them."`
	ScheduledBy  bool     `json:"appointment_with_vital" doc:"Appointments at some of them can be booked through this service."`
}

func (h *Handlers) areaInfo(ctx context.Context, c api.Caller, in *areaInfoIn) (*api.Out[areaInfoBody], error) {
	var body areaInfoBody
	err := h.DB.Read(ctx, func(tx *store.Tx) error {
		body = areaInfoBody{ZipCode: in.ZipCode}
		offers, err := places.Coverage(ctx, tx, viewer(c), in.ZipCode)
		if err != nil {
			return err
		}
		body.Phlebotomy = phlebotomyOf(offers)
		asked, err := h.labsAsked(ctx, tx, c, in)
		if err != nil {
			return err
		}
		body.CentralLabs, err = h.centralLabs(ctx, tx, c, in, asked)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(body), nil
}

func phlebotomyOf(offers []places.Offer) phlebotomyBody {
	body := phlebotomyBody{IsServed: len(offers) > 0, Providers: []phlebotomyProviderBody{}}
	for _, o := range offers { // by provider, then tier
		if n := len(body.Providers); n == 0 || body.Providers[n-1].Name != o.Provider {
			body.Providers = append(body.Providers, phlebotomyProviderBody{Name: o.Provider})
		}
		last := &body.Providers[len(body.Providers)-1]
		last.Tier = append(last.Tier, string(o.Tier))
		last.ServiceTypes = last.Tier
	}
	return body
}

// requestedLab is a lab in the answer of area info.
type requestedLab struct {
	catalogue.Lab
	explicit bool // the request names the lab, so the answer includes it even without centers
}

// labsAsked returns the labs of the request. These include labs that the request names
// although the team's catalogue does not have them.
func (h *Handlers) labsAsked(ctx context.Context, tx *store.Tx, c api.Caller, in *areaInfoIn) ([]requestedLab, error) {
	offered, err := catalogue.Load(ctx, tx, c.Team)
	if err != nil {
		return nil, err
	}
	named := slices.Clone(in.Labs)
	if in.Lab != "" {
		named = append(named, in.Lab)
	}
	if err := checkLabs(offered, in); err != nil {
		return nil, err
	}
	account, err := accountInQuery(ctx, tx, c, in.LabAccountID)
	if err != nil {
		return nil, err
	}
	var asked []requestedLab
	for _, lab := range offered.Labs() {
		if account != nil && account.Lab.ID != lab.ID || len(named) > 0 && !slices.Contains(named, lab.Slug) {
			continue
		}
		if account != nil {
			lab.Billings = billingsOf(*account)
		}
		asked = append(asked, requestedLab{lab, len(named) > 0 || slices.Contains(catalogue.CentralSlugs, lab.Slug)})
	}
	for _, slug := range named {
		_, ok := offered.LabBySlug(slug)
		if lab, known := catalogue.KnownLab(slug); known && !ok && account == nil {
			lab.Billings = nil // nothing can be ordered at this lab
			asked = append(asked, requestedLab{lab, true})
		}
	}
	return asked, nil
}

// checkLabs refuses a slug that is neither in the catalogue nor known to clients.
func checkLabs(offered *catalogue.Catalogue, in *areaInfoIn) error {
	check := func(slug string, at ...string) *fault.Error {
		if _, known := offered.LabBySlug(slug); known || slices.Contains(catalogue.CentralSlugs, slug) {
			return nil
		}
		slugs := slices.Clone(catalogue.CentralSlugs)
		for _, lab := range offered.Labs() {
			if !slices.Contains(slugs, lab.Slug) {
				slugs = append(slugs, lab.Slug)
			}
		}
		return fault.NotInEnum(slugs).At(append([]string{"query"}, at...)...).WithInput(slug)
	}
	var faults []*fault.Error
	if in.Lab != "" {
		faults = append(faults, check(in.Lab, "lab"))
	}
	for i, slug := range in.Labs {
		faults = append(faults, check(slug, "labs", strconv.Itoa(i)))
	}
	return fault.Join(faults...)
}

func (h *Handlers) centralLabs(ctx context.Context, tx *store.Tx, c api.Caller, in *areaInfoIn, asked []requestedLab) (map[string]areaLabBody, error) {
	place, known := places.Zip(in.ZipCode)
	located := known && place.Located
	all := map[string]areaLabBody{}
	for _, lab := range asked {
		found, err := h.Places.Count(ctx, tx, viewer(c), places.Query{Lab: lab.Slug, From: place.Point, Miles: in.Radius.miles()})
		switch {
		case errors.Is(err, places.ErrNoSites) && !lab.explicit:
			continue
		case err != nil && !errors.Is(err, places.ErrNoSites):
			return nil, err
		case !located: // a place without coordinates has no neighbors
			found = places.SearchResult{}
		}
		all[lab.Slug] = areaLabBody{
			Centers: areaCentersBody{
				WithinRadius: found.Total, Radius: string(in.Radius), Capabilities: found.Capabilities.Names(),
				ScheduledBy: found.Capabilities&places.ScheduledByUs != 0,
			},
			SupportedBillTypes: textsOf(lab.Billings), LabID: lab.ID,
		}
	}
	return all, nil
}
