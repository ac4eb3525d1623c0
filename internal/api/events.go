package api

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"hale/internal/events"
)

func (a *API) eventRoutes() []route {
	return []route{
		writes[feedBody](get("/v2/events", a.readFeed, "Read a team's events in order, without gaps")),
	}
}

// feedIn asks for a part of the feed.
type feedIn struct {
	After int64    `query:"after" minimum:"0" default:"0" doc:"Number of the last event you have; 0 for none."`
	Limit int      `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"A page may hold fewer, when they are large."`
	Types []string `query:"types,explode" doc:"Only these event types, repeated or with commas between."`
	Wait  int      `query:"wait" minimum:"0" maximum:"30" default:"0" doc:"Seconds to wait for events when there are none yet."`
}

// feedBody describes the answer, which readFeed writes itself so that each
// event has the very bytes that webhooks sign and send.
type feedBody struct {
	Events    []feedEvent `json:"events"`
	NextAfter int64       `json:"next_after" doc:"Pass it as after to go on."`
	Last      int64       `json:"last" doc:"Number of the team's newest event; 0 for none."`
	HasMore   bool        `json:"has_more" doc:"There is more right now."`
}

type feedEvent struct {
	Seq       int64           `json:"seq" doc:"1, 2, 3, … within the team, without gaps."`
	ID        string          `json:"id" doc:"msg_…, the webhook-id of its deliveries."`
	EventType string          `json:"event_type"`
	CreatedAt Time            `json:"created_at"`
	Event     json.RawMessage `json:"event" doc:"The envelope; null once its user is erased, and where problem is given."`
	Problem   string          `json:"problem,omitempty" enum:"unreadable" doc:"unreadable: what is stored of the event cannot be opened. Left out of every other."`
}

func (a *API) readFeed(ctx context.Context, c Caller, in *feedIn) (*written, error) {
	types, err := events.CheckTypes(commaLists(in.Types), "query", "types")
	if err != nil {
		return nil, err
	}
	page, err := events.Await(ctx, a.db, c.Team.UUID(), in.After, in.Limit, types, time.Duration(in.Wait)*time.Second, a.Stopping)
	if err != nil {
		return nil, err
	}
	return write(appendFeed(nil, &page)), nil
}

// commaLists splits each value at its commas.
func commaLists(values []string) (all []string) {
	for _, v := range values {
		all = append(all, strings.Split(v, ",")...)
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

func appendFeed(buf []byte, page *events.Page) []byte {
	buf = append(buf, `{"events":[`...)
	for i := range page.Events {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = appendFeedEvent(buf, &page.Events[i])
	}
	buf = append(buf, `],"next_after":`...)
	buf = strconv.AppendInt(buf, page.Next, 10)
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
	buf = append(buf, Time(e.CreatedAt).String()...)
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
