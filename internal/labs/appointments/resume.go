package appointments

import (
	"context"

	"hale/internal/labs/places"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// errNothingCame is the end of a booking that its caller was cut off from
// and that left no appointment: the provider said no, or nothing in time.
var errNothingCame = fault.New(fault.Refused, "The provider did not take the appointment; ask for availability again").WithType("not_booked")

// Resume goes on with a booking or a request whose caller was cut off: it asks
// the network what was to be asked, unless the job was faster, and answers with
// what has become of the appointment.
func (s *Service) Resume(ctx context.Context, who places.Viewer, id ID) (Document, error) {
	var a Appointment
	var doc Document
	err := s.DB.Read(ctx, func(tx *store.Tx) (err error) {
		if a, err = get(ctx, tx, who.Team, id); err != nil || a.Status == Asked {
			return err
		}
		o, err := orderOf(ctx, tx, &a)
		if err != nil {
			return err
		}
		doc, err = document(ctx, tx, &a, &o)
		return err
	})
	switch {
	case gone(err):
		return Document{}, errNothingCame
	case err != nil:
		return Document{}, err
	case a.Status != Asked:
		return doc, nil
	case a.Body.Call == nil || a.Body.Call.Abandoned:
		return Document{}, errNothingCame
	}
	return s.carry(ctx, &a, defaultSyncWait)
}
