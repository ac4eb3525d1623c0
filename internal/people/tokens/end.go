package tokens

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/jobs"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// EndSession signs one phone out.
func EndSession(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, session SessionID) error {
	for _, table := range []string{"phone_sessions", "access_tokens"} {
		_, err := tx.Exec(ctx, `DELETE FROM `+table+` WHERE team_id = $1 AND user_id = $2 AND session_id = $3`, team, user, session)
		if err != nil {
			return fmt.Errorf("tokens: ending a session: %w", err)
		}
	}
	return nil
}

// EndAll signs out every phone of a user and closes every way in that is open.
func EndAll(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) error {
	if err := users.Exists(ctx, tx, team, user); err != nil {
		return err
	}
	return erase(ctx, tx, team, user)
}

// tables hold what a user's phones are let in with. Sessions are deleted before
// their access tokens: that waits for a renewal which is under way on PostgreSQL,
// and so finds the token that it makes.
var tables = []string{"sign_ins", "phone_sessions", "access_tokens"}

func erase(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) error {
	for _, table := range tables {
		if _, err := users.EraseRows(table)(ctx, tx, team, user); err != nil {
			return fmt.Errorf("tokens: ending all of a user's: %w", err)
		}
	}
	return nil
}

// UserRecords returns the rows of users in this package.
func UserRecords() []users.Records {
	return []users.Records{{
		Name: "tokens", OnDelete: erase,
		Erase: func(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (bool, error) {
			return false, erase(ctx, tx, team, user)
		},
	}}
}

// ForgetJob removes what is over.
var ForgetJob = jobs.Define("tokens.forget", func(ctx context.Context, run *jobs.Run, _ struct{}) error {
	return run.DB().Write(ctx, func(tx *store.Tx) error {
		for _, table := range tables {
			if _, err := tx.Exec(ctx, `DELETE FROM `+table+` WHERE expires_on <= $1`, tx.Now()); err != nil {
				return fmt.Errorf("tokens: forgetting %s: %w", table, err)
			}
		}
		return nil
	})
}).Every(time.Hour)

// SignOut ends the session that a refresh token belongs to; the zero id says
// that there was none. The text is the only scope: ctx is the system's.
func SignOut(ctx context.Context, tx *store.Tx, refresh secrets.Text) (SessionID, error) {
	var s Session
	err := tx.QueryRow(ctx, `SELECT team_id, user_id, session_id FROM phone_sessions WHERE refresh_hash = $1 OR refresh_before = $1`,
		secrets.Hash(refresh.Reveal())).Scan(&s.Team, &s.User, &s.ID)
	if errors.Is(err, store.ErrNoRows) {
		return SessionID{}, nil
	}
	if err != nil {
		return SessionID{}, fmt.Errorf("tokens: signing out: %w", err)
	}
	return s.ID, EndSession(ctx, tx, s.Team, s.User, s.ID)
}
