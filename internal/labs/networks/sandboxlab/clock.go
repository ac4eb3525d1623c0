package sandboxlab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/labclock"
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
	return labclock.TimeOf(ctx, tx, team)
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
	ahead, err := labclock.Offset(ctx, tx, team)
	if err != nil {
		return time.Time{}, err
	}
	if ahead += by; by > maxAhead || ahead > maxAhead {
		return time.Time{}, fault.New(fault.Refused, "The clock may be at most ten years ahead: seconds").At("body", "seconds")
	}
	if err := labclock.SetOffset(ctx, tx, team, ahead); err != nil {
		return time.Time{}, err
	}
	if by > 0 { // orders whose activate_by has come
		if err := l.acceptWaiting(ctx, tx, team); err != nil {
			return time.Time{}, err
		}
	}
	for _, kind := range l.Timed {
		if err := jobs.Hasten(ctx, tx, team.UUID(), kind, by); err != nil {
			return time.Time{}, err
		}
	}
	return tx.Now().Add(ahead), enqueueAdvance(ctx, tx, team)
}

// acceptWaiting accepts orders whose job has not placed them yet, so that a caller that
// orders and then advances the clock sees them move. It accepts at most a thousand with
// activate_by and a thousand without; the rest wait for their jobs.
func (l *Lab) acceptWaiting(ctx context.Context, tx *store.Tx, team teams.ID) error {
	waiting, err := orders.ListUnplaced(ctx, tx, team, 1000)
	if err != nil {
		return err
	}
	states, err := statesOf(ctx, tx, team, waiting)
	if err != nil {
		return err
	}
	for _, w := range waiting {
		if state := states[w.ID]; state != "" && (state != stateShipped || w.Status != orders.Registered) {
			continue // accepted; a kit is accepted again when it is registered
		}
		o, err := orders.Get(ctx, tx, team, w.ID)
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if o.Network != orders.SandboxNetwork { // at the test system of its lab
			continue
		}
		if _, err := l.accept(ctx, tx, &o); err != nil {
			return err
		}
		if o.ActivateBy == nil {
			continue
		}
		if err := orders.PlaceNow(ctx, tx, &o); err != nil {
			return err
		}
	}
	return nil
}

// statesOf returns the states of those orders that the lab has accepted.
func statesOf(ctx context.Context, tx *store.Tx, team teams.ID, all []orders.UnplacedOrder) (map[orders.ID]string, error) {
	states := map[orders.ID]string{}
	take := func(row store.Scanner) error {
		var id orders.ID
		var state string
		err := row.Scan(&id, &state)
		states[id] = state
		return err
	}
	var b store.Batch
	err := store.Chunks(all, []int{64, 16, 4, 1}, func(part []orders.UnplacedOrder) error {
		args := []any{team}
		for _, w := range part {
			args = append(args, w.ID)
		}
		b.Query(take, `SELECT id, state FROM sandbox_orders WHERE team_id = $1 AND id IN `+store.Placeholders(2, len(part)), args...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return states, tx.Run(ctx, &b)
}

// CountDue counts the steps of a team that are due and not done yet. running
// reports that the clock is being advanced: effects of its last step may be missing.
func CountDue(ctx context.Context, tx *store.Tx, team teams.ID) (n int, running bool, err error) {
	clock, err := labclock.Read(ctx, tx, team)
	if err != nil {
		return 0, false, err
	}
	now := tx.Now().Add(clock.Ahead)
	err = tx.QueryRow(ctx, `SELECT COUNT(*) FROM sandbox_steps WHERE team_id = $1 AND due_at <= $2`, team, store.Micros(now)).Scan(&n)
	return n, !clock.StepAt.IsZero(), err
}

// IsSettled reports whether nothing of a team is due: no step, and no job that waited
// for a time of the clock.
func (l *Lab) IsSettled(ctx context.Context, tx *store.Tx, team teams.ID) (bool, error) {
	n, running, err := CountDue(ctx, tx, team)
	if err != nil || n > 0 || running {
		return false, err
	}
	for _, kind := range l.Timed {
		if active, err := jobs.IsActive(ctx, tx, team.UUID(), kind); err != nil || active {
			return false, err
		}
	}
	return true, nil
}

type advanceArgs struct {
	Team teams.ID `json:"team"`
}

var (
	advanceKind  = jobs.NewKind[advanceArgs]("sandbox.turn").With(advanceLimits)
	simulateKind = jobs.NewKind[simulateArgs]("sandbox.simulate").With(advanceLimits)
)

var advanceLimits = jobs.Limits{Concurrency: 4, Timeout: 10 * time.Minute, Attempts: 20}

// Jobs returns the kinds of job that a runner needs.
func (l *Lab) Jobs() []jobs.Handler {
	return []jobs.Handler{advanceKind.Do(l.runDue), simulateKind.Do(l.simulate)}
}

// enqueueAdvance enqueues the due steps. One job runs them for a team, so that
// they keep their order.
func enqueueAdvance(ctx context.Context, tx *store.Tx, team teams.ID) error {
	_, err := advanceKind.Enqueue(ctx, tx, advanceArgs{team}, jobs.Options{Team: team.UUID(), Key: team.String()})
	return err
}

// runDue runs the due steps, the earliest first. A step is sent to the Inbox
// before it is deleted; after a crash it is sent again with the same key. The
// clock shows the time of a step until everything that follows from it is
// stored. An order whose next step must wait is skipped until the others are
// done, and retried later without a limit.
func (l *Lab) runDue(ctx context.Context, run *jobs.Run, args advanceArgs) error {
	var waiting []orders.ID
	var done PlannedStep
	for n := int64(0); ; n++ {
		next, found, err := l.nextStep(ctx, args.Team, done, waiting)
		switch {
		case err != nil:
			return err
		case !found && len(waiting) > 0:
			return jobs.RetryLater(drawWait)
		case !found:
			return nil
		}
		done = PlannedStep{}
		err = l.perform(ctx, args.Team, next)
		if errors.Is(err, errNoRequisition) {
			waiting = append(waiting, next.Order)
			continue
		}
		if errors.Is(err, errHeld) {
			continue
		}
		if err != nil {
			return err
		}
		l.awaitEffects(ctx, args.Team, next)
		done = next
		if err := run.Progress(ctx, n+1, 0, "steps"); err != nil {
			return err
		}
	}
}

// nextStep deletes the step that is done, and accepts the redraw that follows from it. It
// returns the earliest due step of an order that need not wait. The clock then shows its
// time; without a step the advance ends.
func (l *Lab) nextStep(ctx context.Context, team teams.ID, done PlannedStep, waiting []orders.ID) (next PlannedStep, found bool, err error) {
	err = l.DB.Write(ctx, func(tx *store.Tx) error {
		if done.ID != uuid.Nil {
			if _, err := tx.Exec(ctx, `DELETE FROM sandbox_steps WHERE team_id = $1 AND id = $2`, team, done.ID); err != nil {
				return fmt.Errorf("sandboxlab: deleting a step: %w", err)
			}
			if err := l.acceptRedraw(ctx, tx, team, done); err != nil {
				return err
			}
		}
		var err error
		next, err = nextDue(ctx, tx, team, waiting)
		if found = err == nil; !found && !errors.Is(err, store.ErrNoRows) {
			return err
		}
		return labclock.SetStep(ctx, tx, team, next.Due)
	})
	return next, found, err
}

// acceptRedraw accepts the redraw that the results of a step have caused. Its own job may
// place it only after the advance, and it would begin then.
func (l *Lab) acceptRedraw(ctx context.Context, tx *store.Tx, team teams.ID, done PlannedStep) error {
	if done.Step.Act != Report {
		return nil
	}
	o, err := orders.Get(ctx, tx, team, done.Order)
	if fault.Is(err, fault.NotFound) { // erased meanwhile
		return nil
	}
	if err != nil || o.Status != orders.RedrawAvailable {
		return err
	}
	members, err := orders.OrdersOfTransaction(ctx, tx, team, o.Transaction)
	if err != nil {
		return err
	}
	for i := range members {
		m := &members[i]
		if m.Parent == nil || *m.Parent != o.ID || m.Origin != orders.RedrawOf || m.Status != orders.Ordered || m.Network != orders.SandboxNetwork {
			continue
		}
		if _, err := l.accept(ctx, tx, m); err != nil {
			return err
		}
	}
	return nil
}

// effectWait is the maximum time that advancing the clock waits for the effects of a step.
// Slower effects still happen.
const effectWait = 10 * time.Second

// awaitEffects waits until the messages of a step are applied, and the jobs
// that follow from them are done.
func (l *Lab) awaitEffects(ctx context.Context, team teams.ID, p PlannedStep) {
	end := time.NewTimer(effectWait)
	defer end.Stop()
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		done := true
		err := l.DB.Read(store.AsSystem(ctx), func(tx *store.Tx) (err error) {
			for _, key := range p.keys() {
				if inbox, ok := l.Inbox.(handledInbox); ok && done {
					if done, err = inbox.Handled(ctx, tx, l.Slug(), key); err != nil {
						return err
					}
				}
			}
			for _, kind := range l.Following {
				active, err := jobs.IsActive(ctx, tx, team.UUID(), kind)
				if err != nil {
					return err
				}
				done = done && !active
			}
			return nil
		})
		if err != nil {
			l.Log.WarnContext(ctx, "sandbox laboratory: the effects of a step cannot be read", "error", err)
			return
		}
		if done {
			return
		}
		select {
		case <-time.After(pause):
		case <-end.C:
			l.Log.WarnContext(ctx, "sandbox laboratory: the effects of a step take long", "order", p.Order)
			return
		case <-ctx.Done():
			return
		}
	}
}

// handledInbox is an Inbox that knows which messages were applied.
type handledInbox interface {
	Handled(ctx context.Context, tx *store.Tx, network, key string) (bool, error)
}

// nextDue returns the earliest due step of an order that need not wait.
func nextDue(ctx context.Context, tx *store.Tx, team teams.ID, waiting []orders.ID) (PlannedStep, error) {
	ahead, err := labclock.Offset(ctx, tx, team)
	if err != nil {
		return PlannedStep{}, err
	}
	args := []any{team, store.Micros(tx.Now().Add(ahead))}
	others := ``
	for _, id := range waiting {
		args = append(args, id)
		others += fmt.Sprintf(` AND order_id <> $%d`, len(args))
	}
	return scanStep(tx.QueryRow(ctx, `SELECT `+stepColumns+` FROM sandbox_steps WHERE team_id = $1 AND due_at <= $2`+others+`
		ORDER BY due_at, id LIMIT 1`, args...))
}

// Check refuses a team whose orders are real.
func Check(ctx context.Context, tx *store.Tx, team teams.ID) error {
	t, err := teams.Get(ctx, tx, team)
	if err == nil && t.Environment != teams.Sandbox {
		err = fault.New(fault.NotFound, "Only a sandbox team has a lab that can be simulated").WithType("not_sandbox")
	}
	return err
}
