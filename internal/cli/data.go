package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/spf13/cobra"

	"hale/internal/cli/client"
	"hale/internal/cli/progress"
)

func (s *shell) dataCommand() *cobra.Command {
	return noun(&cobra.Command{
		Use: "data", Short: "delete, merge and move wearable data",
		Example: examples("hale data delete --user anna --resource steps --dry-run"),
	}, s.deleteDataCommand(), s.mergeDataCommand(), s.shiftDataCommand(), s.listShiftsCommand(), s.unshiftDataCommand())
}

func (s *shell) deleteDataCommand() *cobra.Command {
	var who string
	var dryRun bool
	var external []string
	filters := map[string]*string{}
	c := s.calls(&cobra.Command{
		Use: "delete", Short: "delete wearable data of a user by filters",
		Long: `Delete wearable data of a user. At least one filter is needed; all given filters
must apply. The same records do not come back when they are sent or imported again.

--dry-run counts without deleting.`,
		Example: examples(
			"hale data delete --user anna --resource steps --start 2026-03-01 --end 2026-03-01 --dry-run",
			"hale data delete --user anna --provider fitbit",
		),
		Args: wantArgs(),
	})
	flags := c.Flags()
	flags.StringVar(&who, "user", "", "owner of the data: user_id or client_user_id")
	for _, f := range []struct{ flag, name, help string }{
		{"resource", "resource", "only this time series or summary"},
		{"provider", "provider", "only data of this provider"},
		{"source", "source", "only this source: a type, app id, device id or source_id"},
		{"start", "start", "first day (UTC) or instant"},
		{"end", "end", "last day or instant, inclusive"},
		{"import", "import_id", "only what this import stored"},
	} {
		filters[f.name] = flags.String(f.flag, "", f.help)
	}
	flags.StringSliceVar(&external, "external-id", nil, "only summaries with this id; may be repeated")
	flags.BoolVar(&dryRun, "dry-run", false, "count, and delete nothing")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if who == "" {
			return badUsagef("needs --user, a user_id or client_user_id")
		}
		query := url.Values{}
		for name, v := range filters {
			if *v != "" {
				query.Set(name, *v)
			}
		}
		for _, id := range external {
			query.Add("external_id", id)
		}
		if len(query) == 0 {
			return badUsagef("needs a filter, such as --resource or --provider")
		}
		_, id, err := s.findUser(c.Context(), who)
		if err != nil {
			return err
		}
		return s.deleteData(c.Context(), id, client.Path("v2", "user", id, "data"), query, dryRun)
	}
	return c
}

func (s *shell) importsCommand() *cobra.Command {
	var who string
	var dryRun bool
	undo := s.calls(&cobra.Command{
		Use: "undo IMPORT", Short: "undo a finished import",
		Long: `Delete what a finished import stored, and restore the values that it replaced.
Values that later data has changed stay. --dry-run counts without changing anything.`,
		Example: examples("hale imports undo 0198… --user anna"),
		Args:    wantArgs("IMPORT"),
	})
	undo.Flags().StringVar(&who, "user", "", "owner of the data: user_id or client_user_id")
	undo.Flags().BoolVar(&dryRun, "dry-run", false, "count, and change nothing")
	undo.RunE = func(c *cobra.Command, args []string) error {
		if who == "" {
			return badUsagef("needs --user, a user_id or client_user_id")
		}
		_, id, err := s.findUser(c.Context(), who)
		if err != nil {
			return err
		}
		return s.deleteData(c.Context(), id, client.Path("v2", "user", id, "imports", args[0], "data"), url.Values{}, dryRun)
	}
	return noun(&cobra.Command{
		Use: "imports", Short: "undo imports",
		Example: examples("hale imports undo 0198… --user anna --dry-run"),
	}, undo)
}

// deletionState holds the fields of a deletion that the commands read.
type deletionState struct {
	ID        *string `json:"id"`
	Status    string  `json:"status"`
	Deleted   int64   `json:"deleted"`
	Resources map[string]struct {
		Deleted  int64 `json:"deleted"`
		Restored int64 `json:"restored"`
	} `json:"resources"`
}

var deletionView = view{
	id: "id",
	columns: []column{
		{"deletion", "id"},
		{"status", "status"},
		{"dry run", "dry_run"},
		{"deleted", "deleted"},
	},
}

// deleteData deletes, and waits for the end of a large deletion.
func (s *shell) deleteData(ctx context.Context, user, path string, query url.Values, dryRun bool) error {
	if dryRun {
		query.Set("dry_run", "true")
	}
	body, err := s.call(ctx, http.MethodDelete, path, query, nil)
	if err != nil {
		return err
	}
	var state deletionState
	if err := json.Unmarshal(body, &state); err != nil {
		return fmt.Errorf("unexpected answer: %w", err)
	}
	if state.Status == "running" && state.ID != nil {
		body, err = s.await(ctx, client.Path("v2", "user", user, "data", "deletions", *state.ID), waitedFor{label: "delete", unit: progress.Items, read: func(body []byte) (step, error) {
			state = deletionState{}
			if err := json.Unmarshal(body, &state); err != nil {
				return step{}, err
			}
			return step{done: state.Deleted, note: "values", over: hasEnded(state.Status), ok: state.Status == jobSucceeded}, nil
		}})
		if errors.Is(err, context.Canceled) {
			return withHint(errInterrupted, "the deletion continues on the server")
		}
		if err != nil {
			return err
		}
	}
	if err := s.show(deletionView, body); err != nil {
		return err
	}
	verb := "deleted"
	if dryRun {
		verb = "would be deleted"
	}
	if len(state.Resources) == 0 {
		s.sayDone("nothing %s", verb)
	}
	for _, name := range slices.Sorted(maps.Keys(state.Resources)) {
		r := state.Resources[name]
		note := ""
		if r.Restored > 0 {
			note = fmt.Sprintf(", %d of them restored to their former value", r.Restored)
		}
		s.sayDone("%s %s: %d%s", name, verb, r.Deleted, note)
	}
	return outcome("deletion", state.Status, "")
}
