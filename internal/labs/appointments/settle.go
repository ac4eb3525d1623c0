package appointments

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

type jobArgs struct {
	Team        teams.ID `json:"team"`
	Appointment ID       `json:"appointment"`
}

// The kinds of job.
var (
	settleKind    = jobs.Named[jobArgs]("appointments.settle").With(settleLimits)
	lapseKind     = jobs.Named[jobArgs]("appointments.lapse").With(settleLimits)
	confirmKind   = jobs.Named[jobArgs]("appointments.confirm").With(settleLimits)
	settleLimits  = jobs.Limits{Concurrency: 8, Timeout: 2 * time.Minute, Attempts: 24}
	networkAnswer = 30 * time.Second // that a job waits for one answer
)

// Jobs are the kinds of job that a runner needs.
func (s *Service) Jobs() []jobs.Handler {
	return []jobs.Handler{
		settleKind.Do(func(ctx context.Context, _ *jobs.Run, args jobArgs) error {
			return s.settle(ctx, args.Team, args.Appointment)
		}),
		lapseKind.Do(s.lapse),
		confirmKind.Do(s.confirm),
		jobs.Define("appointments.forget_keys", func(ctx context.Context, run *jobs.Run, _ struct{}) error {
			return run.DB().Write(ctx, func(tx *store.Tx) error { return forgetKeys(ctx, tx) })
		}).Every(time.Hour),
	}
}

func enqueue(ctx context.Context, tx *store.Tx, kind jobs.Kind[jobArgs], a *Appointment, at time.Time) error {
	_, err := kind.Enqueue(ctx, tx, jobArgs{a.Team, a.ID}, jobs.Options{Team: a.Team.UUID(), Key: a.ID.String(), At: at})
	return err
}

// later asks for the job that settles an appointment.
func later(ctx context.Context, tx *store.Tx, a *Appointment, at time.Time) error {
	return enqueue(ctx, tx, settleKind, a, at)
}

// settle asks the network for everything that an appointment still wants of
// it, and writes the answers. It returns nil when nothing is left, and a
// jobs.Later while somebody else is at it or the network is to be asked again.
func (s *Service) settle(ctx context.Context, team teams.ID, id ID) error {
	for {
		var a Appointment
		var whole networks.Order
		err := s.DB.Read(ctx, func(tx *store.Tx) (err error) {
			if a, err = get(ctx, tx, team, id); err == nil && a.Body.Call != nil {
				whole, err = forNetwork(ctx, tx, &a)
			}
			return err
		})
		switch {
		case gone(err):
			return nil
		case err != nil:
			return err
		case a.idle():
			return nil
		case a.Body.Call == nil:
			err = s.giveBack(ctx, &a)
		case a.waited(s.DB.Now()):
			return jobs.Later(a.Body.Call.Until.Sub(s.DB.Now()))
		default:
			err = s.finish(ctx, &a, whole)
		}
		if err != nil {
			return err
		}
	}
}

// giveBack frees one slot.
func (s *Service) giveBack(ctx context.Context, a *Appointment) error {
	b := a.Body.Release[0]
	asking, stop := context.WithTimeout(ctx, networkAnswer)
	defer stop()
	if err := s.booker(a.Network).Unbook(asking, b); err != nil && !errors.Is(err, networks.ErrUnsupported) {
		return fmt.Errorf("appointments: giving back the slot of %s: %w", a.ID, err)
	}
	return s.edit(ctx, a, func(tx *store.Tx, a *Appointment, _ *orders.Order) error {
		for i, other := range a.Body.Release {
			if other.ID == b.ID {
				a.Body.Release = append(a.Body.Release[:i:i], a.Body.Release[i+1:]...)
				return saveOrForget(ctx, tx, a)
			}
		}
		return nil
	})
}

// finish asks once more for what a call says.
func (s *Service) finish(ctx context.Context, a *Appointment, whole networks.Order) error {
	call := *a.Body.Call
	asking, stop := context.WithTimeout(ctx, networkAnswer)
	booking, asked := s.call(asking, a, whole)
	stop()
	var wait time.Duration
	err := s.edit(ctx, a, func(tx *store.Tx, a *Appointment, o *orders.Order) error {
		wait = 0
		if a.Body.Call == nil || a.Body.Call.ID != call.ID {
			return nil
		}
		switch {
		case asked == nil:
			_, err := s.answered(ctx, tx, a, o, booking)
			return err
		case final(asked):
			return s.denied(ctx, tx, a, o)
		case a.Body.Call.Abandoned:
			return nil
		case !tx.Now().Before(call.Deadline):
			return s.giveUp(ctx, tx, a, o)
		}
		if wait = again; call.Async {
			return s.shown(ctx, tx, a, o)
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case wait > 0:
		return jobs.Later(wait)
	case asked != nil && !final(asked) && call.Abandoned:
		return fmt.Errorf("appointments: taking back what was asked for %s: %w", a.ID, asked)
	}
	return nil
}

// giveUp ends a call that was never answered; the job goes on until it knows
// that nothing stays booked.
func (s *Service) giveUp(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order) error {
	a.Body.Call.Abandoned = true
	if a.Status == Asked || a.Body.Call.Verb == ChangeSlot {
		return save(ctx, tx, a)
	}
	_, err := end(ctx, tx, a, o, step{to: Cancelled, data: map[string]any{"origin": byProvider}})
	return err
}

// edit changes an appointment as it is now.
func (s *Service) edit(ctx context.Context, was *Appointment, change func(tx *store.Tx, a *Appointment, o *orders.Order) error) error {
	err := s.DB.Write(ctx, func(tx *store.Tx) error {
		a, err := get(ctx, tx, was.Team, was.ID)
		if err != nil {
			return err
		}
		o, err := orderOf(ctx, tx, &a)
		if err != nil {
			return err
		}
		return change(tx, &a, &o)
	})
	if gone(err) {
		return nil
	}
	return err
}
