package users

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// LinkContext says what a portal link is for.
//
// Spec: Users, POST /v2/user/{user_id}/create_portal_url.
type LinkContext string

// A Launch link takes a person from the team's own signed-in page straight
// into the portal: ten minutes, one use. A Communications link travels by
// e-mail or SMS: fourteen days, as often as needed, and a device that is new
// is asked for the date of birth.
const (
	Launch         LinkContext = "launch"
	Communications LinkContext = "communications"
)

// Lifetime is how long a link of the context can be used.
func (c LinkContext) Lifetime() time.Duration {
	if c == Communications {
		return 14 * 24 * time.Hour
	}
	return 10 * time.Minute
}

// PortalLink lets whoever holds its token into one user's portal.
type PortalLink struct {
	Team      teams.ID
	User      ID
	Context   LinkContext
	Token     secrets.Text // known only when the link is made
	Order     *uuid.UUID   // that it opens; nil for the person's first page
	ExpiresOn time.Time

	tries int64
}

// Paths of links, short where people see them.
const (
	LaunchPath         = "/portal/enter/"
	CommunicationsPath = "/p/"
)

// Path is where the portal answers the link.
func (l PortalLink) Path() string {
	if l.Context == Communications {
		return CommunicationsPath + l.Token.Reveal()
	}
	return LaunchPath + l.Token.Reveal()
}

// tokenLength in base62 characters is 256 bits.
const tokenLength = 43

func newToken() secrets.Text { return secrets.Text(secrets.Random(tokenLength)) }

// CreatePortalLink makes a link for a user whose demographics are known. order,
// when given, is one of theirs: the link opens it.
//
// Spec: Users, create_portal_url; 422 without demographics.
func CreatePortalLink(ctx context.Context, tx *store.Tx, team teams.ID, id ID, purpose LinkContext, order *uuid.UUID) (PortalLink, error) {
	user, err := Get(ctx, tx, team, id)
	if err != nil {
		return PortalLink{}, err
	}
	if !user.HasInfo() {
		return PortalLink{}, fault.New(fault.Unprocessable, "User demographics data not found: give them first, with PATCH /v2/user/{user_id}/info")
	}
	link := PortalLink{Team: team, User: id, Context: purpose, Token: newToken(), Order: order, ExpiresOn: tx.Now().Add(purpose.Lifetime())}
	_, err = tx.Exec(ctx, `DELETE FROM portal_links WHERE team_id = $1 AND user_id = $2 AND expires_on <= $3`, team, id, tx.Now())
	if err != nil {
		return PortalLink{}, fmt.Errorf("users: removing old portal links: %w", err)
	}
	_, err = tx.Exec(ctx, `INSERT INTO portal_links (token_hash, team_id, user_id, context, created_on, expires_on, tries, order_id)
		VALUES ($1, $2, $3, $4, $5, $6, 0, $7)`, secrets.Hash(link.Token.Reveal()), team, id, string(purpose), tx.Now(), link.ExpiresOn, order)
	if err != nil {
		return PortalLink{}, fmt.Errorf("users: storing a portal link: %w", err)
	}
	return link, nil
}

// ErrLinkGone is the one answer about a link that does not work, whether it
// never existed, is over, was used or had too many wrong tries.
var ErrLinkGone = fault.New(fault.NotFound, "This link cannot be used")

// mostTries is how many wrong dates of birth a link bears.
const mostTries = 5

// FindPortalLink looks at a link without using it. The token is the only
// scope: ctx is the system's.
func FindPortalLink(ctx context.Context, tx *store.Tx, token secrets.Text) (PortalLink, error) {
	var link PortalLink
	err := tx.QueryRow(ctx, `SELECT team_id, user_id, context, expires_on, tries, order_id FROM portal_links
		WHERE token_hash = $1 AND `+notDeleted("portal_links"),
		secrets.Hash(token.Reveal())).Scan(&link.Team, &link.User, &link.Context, store.ScanTime(&link.ExpiresOn), &link.tries, &link.Order)
	switch {
	case errors.Is(err, store.ErrNoRows):
		return PortalLink{}, ErrLinkGone
	case err != nil:
		return PortalLink{}, fmt.Errorf("users: reading a portal link: %w", err)
	case !tx.Now().Before(link.ExpiresOn), link.tries >= mostTries:
		return PortalLink{}, ErrLinkGone
	}
	return link, nil
}

// notDeleted holds for rows of users who are there. A deletion removes a user's
// links and sessions; one that was being made meanwhile is left.
func notDeleted(table string) string {
	return `EXISTS (SELECT 1 FROM users u WHERE u.team_id = ` + table + `.team_id AND u.user_id = ` + table + `.user_id AND u.deleted_at IS NULL)`
}

// consume uses a link up.
func consume(ctx context.Context, tx *store.Tx, token secrets.Text) error {
	n, err := tx.Exec(ctx, `DELETE FROM portal_links WHERE token_hash = $1`, secrets.Hash(token.Reveal()))
	if err != nil {
		return fmt.Errorf("users: using a portal link: %w", err)
	}
	if n == 0 { // another request was faster
		return ErrLinkGone
	}
	return nil
}

// takeTry counts a try before it is judged, so that many at once cannot pass
// the limit together; giveBack undoes it for a right one.
func takeTry(ctx context.Context, tx *store.Tx, token secrets.Text) (left int64, err error) {
	var tries int64
	err = tx.QueryRow(ctx, `UPDATE portal_links SET tries = tries + 1 WHERE token_hash = $1 AND tries < $2 RETURNING tries`,
		secrets.Hash(token.Reveal()), mostTries).Scan(&tries)
	if errors.Is(err, store.ErrNoRows) {
		return 0, ErrLinkGone
	}
	if err != nil {
		return 0, fmt.Errorf("users: counting a try: %w", err)
	}
	return mostTries - tries, nil
}

func giveBack(ctx context.Context, tx *store.Tx, token secrets.Text) error {
	_, err := tx.Exec(ctx, `UPDATE portal_links SET tries = tries - 1 WHERE token_hash = $1`, secrets.Hash(token.Reveal()))
	if err != nil {
		return fmt.Errorf("users: counting a try: %w", err)
	}
	return nil
}
