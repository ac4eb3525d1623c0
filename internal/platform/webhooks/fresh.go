package webhooks

import (
	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
)

// Fresh deliveries of a line that keeps up are not looked for: the transaction
// that writes them hands them over. On PostgreSQL they are written as this
// node's, so that no other takes them; a node that dies with them in hand loses
// them with its lease, as everything it had claimed.

// Room names the lines of a team that keep up with what comes.
func (d *Deliverer) Room(team uuid.UUID) (endpoints []uuid.UUID, node uuid.UUID) {
	d.mu.Lock()
	own, stopping := d.byTeam[team], d.stopping
	d.mu.Unlock()
	if stopping {
		return nil, node
	}
	for _, l := range own {
		if l.keepsUp() {
			endpoints = append(endpoints, uuid.UUID(l.id))
		}
	}
	if d.cfg.Node != nil {
		node = d.cfg.Node.ID()
	}
	return endpoints, node
}

// keepsUp tells that nothing waits in the database before what is new, as far
// as is known, and that there is room in hand.
func (l *line) keepsUp() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.target != nil && !l.closed && !l.unsure && !l.wanted[laneFirst] && !l.claiming && !l.offered && !l.pausing &&
		l.queues[laneFirst].len() < claimSize
}

// Hand takes committed deliveries in, or gives them back.
func (d *Deliverer) Hand(team uuid.UUID, all []events.Fresh) {
	type taken struct {
		parcels  []*parcel
		revision int64
	}
	byEndpoint := map[EndpointID]*taken{}
	for i := range all {
		f := &all[i]
		of := byEndpoint[EndpointID(f.Endpoint)]
		if of == nil {
			of = &taken{}
			byEndpoint[EndpointID(f.Endpoint)] = of
		}
		of.revision = f.Revision
		of.parcels = append(of.parcels, &parcel{
			event: f.Event, seq: f.Seq, kind: f.Type, user: f.User, created: f.Created, due: f.Created, lane: laneFirst, body: f.Body,
		})
	}
	for id, of := range byEndpoint {
		d.mu.Lock()
		l := d.lines[id]
		d.mu.Unlock()
		if l == nil { // gone by now: a new one gives back what it gets, and ends with the next sweep if the endpoint is off
			l = d.line(team, id)
		}
		l.hand(of.parcels, of.revision)
	}
}

// hand puts parcels into the line's queue. Those of an endpoint that changed
// since, or is closed by now, are given back, and whoever claims next reads it
// anew.
func (l *line) hand(parcels []*parcel, revision int64) {
	l.mu.Lock()
	var back []*parcel
	switch {
	case l.closed || l.target == nil || l.target.revision != revision:
		back = parcels
	case l.claiming: // what the claim reads is not yet known
		l.fresh = append(l.fresh, parcels...)
	default:
		l.fresh = parcels
		l.takeFresh()
	}
	l.mu.Unlock()
	if len(back) > 0 {
		l.d.later(func() { l.giveBack(back) }) // recording waits for the writer, who may be the caller
	}
}

// later runs fn beside the posts, unless the deliverer is stopping: then what
// it has ends with its node's lease.
func (d *Deliverer) later(fn func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.stopping {
		d.posts.Go(fn)
	}
}

// takeFresh queues what was handed over. l.mu is held.
func (l *line) takeFresh() {
	if len(l.fresh) == 0 {
		return
	}
	for _, p := range l.fresh {
		if _, held := l.inHand[p.hand()]; held {
			continue // the claim found it first
		}
		l.inHand[p.hand()] = struct{}{}
		l.queues[laneFirst].push(p)
	}
	l.fresh = nil
	l.staff()
}

// giveBack leaves parcels to the next claim. SQLite marked nothing; and what a
// claim has found meanwhile is in hand, and not to be let go of.
func (l *line) giveBack(parcels []*parcel) {
	if l.d.db.Engine() == store.Postgres {
		for _, p := range l.notInHand(parcels) {
			l.d.results.Add(result{line: l, parcel: p, fate: returned})
		}
	}
	l.poke(laneFirst)
}

func (l *line) notInHand(parcels []*parcel) (others []*parcel) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range parcels {
		if _, held := l.inHand[p.hand()]; !held {
			others = append(others, p)
		}
	}
	return others
}
