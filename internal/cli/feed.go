package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"hale/internal/cli/client"
	"hale/internal/platform/fault"
)

// feedPage is a part of GET /v2/events.
type feedPage struct {
	Events  []feedEvent `json:"events"`
	Next    int64       `json:"next_after"` // where to resume
	NextID  string      `json:"next_after_id"`
	Last    int64       `json:"last"` // number of the newest event
	HasMore bool        `json:"has_more"`
}

// feedEvent is one event of the feed.
type feedEvent struct {
	Seq       int64     `json:"seq"`
	ID        string    `json:"id"`
	Type      string    `json:"event_type"`
	CreatedAt time.Time `json:"created_at"`
	// Event holds the very bytes that webhooks sign and send; null once the
	// user is erased, and where there is a problem.
	Event   json.RawMessage `json:"event"`
	Problem string          `json:"problem"` // unreadable; empty for none
}

// feed reads a team's events in their order, and waits for new ones.
type feed struct {
	server *client.Client
	types  []string
	// away is called each time the server cannot be reached; the feed retries.
	away func(error)
}

// pollWait is the time that one request waits for an event. It stays below the idle
// timeouts of common proxies.
const pollWait = 25 * time.Second

// page reads what follows the event numbered after, waiting for it when there is
// nothing yet. With that event's id, a server that was restored from a backup
// and has given the number to another one since refuses.
func (f feed) page(ctx context.Context, after int64, id string, wait time.Duration) (page feedPage, err error) {
	query := url.Values{
		"after": {strconv.FormatInt(after, 10)}, "wait": {strconv.Itoa(int(wait.Seconds()))}, "types": f.types,
	}
	if id != "" {
		query.Set("after_id", id)
	}
	body, err := f.server.Call(ctx, client.Request{
		Method: http.MethodGet, Path: "/v2/events", Query: query, Timeout: wait + 15*time.Second,
	})
	if err != nil {
		return page, err
	}
	return page, json.Unmarshal(body, &page)
}

// follow hands every event after a number to fn, until ctx ends or fn fails. A
// server that restarts in between only makes it wait.
func (f feed) follow(ctx context.Context, after int64, fn func(feedEvent) error) error {
	pause, id := time.Second, ""
	for {
		page, err := f.page(ctx, after, id, pollWait)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case fault.Is(err, fault.Unavailable) || fault.Is(err, fault.TooMany):
			f.away(err)
			if err := sleep(ctx, pause); err != nil {
				return err
			}
			pause = min(2*pause, 10*time.Second)
			continue
		case err != nil:
			return err
		}
		pause = time.Second
		for _, e := range page.Events {
			if err := fn(e); err != nil {
				return err
			}
		}
		after, id = page.Next, page.NextID
	}
}

// sleep waits, or ends with the context.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
