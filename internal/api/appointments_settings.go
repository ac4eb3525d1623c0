package api

import (
	"context"

	"hale/internal/labs/appointments"
	"hale/internal/platform/store"
)

// appointmentSettings are a team's switches, which the reference turns for its
// customers.
type appointmentSettings struct {
	Scheduling        bool `json:"scheduling_enabled" doc:"When off, nothing can be booked: 503."`
	BeforeRequisition bool `json:"booking_before_requisition_enabled" doc:"Orders without a requisition can have appointments, which are held until it comes."`
	AsyncConfirmation bool `json:"async_confirmation_enabled" doc:"Bookings at service centers may ask for async_confirmation."`
	SonoraQuest       bool `json:"sonora_quest_enabled" doc:"The Arizona laboratory can be booked; when off: 403."`
}

func appointmentSettingsOf(s appointments.Settings) appointmentSettings {
	return appointmentSettings{s.Scheduling, s.BeforeRequisition, s.AsyncConfirmation, s.SonoraQuest}
}

func (a *API) getAppointmentSettings(ctx context.Context, c Caller, _ *empty) (*out[appointmentSettings], error) {
	var s appointments.Settings
	err := a.db.Read(ctx, func(tx *store.Tx) (err error) {
		s, err = appointments.SettingsOf(ctx, tx, c.Team)
		return err
	})
	return answer(appointmentSettingsOf(s)), err
}

type setAppointmentSettingsIn struct {
	Body struct {
		Scheduling        *bool `json:"scheduling_enabled" required:"false"`
		BeforeRequisition *bool `json:"booking_before_requisition_enabled" required:"false"`
		AsyncConfirmation *bool `json:"async_confirmation_enabled" required:"false"`
		SonoraQuest       *bool `json:"sonora_quest_enabled" required:"false"`
	} `doc:"What is left out stays as it is."`
}

func (a *API) setAppointmentSettings(ctx context.Context, c Caller, in *setAppointmentSettingsIn) (*out[appointmentSettings], error) {
	var s appointments.Settings
	err := a.db.Write(ctx, func(tx *store.Tx) (err error) {
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
	return answer(appointmentSettingsOf(s)), err
}
