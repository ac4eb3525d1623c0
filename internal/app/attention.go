package app

import (
	"context"
	"fmt"
	"sync"
	"time"

	"hale/internal/labs/critical"
	"hale/internal/labs/matching"
	"hale/internal/labs/readiness"
	"hale/internal/platform/ops"
	"hale/internal/platform/store"
)

// attention counts the results that wait for a person.
type attention struct {
	mu       sync.Mutex
	critical critical.WaitingNotices
	inbox    matching.UnassignedCounts
	reviews  matching.ReviewCounts
	// lacks are the production teams that cannot order; connected reports whether
	// the networks file has a lab.
	lacks     []readiness.Lack
	connected func(lab string) bool
}

// attentionInterval is the time between two counts.
const attentionInterval = 10 * time.Second

// watchAttention counts in the background, so that a scrape never waits for the
// database.
func (a *App) watchAttention() {
	a.workers.add("counting results that wait for a person", func(ctx context.Context) error {
		for {
			if err := a.attention.count(store.AsSystem(ctx), a.DB); err != nil && ctx.Err() == nil {
				a.Log.WarnContext(ctx, "results that wait for a person cannot be counted", "error", err)
			}
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(attentionInterval):
			}
		}
	})
	gauge := func(name, help string, figure func(n *attention) float64) {
		a.Metrics.Gauge(name, help, func() float64 {
			a.attention.mu.Lock()
			defer a.attention.mu.Unlock()
			return figure(&a.attention)
		})
	}
	age := func(since time.Time) float64 {
		if since.IsZero() {
			return 0
		}
		return max(0, a.DB.Now().Sub(since).Seconds())
	}
	gauge("critical_results_open", "Critical results of production teams without an acknowledgement.", func(n *attention) float64 { return float64(n.critical.Open) })
	gauge("critical_results_escalated", "Those of them that were not acknowledged in time.", func(n *attention) float64 { return float64(n.critical.Escalated) })
	gauge("critical_result_oldest_seconds", "Age of the oldest of them.", func(n *attention) float64 { return age(n.critical.Oldest) })
	gauge("results_inbox_waiting", "Results without a team, and reports of rejected or blocked tests without an order, that wait for an operator.", func(n *attention) float64 { return float64(n.inbox.Waiting) })
	gauge("results_inbox_critical", "Critical ones of them.", func(n *attention) float64 { return float64(n.inbox.Critical) })
	gauge("results_inbox_status_reports", "Reports of rejected or blocked tests among them.", func(n *attention) float64 { return float64(n.inbox.WithoutResults) })
	gauge("results_inbox_oldest_seconds", "Age of the oldest of them.", func(n *attention) float64 { return age(n.inbox.Oldest) })
	gauge("results_review_waiting", "Results of production teams that wait for an operator.", func(n *attention) float64 { return float64(n.reviews.Waiting) })
	gauge("results_review_critical", "Critical ones of them.", func(n *attention) float64 { return float64(n.reviews.Critical) })
	gauge("results_review_oldest_seconds", "Age of the oldest of them.", func(n *attention) float64 { return age(n.reviews.Oldest) })
}

func (n *attention) count(ctx context.Context, db *store.DB) error {
	return db.Read(ctx, func(tx *store.Tx) error {
		waiting, err := critical.CountWaiting(ctx, tx)
		if err != nil {
			return err
		}
		inbox, err := matching.CountUnassigned(ctx, tx)
		if err != nil {
			return err
		}
		reviews, err := matching.CountReviews(ctx, tx)
		if err != nil {
			return err
		}
		lacks, err := readiness.Find(ctx, tx, n.connected)
		if err != nil {
			return err
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		n.critical, n.inbox, n.reviews, n.lacks = waiting, inbox, reviews, lacks
		return nil
	})
}

// details describes on /readyz what waits for a person. It never makes a node
// unready. The text has no counts, because any caller may read it.
func (n *attention) details() []ops.Detail {
	say := func(name, text string, waits func(n *attention) bool) ops.Detail {
		return ops.Detail{Name: name, Text: func() string {
			n.mu.Lock()
			defer n.mu.Unlock()
			if waits(n) {
				return text
			}
			return ""
		}}
	}
	return []ops.Detail{
		say("results_inbox", "results without a team, or reports of rejected tests, wait: hale results inbox list", func(n *attention) bool { return n.inbox.Waiting > 0 }),
		say("results_review", "results wait for an operator: hale results review list", func(n *attention) bool { return n.reviews.Waiting > 0 }),
		say("lab_ordering", "a production team cannot order laboratory tests yet: hale doctor says what to do", func(n *attention) bool { return len(n.lacks) > 0 }),
		say("critical_results", fmt.Sprintf("critical results were not acknowledged in time: hale results critical list --state %s", critical.Open), func(n *attention) bool { return n.critical.Escalated > 0 }),
	}
}
