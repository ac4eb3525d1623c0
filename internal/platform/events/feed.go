package events

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// Message is an event as it was announced.
type Message struct {
	ID        ID
	Seq       int64 // 1, 2, 3, … within the team
	Type      string
	User      uuid.UUID // zero when the event is about no user
	CreatedAt time.Time
	Body      []byte // the envelope; nil once the user is erased
	// Unreadable is [ErrUnreadable] when what is stored cannot be opened or is in a
	// format that this version does not know; Body is nil then.
	Unreadable error
}

// Page is a part of a team's feed.
type Page struct {
	Events  []Message
	Next    int64 // where to go on: pass it as after
	Last    int64 // number of the team's newest event, 0 for none
	HasMore bool  // there is more right now
}

// Bounds of one page.
const (
	// MaxPage is the greatest limit.
	MaxPage = 1000
	// pageBytes ends a page early, after the event that reaches it.
	pageBytes = 4 << 20
	// pageSpan bounds how many numbers one page with a filter looks through.
	pageSpan = 20_000
)

// After reads the events of a team whose number is greater than after, in
// order; only those of the given types unless types is empty. Every event
// committed before the last one of the page is in it, or was in one before.
//
// Nobody was told of a number above the last, unless by a database from which
// this one was restored: whoever comes with such a number is refused, since the
// numbers behind it are given once more, to other events.
func After(ctx context.Context, tx *store.Tx, team uuid.UUID, after int64, limit int, types []string) (Page, error) {
	last, err := LastNumber(ctx, tx, team)
	page := Page{Next: after, Last: last}
	if err == nil && after > last {
		err = ahead(last)
	}
	if err != nil || last == after {
		return page, err
	}
	limit = min(max(limit, 1), MaxPage)
	until := last
	if len(types) > 0 {
		first, err := firstNumber(ctx, tx, team, after)
		if err != nil {
			return page, err
		}
		until = min(last, first+pageSpan)
	}
	cut, err := readPage(ctx, tx, team, &page, until, limit, types)
	if err != nil {
		return page, err
	}
	if !cut {
		page.Next = until
	}
	page.HasMore = page.Next < last
	return page, nil
}

// ahead is the fault of a reader who has more than there is.
func ahead(last int64) error {
	return fault.New(fault.Invalid, fmt.Sprintf("is greater than the number of your newest event, %d: the database was restored from "+
		"an earlier state, and numbers above it are given again to other events; go on from %d or from before", last, last)).At("query", "after")
}

// readPage fills the page with events up to number until; cut tells that it
// ended before, because the page is full.
func readPage(ctx context.Context, tx *store.Tx, team uuid.UUID, page *Page, until int64, limit int, types []string) (cut bool, err error) {
	query := `SELECT id, seq, type, user_id, created_at, body FROM events
		WHERE team_id = $1 AND seq > $2 AND seq <= $3`
	args := []any{team, page.Next, until, limit}
	if len(types) > 0 {
		query += ` AND type IN ` + store.List(5, len(types))
		for _, t := range types {
			args = append(args, t)
		}
	}
	rows, err := tx.Query(ctx, query+` ORDER BY seq LIMIT $4`, args...)
	if err != nil {
		return false, fmt.Errorf("events: reading the feed: %w", err)
	}
	defer rows.Close()
	size := 0
	for rows.Next() {
		m, err := scanSealed(rows)
		if err != nil {
			return false, err
		}
		page.Events = append(page.Events, m)
		page.Next = m.Seq
		if size += len(m.Body); size >= pageBytes {
			break
		}
	}
	if err := rows.Err(); err != nil {
		return false, err
	}
	if err := rows.Close(); err != nil {
		return false, err
	}
	return size >= pageBytes || len(page.Events) == limit, openAll(ctx, tx, team, page.Events)
}

// Get reads one event, or ErrUnknown.
func Get(ctx context.Context, tx *store.Tx, team uuid.UUID, id ID) (Message, error) {
	found, err := byID(ctx, tx, team, []ID{id})
	if err != nil {
		return Message{}, err
	}
	if len(found) == 0 {
		return Message{}, ErrUnknown
	}
	return found[0], nil
}

// bodiesAtOnce is how many envelopes one query reads.
const bodiesAtOnce = 16

// Bodies reads envelopes by event id. Those of the last moments come from
// memory; unknown and erased ones are left out, and so are unreadable ones, of
// which bad tells.
func Bodies(ctx context.Context, tx *store.Tx, team uuid.UUID, ids []ID) (found map[ID][]byte, bad map[ID]error, err error) {
	found, bad = make(map[ID][]byte, len(ids)), map[ID]error{}
	var missing []ID
	for _, id := range ids {
		if body := recent.get(id, tx.Now()); body != nil {
			found[id] = body
		} else {
			missing = append(missing, id)
		}
	}
	for part := range slices.Chunk(missing, bodiesAtOnce) {
		stored, err := byID(ctx, tx, team, part)
		if err != nil {
			return nil, nil, err
		}
		for _, m := range stored {
			switch {
			case m.Unreadable != nil:
				bad[m.ID] = m.Unreadable
			case m.Body != nil:
				found[m.ID] = m.Body
				recent.put(m.ID, m.Body, tx.Now())
			}
		}
	}
	return found, bad, nil
}

func byID(ctx context.Context, tx *store.Tx, team uuid.UUID, ids []ID) ([]Message, error) {
	args := make([]any, 0, len(ids)+1)
	args = append(args, team)
	for _, id := range ids {
		args = append(args, id)
	}
	rows, err := tx.Query(ctx, `SELECT id, seq, type, user_id, created_at, body FROM events
		WHERE team_id = $1 AND id IN `+store.List(2, len(ids)), args...)
	if err != nil {
		return nil, fmt.Errorf("events: reading by id: %w", err)
	}
	defer rows.Close()
	found := make([]Message, 0, len(ids))
	for rows.Next() {
		m, err := scanSealed(rows)
		if err != nil {
			return nil, err
		}
		found = append(found, m)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return found, openAll(ctx, tx, team, found)
}

// Recent gives the envelope of an event that was written or read by this
// process moments ago, and nil otherwise.
func Recent(id ID, now time.Time) []byte { return recent.get(id, now) }

func scanSealed(rows interface{ Scan(...any) error }) (Message, error) {
	var m Message
	var seq *int64
	var user *uuid.UUID
	if err := rows.Scan(&m.ID, &seq, &m.Type, &user, store.ScanTime(&m.CreatedAt), &m.Body); err != nil {
		return m, fmt.Errorf("events: scanning: %w", err)
	}
	if seq != nil {
		m.Seq = *seq
	}
	if user != nil {
		m.User = *user
	}
	return m, nil
}

// openAll replaces sealed bodies by the envelopes, after the rows are closed:
// opening may need the team's key from the database. One that does not open says
// so and stops none of the others.
func openAll(ctx context.Context, tx *store.Tx, team uuid.UUID, all []Message) error {
	for i := range all {
		m := &all[i]
		body, err := openBody(ctx, tx, team, m.User, m.ID, m.Body)
		switch {
		case errors.Is(err, ErrUnreadable):
			m.Unreadable = err
		case err != nil:
			return err
		}
		m.Body = body
	}
	return nil
}

// LastNumber is the greatest number of a team's events, 0 for none.
func LastNumber(ctx context.Context, tx *store.Tx, team uuid.UUID) (n int64, err error) {
	err = tx.QueryRow(ctx, `SELECT COALESCE((SELECT seq FROM events WHERE team_id = $1 AND seq IS NOT NULL ORDER BY seq DESC LIMIT 1), 0)`, team).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("events: reading the last number: %w", err)
	}
	return n, nil
}

// LastNumberUpTo is the greatest number of a team's events that is not above n,
// 0 for none.
func LastNumberUpTo(ctx context.Context, tx *store.Tx, team uuid.UUID, n int64) (last int64, err error) {
	err = tx.QueryRow(ctx, `SELECT COALESCE((SELECT seq FROM events WHERE team_id = $1 AND seq <= $2 ORDER BY seq DESC LIMIT 1), 0)`, team, n).Scan(&last)
	if err != nil {
		return 0, fmt.Errorf("events: reading a number: %w", err)
	}
	return last, nil
}

// firstNumber is the least number above after that is still stored.
func firstNumber(ctx context.Context, tx *store.Tx, team uuid.UUID, after int64) (n int64, err error) {
	err = tx.QueryRow(ctx, `SELECT COALESCE(MIN(seq), $2) FROM events WHERE team_id = $1 AND seq > $2`, team, after).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("events: reading the next number: %w", err)
	}
	return n, nil
}
