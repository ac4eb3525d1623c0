package cli

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hale/internal/cli/client"
	"hale/internal/platform/config"
	"hale/internal/platform/fault"
	"hale/internal/platform/webhooks"
)

// Sending again, and sending examples.

var replayView = view{id: "job_id", columns: []column{{"messages", "count"}, {"job", "job_id"}}}

func (s *shell) webhooksReplay() *cobra.Command {
	var from, to int64
	var dryRun bool
	c := &cobra.Command{
		Use: "replay WEBHOOK [MESSAGE]", Short: "send one message again, or the events in a range of numbers",
		Long: `Send one message again, or every event in a range of numbers, whether or not it was
delivered before. A message keeps its id, so that a receiver can detect duplicates.`,
		Example: examples(
			"hale webhooks replay ep_… msg_…",
			"hale webhooks replay ep_… --from 1200 --to 1300",
			"hale webhooks replay ep_… --from 1200 --dry-run",
		),
		Args: wantArgsUpTo("WEBHOOK", "MESSAGE"),
		RunE: func(c *cobra.Command, args []string) error {
			body := map[string]any{"dry_run": dryRun}
			switch {
			case from > 0 && len(args) == 1:
				body["from_seq"] = from
				if to > 0 {
					body["to_seq"] = to
				}
			case from == 0 && to == 0 && len(args) == 2:
				body["message_id"] = args[1]
			default:
				return badUsagef("needs MESSAGE or --from")
			}
			return s.sendAgain(c, args[0], "replay", body)
		},
	}
	c.Flags().Int64Var(&from, "from", 0, "first event number")
	c.Flags().Int64Var(&to, "to", 0, "last event number (default: the latest event)")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "print the number of messages without sending them")
	return c
}

func (s *shell) webhooksRecover() *cobra.Command {
	var since string
	var dryRun bool
	c := &cobra.Command{
		Use: "recover WEBHOOK", Short: "send failed and held events again",
		Example: examples(
			"hale webhooks recover ep_… --since 24h",
			"hale webhooks recover ep_… --since 2026-03-01T12:00:00Z --dry-run",
		),
		Args: wantArgs("WEBHOOK"),
		RunE: func(c *cobra.Command, args []string) error {
			at, err := s.moment("--since", since)
			if err != nil {
				return err
			}
			return s.sendAgain(c, args[0], "recover", map[string]any{"since": at, "dry_run": dryRun})
		},
	}
	c.Flags().StringVar(&since, "since", "", "a time, or a time span before now such as 24h")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "print the number of messages without sending them")
	return c
}

// moment reads a time, a day, or a span before now, for the wire.
func (s *shell) moment(flag, text string) (string, error) {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC().Format(time.RFC3339), nil
		}
	}
	span, err := config.ParseDuration(text)
	if err != nil || span <= 0 {
		return "", badUsagef("%s must be a time such as 2026-03-01T12:00:00Z, or a time span before now such as 24h", flag)
	}
	return s.now().UTC().Add(-span).Format(time.RFC3339), nil
}

// sendAgain asks for messages once more. Many are a job.
func (s *shell) sendAgain(c *cobra.Command, id, verb string, body map[string]any) error {
	answer, err := s.call(c.Context(), http.MethodPost, endpointPath(id, verb), nil, body)
	if err != nil {
		return err
	}
	var started struct {
		Job string `json:"job_id"`
	}
	if err := json.Unmarshal(answer, &started); err != nil {
		return err
	}
	if started.Job != "" {
		s.sayDone("sending; hale jobs wait %s waits for it", started.Job)
	}
	return s.show(replayView, answer)
}

var trialView = view{id: "message_id", prepare: prepareProblem, columns: []column{
	{"message", "message_id"}, {"code", "response_code"}, {"problem", "problem"}, {"duration ms", "took_ms"}, {"answer", "response"},
}}

func (s *shell) webhooksExample() *cobra.Command {
	var to string
	c := &cobra.Command{
		Use: "example TYPE", Short: "show an example of an event type, or post it",
		Long: `Show an example of an event type, with invented values. --to posts it to an endpoint
at once, signed like a real event, and shows the receiver's answer.`,
		Example: examples(
			"hale webhooks example daily.data.sleep.created",
			"hale webhooks example daily.data.sleep.created --to ep_…",
		),
		Args:              wantArgs("TYPE"),
		ValidArgsFunction: completeTypes,
		RunE: func(c *cobra.Command, args []string) error {
			if strings.Contains(to, "://") {
				return withHint(badUsagef("--to takes the id of an endpoint, such as ep_…"), "hale trigger %s --to %s posts to a URL", shellWord(args[0]), shellWord(to))
			}
			if to != "" {
				return s.postExample(c, to, args[0])
			}
			body, err := s.call(c.Context(), http.MethodGet, client.Path("v2", "webhooks", "examples", args[0]), nil, nil)
			if err == nil {
				s.printBody(body)
			}
			return err
		},
	}
	c.Flags().StringVar(&to, "to", "", "post the example to this endpoint, an id")
	return c
}

func (s *shell) postExample(c *cobra.Command, id, name string) error {
	answer, err := s.call(c.Context(), http.MethodPost, endpointPath(id, "example"), nil, map[string]any{"event_type": name})
	if err != nil {
		return err
	}
	if err := s.show(trialView, answer); err != nil {
		return err
	}
	var trial struct {
		Problem string `json:"problem"`
	}
	if err := json.Unmarshal(answer, &trial); err != nil {
		return err
	}
	if trial.Problem != "" {
		return fault.New(fault.Refused, "the receiver did not answer 2xx: "+webhooks.Problem(trial.Problem).Sentence())
	}
	return nil
}
