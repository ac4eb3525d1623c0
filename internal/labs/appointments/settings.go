package appointments

import (
	"context"
	"errors"
	"fmt"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Settings are a team's switches.
//
// Reference 2.4, 2.5: each is something that the reference turns on for a team.
type Settings struct {
	// Scheduling is off for a team that makes no appointments through us.
	Scheduling bool
	// BeforeRequisition lets orders without a requisition have appointments.
	BeforeRequisition bool
	// AsyncConfirmation lets callers of service centers go on before the answer.
	AsyncConfirmation bool
	// SonoraQuest opens the Arizona laboratory.
	SonoraQuest bool
}

// SettingsOf reads a team's switches: scheduling is on and the rest off unless
// the team turned them.
func SettingsOf(ctx context.Context, tx *store.Tx, team teams.ID) (Settings, error) {
	s := Settings{Scheduling: true}
	err := tx.QueryRow(ctx, `SELECT scheduling, before_requisition, async_confirmation, sonora_quest FROM appointment_settings WHERE team_id = $1`, team).
		Scan(&s.Scheduling, &s.BeforeRequisition, &s.AsyncConfirmation, &s.SonoraQuest)
	if err != nil && !errors.Is(err, store.ErrNoRows) {
		return s, fmt.Errorf("appointments: reading settings: %w", err)
	}
	return s, nil
}

// ChangeSettings replaces a team's switches.
func ChangeSettings(ctx context.Context, tx *store.Tx, team teams.ID, s Settings) error {
	_, err := tx.Exec(ctx, `INSERT INTO appointment_settings (team_id, scheduling, before_requisition, async_confirmation, sonora_quest)
		VALUES ($1, $2, $3, $4, $5) ON CONFLICT (team_id) DO UPDATE SET scheduling = excluded.scheduling,
		before_requisition = excluded.before_requisition, async_confirmation = excluded.async_confirmation, sonora_quest = excluded.sonora_quest`,
		team, s.Scheduling, s.BeforeRequisition, s.AsyncConfirmation, s.SonoraQuest)
	if err != nil {
		return fmt.Errorf("appointments: storing settings: %w", err)
	}
	return nil
}

// open refuses what the team has not switched on.
//
// Reference 2.7.
func (s Settings) open(provider string) error {
	switch {
	case !s.Scheduling:
		return fault.New(fault.Unavailable, "Appointment scheduling is disabled for this team")
	case provider == sonora && !s.SonoraQuest:
		return fault.New(fault.Forbidden, "This team may not schedule with sonora_quest")
	}
	return nil
}
