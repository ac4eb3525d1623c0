package jobs

import (
	"context"
	"time"

	"hale/internal/platform/store"
)

// A node compares its clock with the clock of the database every clockCheckEvery.
const clockCheckEvery = time.Minute

// compareClocks logs when the clocks of this node and the database start to differ, and
// when they agree again. Due times and displayed times depend on the node's clock.
// Leases do not.
func (n *Node) compareClocks(ctx context.Context) {
	skew, err := n.db.Skew(ctx)
	if err != nil {
		n.log.WarnContext(ctx, "comparing clocks", "error", err)
		return
	}
	switch skewed := skew.Abs() > store.MaxSkew; {
	case skewed == n.skewed:
		return
	case skewed:
		n.log.WarnContext(ctx, "the clock of this machine differs from the database's: synchronize both with the same time server",
			"database_ahead_by", skew.Round(time.Millisecond).String())
	default:
		n.log.InfoContext(ctx, "the clocks of this machine and the database agree again")
	}
	n.skewed = !n.skewed
}
