package tokens

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/jobs"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// SessionID identifies a signed-in phone.
type SessionID = ids.ID[Session]

// Lifetimes of a session's tokens.
const (
	AccessLife = time.Hour
	// RefreshLife starts again with every renewal. A phone that renews within it
	// stays signed in.
	RefreshLife = 90 * 24 * time.Hour
	// A used refresh token works again for retryWindow, for a phone that did not
	// get the answer.
	retryWindow = time.Hour
)

// maxSessions bounds the signed-in phones of a user. Signing in another phone signs
// out the least recently used one.
const maxSessions = 20

const refreshPrefix = "ur_"

// Session is a phone that is signed in as one user, with a new pair of tokens.
type Session struct {
	ID        SessionID
	Team      teams.ID
	User      users.ID
	Access    secrets.Text
	Refresh   secrets.Text
	ExpiresOn time.Time // unless it is renewed
}

// ErrInvalid is the one answer about a token that does not work: unknown, expired,
// used or revoked.
var ErrInvalid = fault.New(fault.Unauthenticated, "invalid token")

// Exchange uses a sign-in token or a link code and opens a session. The text is the
// only scope: ctx is the system's.
func Exchange(ctx context.Context, tx *store.Tx, kind Kind, text secrets.Text) (Session, error) {
	var s Session
	var end time.Time
	err := tx.QueryRow(ctx, `DELETE FROM sign_ins WHERE secret_hash = $1 AND kind = $2 RETURNING team_id, user_id, expires_on`,
		secrets.Hash(text.Reveal()), string(kind)).Scan(&s.Team, &s.User, store.ScanTime(&end))
	switch {
	case errors.Is(err, store.ErrNoRows):
		return Session{}, ErrInvalid
	case err != nil:
		return Session{}, fmt.Errorf("tokens: exchanging: %w", err)
	case !tx.Now().Before(end):
		return Session{}, ErrInvalid
	}
	s.ID = ids.FromUUID[Session](tx.NewUUID())
	key := secrets.Bytes(secrets.KeySize)
	s.renew(tx, key, text)
	sealed, err := tx.Seal(ctx, s.Team.UUID(), s.User.UUID(), s.keyPlace(), key)
	if err != nil {
		return Session{}, err
	}
	_, err = tx.Exec(ctx, `INSERT INTO phone_sessions (team_id, user_id, session_id, refresh_hash, created_on, refreshed_on, expires_on, renewal_key)
		VALUES ($1, $2, $3, $4, $5, $5, $6, $7)`,
		s.Team, s.User, s.ID, secrets.Hash(s.Refresh.Reveal()), tx.Now(), s.ExpiresOn, sealed)
	if err != nil {
		return Session{}, fmt.Errorf("tokens: opening a session: %w", err)
	}
	if err := endOldestSessions(ctx, tx, s.Team, s.User); err != nil {
		return Session{}, err
	}
	return s, s.insertAccess(ctx, tx)
}

// Refresh renews the pair of tokens of a session. Both tokens are new. The old
// access token stays valid for the rest of its hour.
//
// For an hour, a used refresh token returns the same new refresh token again, for a
// phone that did not get the answer. Later uses come from a copy, so they end the
// session.
//
// If ended is true, the caller must commit the end of the session. The text is the
// only scope: ctx is the system's.
func Refresh(ctx context.Context, tx *store.Tx, text secrets.Text) (s Session, ended bool, err error) {
	hash := secrets.Hash(text.Reveal())
	var used bool
	var last time.Time
	var sealed []byte
	err = tx.QueryRow(ctx, `SELECT team_id, user_id, session_id, refresh_hash <> $1, refreshed_on, expires_on, renewal_key
		FROM phone_sessions WHERE refresh_hash = $1 OR refresh_before = $1`, hash).
		Scan(&s.Team, &s.User, &s.ID, &used, store.ScanTime(&last), store.ScanTime(&s.ExpiresOn), &sealed)
	switch {
	case errors.Is(err, store.ErrNoRows):
		return Session{}, false, ErrInvalid
	case err != nil:
		return Session{}, false, fmt.Errorf("tokens: renewing: %w", err)
	case !tx.Now().Before(s.ExpiresOn):
		return Session{}, false, ErrInvalid
	case used && tx.Now().Sub(last) > retryWindow, sealed == nil: // no key: opened by an older version
		return Session{}, true, EndSession(ctx, tx, s.Team, s.User, s.ID)
	}
	key, err := tx.Unseal(ctx, s.Team.UUID(), s.User.UUID(), s.keyPlace(), sealed)
	if err != nil {
		return Session{}, false, err
	}
	end := s.ExpiresOn
	s.renew(tx, key, text)
	var n int64
	if used { // locks the row, so that SignOutAll waits and finds the token
		s.ExpiresOn = end
		n, err = tx.Exec(ctx, `UPDATE phone_sessions SET refreshed_on = refreshed_on
			WHERE team_id = $1 AND user_id = $2 AND session_id = $3 AND refresh_before = $4`, s.Team, s.User, s.ID, hash)
	} else {
		n, err = tx.Exec(ctx, `UPDATE phone_sessions SET refresh_hash = $4, refresh_before = $5, refreshed_on = $6, expires_on = $7
			WHERE team_id = $1 AND user_id = $2 AND session_id = $3 AND refresh_hash = $5`,
			s.Team, s.User, s.ID, secrets.Hash(s.Refresh.Reveal()), hash, tx.Now(), s.ExpiresOn)
	}
	if err != nil {
		return Session{}, false, fmt.Errorf("tokens: renewing: %w", err)
	}
	if n == 0 {
		return Session{}, false, store.ErrLostRace
	}
	return s, false, s.insertAccess(ctx, tx)
}

// renew makes a new pair from the used text. The access token is random. The
// refresh token is derived from the text and the session's key, so that the same
// renewal returns the same one.
func (s *Session) renew(tx *store.Tx, key []byte, used secrets.Text) {
	next := hmac.New(sha256.New, key)
	next.Write([]byte(used.Reveal()))
	s.Access = secrets.Text(AccessPrefix + secrets.Random(tokenLength))
	s.Refresh = secrets.Text(refreshPrefix + base64.RawURLEncoding.EncodeToString(next.Sum(nil)))
	s.ExpiresOn = tx.Now().Add(RefreshLife)
}

// keyPlace returns the place that seals the session's key.
func (s *Session) keyPlace() string { return "phone_sessions.renewal_key:" + s.ID.String() }

// endOldestSessions signs out the phones that exceed maxSessions.
func endOldestSessions(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) error {
	rows, err := tx.Query(ctx, `SELECT session_id FROM phone_sessions WHERE team_id = $1 AND user_id = $2
		ORDER BY refreshed_on DESC, session_id DESC`, team, user)
	if err != nil {
		return fmt.Errorf("tokens: counting sessions: %w", err)
	}
	defer rows.Close()
	var all []SessionID
	for rows.Next() {
		var id SessionID
		if err := rows.Scan(&id); err != nil {
			return fmt.Errorf("tokens: counting sessions: %w", err)
		}
		all = append(all, id)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return fmt.Errorf("tokens: counting sessions: %w", err)
	}
	for len(all) > maxSessions {
		last := len(all) - 1
		if err := EndSession(ctx, tx, team, user, all[last]); err != nil {
			return err
		}
		all = all[:last]
	}
	return nil
}

// AccessPrefix begins every access token, and no API key.
const AccessPrefix = teams.PhonePrefix

// IsAccess reports whether a text has the form of an access token.
func IsAccess(text string) bool { return strings.HasPrefix(text, AccessPrefix) }

// Access holds the user and session of an access token.
type Access struct {
	Team        teams.ID
	Environment teams.Environment
	User        users.ID
	Session     SessionID
	ExpiresOn   time.Time
}

// Resolve reads an access token. The text is the only scope: ctx is the system's.
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

// insertAccess stores the session's new access token.
func (s *Session) insertAccess(ctx context.Context, tx *store.Tx) error {
	switch err := users.Exists(ctx, tx, s.Team, s.User); {
	case fault.Is(err, fault.NotFound): // deleted in the meantime
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

// SignOutAll signs out every phone of a user and removes unused sign-in tokens and
// link codes.
func SignOutAll(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) error {
	if err := users.Exists(ctx, tx, team, user); err != nil {
		return err
	}
	return erase(ctx, tx, team, user)
}

// tables hold a user's tokens. Sessions are deleted before access tokens: on
// PostgreSQL that waits for a running renewal, and so finds its new token.
var tables = []string{"sign_ins", "phone_sessions", "access_tokens"}

func erase(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) error {
	for _, table := range tables {
		if _, err := users.EraseRows(table)(ctx, tx, team, user); err != nil {
			return fmt.Errorf("tokens: signing out all phones: %w", err)
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

// ForgetJob deletes expired tokens.
var ForgetJob = jobs.Define("tokens.forget", func(ctx context.Context, run *jobs.Run, _ struct{}) error {
	return run.DB().Write(ctx, func(tx *store.Tx) error {
		for _, table := range tables {
			if _, err := tx.Exec(ctx, `DELETE FROM `+table+` WHERE expires_on <= $1`, tx.Now()); err != nil {
				return fmt.Errorf("tokens: deleting expired %s: %w", table, err)
			}
		}
		return nil
	})
}).Every(time.Hour).Deletes()

// SignOut ends the session of a refresh token. It returns the zero id if there is
// none. The text is the only scope: ctx is the system's.
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
