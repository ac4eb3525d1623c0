package labs

import (
	"context"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"hale/internal/api"
	"hale/internal/labs/appointments"
	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
)

// appointmentRoutes returns the routes for visits of a phlebotomist and appointments at a
// service center.
func (h *Handlers) appointmentRoutes() []api.Route {
	const (
		visit  = "/v3/order/{order_id}/phlebotomy/appointment"
		center = "/v3/order/{order_id}/psc/appointment"
	)
	return []api.Route{
		api.Get("/v3/order/{order_id}/psc/info", h.orderPSCInfo, "List the patient service centers near an order's patient"),
		api.Post("/v3/order/phlebotomy/appointment/availability", h.phlebotomyAvailability, "List times for a phlebotomist's visit to an address").Sensitive().Reads().Refuses(slices.Concat(slotCodes, []string{"zip_state"})...),
		api.Get("/v3/order/phlebotomy/appointment/cancellation-reasons", h.phlebotomyReasons, "List the reasons for cancelling a phlebotomy appointment"),
		api.Get(visit, h.getPhlebotomyAppointment, "Get an order's phlebotomy appointment"),
		api.Post(visit+"/book", h.bookPhlebotomy, "Book a phlebotomy appointment").Creates().Sensitive().Conditional(orderVersion).Announces("labtest.appointment.*", "labtest.order.updated").Refuses(slices.Concat(bookingCodes, newVisitCodes, []string{"async_confirmation_disabled", "patient_under_age"})...),
		api.Post(visit+"/request", h.requestPhlebotomy, "Request a phlebotomy appointment whose time is agreed later").Creates().Sensitive().Conditional(orderVersion).Announces("labtest.appointment.*", "labtest.order.updated").Refuses(slices.Concat(orderStateCodes, newVisitCodes, []string{"not_served", "patient_under_age", "provider_no_answer", "provider_refused", "scheduling_disabled", "slot_taken", "zip_state"})...),
		api.Patch(visit+"/reschedule", h.reschedulePhlebotomy, "Move a phlebotomy appointment to another time").Sensitive().Conditional(orderVersion).Announces("labtest.appointment.updated", "labtest.order.updated").Refuses(slices.Concat(bookingCodes, []string{"conflict", "not_reschedulable", "patient_under_age"})...),
		api.Patch(visit+"/cancel", h.cancelPhlebotomy, "Cancel a phlebotomy appointment").Sensitive().Creates().Conditional(orderVersion).Announces("labtest.appointment.updated", "labtest.order.updated").Refuses(cancelCodes...),
		api.Post("/v3/order/psc/appointment/availability", h.pscAvailability, "List free times at patient service centers").Reads().Refuses(slices.Concat(slotCodes, []string{"radius_missing", "site_codes_or_zip_code", "site_unknown", "too_many_site_codes"})...),
		api.Get("/v3/order/psc/appointment/cancellation-reasons", h.pscReasons, "List the reasons for cancelling an appointment at a service center"),
		api.Get(center, h.getPSCAppointment, "Get an order's appointment at a service center"),
		api.Post(center+"/book", h.bookPSC, "Book an appointment at a service center").Creates().Sensitive().Conditional(orderVersion).Announces("labtest.appointment.*", "labtest.order.updated").Refuses(slices.Concat(bookingCodes, newVisitCodes, []string{"async_confirmation_disabled", "site_unknown"})...),
		api.Patch(center+"/reschedule", h.reschedulePSC, "Move an appointment at a service center to another time").Sensitive().Conditional(orderVersion).Announces("labtest.appointment.updated", "labtest.order.updated").Refuses(slices.Concat(bookingCodes, []string{"conflict", "not_reschedulable", "site_unknown"})...),
		api.Patch(center+"/cancel", h.cancelPSC, "Cancel an appointment at a service center").Sensitive().Creates().Conditional(orderVersion).Announces("labtest.appointment.updated", "labtest.order.updated").Refuses(cancelCodes...),
		api.Get("/v2/team/appointment_settings", h.getAppointmentSettings, "Get your settings for appointments").Tag("order"),
		api.Patch("/v2/team/appointment_settings", h.setAppointmentSettings, "Change your settings for appointments").Tag("order"),
	}
}

type appointmentBody = appointments.Document

// registerAppointmentAliases gives huma the schemas of appointment types with their own
// JSON encoding.
func registerAppointmentAliases(r huma.Registry) {
	r.RegisterTypeAlias(reflect.TypeFor[appointments.DataDocument](), reflect.TypeFor[objectOfAny]())
}

// objectOfAny is an object with any fields from a provider, or null.
type objectOfAny struct{}

func (objectOfAny) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Nullable: true}
}

type appointmentIn struct{ OrderPath }

func (h *Handlers) appointmentOf(ctx context.Context, c api.Caller, order orders.ID, k appointments.Kind) (*api.Out[appointmentBody], error) {
	var body appointmentBody
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		body, err = appointments.Get(ctx, tx, c.Team, order, k)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(body), nil
}

func (h *Handlers) getPhlebotomyAppointment(ctx context.Context, c api.Caller, in *appointmentIn) (*api.Out[appointmentBody], error) {
	return h.appointmentOf(ctx, c, in.OrderID, appointments.Phlebotomy)
}

func (h *Handlers) getPSCAppointment(ctx context.Context, c api.Caller, in *appointmentIn) (*api.Out[appointmentBody], error) {
	return h.appointmentOf(ctx, c, in.OrderID, appointments.AtCenter)
}

// bookIn is a booking.
//
// Reference 2.4, AppointmentBookingRequest.
type bookIn struct {
	OrderPath
	Body struct {
		Key          string  `json:"booking_key" doc:"Key from an availability answer. It can be used once."`
		Notes        *string `json:"appointment_notes" required:"false" maxLength:"1000" doc:"Notes for the phlebotomist or the center."`
		Async        bool    `json:"async_confirmation" required:"false" default:"false" doc:"Answer with a pending appointment if the provider is slow. This requires a service center, and a team that enabled it."`
		SyncTimeout  *int64  `json:"sync_confirmation_timeout_millisecond" required:"false" minimum:"1000" maximum:"10000" doc:"Maximum time to wait for the provider; 10,000 when absent."`
		AsyncTimeout *int64  `json:"async_confirmation_timeout_millisecond" required:"false" minimum:"60000" maximum:"172800000" doc:"Time after which a pending appointment without confirmation by the provider is cancelled; two days when absent."`
	}
}

func (h *Handlers) book(ctx context.Context, c api.Caller, in *bookIn, k appointments.Kind) (*api.Out[appointmentBody], error) {
	if what, ok := api.Progress(ctx); ok {
		return h.resumeVisit(ctx, c, what)
	}
	b := in.Body
	body, err := h.Appointments.Book(ctx, viewer(c), appointments.Booking{
		Order: in.OrderID, Kind: k, Key: b.Key, Notes: api.TextOf(b.Notes), Async: b.Async,
		SyncWait: milliseconds(b.SyncTimeout), AsyncWait: milliseconds(b.AsyncTimeout), OnStored: recordVisit(ctx),
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(body), nil
}

// recordVisit records the appointment that an idempotent request started.
func recordVisit(ctx context.Context) appointments.OnStored {
	return func(tx *store.Tx, visit *appointments.Appointment) error {
		return api.RecordProgress(ctx, tx, visit.User, visit.ID.String())
	}
}

// resumeVisit answers a request whose earlier attempt was interrupted while it waited
// for the provider.
func (h *Handlers) resumeVisit(ctx context.Context, c api.Caller, what string) (*api.Out[appointmentBody], error) {
	id, err := ids.Parse[appointments.Appointment](what)
	if err != nil {
		return nil, err
	}
	body, err := h.Appointments.Resume(ctx, viewer(c), id)
	if err != nil {
		return nil, err
	}
	return api.Answer(body), nil
}

func milliseconds(n *int64) time.Duration {
	if n == nil {
		return 0
	}
	return time.Duration(*n) * time.Millisecond
}

func (h *Handlers) bookPhlebotomy(ctx context.Context, c api.Caller, in *bookIn) (*api.Out[appointmentBody], error) {
	return h.book(ctx, c, in, appointments.Phlebotomy)
}

func (h *Handlers) bookPSC(ctx context.Context, c api.Caller, in *bookIn) (*api.Out[appointmentBody], error) {
	return h.book(ctx, c, in, appointments.AtCenter)
}

type requestPhlebotomyIn struct {
	OrderPath
	Body struct {
		Address  usAddressIn `json:"address"`
		Provider string      `json:"provider" enum:"getlabs,phlebfinders,quest,sonora_quest"`
		Notes    *string     `json:"appointment_notes" required:"false" maxLength:"1000"`
	}
}

func (h *Handlers) requestPhlebotomy(ctx context.Context, c api.Caller, in *requestPhlebotomyIn) (*api.Out[appointmentBody], error) {
	if what, ok := api.Progress(ctx); ok {
		return h.resumeVisit(ctx, c, what)
	}
	body, err := h.Appointments.RequestVisit(ctx, viewer(c), appointments.Request{
		Order: in.OrderID, Provider: in.Body.Provider, Address: in.Body.Address.address(), Notes: api.TextOf(in.Body.Notes),
		OnStored: recordVisit(ctx),
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(body), nil
}

type rescheduleAppointmentIn struct {
	OrderPath
	Body struct {
		Key   string  `json:"booking_key" doc:"Key from an availability answer. It can be used once."`
		Notes *string `json:"appointment_notes" required:"false" maxLength:"1000" doc:"Replaces the notes; absent or null keeps them."`
	}
}

func (h *Handlers) rescheduleAppointment(ctx context.Context, c api.Caller, in *rescheduleAppointmentIn, k appointments.Kind) (*api.Out[appointmentBody], error) {
	body, err := h.Appointments.Reschedule(ctx, viewer(c), appointments.Change{Order: in.OrderID, Kind: k, Key: in.Body.Key, Notes: in.Body.Notes})
	if err != nil {
		return nil, err
	}
	return api.Answer(body), nil
}

func (h *Handlers) reschedulePhlebotomy(ctx context.Context, c api.Caller, in *rescheduleAppointmentIn) (*api.Out[appointmentBody], error) {
	return h.rescheduleAppointment(ctx, c, in, appointments.Phlebotomy)
}

func (h *Handlers) reschedulePSC(ctx context.Context, c api.Caller, in *rescheduleAppointmentIn) (*api.Out[appointmentBody], error) {
	return h.rescheduleAppointment(ctx, c, in, appointments.AtCenter)
}

func (h *Handlers) cancelAppointment(ctx context.Context, c api.Caller, end appointments.Cancellation) (*api.Out[appointmentBody], error) {
	return api.Commit(ctx, h.API, func(tx *store.Tx) (appointmentBody, error) {
		return appointments.Cancel(ctx, tx, c.Team, end)
	})
}

// cancelPhlebotomyIn and cancelPSCIn differ in the names of their JSON fields.
//
// Reference 2.6.
type cancelPhlebotomyIn struct {
	OrderPath
	Body struct {
		Reason uuid.UUID `json:"cancellation_reason_id" format:"uuid"`
		Notes  *string   `json:"notes" required:"false" maxLength:"1000" doc:"Text of the reason. It is required with the reason Other."`
	}
}

func (h *Handlers) cancelPhlebotomy(ctx context.Context, c api.Caller, in *cancelPhlebotomyIn) (*api.Out[appointmentBody], error) {
	return h.cancelAppointment(ctx, c, appointments.Cancellation{
		Order: in.OrderID, Kind: appointments.Phlebotomy, Reason: in.Body.Reason, Notes: api.TextOf(in.Body.Notes),
		ReasonField: "cancellation_reason_id", NotesField: "notes",
	})
}

type cancelPSCIn struct {
	OrderPath
	Body struct {
		Reason uuid.UUID `json:"cancellationReasonId" format:"uuid"`
		Note   *string   `json:"note" required:"false" maxLength:"1000"`
	}
}

func (h *Handlers) cancelPSC(ctx context.Context, c api.Caller, in *cancelPSCIn) (*api.Out[appointmentBody], error) {
	return h.cancelAppointment(ctx, c, appointments.Cancellation{
		Order: in.OrderID, Kind: appointments.AtCenter, Reason: in.Body.Reason, Notes: api.TextOf(in.Body.Note),
		ReasonField: "cancellationReasonId", NotesField: "note",
	})
}

func (h *Handlers) phlebotomyReasons(context.Context, api.Caller, *api.Empty) (*api.Out[[]appointments.Reason], error) {
	return api.Answer(appointments.Reasons(appointments.Phlebotomy)), nil
}

func (h *Handlers) pscReasons(context.Context, api.Caller, *api.Empty) (*api.Out[[]appointments.Reason], error) {
	return api.Answer(appointments.Reasons(appointments.AtCenter)), nil
}

// orderPSCInfoIn asks for the service centers near an order's patient.
type orderPSCInfoIn struct {
	OrderPath
	Radius       radius       `query:"radius" default:"25" doc:"Radius in miles."`
	Capabilities []capability `query:"capabilities,explode" doc:"Return only centers that have all of these capabilities. Repeat the parameter for several."`
}

var errNoPatientAddress = fault.New(fault.NotFound, "This order has no patient address yet")

func (h *Handlers) orderPSCInfo(ctx context.Context, c api.Caller, in *orderPSCInfoIn) (*api.Out[pscInfoBody], error) {
	var body pscInfoBody
	err := h.DB.Read(ctx, func(tx *store.Tx) error {
		o, err := orders.Get(ctx, tx, c.Team, in.OrderID)
		if err != nil {
			return err
		}
		if o.Body.Address == nil || len(o.Body.Address.Zip) < 5 {
			return errNoPatientAddress
		}
		offered, err := catalogue.Load(ctx, tx, c.Team)
		if err != nil {
			return err
		}
		lab, known := offered.Lab(o.Lab)
		if !known {
			return fault.New(fault.NotFound, "Lab not found.")
		}
		body, err = h.pscsNear(ctx, tx, c, lab, o.Body.Address.Zip[:5], in.Radius, in.Capabilities)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(body), nil
}

// appointmentSettings are a team's settings for appointments, which the reference
// changes for its customers.
type appointmentSettings struct {
	Scheduling        bool `json:"scheduling_enabled" doc:"Whether bookings are possible. If false, they are refused with 503 and scheduling_disabled."`
	BeforeRequisition bool `json:"booking_before_requisition_enabled" doc:"Orders without a requisition can have appointments, which wait for the requisition."`
	AsyncConfirmation bool `json:"async_confirmation_enabled" doc:"Bookings at service centers may ask for async_confirmation."`
	SonoraQuest       bool `json:"sonora_quest_enabled" doc:"Whether bookings at the Arizona laboratory are possible. If false, they are refused with 403."`
}

func appointmentSettingsOf(s appointments.Settings) appointmentSettings {
	return appointmentSettings{s.Scheduling, s.BeforeRequisition, s.AsyncConfirmation, s.SonoraQuest}
}

func (h *Handlers) getAppointmentSettings(ctx context.Context, c api.Caller, _ *api.Empty) (*api.Out[appointmentSettings], error) {
	var s appointments.Settings
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		s, err = appointments.SettingsOf(ctx, tx, c.Team)
		return err
	})
	return api.Answer(appointmentSettingsOf(s)), err
}

type setAppointmentSettingsIn struct {
	Body struct {
		Scheduling        *bool `json:"scheduling_enabled" required:"false"`
		BeforeRequisition *bool `json:"booking_before_requisition_enabled" required:"false"`
		AsyncConfirmation *bool `json:"async_confirmation_enabled" required:"false"`
		SonoraQuest       *bool `json:"sonora_quest_enabled" required:"false"`
	} `doc:"Absent fields keep their values."`
}

func (h *Handlers) setAppointmentSettings(ctx context.Context, c api.Caller, in *setAppointmentSettingsIn) (*api.Out[appointmentSettings], error) {
	var s appointments.Settings
	err := h.DB.Write(ctx, func(tx *store.Tx) (err error) {
		if s, err = appointments.SettingsOf(ctx, tx, c.Team); err != nil {
			return err
		}
		for at, turned := range map[*bool]*bool{
			&s.Scheduling: in.Body.Scheduling, &s.BeforeRequisition: in.Body.BeforeRequisition,
			&s.AsyncConfirmation: in.Body.AsyncConfirmation, &s.SonoraQuest: in.Body.SonoraQuest,
		} {
			if turned != nil {
				*at = *turned
			}
		}
		return appointments.ChangeSettings(ctx, tx, c.Team, s)
	})
	return api.Answer(appointmentSettingsOf(s)), err
}

// availabilityBody contains the free times of 14 days.
//
// Reference 2.3, AppointmentAvailabilitySlots.
type availabilityBody struct {
	Slots    []daySlotsBody `json:"slots" doc:"Slots by day and site."`
	TimeZone *string        `json:"timezone" doc:"IANA time zone of the address. It is null for service centers."`
}

type daySlotsBody struct {
	Location api.OrNull[slotLocationBody] `json:"location" doc:"Service center of the slots. It is null for phlebotomy."`
	Date     civil.Date                   `json:"date" format:"date" doc:"Date in the local time of the place."`
	Slots    []timeSlotBody               `json:"slots"`
}

// slotLocationBody is a service center that offers appointments.
//
// Reference 2.3, AppointmentLocation.
type slotLocationBody struct {
	Location lngLat                       `json:"location"`
	Distance *int                         `json:"distance" doc:"Whole miles from the center of the ZIP code; null if the request names the site."`
	Address  appointments.AddressDocument `json:"address"`
	Code     string                       `json:"code"`
	Name     string                       `json:"name"`
	TimeZone *string                      `json:"iana_timezone"`
}

// timeSlotBody is a free time.
//
// Reference 2.3, TimeSlot.
type timeSlotBody struct {
	Key       string   `json:"booking_key" doc:"Key that books the slot. It can be used once, until expires_at."`
	Start     api.Time `json:"start" doc:"Start of the slot in UTC."`
	End       api.Time `json:"end" doc:"End of the slot in UTC."`
	ExpiresAt api.Time `json:"expires_at"`
	Price     int64    `json:"price" doc:"Price in US cents. It is 0 for service centers."`
	Priority  bool     `json:"is_priority"`
	Free      int      `json:"num_appointments_available"`
}

func availabilityOf(found appointments.Availability, clock func(appointments.Day) string) availabilityBody {
	body := availabilityBody{Slots: make([]daySlotsBody, len(found.Days)), TimeZone: api.TextOrNull(found.TimeZone)}
	for i, day := range found.Days {
		d := daySlotsBody{Date: day.Date, Slots: make([]timeSlotBody, len(day.Slots))}
		if site := day.Site; site != nil {
			d.Location = api.Nullable(slotLocationOf(site, clock(day)))
		}
		for j, s := range day.Slots {
			d.Slots[j] = timeSlotBody{s.Key, api.Time(s.Start), api.Time(s.End), api.Time(s.Expires), s.Price, s.Priority, s.Free}
		}
		body.Slots[i] = d
	}
	return body
}

func slotLocationOf(site *appointments.NearSite, zone string) *slotLocationBody {
	b := &slotLocationBody{
		Location: lngLat{site.Lng, site.Lat}, Code: site.Code, Name: site.Name, TimeZone: api.TextOrNull(zone),
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

// usAddressIn is the address for a visit of a phlebotomist.
//
// Reference 2.3, USAddress.
type usAddressIn struct {
	FirstLine   string  `json:"first_line" minLength:"1" maxLength:"500"`
	SecondLine  *string `json:"second_line" required:"false" maxLength:"500"`
	City        string  `json:"city" minLength:"1" maxLength:"500"`
	State       string  `json:"state" minLength:"1" maxLength:"50"`
	Zip         string  `json:"zip_code" pattern:"^\\d{5}(-\\d{4})?$"`
	Unit        *string `json:"unit" required:"false" maxLength:"500" deprecated:"true" doc:"Deprecated: use second_line."`
	AccessNotes *string `json:"access_notes" required:"false" maxLength:"1000" doc:"Instructions for entering the building."`
}

func (in usAddressIn) address() appointments.Address {
	second := api.TextOf(in.SecondLine)
	if second == "" {
		second = api.TextOf(in.Unit)
	}
	return appointments.Address{
		FirstLine: in.FirstLine, SecondLine: second, City: in.City, State: in.State, Zip: in.Zip, AccessNotes: api.TextOf(in.AccessNotes),
	}
}

type phlebotomyAvailabilityIn struct {
	StartDate string `query:"start_date" format:"date" doc:"First day of the range of 14 days: today or later, at most two years ahead. The default is today."`
	Body      usAddressIn
}

// parseDay parses a date of the query. The schema has checked its form.
func parseDay(text string) (*civil.Date, error) {
	if text == "" {
		return nil, nil
	}
	day, err := civil.ParseDate(text)
	if err != nil {
		return nil, fault.New(fault.Invalid, "Input should be a valid date in the format YYYY-MM-DD").At("query", "start_date").WithType("date_parsing")
	}
	return &day, nil
}

func (h *Handlers) phlebotomyAvailability(ctx context.Context, c api.Caller, in *phlebotomyAvailabilityIn) (*api.Out[availabilityBody], error) {
	start, err := parseDay(in.StartDate)
	if err != nil {
		return nil, err
	}
	found, err := h.Appointments.AtHome(ctx, viewer(c), in.Body.address(), start)
	if err != nil {
		return nil, err
	}
	return api.Answer(availabilityOf(found, nil)), nil
}

// centerLab is a lab whose service centers accept appointments.
type centerLab string

// Schema lists the labs.
func (centerLab) Schema(huma.Registry) *huma.Schema { return api.Enum(appointments.Centers) }

type pscAvailabilityIn struct {
	Lab        centerLab `query:"lab" required:"true"`
	StartDate  string    `query:"start_date" format:"date" doc:"First day of the range of 14 days: today or later, at most two years ahead. The default is today."`
	SiteCodes  []string  `query:"site_codes,explode" doc:"Codes of at most 3 sites. Repeat the parameter for several. Either site_codes or zip_code is required."`
	ZipCode    string    `query:"zip_code" pattern:"^\\d{5}$" doc:"ZIP code whose nearest centers are searched. It is required without site_codes, and ignored with them."`
	Radius     radius    `query:"radius" default:"25" doc:"Radius in miles around zip_code. An empty value is refused with zip_code."`
	AllowStale bool      `query:"allow_stale" default:"false" doc:"Accept answers of the sites that are up to 15 minutes old."`

	noRadius bool // the parameter was sent empty
}

// Resolve distinguishes an empty radius parameter from an absent one.
func (in *pscAvailabilityIn) Resolve(ctx huma.Context) []error {
	u := ctx.URL()
	sent, ok := u.Query()["radius"]
	in.noRadius = ok && (sent[0] == "" || sent[0] == "null")
	return nil
}

func (h *Handlers) pscAvailability(ctx context.Context, c api.Caller, in *pscAvailabilityIn) (*api.Out[availabilityBody], error) {
	start, err := parseDay(in.StartDate)
	if err != nil {
		return nil, err
	}
	q := appointments.CenterQuery{Lab: string(in.Lab), Start: start, Codes: in.SiteCodes, Zip: in.ZipCode, AllowStale: in.AllowStale}
	if miles, err := strconv.Atoi(string(in.Radius)); err == nil && !in.noRadius {
		q.Radius = &miles
	}
	found, err := h.Appointments.AtCenters(ctx, viewer(c), q)
	if err != nil {
		return nil, err
	}
	clock := func(day appointments.Day) string { return appointments.ZoneOf(viewer(c), day.Site.Site) }
	return api.Answer(availabilityOf(found, clock)), nil
}
