package cli

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"hale/internal/cli/client"
	"hale/internal/platform/fault"
)

func (s *shell) triggerCommand() *cobra.Command {
	var to, secretText string
	c := s.calls(&cobra.Command{
		Use: "trigger EVENT_TYPE", Short: "send a signed example of an event to a receiver",
		Long: `Send an example of an event type with invented values, signed like a webhook, and
print the receiver's answer. --to is a URL that this machine reaches, or the id of a
webhook, to which the server posts. Without --to, the server posts to all webhooks of
the team. The event feed does not contain examples.

The signature for a URL is that of hale listen: the secret is derived from the API
key, and hale listen --print-secret prints it.`,
		Example: examples("hale trigger daily.data.sleep.created --to http://127.0.0.1:9000/hook",
			"hale trigger labtest.order.updated --to ep_…", "hale trigger labtest.order.updated"),
		Args:              wantArgs("EVENT_TYPE"),
		ValidArgsFunction: completeTypes,

		Annotations: map[string]string{"event_type": "EVENT_TYPE", absentHint: "hale webhooks list shows all webhooks"},
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case to == "":
				return s.triggerAll(c, args[0])
			case strings.HasPrefix(to, "ep_"):
				return s.postExample(c, to, args[0])
			}
			return s.triggerURL(c, to, secretText, args[0])
		},
	})
	c.Flags().StringVar(&to, "to", "", "URL or id of a webhook")
	c.Flags().StringVar(&secretText, "secret", "", "whsec_ secret for a URL (default: derived from the API key)")
	return c
}

// triggerAll posts an example to each webhook of the team.
func (s *shell) triggerAll(c *cobra.Command, name string) error {
	var all struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := s.get(c.Context(), webhooksPath, nil, &all); err != nil {
		return err
	}
	if _, err := s.call(c.Context(), http.MethodGet, client.Path("v2", "webhooks", "examples", name), nil, nil); err != nil {
		return err // an unknown type
	}
	if len(all.Data) == 0 {
		return withHint(fault.New(fault.NotFound, "the team has no webhooks"), "--to http://127.0.0.1:9000/hook posts to a receiver on this machine")
	}
	for _, e := range all.Data {
		s.sayDone("%s", e.ID)
		if err := s.postExample(c, e.ID, name); err != nil {
			return err
		}
	}
	return nil
}

// triggerURL posts an example from this machine.
func (s *shell) triggerURL(c *cobra.Command, to, secretText, name string) error {
	target, err := receiver("--to", to)
	if err != nil {
		return err
	}
	secret, err := s.listenSecret(secretText)
	if err != nil {
		return err
	}
	body, err := s.call(c.Context(), http.MethodGet, client.Path("v2", "webhooks", "examples", name), nil, nil)
	if err != nil {
		return err
	}
	began := s.now()
	status, err := newListener(s, target, secret, 0).post(c.Context(), feedEvent{ID: "msg_example_" + uuid.NewString(), Type: name, Event: body})
	if status == 0 && err != nil {
		return withHint(fault.Newf(fault.Unavailable, "the receiver does not answer: %s", err), "is it running at %s?", target)
	}
	fmt.Fprintf(s.out, "%s  %d  %s\n", name, status, s.now().Sub(began).Round(time.Millisecond))
	if status < 200 || status > 299 {
		return fault.Newf(fault.Refused, "the receiver answered %d instead of 2xx", status)
	}
	return nil
}
