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
	settleKind    = jobs.NewKind[jobArgs]("appointments.settle").With(settleLimits)
	lapseKind     = jobs.NewKind[jobArgs]("appointments.lapse").With(settleLimits)
	confirmKind   = jobs.NewKind[jobArgs]("appointments.confirm").With(settleLimits)
	settleLimits  = jobs.Limits{Concurrency: 8, Timeout: 2 * time.Minute, Attempts: 24}
	answerTimeout = 30 * time.Second // of a job's request to a network
)

// Jobs returns the kinds of job that a runner needs.
func (s *Service) Jobs() []jobs.Handler {
	return []jobs.Handler{
		settleKind.Do(func(ctx context.Context, _ *jobs.Run, args jobArgs) error {
			return s.settle(ctx, args.Team, args.Appointment)
		}).Sends(),
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

// FollowingJobs returns the kinds of jobs that follow when an order moves.
func FollowingJobs() []string { return []string{confirmKind.Name()} }

// TimedJobs returns the kinds of jobs that wait for a time of the team's clock.
func TimedJobs() []string { return []string{lapseKind.Name()} }

// settleLater enqueues the job that settles an appointment.
func settleLater(ctx context.Context, tx *store.Tx, a *Appointment, at time.Time) error {
	return enqueue(ctx, tx, settleKind, a, at)
}

// settle sends the open requests of an appointment to the network, and stores
// the answers. It returns nil when none is left, and jobs.RetryLater while a caller
// waits or the network must be asked again.
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
		case isErased(err):
			return nil
		case err != nil:
			return err
		case a.idle():
			return nil
		case a.Body.Call == nil:
			err = s.releaseSlot(ctx, &a)
		case a.callerWaits(s.DB.Now()):
			return jobs.RetryLater(a.Body.Call.Until.Sub(s.DB.Now()))
		default:
			err = s.retryCall(ctx, &a, whole)
		}
		if err != nil {
			return err
		}
	}
}

// releaseSlot releases one slot.
func (s *Service) releaseSlot(ctx context.Context, a *Appointment) error {
	b := a.Body.Release[0]
	asking, stop := context.WithTimeout(ctx, answerTimeout)
	defer stop()
	if err := s.booker(a.Network).Unbook(asking, b); err != nil && !errors.Is(err, networks.ErrUnsupported) {
		return fmt.Errorf("appointments: releasing the slot of %s: %w", a.ID, err)
	}
	return s.edit(ctx, a, func(tx *store.Tx, a *Appointment, _ *orders.Order) error {
		for i, other := range a.Body.Release {
			if other.ID == b.ID {
				a.Body.Release = append(a.Body.Release[:i:i], a.Body.Release[i+1:]...)
				return saveOrDelete(ctx, tx, a)
			}
		}
		return nil
	})
}

// retryCall sends an open call again.
func (s *Service) retryCall(ctx context.Context, a *Appointment, whole networks.Order) error {
	call := *a.Body.Call
	asking, stop := context.WithTimeout(ctx, answerTimeout)
	booking, asked := s.askNetwork(asking, a, whole)
	stop()
	var wait time.Duration
	err := s.edit(ctx, a, func(tx *store.Tx, a *Appointment, o *orders.Order) error {
		wait = 0
		if a.Body.Call == nil || a.Body.Call.ID != call.ID {
			return nil
		}
		switch {
		case asked == nil:
			_, err := s.applyYes(ctx, tx, a, o, booking)
			return err
		case isFinal(asked):
			return s.applyRefusal(ctx, tx, a, o)
		case a.Body.Call.Abandoned:
			return nil
		case !tx.Now().Before(call.Deadline):
			return s.abandon(ctx, tx, a, o)
		}
		if wait = askInterval; call.Async {
			return s.showPending(ctx, tx, a, o)
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case wait > 0:
		return jobs.RetryLater(wait)
	case asked != nil && !isFinal(asked) && call.Abandoned:
		return fmt.Errorf("appointments: undoing the call of %s: %w", a.ID, asked)
	}
	return nil
}

// abandon ends a call that was never answered. The job continues until it
// knows that no booking is left.
func (s *Service) abandon(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order) error {
	a.Body.Call.Abandoned = true
	if a.Status == Asked || a.Body.Call.Verb == ChangeSlot {
		return save(ctx, tx, a)
	}
	_, err := cancel(ctx, tx, a, o, move{to: Cancelled, data: map[string]any{"origin": byProvider}})
	return err
}

// edit changes an appointment as it is now stored.
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
	if isErased(err) {
		return nil
	}
	return err
}
