package api

import (
	"context"
	"math"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/labs/appointments"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
)

// availabilityBody is the free times of 14 days.
//
// Reference 2.3, AppointmentAvailabilitySlots.
type availabilityBody struct {
	Slots    []daySlotsBody `json:"slots" doc:"One for each day, and for each site."`
	TimeZone *string        `json:"timezone" doc:"Of the address; null for service centers."`
}

type daySlotsBody struct {
	Location orNull[slotLocationBody] `json:"location" doc:"The service center; null for phlebotomy."`
	Date     civil.Date               `json:"date" format:"date" doc:"On the clock of the place."`
	Slots    []timeSlotBody           `json:"slots"`
}

// slotLocationBody is a service center that takes appointments.
//
// Reference 2.3, AppointmentLocation.
type slotLocationBody struct {
	Location lngLat                       `json:"location"`
	Distance *int                         `json:"distance" doc:"Whole miles from the middle of the ZIP code; null when the site was named."`
	Address  appointments.AddressDocument `json:"address"`
	Code     string                       `json:"code"`
	Name     string                       `json:"name"`
	TimeZone *string                      `json:"iana_timezone"`
}

// timeSlotBody is a free time.
//
// Reference 2.3, TimeSlot.
type timeSlotBody struct {
	Key       string `json:"booking_key" doc:"Books the slot, once, until expires_at."`
	Start     Time   `json:"start" doc:"UTC"`
	End       Time   `json:"end" doc:"UTC"`
	ExpiresAt Time   `json:"expires_at"`
	Price     int64  `json:"price" doc:"US cents; 0 for service centers."`
	Priority  bool   `json:"is_priority"`
	Free      int    `json:"num_appointments_available"`
}

func availabilityOf(found appointments.Availability, clock func(appointments.Day) string) availabilityBody {
	body := availabilityBody{Slots: make([]daySlotsBody, len(found.Days)), TimeZone: orNone(found.TimeZone)}
	for i, day := range found.Days {
		d := daySlotsBody{Date: day.Date, Slots: make([]timeSlotBody, len(day.Slots))}
		if site := day.Site; site != nil {
			d.Location = nullable(slotLocationOf(site, clock(day)))
		}
		for j, s := range day.Slots {
			d.Slots[j] = timeSlotBody{s.Key, Time(s.Start), Time(s.End), Time(s.Expires), s.Price, s.Priority, s.Free}
		}
		body.Slots[i] = d
	}
	return body
}

func slotLocationOf(site *appointments.NearSite, zone string) *slotLocationBody {
	b := &slotLocationBody{
		Location: lngLat{site.Lng, site.Lat}, Code: site.Code, Name: site.Name, TimeZone: orNone(zone),
		Address: appointments.AddressDocumentOf(appointments.Address{
			FirstLine: site.FirstLine, SecondLine: site.SecondLine, City: site.City, State: site.State, Zip: site.ZIP,
		}),
	}
	if site.Miles != nil {
		miles := int(math.Round(*site.Miles))
		b.Distance = &miles
	}
	return b
}

// usAddressIn is where a phlebotomist is to come to.
//
// Reference 2.3, USAddress.
type usAddressIn struct {
	FirstLine   string  `json:"first_line" minLength:"1" maxLength:"500"`
	SecondLine  *string `json:"second_line" required:"false" maxLength:"500"`
	City        string  `json:"city" minLength:"1" maxLength:"500"`
	State       string  `json:"state" minLength:"1" maxLength:"50"`
	Zip         string  `json:"zip_code" pattern:"^\\d{5}(-\\d{4})?$"`
	Unit        *string `json:"unit" required:"false" maxLength:"500" deprecated:"true" doc:"Use second_line."`
	AccessNotes *string `json:"access_notes" required:"false" maxLength:"1000" doc:"How to get in."`
}

func (in usAddressIn) address() appointments.Address {
	second := word(in.SecondLine)
	if second == "" {
		second = word(in.Unit)
	}
	return appointments.Address{
		FirstLine: in.FirstLine, SecondLine: second, City: in.City, State: in.State, Zip: in.Zip, AccessNotes: word(in.AccessNotes),
	}
}

type phlebotomyAvailabilityIn struct {
	StartDate string `query:"start_date" format:"date" doc:"First of 14 days; today when absent."`
	Body      usAddressIn
}

// dayAsked reads a date of the query, whose form was checked.
func dayAsked(text string) (*civil.Date, error) {
	if text == "" {
		return nil, nil
	}
	day, err := civil.ParseDate(text)
	if err != nil {
		return nil, fault.New(fault.Invalid, "Input should be a valid date in the format YYYY-MM-DD").At("query", "start_date").WithType("date_parsing")
	}
	return &day, nil
}

func (a *API) phlebotomyAvailability(ctx context.Context, c Caller, in *phlebotomyAvailabilityIn) (*out[availabilityBody], error) {
	start, err := dayAsked(in.StartDate)
	if err != nil {
		return nil, err
	}
	found, err := a.Appointments.AtHome(ctx, viewer(c), in.Body.address(), start)
	if err != nil {
		return nil, err
	}
	return answer(availabilityOf(found, nil)), nil
}

// centerLab is a lab whose service centers take appointments.
type centerLab string

// Schema lists them.
func (centerLab) Schema(huma.Registry) *huma.Schema { return wordsOf(appointments.Centers) }

type pscAvailabilityIn struct {
	Lab        centerLab `query:"lab" required:"true"`
	StartDate  string    `query:"start_date" format:"date" doc:"First of 14 days; today when absent."`
	SiteCodes  []string  `query:"site_codes,explode" doc:"At most 3; repeat the parameter."`
	ZipCode    string    `query:"zip_code" pattern:"^\\d{5}$" doc:"Instead of site_codes: the nearest centers that take appointments."`
	Radius     radius    `query:"radius" default:"25" doc:"Miles; with zip_code."`
	AllowStale bool      `query:"allow_stale" default:"false" doc:"Take what was heard of the sites less than 15 minutes ago."`

	noRadius bool // it was sent empty
}

// Resolve tells a radius that was sent empty from one that was not sent.
func (in *pscAvailabilityIn) Resolve(ctx huma.Context) []error {
	u := ctx.URL()
	sent, ok := u.Query()["radius"]
	in.noRadius = ok && (sent[0] == "" || sent[0] == "null")
	return nil
}

func (a *API) pscAvailability(ctx context.Context, c Caller, in *pscAvailabilityIn) (*out[availabilityBody], error) {
	start, err := dayAsked(in.StartDate)
	if err != nil {
		return nil, err
	}
	q := appointments.CenterQuery{Lab: string(in.Lab), Start: start, Codes: in.SiteCodes, Zip: in.ZipCode, AllowStale: in.AllowStale}
	if miles, err := strconv.Atoi(string(in.Radius)); err == nil && !in.noRadius {
		q.Radius = &miles
	}
	found, err := a.Appointments.AtCenters(ctx, viewer(c), q)
	if err != nil {
		return nil, err
	}
	clock := func(day appointments.Day) string { return appointments.ZoneOf(viewer(c), day.Site.Site) }
	return answer(availabilityOf(found, clock)), nil
}
