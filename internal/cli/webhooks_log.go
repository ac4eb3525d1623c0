package cli

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"hale/internal/platform/webhooks"
)

// These commands list the deliveries and attempts of an endpoint.

var deliveryColumns = []column{
	{"number", "seq"},
	{"message", "message_id"},
	{"type", "event_type"},
	{"state", "state"},
	{"attempts", "attempts"},
	{"code", "response_code"},
	{"next attempt", "next_attempt_at"},
	{"ended", "ended_at"},
}

// prepareProblem says a problem in words.
func prepareProblem(attempt map[string]any) {
	if word, ok := attempt["problem"].(string); ok {
		attempt["problem"] = webhooks.Problem(word).Sentence()
	}
}

var (
	deliveriesView = view{list: "data", id: "message_id", columns: deliveryColumns, none: "no deliveries"}
	attemptsView   = view{
		list: "data", id: "message_id",
		columns: []column{
			{"at", "attempted_at"},
			{"message", "message_id"},
			{"type", "event_type"},
			{"attempt", "number"},
			{"code", "response_code"},
			{"problem", "problem"},
			{"duration ms", "took_ms"},
		},
		none: "no attempts", prepare: prepareProblem,
	}
	messageView   = view{list: "attempt_log", id: "message_id", columns: attemptsView.columns, none: "no attempts yet", prepare: prepareProblem}
	reconcileView = view{columns: []column{
		{"from", "from"},
		{"to", "to"},
		{"sent", "counts.sent"},
		{"pending", "counts.pending"},
		{"failed", "counts.failed"},
		{"held", "counts.held"},
		{"not subscribed", "counts.apart"},
		{"open", "open.message_id"},
	}}
)

func (s *shell) webhooksDeliveries() *cobra.Command {
	var state, name string
	var limit int
	c := &cobra.Command{
		Use: "deliveries WEBHOOK [MESSAGE]", Short: "list deliveries, or the attempts of one message",
		Example: examples(
			"hale webhooks deliveries ep_… --state pending",
			"hale webhooks deliveries ep_… msg_… -o json   # requests and answers too",
		),
		Annotations: map[string]string{
			"event_type": "--type",
			absentHint:   "hale webhooks list shows all endpoints, hale webhooks deliveries WEBHOOK its messages",
		},
		Args: wantArgsUpTo("WEBHOOK", "MESSAGE"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 2 {
				return s.showGet(c.Context(), messageView, endpointPath(args[0], "deliveries", args[1]), nil)
			}
			query := url.Values{"limit": {strconv.Itoa(limit)}}
			setIf(query, "state", state)
			setIf(query, "event_type", name)
			return s.showLog(c.Context(), deliveriesView, endpointPath(args[0], "deliveries"), query, limit)
		},
	}
	c.Flags().StringVar(&state, "state", "", "only this state: pending, sent, failed or held")
	c.Flags().StringVar(&name, "type", "", "only this event type")
	c.Flags().IntVar(&limit, "limit", 50, "number of deliveries, newest first, at most 500")
	return c
}

// showLog shows so many rows of a log. An answer looks through a part of the feed
// only, so it may take several.
func (s *shell) showLog(ctx context.Context, v view, path string, query url.Values, limit int) error {
	type page struct {
		Data []json.RawMessage `json:"data"`
		Next *string           `json:"next_cursor"`
	}
	whole := page{Data: []json.RawMessage{}}
	for {
		var part page
		if err := s.get(ctx, path, query, &part); err != nil {
			return err
		}
		whole.Data, whole.Next = append(whole.Data, part.Data...), part.Next
		if part.Next == nil || len(whole.Data) >= limit {
			break
		}
		query.Set("next_cursor", *part.Next)
		query.Set("limit", strconv.Itoa(limit-len(whole.Data)))
	}
	body, err := json.Marshal(whole)
	if err != nil {
		return err
	}
	return s.show(v, body)
}

// setIf adds a query parameter, unless its value is empty.
func setIf(query url.Values, name, value string) {
	if value != "" {
		query.Set(name, value)
	}
}

func (s *shell) webhooksAttempts() *cobra.Command {
	var state string
	var limit int
	c := &cobra.Command{
		Use: "attempts WEBHOOK", Short: "list attempts to post, newest events first",
		Example: examples("hale webhooks attempts ep_…", "hale webhooks attempts ep_… --state failed -o jsonl"),
		Args:    wantArgs("WEBHOOK"),
		RunE: func(c *cobra.Command, args []string) error {
			query := url.Values{"limit": {strconv.Itoa(limit)}}
			setIf(query, "state", state)
			return s.showLog(c.Context(), attemptsView, endpointPath(args[0], "attempts"), query, limit)
		},
	}
	c.Flags().StringVar(&state, "state", "", "only this state: ok or failed")
	c.Flags().IntVar(&limit, "limit", 50, "number of attempts, at most 200")
	return c
}

func (s *shell) webhooksReconcile() *cobra.Command {
	var from, to int64
	c := &cobra.Command{
		Use: "reconcile WEBHOOK", Short: "count delivered and open events in a range of numbers",
		Long: `Check every event in a range of numbers: the number of events that the endpoint
answered with 2xx, and the messages that it did not.`,
		Example: examples("hale webhooks reconcile ep_…", "hale webhooks reconcile ep_… --from 1200 --to 1300 -o json"),
		Args:    wantArgs("WEBHOOK"),
		RunE: func(c *cobra.Command, args []string) error {
			query := url.Values{"from": {strconv.FormatInt(from, 10)}}
			if to > 0 {
				query.Set("to", strconv.FormatInt(to, 10))
			}
			return s.showReconciled(c.Context(), endpointPath(args[0], "reconcile"), query)
		},
	}
	c.Flags().Int64Var(&from, "from", 1, "first event number")
	c.Flags().Int64Var(&to, "to", 0, "last event number (default: the latest event)")
	return c
}

// showReconciled reads the pages of a report and shows their sum.
func (s *shell) showReconciled(ctx context.Context, path string, query url.Values) error {
	type page struct {
		From    int64             `json:"from"`
		To      int64             `json:"to"`
		Counts  map[string]int64  `json:"counts"`
		Open    []json.RawMessage `json:"open"`
		HasMore bool              `json:"has_more"`
	}
	var whole page
	for whole.HasMore = true; whole.HasMore; {
		var part page
		if err := s.get(ctx, path, query, &part); err != nil {
			return err
		}
		if whole.Counts == nil {
			whole = part
		} else {
			whole.To, whole.HasMore, whole.Open = part.To, part.HasMore, append(whole.Open, part.Open...)
			for state, n := range part.Counts {
				whole.Counts[state] += n
			}
		}
		query.Set("from", strconv.FormatInt(part.To+1, 10))
	}
	body, err := json.Marshal(whole)
	if err != nil {
		return err
	}
	return s.show(reconcileView, body)
}
