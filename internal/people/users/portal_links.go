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

// LinkContext is the purpose of a portal link.
//
// Spec: Users, POST /v2/user/{user_id}/create_portal_url.
type LinkContext string

// A Launch link takes a person from the team's own signed-in page straight
// into the portal: ten minutes, one use. A Communications link travels by
// e-mail or SMS: fourteen days, any number of uses, and a new device must pass
// a check (Proof).
const (
	Launch         LinkContext = "launch"
	Communications LinkContext = "communications"
)

// LinkContexts lists the purposes.
var LinkContexts = []LinkContext{Launch, Communications}

// Lifetime returns how long a link of the context can be used.
func (c LinkContext) Lifetime() time.Duration {
	if c == Communications {
		return 14 * 24 * time.Hour
	}
	return 10 * time.Minute
}

// PortalLink opens one user's portal for the holder of its token.
type PortalLink struct {
	Team      teams.ID
	User      ID
	Context   LinkContext
	Token     secrets.Text
	Order     *uuid.UUID // the order it opens; nil for the person's first page
	ExpiresOn time.Time
	Code      *SentCode // nil until a code was sent
}

// Paths of links, short where people see them.
const (
	LaunchPath         = "/portal/enter/"
	CommunicationsPath = "/p/"
)

// Path returns the path at which the portal answers the link.
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
// when given, is an order of the user: the link opens it.
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

// ErrLinkGone is the only answer about a link that does not work. The link is unknown,
// expired or used.
var ErrLinkGone = fault.New(fault.NotFound, "This link cannot be used")

// FindPortalLink reads a link without using it. The token is the only scope:
// ctx is the system's.
func FindPortalLink(ctx context.Context, tx *store.Tx, token secrets.Text) (PortalLink, error) {
	link := PortalLink{Token: token}
	var code SentCode
	var method *string
	var sentOn *time.Time
	err := tx.QueryRow(ctx, `SELECT team_id, user_id, context, expires_on, order_id, code_hash IS NOT NULL, code_method, code_sent_on, code_tries
		FROM portal_links WHERE token_hash = $1 AND `+notDeleted("portal_links"),
		secrets.Hash(token.Reveal())).Scan(&link.Team, &link.User, &link.Context, store.ScanTime(&link.ExpiresOn), &link.Order,
		&code.unused, &method, store.ScanNullTime(&sentOn), &code.tries)
	switch {
	case errors.Is(err, store.ErrNoRows):
		return PortalLink{}, ErrLinkGone
	case err != nil:
		return PortalLink{}, fmt.Errorf("users: reading a portal link: %w", err)
	case !tx.Now().Before(link.ExpiresOn):
		return PortalLink{}, ErrLinkGone
	}
	if method != nil && sentOn != nil {
		code.Method, code.SentOn = CheckMethod(*method), *sentOn
		link.Code = &code
	}
	return link, nil
}

// notDeleted returns the SQL condition for rows of a table whose user is not deleted.
// Deleting a user removes the user's links and sessions, except those that another
// transaction inserts at the same time.
func notDeleted(table string) string {
	return `EXISTS (SELECT 1 FROM users u WHERE u.team_id = ` + table + `.team_id AND u.user_id = ` + table + `.user_id AND u.deleted_at IS NULL)`
}

// consume removes a link that works once.
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
