package tokens

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// AccessPrefix begins every access token; no team's key begins so.
const AccessPrefix = teams.PhonePrefix

// IsAccess says whether a text is meant to be an access token.
func IsAccess(text string) bool { return strings.HasPrefix(text, AccessPrefix) }

// Access is what an access token stands for.
type Access struct {
	Team        teams.ID
	Environment teams.Environment
	User        users.ID
	Session     SessionID
	ExpiresOn   time.Time
}

// Resolve finds whose access token it is. The text is the only scope: ctx is
// the system's.
func Resolve(ctx context.Context, tx *store.Tx, text string) (Access, error) {
	var a Access
	err := tx.QueryRow(ctx, `SELECT team_id, user_id, session_id, expires_on FROM access_tokens WHERE token_hash = $1`,
		secrets.Hash(text)).Scan(&a.Team, &a.User, &a.Session, store.ScanTime(&a.ExpiresOn))
	switch {
	case errors.Is(err, store.ErrNoRows):
		return Access{}, ErrInvalid
	case err != nil:
		return Access{}, fmt.Errorf("tokens: resolving: %w", err)
	case !tx.Now().Before(a.ExpiresOn):
		return Access{}, ErrInvalid
	}
	team, err := teams.Get(ctx, tx, a.Team)
	a.Environment = team.Environment
	return a, err
}

// admit stores the session's new access token.
func (s *Session) admit(ctx context.Context, tx *store.Tx) error {
	switch err := users.Exists(ctx, tx, s.Team, s.User); {
	case fault.Is(err, fault.NotFound): // deleted since
		return ErrInvalid
	case err != nil:
		return err
	}
	_, err := tx.Exec(ctx, `INSERT INTO access_tokens (token_hash, team_id, user_id, session_id, expires_on) VALUES ($1, $2, $3, $4, $5)`,
		secrets.Hash(s.Access.Reveal()), s.Team, s.User, s.ID, tx.Now().Add(AccessLife))
	if err != nil {
		return fmt.Errorf("tokens: storing an access token: %w", err)
	}
	return nil
}
