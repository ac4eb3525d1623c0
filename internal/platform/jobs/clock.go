package jobs

import (
	"context"
	"time"

	"hale/internal/platform/store"
)

// compareEvery is how often a node compares its clock with the database's.
const compareEvery = time.Minute

// compareClocks says in the log when this node's clock and that of the database
// no longer agree, and when they do again. Leases do not depend on it; when
// things are due, and the times that people read, do.
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
		n.log.WarnContext(ctx, "the clock of this machine differs from the database's: let both follow the same time server",
			"database_ahead_by", skew.Round(time.Millisecond).String())
	default:
		n.log.InfoContext(ctx, "the clocks of this machine and the database agree again")
	}
	n.skewed = !n.skewed
}
