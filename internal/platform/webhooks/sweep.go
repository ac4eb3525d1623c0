package webhooks

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
)

// sweep looks at every endpoint: it meets those that other nodes made, sets
// the timers of retries, and pokes what is due. It is what starts the work
// after a restart; later it should find only what other nodes left behind.
func (d *Deliverer) sweep(ctx context.Context, starting bool) {
	var all []backlog
	err := d.db.Read(ctx, func(tx *store.Tx) (err error) {
		all, err = readBacklogs(ctx, tx)
		return err
	})
	if err != nil {
		d.cfg.Log.ErrorContext(ctx, "looking for due deliveries", "error", err)
		return
	}
	d.noteOldest(all)
	on := make(map[EndpointID]bool, len(all))
	for i := range all {
		if all[i].holding {
			d.hold(all[i].team, all[i].endpoint)
			continue
		}
		on[all[i].endpoint] = true
		d.line(all[i].team, all[i].endpoint).found(&all[i], starting)
	}
	for _, l := range d.others(on) {
		d.drop(l)
	}
}

func (d *Deliverer) noteOldest(all []backlog) {
	now := d.db.Now()
	var oldest time.Time
	for i := range all {
		for _, at := range all[i].earliest {
			if !all[i].holding && !at.IsZero() && at.Before(now) && (oldest.IsZero() || at.Before(oldest)) {
				oldest = at
			}
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.oldest = oldest
}

// refresh reloads the endpoints that changed and pokes all that is due for
// their teams.
func (d *Deliverer) refresh(ctx context.Context) {
	d.mu.Lock()
	changed := d.reload
	d.reload = map[uuid.UUID]bool{}
	d.mu.Unlock()
	for team := range changed {
		if err := d.refreshTeam(ctx, team); err != nil {
			d.cfg.Log.ErrorContext(ctx, "reading endpoints", "error", err)
		}
	}
}

func (d *Deliverer) refreshTeam(ctx context.Context, team uuid.UUID) error {
	on := map[EndpointID]int64{} // by revision
	err := d.db.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Query(ctx, `SELECT id, revision, hold_before IS NOT NULL FROM webhook_endpoints
			WHERE team_id = $1 AND state = 'on' AND deleted_at IS NULL`, team)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id EndpointID
			var revision int64
			var holding bool
			if err := rows.Scan(&id, &revision, &holding); err != nil {
				return err
			}
			if holding {
				d.hold(team, id)
				continue
			}
			on[id] = revision
		}
		return rows.Err()
	})
	if err != nil {
		return err
	}
	d.mu.Lock()
	known := slices.Clone(d.byTeam[team])
	d.mu.Unlock()
	for _, l := range known {
		if on[l.id] == 0 {
			d.drop(l)
		}
	}
	for id, revision := range on {
		d.line(team, id).changed(revision)
	}
	return nil
}

// line finds or makes the line of an endpoint that is on.
func (d *Deliverer) line(team uuid.UUID, id EndpointID) *line {
	d.mu.Lock()
	l := d.lines[id]
	if l == nil {
		l = newLine(d, team, id)
		d.lines[id] = l
		d.byTeam[team] = append(slices.Clip(d.byTeam[team]), l)
		delete(d.looked, team)
	}
	stopping := d.stopping
	d.mu.Unlock()
	l.open(!stopping)
	return l
}

// others are the lines whose endpoints are not on any more.
func (d *Deliverer) others(on map[EndpointID]bool) []*line {
	d.mu.Lock()
	defer d.mu.Unlock()
	var rest []*line
	for id, l := range d.lines {
		if !on[id] {
			rest = append(rest, l)
		}
	}
	return rest
}

// drop closes the line of an endpoint that is off or deleted. The line stays
// known while posts of it are on their way, so that they are not made twice
// when the endpoint is switched on again.
func (d *Deliverer) drop(l *line) {
	l.close()
	d.mu.Lock()
	defer d.mu.Unlock()
	if l.busy() {
		return
	}
	delete(d.lines, l.id)
	rest := slices.DeleteFunc(slices.Clone(d.byTeam[l.team]), func(other *line) bool { return other == l })
	d.byTeam[l.team] = rest
	if len(rest) == 0 {
		delete(d.byTeam, l.team)
	}
}
