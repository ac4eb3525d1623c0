package api

import (
	"context"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"hale/internal/labs/appointments"
	"hale/internal/labs/orders"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
)

// appointmentRoutes are visits: of a phlebotomist, and at a service center.
func (a *API) appointmentRoutes() []route {
	const (
		visit  = "/v3/order/{order_id}/phlebotomy/appointment"
		center = "/v3/order/{order_id}/psc/appointment"
	)
	return []route{
		get("/v3/order/{order_id}/psc/info", a.orderPSCInfo, "List the patient service centers near an order's patient"),
		post("/v3/order/phlebotomy/appointment/availability", a.phlebotomyAvailability, "List times at which a phlebotomist can come to an address").sensitive(),
		get("/v3/order/phlebotomy/appointment/cancellation-reasons", a.phlebotomyReasons, "List why a phlebotomy appointment may be cancelled"),
		get(visit, a.getPhlebotomyAppointment, "Get an order's phlebotomy appointment"),
		post(visit+"/book", a.bookPhlebotomy, "Book a phlebotomy appointment").creates().sensitive(),
		post(visit+"/request", a.requestPhlebotomy, "Ask for a phlebotomy appointment whose time will be agreed").creates().sensitive(),
		amend(visit+"/reschedule", a.reschedulePhlebotomy, "Move a phlebotomy appointment to another time").sensitive(),
		amend(visit+"/cancel", a.cancelPhlebotomy, "Cancel a phlebotomy appointment").sensitive(),
		post("/v3/order/psc/appointment/availability", a.pscAvailability, "List free times at patient service centers"),
		get("/v3/order/psc/appointment/cancellation-reasons", a.pscReasons, "List why an appointment at a service center may be cancelled"),
		get(center, a.getPSCAppointment, "Get an order's appointment at a service center"),
		post(center+"/book", a.bookPSC, "Book an appointment at a service center").creates().sensitive(),
		amend(center+"/reschedule", a.reschedulePSC, "Move an appointment at a service center to another time").sensitive(),
		amend(center+"/cancel", a.cancelPSC, "Cancel an appointment at a service center").sensitive(),
		get("/v2/team/appointment_settings", a.getAppointmentSettings, "Get your switches of appointments").tag("order"),
		amend("/v2/team/appointment_settings", a.setAppointmentSettings, "Turn your switches of appointments").tag("order"),
	}
}

type appointmentBody = appointments.Document

// registerAppointmentAliases tells huma how the types of appointments look that
// are written in their own way.
func registerAppointmentAliases(r huma.Registry) {
	r.RegisterTypeAlias(reflect.TypeFor[appointments.DataDocument](), reflect.TypeFor[objectOfAny]())
}

// objectOfAny is an object with whatever a provider says, or null.
type objectOfAny struct{}

func (objectOfAny) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Nullable: true}
}

type appointmentIn struct{ OrderPath }

func (a *API) appointmentOf(ctx context.Context, c Caller, order orders.ID, k appointments.Kind) (*out[appointmentBody], error) {
	var body appointmentBody
	err := a.db.Read(ctx, func(tx *store.Tx) (err error) {
		body, err = appointments.Get(ctx, tx, c.Team, order, k)
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(body), nil
}

func (a *API) getPhlebotomyAppointment(ctx context.Context, c Caller, in *appointmentIn) (*out[appointmentBody], error) {
	return a.appointmentOf(ctx, c, in.OrderID, appointments.Phlebotomy)
}

func (a *API) getPSCAppointment(ctx context.Context, c Caller, in *appointmentIn) (*out[appointmentBody], error) {
	return a.appointmentOf(ctx, c, in.OrderID, appointments.AtCenter)
}

// bookIn is a booking.
//
// Reference 2.4, AppointmentBookingRequest.
type bookIn struct {
	OrderPath
	Body struct {
		Key          string  `json:"booking_key" doc:"Of an availability answer; works once."`
		Notes        *string `json:"appointment_notes" required:"false" maxLength:"1000" doc:"What the phlebotomist or the center should know."`
		Async        bool    `json:"async_confirmation" required:"false" default:"false" doc:"Answer with a pending appointment when the provider is slow. Service centers only, and for teams that turned it on."`
		SyncTimeout  *int64  `json:"sync_confirmation_timeout_millisecond" required:"false" minimum:"1000" maximum:"10000" doc:"How long to wait for the provider; 10,000 when absent."`
		AsyncTimeout *int64  `json:"async_confirmation_timeout_millisecond" required:"false" minimum:"60000" maximum:"172800000" doc:"When a pending appointment that the provider never confirmed is cancelled; two days when absent."`
	}
}

func (a *API) book(ctx context.Context, c Caller, in *bookIn, k appointments.Kind) (*out[appointmentBody], error) {
	if what, ok := begun(ctx); ok {
		return a.resumeVisit(ctx, c, what)
	}
	b := in.Body
	body, err := a.Appointments.Book(ctx, viewer(c), appointments.Booking{
		Order: in.OrderID, Kind: k, Key: b.Key, Notes: word(b.Notes), Async: b.Async,
		SyncWait: milliseconds(b.SyncTimeout), AsyncWait: milliseconds(b.AsyncTimeout), OnStored: beginsVisit(ctx),
	})
	if err != nil {
		return nil, err
	}
	return answer(body), nil
}

// beginsVisit notes which appointment an idempotent request began.
func beginsVisit(ctx context.Context) appointments.OnStored {
	return func(tx *store.Tx, visit *appointments.Appointment) error {
		return begins(ctx, tx, visit.User, visit.ID.String())
	}
}

// resumeVisit answers a request that an earlier attempt began, which was cut off
// while the provider was asked.
func (a *API) resumeVisit(ctx context.Context, c Caller, what string) (*out[appointmentBody], error) {
	id, err := ids.Parse[appointments.Appointment](what)
	if err != nil {
		return nil, err
	}
	body, err := a.Appointments.Resume(ctx, viewer(c), id)
	if err != nil {
		return nil, err
	}
	return answer(body), nil
}

func milliseconds(n *int64) time.Duration {
	if n == nil {
		return 0
	}
	return time.Duration(*n) * time.Millisecond
}

func (a *API) bookPhlebotomy(ctx context.Context, c Caller, in *bookIn) (*out[appointmentBody], error) {
	return a.book(ctx, c, in, appointments.Phlebotomy)
}

func (a *API) bookPSC(ctx context.Context, c Caller, in *bookIn) (*out[appointmentBody], error) {
	return a.book(ctx, c, in, appointments.AtCenter)
}

type requestPhlebotomyIn struct {
	OrderPath
	Body struct {
		Address  usAddressIn `json:"address"`
		Provider string      `json:"provider" enum:"getlabs,phlebfinders,quest,sonora_quest"`
		Notes    *string     `json:"appointment_notes" required:"false" maxLength:"1000"`
	}
}

func (a *API) requestPhlebotomy(ctx context.Context, c Caller, in *requestPhlebotomyIn) (*out[appointmentBody], error) {
	if what, ok := begun(ctx); ok {
		return a.resumeVisit(ctx, c, what)
	}
	body, err := a.Appointments.RequestVisit(ctx, viewer(c), appointments.Request{
		Order: in.OrderID, Provider: in.Body.Provider, Address: in.Body.Address.address(), Notes: word(in.Body.Notes),
		OnStored: beginsVisit(ctx),
	})
	if err != nil {
		return nil, err
	}
	return answer(body), nil
}

type rescheduleAppointmentIn struct {
	OrderPath
	Body struct {
		Key   string  `json:"booking_key" doc:"Of an availability answer; works once."`
		Notes *string `json:"appointment_notes" required:"false" maxLength:"1000" doc:"Replaces the notes; they stay when absent or null."`
	}
}

func (a *API) rescheduleAppointment(ctx context.Context, c Caller, in *rescheduleAppointmentIn, k appointments.Kind) (*out[appointmentBody], error) {
	body, err := a.Appointments.Reschedule(ctx, viewer(c), appointments.Change{Order: in.OrderID, Kind: k, Key: in.Body.Key, Notes: in.Body.Notes})
	if err != nil {
		return nil, err
	}
	return answer(body), nil
}

func (a *API) reschedulePhlebotomy(ctx context.Context, c Caller, in *rescheduleAppointmentIn) (*out[appointmentBody], error) {
	return a.rescheduleAppointment(ctx, c, in, appointments.Phlebotomy)
}

func (a *API) reschedulePSC(ctx context.Context, c Caller, in *rescheduleAppointmentIn) (*out[appointmentBody], error) {
	return a.rescheduleAppointment(ctx, c, in, appointments.AtCenter)
}

func (a *API) cancelAppointment(ctx context.Context, c Caller, end appointments.Cancellation) (*out[appointmentBody], error) {
	var body appointmentBody
	err := a.db.Write(ctx, func(tx *store.Tx) (err error) {
		body, err = appointments.Cancel(ctx, tx, c.Team, end)
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(body), nil
}

// cancelPhlebotomyIn and cancelPSCIn differ in how their fields are written.
//
// Reference 2.6.
type cancelPhlebotomyIn struct {
	OrderPath
	Body struct {
		Reason uuid.UUID `json:"cancellation_reason_id" format:"uuid"`
		Notes  *string   `json:"notes" required:"false" maxLength:"1000" doc:"Required with the reason Other."`
	}
}

func (a *API) cancelPhlebotomy(ctx context.Context, c Caller, in *cancelPhlebotomyIn) (*out[appointmentBody], error) {
	return a.cancelAppointment(ctx, c, appointments.Cancellation{
		Order: in.OrderID, Kind: appointments.Phlebotomy, Reason: in.Body.Reason, Notes: word(in.Body.Notes),
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

func (a *API) cancelPSC(ctx context.Context, c Caller, in *cancelPSCIn) (*out[appointmentBody], error) {
	return a.cancelAppointment(ctx, c, appointments.Cancellation{
		Order: in.OrderID, Kind: appointments.AtCenter, Reason: in.Body.Reason, Notes: word(in.Body.Note),
		ReasonField: "cancellationReasonId", NotesField: "note",
	})
}

func (a *API) phlebotomyReasons(context.Context, Caller, *empty) (*out[[]appointments.Reason], error) {
	return answer(appointments.Reasons(appointments.Phlebotomy)), nil
}

func (a *API) pscReasons(context.Context, Caller, *empty) (*out[[]appointments.Reason], error) {
	return answer(appointments.Reasons(appointments.AtCenter)), nil
}
