package events

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// Message is an emitted event.
type Message struct {
	ID        ID
	Seq       int64 // 1, 2, 3, … within the team
	Type      string
	User      uuid.UUID // zero if the event is about no user
	CreatedAt time.Time
	Body      []byte // the envelope; nil once the user is erased
	// Unreadable is [ErrUnreadable] if the stored body cannot be opened, or has a format
	// that this version does not know. Body is nil then.
	Unreadable error
}

// Page is a part of a team's feed.
type Page struct {
	Events  []Message
	Next    int64 // after of the next page
	Last    int64 // number of the team's newest event, 0 for none
	HasMore bool  // more events exist now
}

// Bounds of one page.
const (
	// MaxPage is the largest limit of a page.
	MaxPage = 1000
	// pageBytes ends a page early, after the event that reaches it.
	pageBytes = 4 << 20
	// pageSpan limits the numbers that one page with a filter covers.
	pageSpan = 20_000
)

// ReadFeed reads the events of a team whose number is greater than after, in order.
// If types is not empty, it reads only those types. Every event that was committed
// before the last one of the page is in this page or in an earlier one.
//
// If after is above the last number, the reader got it from the database before this
// one was restored. ReadFeed refuses it, because the numbers up to it are assigned
// again, to other events.
func ReadFeed(ctx context.Context, tx *store.Tx, team uuid.UUID, after int64, limit int, types []string) (Page, error) {
	last, err := LastNumber(ctx, tx, team)
	page := Page{Next: after, Last: last}
	if err == nil && after > last {
		err = aheadFault(last)
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

// aheadFault returns the fault of a reader whose position is above the last number.
func aheadFault(last int64) error {
	return fault.New(fault.Invalid, fmt.Sprintf("is greater than the number of your newest event, %d: the database was restored from "+
		"an earlier state, and numbers above it are given again to other events; continue from %d or from before", last, last)).At("query", "after")
}

// readPage adds events up to number until to the page. cut reports that the page is
// full before that.
func readPage(ctx context.Context, tx *store.Tx, team uuid.UUID, page *Page, until int64, limit int, types []string) (cut bool, err error) {
	query := `SELECT id, seq, type, user_id, created_at, body FROM events
		WHERE team_id = $1 AND seq > $2 AND seq <= $3`
	args := []any{team, page.Next, until, limit}
	if len(types) > 0 {
		query += ` AND type IN ` + store.Placeholders(5, len(types))
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
	m, err := scanSealed(tx.QueryRow(ctx, `SELECT id, seq, type, user_id, created_at, body FROM events
		WHERE team_id = $1 AND id = $2`, team, id))
	if errors.Is(err, store.ErrNoRows) {
		return Message{}, ErrUnknown
	}
	if err != nil {
		return Message{}, err
	}
	all := []Message{m}
	err = openAll(ctx, tx, team, all)
	return all[0], err
}

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

// openAll replaces sealed bodies by envelopes. The rows must be closed, because opening
// may read a key from the database. An unreadable body does not prevent the others.
func openAll(ctx context.Context, tx *store.Tx, team uuid.UUID, all []Message) error {
	for i := range all {
		m := &all[i]
		body, err := Open(ctx, tx, team, m.User, m.ID, m.Body)
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

// LastNumber returns the greatest number of a team's events, 0 for none.
func LastNumber(ctx context.Context, tx *store.Tx, team uuid.UUID) (n int64, err error) {
	err = tx.QueryRow(ctx, `SELECT COALESCE((SELECT seq FROM events WHERE team_id = $1 AND seq IS NOT NULL ORDER BY seq DESC LIMIT 1), 0)`, team).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("events: reading the last number: %w", err)
	}
	return n, nil
}

// LastNumberUpTo returns the greatest number of a team's events that is not above n, 0
// for none.
func LastNumberUpTo(ctx context.Context, tx *store.Tx, team uuid.UUID, n int64) (last int64, err error) {
	err = tx.QueryRow(ctx, `SELECT COALESCE((SELECT seq FROM events WHERE team_id = $1 AND seq <= $2 ORDER BY seq DESC LIMIT 1), 0)`, team, n).Scan(&last)
	if err != nil {
		return 0, fmt.Errorf("events: reading a number: %w", err)
	}
	return last, nil
}

// firstNumber returns the least stored number above after.
func firstNumber(ctx context.Context, tx *store.Tx, team uuid.UUID, after int64) (n int64, err error) {
	err = tx.QueryRow(ctx, `SELECT COALESCE(MIN(seq), $2) FROM events WHERE team_id = $1 AND seq > $2`, team, after).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("events: reading the next number: %w", err)
	}
	return n, nil
}

// awaitPoll is the interval at which a waiting reader polls: on PostgreSQL another
// node's events do not notify this one.
const awaitPoll = time.Second

// Await reads the feed like ReadFeed, and waits if there are no events. It returns as
// soon as there are some. It returns an empty page after the wait, when ctx ends, or when
// stopping is closed because the process stops.
func Await(ctx context.Context, db *store.DB, team uuid.UUID, after int64, limit int, types []string, wait time.Duration, stopping <-chan struct{}) (Page, error) {
	news := make(chan struct{}, 1)
	defer OnNumbered(db, func(t uuid.UUID) {
		if t != team {
			return
		}
		select {
		case news <- struct{}{}:
		default:
		}
	})()
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	for {
		var page Page
		err := db.Read(ctx, func(tx *store.Tx) (err error) {
			page, err = ReadFeed(ctx, tx, team, after, limit, types)
			return err
		})
		if err != nil || len(page.Events) > 0 || page.HasMore || wait <= 0 {
			return page, err
		}
		after = page.Next // skips events of other types
		poll := time.NewTimer(awaitPoll)
		select {
		case <-news:
		case <-poll.C:
		case <-deadline.C:
			wait = 0
		case <-stopping:
			wait = 0
		case <-ctx.Done():
			wait = 0
		}
		poll.Stop()
		if ctx.Err() != nil {
			return page, nil
		}
	}
}

// CheckPosition refuses a reader whose event of a number is not the stored one. The
// database was then restored from an earlier state, and the number was assigned
// again. It accepts the position of a deleted event, which cannot be compared.
func CheckPosition(ctx context.Context, tx *store.Tx, team uuid.UUID, number int64, has ID) error {
	stored, err := IDByNumber(ctx, tx, team, number)
	if err != nil || stored == (ID{}) || stored == has {
		return err
	}
	return fault.New(fault.Invalid, fmt.Sprintf("is not the id of your event number %d: the database was restored from an earlier state, "+
		"and this number was given again to another event; continue from before the restore", number)).At("query", "after_id")
}

// IDByNumber returns the id of the event with a number, zero if there is none.
func IDByNumber(ctx context.Context, tx *store.Tx, team uuid.UUID, number int64) (id ID, err error) {
	err = tx.QueryRow(ctx, `SELECT id FROM events WHERE team_id = $1 AND seq = $2`, team, number).Scan(&id)
	if errors.Is(err, store.ErrNoRows) {
		return ID{}, nil
	}
	if err != nil {
		return ID{}, fmt.Errorf("events: reading an id: %w", err)
	}
	return id, nil
}
