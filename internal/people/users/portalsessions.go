package users

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// A person's stay in the portal ends after SessionIdle without a page, and
// after SessionLongest in any case. DeviceKnown is how long a device that
// passed the date of birth check is not asked again.
const (
	SessionIdle    = 15 * time.Minute
	SessionLongest = 8 * time.Hour
	DeviceKnown    = 90 * 24 * time.Hour

	// touchEvery bounds how often a session's last use is written.
	touchEvery = time.Minute
)

// Session is a person's stay in the portal.
type Session struct {
	Team      teams.ID
	User      ID
	CreatedOn time.Time
	SeenAt    time.Time
}

// EndsAt is when the session is over whatever happens.
func (s Session) EndsAt() time.Time { return s.CreatedOn.Add(SessionLongest) }

func (s Session) live(now time.Time) bool {
	return now.Before(s.SeenAt.Add(SessionIdle)) && now.Before(s.EndsAt())
}

// NeedsTouch reports whether the session's last use should be written.
func (s Session) NeedsTouch(now time.Time) bool { return now.Sub(s.SeenAt) >= touchEvery }

// Entry is the outcome of using a link: a session, or how many tries are
// left. Device is set when the device became known by this entry.
type Entry struct {
	Session   secrets.Text
	Device    secrets.Text
	Order     *uuid.UUID // that the link opens
	Wrong     bool
	TriesLeft int64
}

// NeedsBirthDate reports whether a link asks this device for the date of birth.
func NeedsBirthDate(ctx context.Context, tx *store.Tx, link PortalLink, device secrets.Text) (bool, error) {
	if link.Context != Communications {
		return false, nil
	}
	var n int
	err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM portal_devices WHERE token_hash = $1 AND team_id = $2 AND user_id = $3 AND expires_on > $4`,
		secrets.Hash(device.Reveal()), link.Team, link.User, tx.Now()).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("users: looking for a known device: %w", err)
	}
	return n == 0, nil
}

// Enter uses a link. A wrong date of birth is no error: it is counted, and
// after five the link is gone. page is a secret of the page that the link was
// shown on, for EnterAgain; empty for none.
func Enter(ctx context.Context, tx *store.Tx, token, device, page secrets.Text, birthDate *civil.Date) (Entry, error) {
	link, err := FindPortalLink(ctx, tx, token)
	if err != nil {
		return Entry{}, err
	}
	var entry Entry
	asks, err := NeedsBirthDate(ctx, tx, link, device)
	if err != nil {
		return Entry{}, err
	}
	if asks {
		if entry, err = checkDevice(ctx, tx, link, token, birthDate); err != nil || entry.Wrong {
			return entry, err
		}
	}
	if link.Context == Launch {
		if err := consume(ctx, tx, token); err != nil {
			return Entry{}, err
		}
	}
	entry.Order = link.Order
	if link.Context != Launch { // which works again
		page = ""
	}
	entry.Session = sessionToken(token, page)
	return entry, begin(ctx, tx, link, entry.Session)
}

// NewPage makes the secret of a page that shows a link.
func NewPage() secrets.Text { return newToken() }

// sentTwice is how long after the first time the same page may be sent again.
const sentTwice = time.Minute

// EnterAgain gives the session that a page was let in with, to a person who
// pressed its button twice: of the two answers the browser keeps the last. A link
// that works once would be gone by then. Everybody else gets ErrLinkGone.
func EnterAgain(ctx context.Context, tx *store.Tx, token, page secrets.Text) (secrets.Text, error) {
	if page == "" {
		return "", ErrLinkGone
	}
	session := sessionToken(token, page)
	s, err := Resume(ctx, tx, session)
	if errors.Is(err, ErrNoSession) || err == nil && tx.Now().Sub(s.CreatedOn) > sentTwice {
		return "", ErrLinkGone
	}
	return session, err
}

// sessionToken follows from the link's token and the secret of the page, both of
// which only that page has.
func sessionToken(token, page secrets.Text) secrets.Text {
	if page == "" {
		return newToken()
	}
	sum := hmac.New(sha256.New, []byte(token.Reveal()))
	sum.Write([]byte(page.Reveal()))
	return secrets.Text(base64.RawURLEncoding.EncodeToString(sum.Sum(nil)))
}

func checkDevice(ctx context.Context, tx *store.Tx, link PortalLink, token secrets.Text, birthDate *civil.Date) (Entry, error) {
	info, err := LatestInfo(ctx, tx, link.Team, link.User)
	if fault.Is(err, fault.NotFound) {
		return Entry{}, ErrLinkGone
	}
	if err != nil {
		return Entry{}, err
	}
	left, err := takeTry(ctx, tx, token)
	if err != nil {
		return Entry{}, err
	}
	if birthDate == nil || *birthDate != info.BirthDate {
		return Entry{Wrong: true, TriesLeft: left}, nil
	}
	if err := giveBack(ctx, tx, token); err != nil {
		return Entry{}, err
	}
	_, err = tx.Exec(ctx, `DELETE FROM portal_devices WHERE team_id = $1 AND user_id = $2 AND expires_on <= $3`, link.Team, link.User, tx.Now())
	if err != nil {
		return Entry{}, fmt.Errorf("users: forgetting devices: %w", err)
	}
	entry := Entry{Device: newToken()}
	_, err = tx.Exec(ctx, `INSERT INTO portal_devices (token_hash, team_id, user_id, expires_on) VALUES ($1, $2, $3, $4)`,
		secrets.Hash(entry.Device.Reveal()), link.Team, link.User, tx.Now().Add(DeviceKnown))
	if err != nil {
		return Entry{}, fmt.Errorf("users: remembering a device: %w", err)
	}
	return entry, nil
}

func begin(ctx context.Context, tx *store.Tx, link PortalLink, token secrets.Text) error {
	_, err := tx.Exec(ctx, `DELETE FROM portal_sessions WHERE team_id = $1 AND user_id = $2 AND (seen_at <= $3 OR created_on <= $4)`,
		link.Team, link.User, tx.Now().Add(-SessionIdle), tx.Now().Add(-SessionLongest))
	if err != nil {
		return fmt.Errorf("users: removing old portal sessions: %w", err)
	}
	_, err = tx.Exec(ctx, `INSERT INTO portal_sessions (token_hash, team_id, user_id, created_on, seen_at) VALUES ($1, $2, $3, $4, $4)`,
		secrets.Hash(token.Reveal()), link.Team, link.User, tx.Now())
	if err != nil {
		return fmt.Errorf("users: beginning a portal session: %w", err)
	}
	return nil
}

// ErrNoSession says that a person is not, or no longer, signed in.
var ErrNoSession = fault.New(fault.Unauthenticated, "No portal session")

// Resume finds a live session by its token; ctx is the system's.
func Resume(ctx context.Context, tx *store.Tx, token secrets.Text) (Session, error) {
	var s Session
	err := tx.QueryRow(ctx, `SELECT team_id, user_id, created_on, seen_at FROM portal_sessions
		WHERE token_hash = $1 AND `+notDeleted("portal_sessions"),
		secrets.Hash(token.Reveal())).Scan(&s.Team, &s.User, store.ScanTime(&s.CreatedOn), store.ScanTime(&s.SeenAt))
	switch {
	case errors.Is(err, store.ErrNoRows):
		return Session{}, ErrNoSession
	case err != nil:
		return Session{}, fmt.Errorf("users: reading a portal session: %w", err)
	case !s.live(tx.Now()):
		return Session{}, ErrNoSession
	}
	return s, nil
}

// Touch writes that a session was used.
func Touch(ctx context.Context, tx *store.Tx, token secrets.Text) error {
	_, err := tx.Exec(ctx, `UPDATE portal_sessions SET seen_at = $2 WHERE token_hash = $1`, secrets.Hash(token.Reveal()), tx.Now())
	if err != nil {
		return fmt.Errorf("users: touching a portal session: %w", err)
	}
	return nil
}

// Leave ends a session.
func Leave(ctx context.Context, tx *store.Tx, token secrets.Text) error {
	_, err := tx.Exec(ctx, `DELETE FROM portal_sessions WHERE token_hash = $1`, secrets.Hash(token.Reveal()))
	if err != nil {
		return fmt.Errorf("users: ending a portal session: %w", err)
	}
	return nil
}
