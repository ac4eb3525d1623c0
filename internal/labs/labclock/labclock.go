// Package labclock has the time of a team's laboratories. Orders, appointments
// and results use it for every time that a caller sees.
//
// The clock of a production team is the real one. The clock of a sandbox team
// may be ahead: its tests do not wait for days. Deliveries, sessions and jobs
// use the real clock.
package labclock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Clock is the clock of a team's laboratories.
type Clock struct {
	// Ahead is by how much it is ahead of the real clock.
	Ahead time.Duration
	// StepAt is the time of the step that the sandbox laboratory runs. The
	// clock shows it until the next step; zero between turns.
	StepAt time.Time
}

// Read reads the clock of a team.
func Read(ctx context.Context, tx *store.Tx, team teams.ID) (Clock, error) {
	var ahead int64
	var step *int64
	err := tx.QueryRow(ctx, `SELECT ahead, step_at FROM sandbox_clocks WHERE team_id = $1`, team).Scan(&ahead, &step)
	if err != nil && !errors.Is(err, store.ErrNoRows) {
		return Clock{}, fmt.Errorf("labclock: reading a clock: %w", err)
	}
	c := Clock{Ahead: time.Duration(ahead) * time.Microsecond}
	if step != nil {
		c.StepAt = time.UnixMicro(*step).UTC()
	}
	return c, nil
}

// TimeOf returns the time of a team's laboratories.
func TimeOf(ctx context.Context, tx *store.Tx, team teams.ID) (time.Time, error) {
	c, err := Read(ctx, tx, team)
	if err == nil && !c.StepAt.IsZero() {
		return c.StepAt, nil
	}
	return tx.Now().Add(c.Ahead), err
}

// Offset returns by how much the clock of a team is ahead.
func Offset(ctx context.Context, tx *store.Tx, team teams.ID) (time.Duration, error) {
	c, err := Read(ctx, tx, team)
	return c.Ahead, err
}

// SetStep sets the time of the running step; zero ends the advance.
func SetStep(ctx context.Context, tx *store.Tx, team teams.ID, at time.Time) error {
	var step any
	if !at.IsZero() {
		step = store.Micros(at)
	}
	_, err := tx.Exec(ctx, `INSERT INTO sandbox_clocks (team_id, ahead, step_at) VALUES ($1, 0, $2) ON CONFLICT (team_id) DO UPDATE SET step_at = excluded.step_at`,
		team, step)
	if err != nil {
		return fmt.Errorf("labclock: setting the time of a step: %w", err)
	}
	return nil
}

// SetOffset sets by how much the clock of a team is ahead.
func SetOffset(ctx context.Context, tx *store.Tx, team teams.ID, ahead time.Duration) error {
	_, err := tx.Exec(ctx, `INSERT INTO sandbox_clocks (team_id, ahead) VALUES ($1, $2) ON CONFLICT (team_id) DO UPDATE SET ahead = excluded.ahead`,
		team, ahead.Microseconds())
	if err != nil {
		return fmt.Errorf("labclock: setting a clock: %w", err)
	}
	return nil
}

// LaterOf returns the later of two times.
func LaterOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
