package app

import (
	"context"
	"sync"
	"time"

	"hale/internal/platform/store"
	"hale/internal/platform/webhooks"
)

const (
	// backlogInterval is the least time between two counts of waiting deliveries.
	backlogInterval = 10 * time.Second
	// backlogShare limits the counts to a fiftieth of the time: each reads the whole
	// backlog.
	backlogShare = 50
)

// watchBacklog counts the deliveries that wait, due or not. A receiver that is down has
// hardly any due delivery: its retries wait for hours.
func (a *App) watchBacklog() {
	var mu sync.Mutex
	var latest webhooks.Backlog
	a.workers.add("counting waiting deliveries", func(ctx context.Context) error {
		for {
			began := time.Now()
			var b webhooks.Backlog
			err := a.DB.Read(store.AsSystem(ctx), func(tx *store.Tx) (err error) {
				b, err = webhooks.CountBacklog(ctx, tx)
				return err
			})
			switch {
			case err == nil:
				mu.Lock()
				latest = b
				mu.Unlock()
			case ctx.Err() == nil:
				a.Log.WarnContext(ctx, "waiting deliveries cannot be counted", "error", err)
			}
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(max(backlogInterval, backlogShare*time.Since(began))):
			}
		}
	})
	gauge := func(name, help string, figure func(b webhooks.Backlog) float64) {
		a.Metrics.Gauge(name, help, func() float64 {
			mu.Lock()
			defer mu.Unlock()
			return figure(latest)
		})
	}
	gauge("webhook_waiting", "Deliveries to endpoints that are on and have not been sent, due or not.", func(b webhooks.Backlog) float64 { return float64(b.Waiting) })
	gauge("webhook_oldest_waiting_seconds", "Age of the oldest event of them.", func(b webhooks.Backlog) float64 {
		if b.Oldest.IsZero() {
			return 0
		}
		return max(0, a.DB.Now().Sub(b.Oldest).Seconds())
	})
	gauge("webhook_endpoints_off", "Endpoints that were switched off because everything failed.", func(b webhooks.Backlog) float64 { return float64(b.Off) })
}
