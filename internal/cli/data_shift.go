package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"hale/internal/cli/client"
	"hale/internal/cli/progress"
)

var shiftView = view{
	id: "id", list: "shifts", none: "no shifts",
	columns: []column{
		{"shift", "id"},
		{"status", "status"},
		{"provider", "provider"},
		{"source", "source"},
		{"start", "start"},
		{"end", "end"},
		{"seconds", "seconds"},
		{"reverses", "reverses"},
	},
}

func (s *shell) shiftDataCommand() *cobra.Command {
	var who string
	var by time.Duration
	var body struct {
		Provider string `json:"provider"`
		Source   string `json:"source,omitempty"`
		Resource string `json:"resource,omitempty"`
		Start    string `json:"start"`
		End      string `json:"end"`
		Seconds  int64  `json:"seconds"`
		TimeZone string `json:"time_zone,omitempty"`
		DryRun   bool   `json:"dry_run,omitempty"`
	}
	c := s.calls(&cobra.Command{
		Use: "shift", Short: "move the data of a source with a wrong clock",
		Long: `Move the samples and sessions of one source in a period by an offset. The same
records do not come back at the wrong time when they are sent again. hale data unshift
reverses a shift.`,
		Example: examples(
			"hale data shift --user anna --provider health_connect --source scale --start 2026-03-01 --end 2026-03-07 --by -1h --dry-run",
			"hale data shifts --user anna",
		),
		Args: wantArgs(),
	})
	flags := c.Flags()
	flags.StringVar(&who, "user", "", "owner of the data: user_id or client_user_id")
	flags.StringVar(&body.Provider, "provider", "", "provider of the data")
	flags.StringVar(&body.Source, "source", "", "only this source: a type, app id, device id or source_id")
	flags.StringVar(&body.Resource, "resource", "", "only this time series or summary")
	flags.StringVar(&body.Start, "start", "", "first day (UTC) or instant of the wrong times")
	flags.StringVar(&body.End, "end", "", "last day or instant, inclusive")
	flags.DurationVar(&by, "by", 0, "added to the times, such as 1h30m; negative if the clock was fast")
	flags.StringVar(&body.TimeZone, "time-zone", "", "time zone of the person, such as Europe/Berlin; empty is the user's fallback zone")
	flags.BoolVar(&body.DryRun, "dry-run", false, "count, and move nothing")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if who == "" || body.Provider == "" || body.Start == "" || body.End == "" {
			return badUsagef("needs --user, --provider, --start and --end")
		}
		if body.Seconds = int64(by / time.Second); body.Seconds == 0 {
			return badUsagef("needs --by, at least a second")
		}
		_, id, err := s.findUser(c.Context(), who)
		if err != nil {
			return err
		}
		answer, err := s.call(c.Context(), http.MethodPost, client.Path("v2", "user", id, "data", "shifts"), nil, body)
		if err != nil {
			return err
		}
		return s.awaitShift(c.Context(), id, answer, body.DryRun)
	}
	return c
}

func (s *shell) listShiftsCommand() *cobra.Command {
	var who string
	c := s.calls(&cobra.Command{
		Use: "shifts [USER]", Short: "list the shifts of a user's data", Example: examples("hale data shifts anna", "hale data shifts --user anna"), Args: wantArgs("[USER]"),
	})
	c.Flags().StringVar(&who, "user", "", "owner of the data: user_id or client_user_id")
	c.RunE = func(c *cobra.Command, args []string) error {
		who, err := userArg(args, who)
		if err != nil {
			return err
		}
		if who == "" {
			return badUsagef("needs USER, a user_id or client_user_id")
		}
		_, id, err := s.findUser(c.Context(), who)
		if err != nil {
			return err
		}
		body, err := s.call(c.Context(), http.MethodGet, client.Path("v2", "user", id, "data", "shifts"), nil, nil)
		if err != nil {
			return err
		}
		return s.show(shiftView, body)
	}
	return c
}

// userArg returns the user of an optional argument or of the flag --user. It is empty if
// neither is given.
func userArg(args []string, flag string) (string, error) {
	if len(args) == 0 {
		return flag, nil
	}
	if flag != "" && flag != args[0] {
		return "", badUsagef("takes USER or --user, not two users")
	}
	return args[0], nil
}

func (s *shell) unshiftDataCommand() *cobra.Command {
	var who string
	var dryRun bool
	c := s.calls(&cobra.Command{
		Use: "unshift SHIFT", Short: "reverse a shift",
		Long:    `Move the data of a shift back. Data that was stored since stays.`,
		Example: examples("hale data unshift 0198… --user anna"),
		Args:    wantArgs("SHIFT"),
	})
	c.Flags().StringVar(&who, "user", "", "owner of the data: user_id or client_user_id")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "count, and move nothing")
	c.RunE = func(c *cobra.Command, args []string) error {
		if who == "" {
			return badUsagef("needs --user, a user_id or client_user_id")
		}
		_, id, err := s.findUser(c.Context(), who)
		if err != nil {
			return err
		}
		query := url.Values{}
		if dryRun {
			query.Set("dry_run", "true")
		}
		answer, err := s.call(c.Context(), http.MethodDelete, client.Path("v2", "user", id, "data", "shifts", args[0]), query, nil)
		if err != nil {
			return err
		}
		return s.awaitShift(c.Context(), id, answer, dryRun)
	}
	return c
}

// awaitShift waits for the end of a large shift, and prints what moved.
func (s *shell) awaitShift(ctx context.Context, user string, body []byte, dryRun bool) error {
	var state struct {
		ID        *string `json:"id"`
		Status    string  `json:"status"`
		Deleted   int64   `json:"deleted"`
		Resources map[string]struct {
			Moved    int64 `json:"moved"`
			Replaced int64 `json:"replaced"`
			Restored int64 `json:"restored"`
		} `json:"resources"`
	}
	read := func(body []byte) (step, error) {
		state.Resources = nil
		if err := json.Unmarshal(body, &state); err != nil {
			return step{}, fmt.Errorf("unexpected answer: %w", err)
		}
		return step{done: state.Deleted, note: "samples", over: hasEnded(state.Status), ok: state.Status == jobSucceeded}, nil
	}
	if _, err := read(body); err != nil {
		return err
	}
	if state.Status == "running" && state.ID != nil {
		_, err := s.await(ctx, client.Path("v2", "user", user, "data", "deletions", *state.ID), waitedFor{label: "shift", unit: progress.Items, read: read})
		if err != nil {
			return err
		}
	}
	single := shiftView
	single.list = ""
	if err := s.show(single, body); err != nil {
		return err
	}
	verb := "moved"
	if dryRun {
		verb = "would be moved"
	}
	if len(state.Resources) == 0 {
		s.sayDone("nothing %s", verb)
	}
	for _, name := range slices.Sorted(maps.Keys(state.Resources)) {
		c, more := state.Resources[name], ""
		if c.Replaced > 0 {
			more += fmt.Sprintf(", instead of %d others", c.Replaced)
		}
		if c.Restored > 0 {
			more += fmt.Sprintf(", %d others restored", c.Restored)
		}
		s.sayDone("%s %s: %d%s", name, verb, c.Moved, more)
	}
	return nil
}
