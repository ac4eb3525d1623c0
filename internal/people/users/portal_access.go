package users

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// OpenLink is a portal link that can still be used, without its token.
type OpenLink struct {
	Context   LinkContext
	Order     *uuid.UUID
	CreatedOn time.Time
	ExpiresOn time.Time
	// WrongAnswers counts wrong dates of birth and wrong codes.
	WrongAnswers int64
}

// PortalAccess lists a person's open links and live sessions. Devices that passed a
// check belong to a link and end with it.
type PortalAccess struct {
	Links    []OpenLink
	Sessions []Session
}

// maxAccess bounds the links and the sessions in a list.
const maxAccess = 1000

// ListPortalAccess returns a person's access to the portal, newest first.
func ListPortalAccess(ctx context.Context, tx *store.Tx, team teams.ID, id ID) (all PortalAccess, err error) {
	if _, err := Get(ctx, tx, team, id); err != nil {
		return all, err
	}
	links, err := tx.Query(ctx, `SELECT context, order_id, created_on, expires_on, tries + wrong_codes FROM portal_links
		WHERE team_id = $1 AND user_id = $2 AND expires_on > $3 ORDER BY created_on DESC LIMIT $4`, team, id, tx.Now(), maxAccess)
	if err != nil {
		return all, fmt.Errorf("users: listing portal links: %w", err)
	}
	defer links.Close()
	for links.Next() {
		var l OpenLink
		if err := links.Scan(&l.Context, &l.Order, store.ScanTime(&l.CreatedOn), store.ScanTime(&l.ExpiresOn), &l.WrongAnswers); err != nil {
			return all, fmt.Errorf("users: listing portal links: %w", err)
		}
		all.Links = append(all.Links, l)
	}
	if err := links.Err(); err != nil {
		return all, fmt.Errorf("users: listing portal links: %w", err)
	}
	sessions, err := tx.Query(ctx, `SELECT created_on, seen_at FROM portal_sessions
		WHERE team_id = $1 AND user_id = $2 ORDER BY created_on DESC LIMIT $3`, team, id, maxAccess)
	if err != nil {
		return all, fmt.Errorf("users: listing portal sessions: %w", err)
	}
	defer sessions.Close()
	for sessions.Next() {
		s := Session{Team: team, User: id}
		if err := sessions.Scan(store.ScanTime(&s.CreatedOn), store.ScanTime(&s.SeenAt)); err != nil {
			return all, fmt.Errorf("users: listing portal sessions: %w", err)
		}
		if s.live(tx.Now()) {
			all.Sessions = append(all.Sessions, s)
		}
	}
	return all, sessions.Err()
}

// EndPortalAccess ends all links, sessions and devices of a person, and returns what it
// ended.
func EndPortalAccess(ctx context.Context, tx *store.Tx, team teams.ID, id ID) (PortalAccess, error) {
	ended, err := ListPortalAccess(ctx, tx, team, id)
	if err != nil {
		return ended, err
	}
	for _, statement := range []string{
		`DELETE FROM portal_links WHERE team_id = $1 AND user_id = $2`,
		`DELETE FROM portal_sessions WHERE team_id = $1 AND user_id = $2`,
	} {
		if _, err := tx.Exec(ctx, statement, team, id); err != nil {
			return ended, fmt.Errorf("users: ending the access to the portal: %w", err)
		}
	}
	return ended, nil
}
