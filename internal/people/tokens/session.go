package tokens

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// SessionID identifies a phone that is signed in.
type SessionID = ids.Of[Session]

// How long a session's tokens are good.
const (
	AccessLife = time.Hour
	// RefreshLife starts anew with every renewal: a phone that sends within it
	// stays signed in.
	RefreshLife = 90 * 24 * time.Hour
	// lostAnswer is how long the refresh token before the present one may be
	// used again, by a phone that never got the answer.
	lostAnswer = time.Hour
)

// mostSessions is how many phones of one user are signed in at most; a further
// one signs out the one that was silent for longest.
const mostSessions = 20

const refreshPrefix = "ur_"

// Session is a phone that is signed in as one user, with a pair of tokens that
// was just made.
type Session struct {
	ID        SessionID
	Team      teams.ID
	User      users.ID
	Access    secrets.Text
	Refresh   secrets.Text
	ExpiresOn time.Time // unless it is renewed
}

// ErrInvalid is the one answer about a token that does not work, whether it
// never existed, is over, was used or was revoked.
var ErrInvalid = fault.New(fault.Unauthenticated, "invalid token")

// Exchange uses up a sign-in token or a link code and opens a session. The
// text is the only scope: ctx is the system's.
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
	s.ID = ids.From[Session](tx.NewUUID())
	key := secrets.Bytes(secrets.KeySize)
	s.renew(tx, key, text)
	sealed, err := tx.Seal(ctx, s.Team.UUID(), s.User.UUID(), s.place(), key)
	if err != nil {
		return Session{}, err
	}
	_, err = tx.Exec(ctx, `INSERT INTO phone_sessions (team_id, user_id, session_id, refresh_hash, created_on, refreshed_on, expires_on, renewal_key)
		VALUES ($1, $2, $3, $4, $5, $5, $6, $7)`,
		s.Team, s.User, s.ID, secrets.Hash(s.Refresh.Reveal()), tx.Now(), s.ExpiresOn, sealed)
	if err != nil {
		return Session{}, fmt.Errorf("tokens: opening a session: %w", err)
	}
	if err := makeRoom(ctx, tx, s.Team, s.User); err != nil {
		return Session{}, err
	}
	return s, s.admit(ctx, tx)
}

// Refresh renews the pair of tokens of a session: both are new, and the old
// access token stays good for what is left of its hour. A token that was used
// already gives the same refresh token as the first time, for an hour, to a phone
// that never got the answer; after that it can only be a copy, and the session
// ends. The text is the only scope: ctx is the system's.
//
// ended says that the session was ended; that has to be committed.
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
	case used && tx.Now().Sub(last) > lostAnswer, sealed == nil: // no key: of a node that knew none
		return Session{}, true, EndSession(ctx, tx, s.Team, s.User, s.ID)
	}
	key, err := tx.Unseal(ctx, s.Team.UUID(), s.User.UUID(), s.place(), sealed)
	if err != nil {
		return Session{}, false, err
	}
	end := s.ExpiresOn
	s.renew(tx, key, text)
	var n int64
	if used { // takes the row, so that whoever ends the session finds the token
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
	return s, false, s.admit(ctx, tx)
}

// renew makes a new pair from the text that was used up. The access token is
// drawn; the refresh token follows from the text and the session's key, so that
// the same renewal gives the same one.
func (s *Session) renew(tx *store.Tx, key []byte, used secrets.Text) {
	next := hmac.New(sha256.New, key)
	next.Write([]byte(used.Reveal()))
	s.Access = secrets.Text(AccessPrefix + secrets.Random(tokenLength))
	s.Refresh = secrets.Text(refreshPrefix + base64.RawURLEncoding.EncodeToString(next.Sum(nil)))
	s.ExpiresOn = tx.Now().Add(RefreshLife)
}

// place is where the session's key is sealed.
func (s *Session) place() string { return "phone_sessions.renewal_key:" + s.ID.String() }

// makeRoom signs out the phones beyond mostSessions.
func makeRoom(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) error {
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
	for len(all) > mostSessions {
		last := len(all) - 1
		if err := EndSession(ctx, tx, team, user, all[last]); err != nil {
			return err
		}
		all = all[:last]
	}
	return nil
}
