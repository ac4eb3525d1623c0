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

// mostAhead bounds how far a clock may be put forward in all.
const mostAhead = 10 * 366 * day

// Now is the time by the clock of a team's lab.
func Now(ctx context.Context, tx *store.Tx, team teams.ID) (time.Time, error) {
	ahead, err := aheadOf(ctx, tx, team)
	return tx.Now().Add(ahead), err
}

func aheadOf(ctx context.Context, tx *store.Tx, team teams.ID) (time.Duration, error) {
	var us int64
	err := tx.QueryRow(ctx, `SELECT ahead FROM sandbox_clocks WHERE team_id = $1`, team).Scan(&us)
	if err != nil && !errors.Is(err, store.ErrNoRows) {
		return 0, fmt.Errorf("sandboxlab: reading a clock: %w", err)
	}
	return time.Duration(us) * time.Microsecond, nil
}

// Advance puts the clock of a team's lab forward and returns the new time. What
// is due by then happens in the background, in order; see Due.
func (l *Lab) Advance(ctx context.Context, tx *store.Tx, team teams.ID, by time.Duration) (time.Time, error) {
	if by < 0 {
		return time.Time{}, fault.New(fault.Invalid, "Value error, the clock only goes forward").At("body", "duration")
	}
	if err := l.takeUp(ctx, tx, team); err != nil {
		return time.Time{}, err
	}
	if err := tx.Lock(ctx, "sandbox clock:"+team.String()); err != nil { // two who turn it at once
		return time.Time{}, fmt.Errorf("sandboxlab: waiting for a clock: %w", err)
	}
	ahead, err := aheadOf(ctx, tx, team)
	if err != nil {
		return time.Time{}, err
	}
	if ahead += by; by > mostAhead || ahead > mostAhead {
		return time.Time{}, fault.New(fault.Refused, "The clock may be at most ten years ahead").At("body", "duration")
	}
	_, err = tx.Exec(ctx, `INSERT INTO sandbox_clocks (team_id, ahead) VALUES ($1, $2) ON CONFLICT (team_id) DO UPDATE SET ahead = excluded.ahead`,
		team, ahead.Microseconds())
	if err != nil {
		return time.Time{}, fmt.Errorf("sandboxlab: turning a clock: %w", err)
	}
	return tx.Now().Add(ahead), turn(ctx, tx, team)
}

// takeUp takes orders whose job has not handed them over yet, so that whoever
// orders and turns the clock at once sees them move. More than a thousand wait
// for their jobs.
func (l *Lab) takeUp(ctx context.Context, tx *store.Tx, team teams.ID) error {
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

// Due counts the steps of a team that are due and not done yet.
func Due(ctx context.Context, tx *store.Tx, team teams.ID) (n int, err error) {
	now, err := Now(ctx, tx, team)
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
	turnKind     = jobs.Named[turnArgs]("sandbox.turn").With(turnLimits)
	simulateKind = jobs.Named[simulateArgs]("sandbox.simulate").With(turnLimits)
)

var turnLimits = jobs.Limits{Concurrency: 4, Timeout: 10 * time.Minute, Attempts: 20}

// Jobs are the kinds of job that a runner needs.
func (l *Lab) Jobs() []jobs.Handler {
	return []jobs.Handler{turnKind.Do(l.turn), simulateKind.Do(l.simulate)}
}

// turn asks for what is due to be done. One job does it for a team, so that
// things happen in their order.
func turn(ctx context.Context, tx *store.Tx, team teams.ID) error {
	_, err := turnKind.Enqueue(ctx, tx, turnArgs{team}, jobs.Options{Team: team.UUID(), Key: team.String()})
	return err
}

// turn does what is due, the earliest first. A step is said to the Inbox before
// it is struck off; said again after a crash, it has the same key. An order
// whose next step must wait is passed over until the others are through, and
// looked at again later, for as long as it takes.
func (l *Lab) turn(ctx context.Context, run *jobs.Run, args turnArgs) error {
	var waiting []orders.ID
	for n := int64(0); ; n++ {
		next, err := l.next(ctx, args.Team, waiting)
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
		if errors.Is(err, errNotYet) {
			waiting = append(waiting, next.Order)
			continue
		}
		if err != nil {
			return err
		}
		if err := l.done(ctx, args.Team, next.ID); err != nil {
			return err
		}
		if err := run.Progress(ctx, n+1, 0, "steps"); err != nil {
			return err
		}
	}
}

// next is the earliest step that is due, of an order that need not wait.
func (l *Lab) next(ctx context.Context, team teams.ID, waiting []orders.ID) (next Planned, err error) {
	err = l.DB.Read(ctx, func(tx *store.Tx) error {
		now, err := Now(ctx, tx, team)
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

func (l *Lab) done(ctx context.Context, team teams.ID, step uuid.UUID) error {
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
