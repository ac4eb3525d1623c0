package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"hale/internal/cli/client"
	"hale/internal/cli/progress"
)

func (s *shell) mergeDataCommand() *cobra.Command {
	var names []string
	var dryRun bool
	c := s.calls(&cobra.Command{
		Use: "merge", Short: "merge nights and workouts that are stored twice",
		Long: `Merge nights and workouts that are stored twice. They are versions of one record, or
sessions of one phone or app with most of their time in common. The newest version
stays. The others are deleted, with an event for each user and resource.

Data from before Hale compared versions may have such sessions; hale doctor counts
them. --dry-run counts by user without deleting.`,
		Example: examples("hale data merge --dry-run", "hale data merge", "hale data merge --user anna"),
		Args:    wantArgs(),
	})
	c.Flags().StringSliceVar(&names, "user", nil, "only this user: user_id or client_user_id; may be repeated")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "count, and delete nothing")
	c.RunE = func(c *cobra.Command, _ []string) error { return s.mergeData(c.Context(), names, dryRun) }
	return c
}

// mergedUser has the counts of one user.
type mergedUser struct {
	User    string `json:"user_id"`
	Deleted int64  `json:"deleted"`
}

var mergedView = view{id: "user_id", none: "nothing is stored twice", columns: []column{{"user", "user_id"}, {"deleted", "deleted"}}}

func (s *shell) mergeData(ctx context.Context, names []string, dryRun bool) error {
	ids, err := s.usersToExport(ctx, names)
	if err != nil {
		return err
	}
	all, total := []mergedUser{}, int64(0)
	for _, id := range ids {
		n, err := s.mergeUser(ctx, id, dryRun)
		if err != nil {
			return err
		}
		if n > 0 {
			all, total = append(all, mergedUser{id, n}), total+n
		}
	}
	if err := s.showValue(mergedView, all); err != nil {
		return err
	}
	verb := "deleted"
	if dryRun {
		verb = "would be deleted"
	}
	s.sayDone("%d older versions of %s %s", total, pluralOf(len(all), "user"), verb)
	return nil
}

// mergeUser deletes older versions of sessions that one user has twice, and returns their
// number. It starts no deletion if there are none.
func (s *shell) mergeUser(ctx context.Context, id string, dryRun bool) (int64, error) {
	path, query := client.Path("v2", "user", id, "data"), url.Values{"duplicates": {"true"}, "dry_run": {"true"}}
	var state deletionState
	for {
		body, err := s.call(ctx, http.MethodDelete, path, query, nil)
		if err != nil {
			return 0, err
		}
		if err := json.Unmarshal(body, &state); err != nil {
			return 0, fmt.Errorf("unexpected answer: %w", err)
		}
		if state.Deleted == 0 || dryRun || !query.Has("dry_run") {
			break
		}
		query.Del("dry_run")
	}
	if state.Status != "running" || state.ID == nil {
		return state.Deleted, nil
	}
	_, err := s.await(ctx, client.Path("v2", "user", id, "data", "deletions", *state.ID), waitedFor{label: "merge", unit: progress.Items, read: func(body []byte) (step, error) {
		state = deletionState{}
		if err := json.Unmarshal(body, &state); err != nil {
			return step{}, err
		}
		return step{done: state.Deleted, note: "sessions", over: hasEnded(state.Status), ok: state.Status == jobSucceeded}, nil
	}})
	return state.Deleted, err
}
