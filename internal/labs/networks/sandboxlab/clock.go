package sandboxlab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/orders"
	"hale/internal/platform/fault"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// maxAhead bounds the total offset of a clock.
const maxAhead = 10 * 366 * day

// TimeOf returns the time of a team's lab.
func TimeOf(ctx context.Context, tx *store.Tx, team teams.ID) (time.Time, error) {
	ahead, err := clockOffset(ctx, tx, team)
	return tx.Now().Add(ahead), err
}

func clockOffset(ctx context.Context, tx *store.Tx, team teams.ID) (time.Duration, error) {
	var us int64
	err := tx.QueryRow(ctx, `SELECT ahead FROM sandbox_clocks WHERE team_id = $1`, team).Scan(&us)
	if err != nil && !errors.Is(err, store.ErrNoRows) {
		return 0, fmt.Errorf("sandboxlab: reading a clock: %w", err)
	}
	return time.Duration(us) * time.Microsecond, nil
}

// Advance moves the clock of a team's lab forward and returns the new time. A
// background job runs the steps that are due by then, in order; see CountDue.
func (l *Lab) Advance(ctx context.Context, tx *store.Tx, team teams.ID, by time.Duration) (time.Time, error) {
	if by < 0 {
		return time.Time{}, fault.New(fault.Invalid, "Value error, the clock only goes forward").At("body", "duration")
	}
	if err := l.acceptWaiting(ctx, tx, team); err != nil {
		return time.Time{}, err
	}
	if err := tx.Lock(ctx, "sandbox clock:"+team.String()); err != nil { // concurrent calls add up
		return time.Time{}, fmt.Errorf("sandboxlab: waiting for a clock: %w", err)
	}
	ahead, err := clockOffset(ctx, tx, team)
	if err != nil {
		return time.Time{}, err
	}
	if ahead += by; by > maxAhead || ahead > maxAhead {
		return time.Time{}, fault.New(fault.Refused, "The clock may be at most ten years ahead").At("body", "duration")
	}
	_, err = tx.Exec(ctx, `INSERT INTO sandbox_clocks (team_id, ahead) VALUES ($1, $2) ON CONFLICT (team_id) DO UPDATE SET ahead = excluded.ahead`,
		team, ahead.Microseconds())
	if err != nil {
		return time.Time{}, fmt.Errorf("sandboxlab: advancing a clock: %w", err)
	}
	return tx.Now().Add(ahead), enqueueTurn(ctx, tx, team)
}

// acceptWaiting accepts orders whose job has not placed them yet, so that a
// caller that orders and then advances the clock sees them move. At most a
// thousand; the rest wait for their jobs.
func (l *Lab) acceptWaiting(ctx context.Context, tx *store.Tx, team teams.ID) error {
	waiting, err := orders.Unplaced(ctx, tx, team, 1000)
	if err != nil {
		return err
	}
	for _, id := range waiting {
		o, err := orders.Get(ctx, tx, team, id)
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if _, err := l.accept(ctx, tx, &o); err != nil {
			return err
		}
	}
	return nil
}

// CountDue counts the steps of a team that are due and not done yet.
func CountDue(ctx context.Context, tx *store.Tx, team teams.ID) (n int, err error) {
	now, err := TimeOf(ctx, tx, team)
	if err != nil {
		return 0, err
	}
	err = tx.QueryRow(ctx, `SELECT COUNT(*) FROM sandbox_steps WHERE team_id = $1 AND due_at <= $2`, team, store.Micros(now)).Scan(&n)
	return n, err
}

type turnArgs struct {
	Team teams.ID `json:"team"`
}

var (
	turnKind     = jobs.NewKind[turnArgs]("sandbox.turn").With(turnLimits)
	simulateKind = jobs.NewKind[simulateArgs]("sandbox.simulate").With(turnLimits)
)

var turnLimits = jobs.Limits{Concurrency: 4, Timeout: 10 * time.Minute, Attempts: 20}

// Jobs returns the kinds of job that a runner needs.
func (l *Lab) Jobs() []jobs.Handler {
	return []jobs.Handler{turnKind.Do(l.runDue), simulateKind.Do(l.simulate)}
}

// enqueueTurn enqueues the due steps. One job runs them for a team, so that
// they keep their order.
func enqueueTurn(ctx context.Context, tx *store.Tx, team teams.ID) error {
	_, err := turnKind.Enqueue(ctx, tx, turnArgs{team}, jobs.Options{Team: team.UUID(), Key: team.String()})
	return err
}

// runDue runs the due steps, the earliest first. A step is sent to the Inbox
// before it is deleted; after a crash it is sent again with the same key. An
// order whose next step must wait is skipped until the others are done, and
// retried later without a limit.
func (l *Lab) runDue(ctx context.Context, run *jobs.Run, args turnArgs) error {
	var waiting []orders.ID
	for n := int64(0); ; n++ {
		next, err := l.nextDue(ctx, args.Team, waiting)
		if errors.Is(err, store.ErrNoRows) {
			if len(waiting) > 0 {
				return jobs.Later(drawWait)
			}
			return nil
		}
		if err != nil {
			return err
		}
		err = l.perform(ctx, args.Team, next)
		if errors.Is(err, errNoRequisition) {
			waiting = append(waiting, next.Order)
			continue
		}
		if err != nil {
			return err
		}
		if err := l.deleteStep(ctx, args.Team, next.ID); err != nil {
			return err
		}
		if err := run.Progress(ctx, n+1, 0, "steps"); err != nil {
			return err
		}
	}
}

// nextDue returns the earliest due step of an order that need not wait.
func (l *Lab) nextDue(ctx context.Context, team teams.ID, waiting []orders.ID) (next PlannedStep, err error) {
	err = l.DB.Read(ctx, func(tx *store.Tx) error {
		now, err := TimeOf(ctx, tx, team)
		if err != nil {
			return err
		}
		args := []any{team, store.Micros(now)}
		others := ``
		for _, id := range waiting {
			args = append(args, id)
			others += fmt.Sprintf(` AND order_id <> $%d`, len(args))
		}
		next, err = scanStep(tx.QueryRow(ctx, `SELECT `+stepColumns+` FROM sandbox_steps WHERE team_id = $1 AND due_at <= $2`+others+`
			ORDER BY due_at, id LIMIT 1`, args...))
		return err
	})
	return next, err
}

func (l *Lab) deleteStep(ctx context.Context, team teams.ID, step uuid.UUID) error {
	return l.DB.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM sandbox_steps WHERE team_id = $1 AND id = $2`, team, step)
		return err
	})
}

// Check refuses a team whose orders are real.
func Check(ctx context.Context, tx *store.Tx, team teams.ID) error {
	t, err := teams.Get(ctx, tx, team)
	if err == nil && t.Environment != teams.Sandbox {
		err = fault.New(fault.NotFound, "Only a sandbox team has a lab that can be simulated").WithType("not_sandbox")
	}
	return err
}
