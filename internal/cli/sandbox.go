package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"hale/internal/cli/client"
	"hale/internal/platform/config"
)

var (
	sandboxView = view{
		list: "plans", id: "order_id",
		columns: []column{{"due", "due_at"}, {"order", "order_id"}, {"status", "status"}},
		none:    "nothing is planned",
	}
	sandboxMoveView = view{
		list: "moved", id: "order_id",
		columns: []column{{"time", "created_at"}, {"order", "order_id"}, {"event", "event"}},
		none:    "no order moved",
		prepare: func(move map[string]any) {
			event := lastPart(cell(move["status"]))
			if detail := cell(move["status_detail"]); detail != "-" {
				event += " (" + detail + ")"
			}
			move["event"] = event
		},
	}
	sandboxScriptView = view{
		list: "data", id: "name",
		columns: []column{{"scenario", "name"}, {"test kits only", "testkits_only"}, {"description", "story"}},
	}
)

func (s *shell) sandboxCommand() *cobra.Command {
	return noun(&cobra.Command{
		Use: "sandbox", Short: "control the built-in lab of a sandbox team",
		Long: `Control the built-in lab of a sandbox team. The lab plans the steps of an order and
their times. Steps happen only when you advance its clock. A scenario defines the
steps: success by default, another one with hale sandbox run.`,
		Example: examples("hale sandbox show", "hale sandbox advance 3d", "hale sandbox run 0198… critical", "hale sandbox scripts"),
	}, s.sandboxShow(), s.sandboxAdvance(), s.sandboxRun(), s.sandboxScripts())
}

func (s *shell) sandboxShow() *cobra.Command {
	return s.calls(&cobra.Command{
		Use: "show", Short: "show the planned steps of the lab",
		Example: examples("hale sandbox show", "hale sandbox show -o json"),
		Args:    wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			body, err := s.call(c.Context(), http.MethodGet, "/v3/sandbox", nil, nil)
			if err != nil {
				return err
			}
			return s.showLab(sandboxView, body)
		},
	})
}

// showLab prints the clock of the lab before a table.
func (s *shell) showLab(v view, body []byte) error {
	if s.format != formatTable {
		return s.show(v, body)
	}
	var lab struct {
		Now     string `json:"now"`
		Ahead   int64  `json:"ahead_seconds"`
		Waiting int    `json:"waiting"`
	}
	if err := json.Unmarshal(body, &lab); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "clock of the laboratory: %s, %s ahead\n", shortenTime(lab.Now), spanText(time.Duration(lab.Ahead)*time.Second))
	if lab.Waiting > 0 {
		fmt.Fprintf(s.out, "not run yet: %s; repeat with hale sandbox advance 0s\n", pluralOf(lab.Waiting, "due step"))
	}
	return s.show(v, body)
}

// spanText writes a time span with days.
func spanText(d time.Duration) string {
	days, rest := d/(24*time.Hour), d%(24*time.Hour)
	switch {
	case days == 0:
		return rest.String()
	case rest == 0:
		return fmt.Sprintf("%dd", days)
	}
	return fmt.Sprintf("%dd%s", days, rest)
}

func (s *shell) sandboxAdvance() *cobra.Command {
	return s.calls(&cobra.Command{
		Use: "advance DURATION", Short: "advance the clock; everything due happens",
		Long: `Advance the clock of the lab. It answers when everything that is due can be read,
and prints the clock and the new events of orders.`,
		Example: examples("hale sandbox advance 3d", "hale sandbox advance 90m", "hale sandbox advance 0s"),
		Args:    wantArgs("DURATION"),
		RunE: func(c *cobra.Command, args []string) error {
			span, err := config.ParseDuration(args[0])
			if err != nil || span < 0 {
				return badUsagef("DURATION must be a time span such as 3d or 90m, not %s", args[0])
			}
			body, err := s.call(c.Context(), http.MethodPost, "/v3/sandbox/advance", nil, map[string]any{"seconds": int64(span.Seconds())})
			if err != nil {
				return err
			}
			return s.showLab(sandboxMoveView, body)
		},
	})
}

func (s *shell) sandboxRun() *cobra.Command {
	return s.calls(&cobra.Command{
		Use: "run ORDER SCRIPT", Short: "run a scenario on an order",
		Long: `Plan the steps of a scenario for an order, from its current state. Nothing happens
yet: advance the clock with hale sandbox advance.`,
		Example: examples("hale sandbox run 0198… lost_kit", "hale sandbox run 0198… critical && hale sandbox advance 14d"),

		Annotations: map[string]string{absentHint: listsOrders},

		Args: wantArgs("ORDER", "SCRIPT"),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := orderArg(args[0])
			if err != nil {
				return err
			}
			path := client.Path("v3", "sandbox", "order", id.String(), "run")
			body, err := s.call(c.Context(), http.MethodPost, path, nil, map[string]any{"script": args[1]})
			if err != nil {
				return err
			}
			return s.show(sandboxView, body)
		},
	})
}

func (s *shell) sandboxScripts() *cobra.Command {
	return s.calls(&cobra.Command{
		Use: "scripts", Short: "list the scenarios",
		Example: examples("hale sandbox scripts"),
		Args:    wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			return s.showGet(c.Context(), sandboxScriptView, "/v3/sandbox/scripts", nil)
		},
	})
}
