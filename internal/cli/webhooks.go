package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/spf13/cobra"

	"hale/internal/cli/client"
)

func (s *shell) webhooksCommand() *cobra.Command {
	return s.calls(noun(
		&cobra.Command{
			Use: "webhooks", Short: "manage endpoints that receive events",
			Long: `Manage the endpoints that receive events by POST. List deliveries and attempts, and
send events again.`,
			Example: examples(
				"hale webhooks add https://api.example/hook",
				"hale webhooks attempts ep_… --state failed",
				"hale webhooks recover ep_… --since 24h",
			),
			Annotations: map[string]string{
				absentHint: "hale webhooks list shows all endpoints", "filter_types": "--types",
				"from_seq": "--from", "to_seq": "--to", "message_id": "MESSAGE", "key": "--secret", "overlap_seconds": "--overlap",
				"event_type": "TYPE",
			},
		},
		s.webhooksAdd(), s.webhooksList(), s.webhooksShow(), s.webhooksUpdate(),
		s.webhooksEnable(), s.webhooksDisable(), s.webhooksRemove(),
		s.webhooksHeaders(), s.webhooksSecret(), s.webhooksRotate(),
		s.webhooksDeliveries(), s.webhooksAttempts(), s.webhooksReconcile(),
		s.webhooksReplay(), s.webhooksRecover(), s.webhooksExample(), s.webhooksTypes(),
	))
}

const webhooksPath = "/v2/webhooks"

var endpointColumns = []column{
	{"webhook", "id"},
	{"url", "url"},
	{"state", "state"},
	{"types", "filter_types"},
	{"rate limit", "rate_limit"},
	{"content", "content"},
	{"description", "description"},
	{"created", "created_at"},
}

var (
	endpointsView = view{list: "data", id: "id", columns: endpointColumns, none: "no webhooks: hale webhooks add URL creates one"}
	endpointView  = view{id: "id", columns: append(slices.Clone(endpointColumns),
		column{"disabled reason", "disabled_reason"}, column{"failing since", "failing_since"}, column{"last success", "last_success_at"})}
)

func endpointPath(id string, more ...string) string {
	return client.Path(append([]string{"v2", "webhooks", id}, more...)...)
}

// endpointFlags are the settings of an endpoint that have flags.
type endpointFlags struct {
	types       []string
	allTypes    bool
	description string
	rate        int
	noRate      bool
	content     string
}

func (f *endpointFlags) add(c *cobra.Command) {
	flags := c.Flags()
	addTypes(c, &f.types)
	flags.StringVar(&f.description, "description", "", "purpose of the endpoint")
	flags.IntVar(&f.rate, "rate-limit", 0, "maximum posts per second")
	flags.StringVar(&f.content, "content", "", "content of the posts: full (default), or ids for type and ids only")
}

// body returns the settings whose flags were given, as the body of a request.
func (f *endpointFlags) body(c *cobra.Command) map[string]any {
	body := map[string]any{}
	changed := c.Flags().Changed
	if changed("types") {
		body["filter_types"] = f.types
	}
	if f.allTypes {
		body["filter_types"] = nil
	}
	if changed("description") {
		body["description"] = f.description
	}
	if changed("rate-limit") {
		body["rate_limit"] = f.rate
	}
	if f.noRate {
		body["rate_limit"] = nil
	}
	if changed("content") {
		body["content"] = f.content
	}
	return body
}

func (s *shell) webhooksAdd() *cobra.Command {
	var f endpointFlags
	var secret string
	var disabled bool
	c := &cobra.Command{
		Use: "add URL", Short: "create an endpoint and print its signing secret",
		Example: examples(
			"hale webhooks add https://api.example/hook",
			"hale webhooks add https://api.example/hook --types daily.data.sleep.created,daily.data.sleep.updated",
			"hale webhooks add https://api.example/hook --secret whsec_… --rate-limit 50",
		),
		Args: wantArgs("URL"),
	}
	f.add(c)
	c.Flags().StringVar(&secret, "secret", "", "signing secret, whsec_ and base64 (default: a new one)")
	c.Flags().BoolVar(&disabled, "disabled", false, "create it disabled; its events are held")
	c.RunE = func(c *cobra.Command, args []string) error {
		body := f.body(c)
		body["url"] = args[0]
		if secret != "" {
			body["secret"] = secret
		}
		if disabled {
			body["disabled"] = true
		}
		made, err := s.call(c.Context(), http.MethodPost, webhooksPath, nil, body)
		if err != nil {
			return err
		}
		if s.format == formatTable {
			if err := s.printSecret(c, made); err != nil {
				return err
			}
		}
		return s.show(endpointView, made)
	}
	return c
}

// printSecret prints the signing secret of a new endpoint, which its receiver needs.
func (s *shell) printSecret(c *cobra.Command, made json.RawMessage) error {
	var endpoint struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(made, &endpoint); err != nil {
		return err
	}
	var secret struct {
		Key string `json:"key"`
	}
	if err := s.get(c.Context(), endpointPath(endpoint.ID, "secret"), nil, &secret); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "secret       %s\n", secret.Key)
	return nil
}

func (s *shell) webhooksList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "list endpoints, oldest first",
		Example: examples("hale webhooks list", "hale webhooks list -o jsonl"),
		Args:    wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			return s.showGet(c.Context(), endpointsView, webhooksPath, nil)
		},
	}
}

func (s *shell) webhooksShow() *cobra.Command {
	return &cobra.Command{
		Use: "show WEBHOOK", Short: "show one endpoint",
		Example: examples("hale webhooks show ep_…"),
		Args:    wantArgs("WEBHOOK"),
		RunE: func(c *cobra.Command, args []string) error {
			return s.showGet(c.Context(), endpointView, endpointPath(args[0]), nil)
		},
	}
}

func (s *shell) webhooksUpdate() *cobra.Command {
	var f endpointFlags
	var address string
	c := &cobra.Command{
		Use: "update WEBHOOK", Short: "change the given fields of an endpoint",
		Example: examples(
			"hale webhooks update ep_… --url https://api.example/v2/hook",
			"hale webhooks update ep_… --all-types --no-rate-limit",
		),
		Args: wantArgs("WEBHOOK"),
	}
	f.add(c)
	c.Flags().StringVar(&address, "url", "", "post to this URL")
	c.Flags().BoolVar(&f.allTypes, "all-types", false, "post events of every type that is not optional")
	c.Flags().BoolVar(&f.noRate, "no-rate-limit", false, "remove the rate limit")
	c.RunE = func(c *cobra.Command, args []string) error {
		body := f.body(c)
		if c.Flags().Changed("url") {
			body["url"] = address
		}
		if len(body) == 0 {
			return badUsagef("nothing to change: give at least one flag")
		}
		return s.changeEndpoint(c, args[0], body)
	}
	return c
}

func (s *shell) changeEndpoint(c *cobra.Command, id string, body map[string]any) error {
	changed, err := s.call(c.Context(), http.MethodPatch, endpointPath(id), nil, body)
	if err != nil {
		return err
	}
	return s.show(endpointView, changed)
}

func (s *shell) webhooksEnable() *cobra.Command {
	var since string
	c := &cobra.Command{
		Use: "enable WEBHOOK", Short: "enable an endpoint",
		Long: `Enable an endpoint. Events that were held while it was disabled stay held;
hale webhooks recover sends them. --send-held-since sends held events from that
time at once.`,
		Example: examples("hale webhooks enable ep_…", "hale webhooks enable ep_… --send-held-since 24h"),
		Args:    wantArgs("WEBHOOK"),
		RunE: func(c *cobra.Command, args []string) error {
			body := map[string]any{"disabled": false}
			if since != "" {
				at, err := s.moment("--send-held-since", since)
				if err != nil {
					return err
				}
				body["send_held_since"] = at
			}
			return s.changeEndpoint(c, args[0], body)
		},
	}
	c.Flags().StringVar(&since, "send-held-since", "", "send held events since a time, or since a time span before now such as 24h")
	return c
}

func (s *shell) webhooksDisable() *cobra.Command {
	return &cobra.Command{
		Use: "disable WEBHOOK", Short: "disable an endpoint; its events are held",
		Example: examples("hale webhooks disable ep_…"),
		Args:    wantArgs("WEBHOOK"),
		RunE: func(c *cobra.Command, args []string) error {
			return s.changeEndpoint(c, args[0], map[string]any{"disabled": true})
		},
	}
}

func (s *shell) webhooksRemove() *cobra.Command {
	var dryRun bool
	c := &cobra.Command{
		Use: "remove WEBHOOK", Short: "remove an endpoint; its pending events are not sent",
		Example: examples("hale webhooks remove ep_…", "hale webhooks remove ep_… --dry-run"),
		Args:    wantArgs("WEBHOOK"),
		RunE: func(c *cobra.Command, args []string) error {
			if dryRun {
				s.sayDone("nothing was changed; this endpoint would be removed")
				return s.showGet(c.Context(), endpointView, endpointPath(args[0]), nil)
			}
			if _, err := s.call(c.Context(), http.MethodDelete, endpointPath(args[0]), nil, nil); err != nil {
				return err
			}
			s.sayDone("removed")
			return nil
		},
	}
	c.Flags().BoolVar(&dryRun, "dry-run", false, "show the endpoint without removing it")
	return c
}
