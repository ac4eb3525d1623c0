package cli

import (
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"hale/internal/platform/config"
)

// These commands change the custom headers and the signature of an endpoint's posts.

var headersView = view{columns: []column{{"visible headers", "headers"}, {"hidden headers", "sensitive"}}}

func (s *shell) webhooksHeaders() *cobra.Command {
	var lines []string
	var clear bool
	c := &cobra.Command{
		Use: "headers WEBHOOK", Short: "show or replace the custom headers of an endpoint",
		Long: `Show the custom headers that Hale sends to an endpoint, or replace all of them.
Values that look secret are stored encrypted and not shown again; only the names of
these headers are listed.`,
		Example: examples(
			"hale webhooks headers ep_…",
			"hale webhooks headers ep_… -H 'X-Stage: test' -H 'Authorization: Basic …'",
			"hale webhooks headers ep_… --clear",
		),
		Args: wantArgs("WEBHOOK"),
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
	c.Flags().StringArrayVarP(&lines, "header", "H", nil, "header 'Name: value' to send; repeatable; replaces all custom headers")
	c.Flags().BoolVar(&clear, "clear", false, "remove all custom headers")
	return c
}

var secretView = view{id: "key", columns: []column{{"secret", "key"}}}

func (s *shell) webhooksSecret() *cobra.Command {
	return &cobra.Command{
		Use: "secret WEBHOOK", Short: "print the signing secret",
		Example: examples("export WEBHOOK_SECRET=$(hale webhooks secret ep_… -o id)"),
		Args:    wantArgs("WEBHOOK"),
		RunE: func(c *cobra.Command, args []string) error {
			return s.showGet(c.Context(), secretView, endpointPath(args[0], "secret"), nil)
		},
	}
}

func (s *shell) webhooksRotate() *cobra.Command {
	var secret, overlap string
	c := &cobra.Command{
		Use: "rotate WEBHOOK", Short: "change the signing secret; the old one stays valid for the overlap",
		Example: examples("hale webhooks rotate ep_…", "hale webhooks rotate ep_… --overlap 2h --secret whsec_…"),
		Args:    wantArgs("WEBHOOK"),
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
			s.sayDone("rotated; the old secret also signs for %s", overlap)
			return s.showGet(c.Context(), secretView, endpointPath(args[0], "secret"), nil)
		},
	}
	c.Flags().StringVar(&secret, "secret", "", "new secret, whsec_ and base64 (default: a random one)")
	c.Flags().StringVar(&overlap, "overlap", "24h", "time for which the old secret also signs, at most 7d")
	return c
}
