package cli

import (
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"hale/internal/client"
	"hale/internal/config"
)

var attemptsView = view{
	list: "data", id: "message_id",
	columns: []column{
		{"at", "attempted_at"}, {"message", "message_id"}, {"type", "event_type"}, {"try", "number"},
		{"code", "response_code"}, {"problem", "problem"}, {"took ms", "took_ms"},
	},
	none: "no attempts yet",
}

// webhooksRotate gives an endpoint another secret; for the overlap both sign.
func (s *shell) webhooksRotate() *cobra.Command {
	var secret, overlap string
	c := &cobra.Command{
		Use: "rotate WEBHOOK", Short: "change the signing secret; both sign for the overlap",
		Example: examples("hale webhooks rotate ep_…", "hale webhooks rotate ep_… --overlap 2h --secret whsec_…"),
		Args:    takes("WEBHOOK"),
		RunE: func(c *cobra.Command, args []string) error {
			span, err := config.ParseDuration(overlap)
			if err != nil || span < 0 {
				return badUsagef("--overlap must be a time span, such as 24h")
			}
			body := map[string]any{"overlap_seconds": int64(span.Seconds())}
			if secret != "" {
				body["key"] = secret
			}
			if _, err := s.call(c.Context(), http.MethodPost, endpointPath(args[0], "secret", "rotate"), nil, body); err != nil {
				return err
			}
			s.sayDone("rotated; the old secret signs too for %s", overlap)
			return s.showGet(c.Context(), secretView, endpointPath(args[0], "secret"), nil)
		},
	}
	c.Flags().StringVar(&secret, "secret", "", "secret to use, whsec_ and base64; made when left out")
	c.Flags().StringVar(&overlap, "overlap", "24h", "how long the old secret signs too, at most 7d")
	return c
}

var replayView = view{columns: []column{{"messages", "count"}}}

func (s *shell) webhooksReplay() *cobra.Command {
	var from, to int64
	c := &cobra.Command{
		Use: "replay WEBHOOK [MESSAGE]", Short: "send one message again, or a range of event numbers",
		Long: `Send one message again, or every event of a range of numbers, delivered before or
not. A message keeps its id, so that a receiver can tell it has it.`,
		Example: examples("hale webhooks replay ep_… msg_…", "hale webhooks replay ep_… --from 1200 --to 1300"),
		Args:    takesUpTo("WEBHOOK", "MESSAGE"),
		RunE: func(c *cobra.Command, args []string) error {
			ranged := c.Flags().Changed("from") || c.Flags().Changed("to")
			body := map[string]any{}
			switch {
			case ranged && len(args) == 1:
				body["from_seq"], body["to_seq"] = from, to
			case !ranged && len(args) == 2:
				body["message_id"] = args[1]
			default:
				return badUsagef("needs MESSAGE, or --from and --to")
			}
			return s.sendAgain(c, args[0], "replay", body)
		},
	}
	c.Flags().Int64Var(&from, "from", 0, "first event number")
	c.Flags().Int64Var(&to, "to", 0, "last event number")
	return c
}

func (s *shell) webhooksRecover() *cobra.Command {
	var since string
	var dryRun bool
	c := &cobra.Command{
		Use: "recover WEBHOOK", Short: "send again all that failed since a moment",
		Example: examples(
			"hale webhooks recover ep_… --since 24h",
			"hale webhooks recover ep_… --since 2026-03-01T12:00:00Z --dry-run",
		),
		Args: takes("WEBHOOK"),
		RunE: func(c *cobra.Command, args []string) error {
			at, err := s.moment(since)
			if err != nil {
				return err
			}
			return s.sendAgain(c, args[0], "recover", map[string]any{"since": at.Format(time.RFC3339), "dry_run": dryRun})
		},
	}
	c.Flags().StringVar(&since, "since", "", "a moment, or a time span before now such as 24h")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "only say how many messages would be sent")
	return c
}

// moment reads a time, a day, or a span before now.
func (s *shell) moment(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), nil
		}
	}
	span, err := config.ParseDuration(text)
	if err != nil || span <= 0 {
		return time.Time{}, badUsagef("--since must be a moment such as 2026-03-01T12:00:00Z, or a time span before now such as 24h")
	}
	return s.now().UTC().Add(-span), nil
}

func (s *shell) sendAgain(c *cobra.Command, id, verb string, body map[string]any) error {
	answer, err := s.call(c.Context(), http.MethodPost, endpointPath(id, verb), nil, body)
	if err != nil {
		return err
	}
	return s.show(replayView, answer)
}

func (s *shell) webhooksExample() *cobra.Command {
	var to string
	c := &cobra.Command{
		Use: "example TYPE", Short: "show an example of an event type, or post it",
		Example: examples(
			"hale webhooks example daily.data.sleep.created",
			"hale webhooks example daily.data.sleep.created --to ep_…",
		),
		Args:              takes("TYPE"),
		ValidArgsFunction: completeTypes,
		RunE: func(c *cobra.Command, args []string) error {
			if to == "" {
				body, err := s.call(c.Context(), http.MethodGet, client.Path("v2", "webhooks", "examples", args[0]), nil, nil)
				if err == nil {
					s.printBody(body)
				}
				return err
			}
			return s.sendAgain(c, to, "example", map[string]any{"event_type": args[0]})
		},
	}
	c.Flags().StringVar(&to, "to", "", "post it to this endpoint")
	return c
}
