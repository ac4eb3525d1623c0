package platform

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"hale/internal/api"
	"hale/internal/platform/audit"
	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

func (h *Handlers) eventRoutes() []api.Route {
	return []api.Route{
		api.Writes[feedBody](api.Get("/v2/events", h.readFeed, "Read a team's events in order, without gaps")),
	}
}

// feedIn is a request for a part of the feed.
type feedIn struct {
	After   int64    `query:"after" minimum:"0" default:"0" doc:"Number of the last event that you have; 0 for none."`
	AfterID string   `query:"after_id" doc:"Id of the event numbered after, if you store ids. The answer is 422 if another event has that number, which can happen after a restore from a backup."`
	Limit   int      `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"A page may contain fewer if they are large."`
	Types   []string `query:"types,explode" doc:"Return only these event types. Repeat the parameter or separate them with commas."`
	Wait    int      `query:"wait" minimum:"0" maximum:"30" default:"0" doc:"Seconds to wait for events if there are none yet."`
}

// feedBody describes the answer. readFeed writes it itself, so that each event has the
// same bytes as in a webhook.
type feedBody struct {
	Events      []feedEvent `json:"events"`
	NextAfter   int64       `json:"next_after" doc:"Cursor of the next page. Send it as after."`
	NextAfterID *string     `json:"next_after_id" doc:"Id of the event numbered next_after; store both and pass the id as after_id. Null if there is none or it was deleted."`
	Last        int64       `json:"last" doc:"Number of the team's newest event; 0 for none."`
	HasMore     bool        `json:"has_more" doc:"Whether more events are available now."`
}

type feedEvent struct {
	Seq       int64           `json:"seq" doc:"Number of the event in its team: 1, 2, 3 and so on, without gaps."`
	ID        string          `json:"id" doc:"Id of the event, such as msg_…, and the webhook-id of its deliveries."`
	EventType string          `json:"event_type"`
	CreatedAt api.Time        `json:"created_at"`
	Event     json.RawMessage `json:"event" doc:"The envelope; null after the erasure of its user, and if problem is set."`
	Problem   string          `json:"problem,omitempty" enum:"unreadable" doc:"unreadable means that the stored event cannot be decrypted. It is omitted for all other events."`
}

func (h *Handlers) readFeed(ctx context.Context, c api.Caller, in *feedIn) (*api.Encoded, error) {
	types, err := events.CatalogueOf(h.DB).Check(commaLists(in.Types), "query", "types")
	if err != nil {
		return nil, err
	}
	has, err := h.confirmedID(ctx, c, in)
	if err != nil {
		return nil, err
	}
	page, err := events.Await(ctx, h.DB, c.Team.UUID(), in.After, in.Limit, types, time.Duration(in.Wait)*time.Second, h.Stopping)
	if err != nil {
		return nil, err
	}
	if page.Next != in.After || has == (events.ID{}) {
		if has, err = h.lastID(ctx, c, &page); err != nil {
			return nil, err
		}
	}
	for i := range page.Events {
		audit.NotePerson(ctx, page.Events[i].User)
	}
	return api.WriteJSON(appendFeed(nil, &page, has)), nil
}

// confirmedID returns the id of the last event that the reader has, or zero if unknown.
func (h *Handlers) confirmedID(ctx context.Context, c api.Caller, in *feedIn) (events.ID, error) {
	if in.AfterID == "" {
		return events.ID{}, nil
	}
	id, err := events.Parse(in.AfterID)
	if err != nil {
		return id, fault.New(fault.Invalid, "Input should be the id of an event, msg_…").At("query", "after_id")
	}
	return id, h.DB.Read(ctx, func(tx *store.Tx) error { return events.CheckPosition(ctx, tx, c.Team.UUID(), in.After, id) })
}

// lastID returns the id of the last event of a page, or zero for none.
func (h *Handlers) lastID(ctx context.Context, c api.Caller, page *events.Page) (id events.ID, err error) {
	if n := len(page.Events); n > 0 && page.Events[n-1].Seq == page.Next {
		return page.Events[n-1].ID, nil
	}
	err = h.DB.Read(ctx, func(tx *store.Tx) error {
		id, err = events.IDByNumber(ctx, tx, c.Team.UUID(), page.Next)
		return err
	})
	return id, err
}

// commaLists splits each value at its commas.
func commaLists(values []string) (all []string) {
	for _, v := range values {
		all = append(all, strings.Split(v, ",")...)
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

func appendFeed(buf []byte, page *events.Page, last events.ID) []byte {
	buf = append(buf, `{"events":[`...)
	for i := range page.Events {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = appendFeedEvent(buf, &page.Events[i])
	}
	buf = append(buf, `],"next_after":`...)
	buf = strconv.AppendInt(buf, page.Next, 10)
	buf = append(buf, `,"next_after_id":`...)
	if last == (events.ID{}) {
		buf = append(buf, `null`...)
	} else {
		buf = strconv.AppendQuote(buf, last.String())
	}
	buf = append(buf, `,"last":`...)
	buf = strconv.AppendInt(buf, page.Last, 10)
	buf = append(buf, `,"has_more":`...)
	buf = strconv.AppendBool(buf, page.HasMore)
	return append(buf, '}')
}

func appendFeedEvent(buf []byte, e *events.Message) []byte {
	buf = append(buf, `{"seq":`...)
	buf = strconv.AppendInt(buf, e.Seq, 10)
	buf = append(buf, `,"id":"`...)
	buf = append(buf, e.ID.String()...)
	buf = append(buf, `","event_type":"`...)
	buf = append(buf, e.Type...)
	buf = append(buf, `","created_at":"`...)
	buf = append(buf, api.Time(e.CreatedAt).String()...)
	buf = append(buf, `","event":`...)
	switch {
	case e.Unreadable != nil:
		return append(buf, `null,"problem":"unreadable"}`...)
	case e.Body == nil:
		return append(buf, `null}`...)
	}
	buf = append(buf, e.Body...)
	return append(buf, '}')
}
