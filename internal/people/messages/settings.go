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
// SMS and e-mail are on by default, reminders are off.
//
// Reference 9.2, lab_tests_patient_sms_communication_enabled and
// lab_tests_patient_email_communication_enabled.
type Settings struct {
	SMS       bool
	Email     bool
	Reminders bool
}

// allow reports whether a planned message may be sent.
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

// ChangeSettings changes a team's switches and returns the new ones. Simultaneous
// changes do not undo each other.
func ChangeSettings(ctx context.Context, tx *store.Tx, team teams.ID, change func(s *Settings)) (Settings, error) {
	if err := tx.Lock(ctx, "message_settings:"+team.String()); err != nil {
		return Settings{}, err
	}
	s, err := SettingsOf(ctx, tx, team)
	if err != nil {
		return s, err
	}
	change(&s)
	_, err = tx.Exec(ctx, `INSERT INTO message_settings (team_id, sms, email, reminders) VALUES ($1, $2, $3, $4)
		ON CONFLICT (team_id) DO UPDATE SET sms = excluded.sms, email = excluded.email, reminders = excluded.reminders`,
		team, s.SMS, s.Email, s.Reminders)
	if err != nil {
		return s, fmt.Errorf("messages: storing settings: %w", err)
	}
	return s, nil
}
