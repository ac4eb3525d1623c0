package messages

import (
	"context"
	"errors"
	"fmt"

	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Settings are a team's switches.
//
// Reference 9.2, lab_tests_patient_sms_communication_enabled and its e-mail
// twin, which are on unless turned off; reminders are off unless turned on.
type Settings struct {
	SMS       bool
	Email     bool
	Reminders bool
}

// allow reports whether something that was planned may still be said.
func (s Settings) allow(channel Channel, reminder bool) bool {
	if reminder && !s.Reminders {
		return false
	}
	return channel == SMS && s.SMS || channel == Email && s.Email
}

// SettingsOf reads a team's switches.
func SettingsOf(ctx context.Context, tx *store.Tx, team teams.ID) (Settings, error) {
	s := Settings{SMS: true, Email: true}
	err := tx.QueryRow(ctx, `SELECT sms, email, reminders FROM message_settings WHERE team_id = $1`, team).Scan(&s.SMS, &s.Email, &s.Reminders)
	if err != nil && !errors.Is(err, store.ErrNoRows) {
		return s, fmt.Errorf("messages: reading settings: %w", err)
	}
	return s, nil
}

// Change turns a team's switches and returns how they are then. Two changes at
// once do not undo each other.
func Change(ctx context.Context, tx *store.Tx, team teams.ID, turn func(s *Settings)) (Settings, error) {
	if err := tx.Lock(ctx, "message_settings:"+team.String()); err != nil {
		return Settings{}, err
	}
	s, err := SettingsOf(ctx, tx, team)
	if err != nil {
		return s, err
	}
	turn(&s)
	_, err = tx.Exec(ctx, `INSERT INTO message_settings (team_id, sms, email, reminders) VALUES ($1, $2, $3, $4)
		ON CONFLICT (team_id) DO UPDATE SET sms = excluded.sms, email = excluded.email, reminders = excluded.reminders`,
		team, s.SMS, s.Email, s.Reminders)
	if err != nil {
		return s, fmt.Errorf("messages: storing settings: %w", err)
	}
	return s, nil
}
