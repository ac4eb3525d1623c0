package cli

import (
	"context"

	"github.com/spf13/cobra"

	"hale/internal/app"
	"hale/internal/platform/store"
)

var waitingView = view{
	id:      "kind",
	columns: []column{{"waiting", "kind"}, {"count", "count"}, {"first", "first"}},
}

func (s *shell) resumeOutgoingCommand() *cobra.Command {
	var dryRun bool
	c := &cobra.Command{
		Use: "resume-outgoing", Short: "allow a restored copy or a rehearsal to send to other systems",
		Long: `Allow a restored copy or a rehearsal to send to other systems: webhooks, orders and
files to laboratories, requests to partners, SMS and e-mails. hale restore and hale
serve --hold-outgoing mark the database, and hale serve then sends nothing. Running
servers notice within a second.

Before you resume: the original must not run any more, and it may have sent a part
of these things after the backup was made. Webhooks have the same ids, so receivers
recognize them. Messages to patients do not. --dry-run only counts.`,
		Example: examples("hale resume-outgoing --dry-run", "hale resume-outgoing --data /var/lib/hale"),
		Args:    wantArgs(),
	}
	addSettings(c.Flags(), storageSettings...)
	c.Flags().BoolVar(&dryRun, "dry-run", false, "count what waits and change nothing")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return s.withDatabase(c, func(ctx context.Context, db *store.DB) error { return s.resumeOutgoing(ctx, db, dryRun) })
	}
	return c
}

func (s *shell) resumeOutgoing(ctx context.Context, db *store.DB, dryRun bool) error {
	hold, err := db.OutgoingHold(ctx)
	if err != nil {
		return err
	}
	if !hold.Active() {
		s.say("nothing to do: sending is not held")
		return nil
	}
	all, err := app.CountOutgoing(ctx, db)
	if err != nil {
		return err
	}
	if !dryRun {
		if err := db.ResumeOutgoing(ctx); err != nil {
			return err
		}
		s.sayDone("sending is allowed again; it was held since %s: %s", hold.Since.Format("2006-01-02 15:04:05Z07:00"), hold.Reason)
	} else {
		s.sayDone("held since %s: %s; nothing was changed", hold.Since.Format("2006-01-02 15:04:05Z07:00"), hold.Reason)
	}
	return s.showValue(waitingView, all)
}
