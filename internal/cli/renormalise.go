package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hale/internal/cli/client"
	"hale/internal/cli/progress"
)

func (s *shell) renormaliseCommand() *cobra.Command {
	var who string
	var order struct {
		UserID string `json:"user_id,omitempty"`
		DryRun bool   `json:"dry_run,omitempty"`
		Every  bool   `json:"every,omitempty"`
	}
	var noWait bool
	c := s.calls(&cobra.Command{
		Use: "renormalise [USER]", Short: "reprocess stored payloads with the current mapping",
		Long: `Reprocess stored payloads with the current mapping. Changed values are updated,
with an event. Unchanged values send no event.

Without --every only users with payloads of an older mapping are processed.
--dry-run lists the changes without making them.`,
		Example: examples(
			"hale renormalise --dry-run",
			"hale renormalise",
			"hale renormalise anna --every",
		),
		Args: wantArgs("[USER]"),
	})
	flags := c.Flags()
	flags.StringVar(&who, "user", "", "only this user: user_id or client_user_id")
	flags.BoolVar(&order.DryRun, "dry-run", false, "list the changes without making them")
	flags.BoolVar(&order.Every, "every", false, "also reprocess payloads that the current mapping has already processed")
	flags.BoolVar(&noWait, "no-wait", false, "exit when the job is queued")
	c.RunE = func(c *cobra.Command, args []string) error {
		ctx := c.Context()
		who, err := userArg(args, who)
		if err != nil {
			return err
		}
		if who != "" {
			_, id, err := s.findUser(ctx, who)
			if err != nil {
				return err
			}
			order.UserID = id
		}
		body, err := s.call(ctx, http.MethodPost, "/v2/team/renormalise", nil, order)
		if err != nil {
			return err
		}
		var started renormaliseState
		if err := json.Unmarshal(body, &started); err != nil {
			return fmt.Errorf("unexpected answer: %w", err)
		}
		if noWait {
			s.sayDone("queued; hale jobs wait %s waits for it", started.ID)
			return s.show(renormaliseView, body)
		}
		return s.awaitRenormalise(ctx, started.ID)
	}
	return c
}

// renormaliseState holds the fields of a run that the command reads.
type renormaliseState struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Error  string `json:"error"`
	DryRun bool   `json:"dry_run"`
	Done   int64  `json:"users_done"`
	Total  int64  `json:"users_total"`
	Report struct {
		Unreadable map[string]int64 `json:"unreadable"`
		Resources  map[string]struct {
			Created      int64 `json:"created"`
			Updated      int64 `json:"updated"`
			FirstUpdated *struct {
				Provider string   `json:"provider"`
				Fields   []string `json:"fields"`
			} `json:"first_updated"`
		} `json:"resources"`
	} `json:"report"`
}

var renormaliseView = view{
	id: "id",
	columns: []column{
		{"run", "id"},
		{"status", "status"},
		{"dry run", "dry_run"},
		{"users checked", "users_done"},
		{"users reprocessed", "report.users"},
		{"payloads", "report.payloads"},
		{"error", "error"},
	},
}

func (s *shell) awaitRenormalise(ctx context.Context, id string) error {
	var state renormaliseState
	body, err := s.await(ctx, client.Path("v2", "team", "renormalise", id), waitedFor{label: "renormalise", unit: progress.Items, read: func(body []byte) (step, error) {
		state = renormaliseState{}
		if err := json.Unmarshal(body, &state); err != nil {
			return step{}, err
		}
		return step{done: state.Done, total: state.Total, note: "users", over: hasEnded(state.Status), ok: state.Status == jobSucceeded}, nil
	}})
	if errors.Is(err, context.Canceled) {
		return withHint(errInterrupted, "the job continues on the server: hale jobs wait %s waits for it, hale jobs cancel %s stops it", id, id)
	}
	if err != nil {
		return err
	}
	if err := s.show(renormaliseView, body); err != nil {
		return err
	}
	s.sayChanges(&state)
	return outcome("run", state.Status, state.Error)
}

// sayChanges prints the changes for people, by resource; programs read the report.
func (s *shell) sayChanges(state *renormaliseState) {
	verb := "changed"
	if state.DryRun {
		verb = "would change"
	}
	if len(state.Report.Resources) == 0 {
		s.sayDone("nothing %s", verb)
	}
	for _, name := range slices.Sorted(maps.Keys(state.Report.Resources)) {
		r := state.Report.Resources[name]
		note := ""
		if first := r.FirstUpdated; first != nil {
			note = "; first of " + first.Provider
			if len(first.Fields) > 0 {
				note += ": " + strings.Join(first.Fields, ", ")
			}
		}
		s.sayDone("%s %s: %d updated, %d created%s", name, verb, r.Updated, r.Created, note)
	}
	for _, kind := range slices.Sorted(maps.Keys(state.Report.Unreadable)) {
		s.sayDone("%d payloads of the kind %s could not be read", state.Report.Unreadable[kind], kind)
	}
}
