package cli

import (
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"hale/internal/platform/config"
)

// These commands change the custom headers and the signature of an endpoint's posts.

var headersView = view{columns: []column{{"shown", "headers"}, {"not shown", "sensitive"}}}

func (s *shell) webhooksHeaders() *cobra.Command {
	var lines []string
	var clear bool
	c := &cobra.Command{
		Use: "headers WEBHOOK", Short: "show or replace an endpoint's own headers",
		Long: `Show the headers that are sent to an endpoint besides ours, or replace all of them.
Values that look secret are stored sealed and not shown again.`,
		Example: examples(
			"hale webhooks headers ep_…",
			"hale webhooks headers ep_… -H 'X-Stage: test' -H 'Authorization: Basic …'",
			"hale webhooks headers ep_… --clear",
		),
		Args: takes("WEBHOOK"),
		RunE: func(c *cobra.Command, args []string) error {
			headers := map[string]string{}
			for _, line := range lines {
				name, value, ok := strings.Cut(line, ":")
				if !ok {
					return badUsagef("-H must be 'Name: value'")
				}
				headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
			}
			path := endpointPath(args[0], "headers")
			if clear || len(headers) > 0 {
				if _, err := s.call(c.Context(), http.MethodPut, path, nil, map[string]any{"headers": headers}); err != nil {
					return err
				}
			}
			return s.showGet(c.Context(), headersView, path, nil)
		},
	}
	c.Flags().StringArrayVarP(&lines, "header", "H", nil, "header 'Name: value' to send; repeatable, replaces all")
	c.Flags().BoolVar(&clear, "clear", false, "send none but ours")
	return c
}

var secretView = view{id: "key", columns: []column{{"secret", "key"}}}

func (s *shell) webhooksSecret() *cobra.Command {
	return &cobra.Command{
		Use: "secret WEBHOOK", Short: "print the signing secret",
		Example: examples("export WEBHOOK_SECRET=$(hale webhooks secret ep_… -o id)"),
		Args:    takes("WEBHOOK"),
		RunE: func(c *cobra.Command, args []string) error {
			return s.showGet(c.Context(), secretView, endpointPath(args[0], "secret"), nil)
		},
	}
}

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
