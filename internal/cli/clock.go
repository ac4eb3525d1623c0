package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"hale/internal/platform/store"
)

func (s *shell) clockCommand() *cobra.Command {
	c := noun(&cobra.Command{
		Use: "clock", Short: "check and confirm the clock before old data is deleted",
		Long: `Check and confirm the clock before old data is deleted.

With a clock that is far ahead, all data looks old. So hale serve deletes nothing by
age while the clock looks wrong. With PostgreSQL, the clock looks wrong if it differs
from PostgreSQL's by more than a minute. With SQLite, it looks wrong if it is more
than 25 hours ahead of the last hourly check. A service that did not run for so long
cannot distinguish the pause from a wrong clock: confirm the clock.`,
		Example: examples("hale clock status", "hale clock confirm"),
	}, s.clockStatus(), s.clockConfirm())
	addSettings(c.PersistentFlags(), storageSettings...)
	return c
}

type clockLine struct {
	Now     time.Time `json:"now"`
	Trusted bool      `json:"trusted"`
	Problem string    `json:"problem,omitempty"`
}

var clockView = view{id: "now", columns: []column{{"now", "now"}, {"trusted", "trusted"}, {"problem", "problem"}}}

func (s *shell) clockStatus() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "show whether the clock is trusted",
		Example: examples("hale clock status -o json"),
		Args:    wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			return s.withDatabase(c, s.showClock)
		},
	}
}

func (s *shell) clockConfirm() *cobra.Command {
	return &cobra.Command{
		Use: "confirm", Short: "confirm that this machine's clock is right (SQLite)",
		Example: examples("hale clock confirm"),
		Args:    wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			return s.withDatabase(c, func(ctx context.Context, db *store.DB) error {
				if db.Engine() == store.SQLite {
					if err := db.ConfirmClock(ctx); err != nil {
						return err
					}
				}
				return s.showClock(ctx, db)
			})
		},
	}
}

func (s *shell) showClock(ctx context.Context, db *store.DB) error {
	line := clockLine{Now: s.now().UTC(), Trusted: true}
	err := db.ExamineClock(ctx)
	if errors.Is(err, store.ErrClock) {
		line.Trusted, line.Problem, err = false, err.Error(), nil
	}
	if err != nil {
		return err
	}
	return s.showValue(clockView, line)
}
