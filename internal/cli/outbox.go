package cli

import (
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"hale/internal/labs/orders"
)

var outboxView = view{
	list: "data", id: "id",
	columns: []column{
		{"created", "created_at"},
		{"order", "order_id"},
		{"channel", "channel"},
		{"to", "recipient"},
		{"state", "state"},
		{"problem", "problem"},
		{"text", "text"},
	},
	none: "no messages",
}

func (s *shell) outboxCommand() *cobra.Command {
	var user, order, channel, state string
	var limit int
	c := &cobra.Command{
		Use: "outbox", Short: "list messages to patients by SMS and e-mail",
		Long: `List messages to patients by SMS and e-mail, newest first. A sandbox team sends
nothing: its messages stay here. Planned reminders have the state scheduled until they are due.`,
		Example: examples("hale outbox", "hale outbox --user anna --state scheduled", "hale outbox --order 0198… -o json"),
		Args:    wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			query := url.Values{"limit": {strconv.Itoa(limit)}}
			if user != "" {
				_, id, err := s.findUser(c.Context(), user)
				if err != nil {
					return err
				}
				query.Set("user_id", id)
			}
			if order != "" {
				id, err := idArg[orders.Order]("--order", "an order", order, listsOrders)
				if err != nil {
					return err
				}
				query.Set("order_id", id.String())
			}
			setIf(query, "channel", channel)
			setIf(query, "state", state)
			return s.showGet(c.Context(), outboxView, "/v2/team/outbox", query)
		},
	}
	flags := c.Flags()
	flags.StringVar(&user, "user", "", "only messages to this user: user_id or client_user_id")
	flags.StringVar(&order, "order", "", "only messages about this order")
	flags.StringVar(&channel, "channel", "", "only this channel: sms or email")
	flags.StringVar(&state, "state", "", "only this state: scheduled, queued, sent, outbox, failed or cleared")
	flags.IntVar(&limit, "limit", 50, "number of items, at most 500")
	return s.calls(c)
}
