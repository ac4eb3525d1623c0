package users

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// A portal session ends SessionIdle after its last page, and SessionLongest
// after its start in any case.
const (
	SessionIdle    = 15 * time.Minute
	SessionLongest = 8 * time.Hour

	// touchEvery bounds how often a session's last use is written.
	touchEvery = time.Minute
)

// Session is one person signed in to the portal in one browser.
type Session struct {
	Team      teams.ID
	User      ID
	CreatedOn time.Time
	SeenAt    time.Time
}

// EndsAt returns when the session ends even if it is used.
func (s Session) EndsAt() time.Time { return s.CreatedOn.Add(SessionLongest) }

func (s Session) live(now time.Time) bool {
	return now.Before(s.SeenAt.Add(SessionIdle)) && now.Before(s.EndsAt())
}

// NeedsTouch reports whether the session's last use should be written.
func (s Session) NeedsTouch(now time.Time) bool { return now.Sub(s.SeenAt) >= touchEvery }

// Entry is the outcome of using a link: a session, or the reason for none.
type Entry struct {
	Session   secrets.Text
	Device    secrets.Text // set when the device passed a check; for the next Enter
	Link      PortalLink
	Refusal   Refusal // empty with a session
	TriesLeft int64   // after a wrong answer
}

// Enter uses a link. A wrong proof is no error, so that its count is committed.
// page is the secret of the page that sent the request, for EnterAgain; empty
// for none.
func Enter(ctx context.Context, tx *store.Tx, token, device, page secrets.Text, proof Proof) (Entry, error) {
	link, err := FindPortalLink(ctx, tx, token)
	if err != nil {
		return Entry{}, err
	}
	entry := Entry{Link: link}
	known, err := KnowsDevice(ctx, tx, link, device)
	if err != nil {
		return Entry{}, err
	}
	if !known {
		if entry.Refusal, entry.TriesLeft, err = checkProof(ctx, tx, link, proof); err != nil || entry.Refusal != "" {
			return entry, err
		}
		if entry.Device, err = passDevice(ctx, tx, link); err != nil {
			return Entry{}, err
		}
	}
	if link.Context == Launch {
		if err := consume(ctx, tx, token); err != nil {
			return Entry{}, err
		}
	}
	usedUp := link.Context == Launch || !known && proof.Code != ""
	if !usedUp { // the same request works again
		page = ""
	}
	entry.Session = sessionToken(token, page)
	return entry, insertSession(ctx, tx, link, entry.Session)
}

// NewPage returns the secret of a page whose form uses a link.
func NewPage() secrets.Text { return newToken() }

// The same page may be sent again within resendWindow.
const resendWindow = time.Minute

// EnterAgain returns the session that a page has opened, for a person who
// pressed its button twice. The browser keeps the second answer, but the link or
// the code was used up by the first. Any other request gets ErrLinkGone.
func EnterAgain(ctx context.Context, tx *store.Tx, token, page secrets.Text) (Entry, error) {
	if page == "" {
		return Entry{}, ErrLinkGone
	}
	entry := Entry{Session: sessionToken(token, page)}
	s, err := Resume(ctx, tx, entry.Session)
	if errors.Is(err, ErrNoSession) || err == nil && tx.Now().Sub(s.CreatedOn) > resendWindow {
		return Entry{}, ErrLinkGone
	}
	if err != nil {
		return Entry{}, err
	}
	entry.Link, err = FindPortalLink(ctx, tx, token)
	switch {
	case errors.Is(err, ErrLinkGone): // a Launch link
		return entry, nil
	case err != nil:
		return Entry{}, err
	}
	entry.Device, err = passDevice(ctx, tx, entry.Link)
	return entry, err
}

// sessionToken derives a session's token from the link's token and the page's secret.
// Only the page has both. Without a page it returns a random token.
func sessionToken(token, page secrets.Text) secrets.Text {
	if page == "" {
		return newToken()
	}
	sum := hmac.New(sha256.New, []byte(token.Reveal()))
	sum.Write([]byte("portal session:" + page.Reveal()))
	return secrets.Text(base64.RawURLEncoding.EncodeToString(sum.Sum(nil)))
}

func insertSession(ctx context.Context, tx *store.Tx, link PortalLink, token secrets.Text) error {
	_, err := tx.Exec(ctx, `DELETE FROM portal_sessions WHERE team_id = $1 AND user_id = $2 AND (seen_at <= $3 OR created_on <= $4)`,
		link.Team, link.User, tx.Now().Add(-SessionIdle), tx.Now().Add(-SessionLongest))
	if err != nil {
		return fmt.Errorf("users: removing old portal sessions: %w", err)
	}
	_, err = tx.Exec(ctx, `INSERT INTO portal_sessions (token_hash, team_id, user_id, created_on, seen_at) VALUES ($1, $2, $3, $4, $4)`,
		secrets.Hash(token.Reveal()), link.Team, link.User, tx.Now())
	if err != nil {
		return fmt.Errorf("users: starting a portal session: %w", err)
	}
	return nil
}

// ErrNoSession reports that a person is not, or no longer, signed in.
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
