package webhooks

import (
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/ids"
	"hale/internal/platform/teams"
)

// line is one endpoint's share of the deliverer: what it has in hand, who is
// posting, and what is known to wait in the database.
type line struct {
	d         *Deliverer
	team      uuid.UUID
	id        EndpointID
	transport *http.Transport
	pace      chan struct{} // whoever is in it may take the next token

	mu       sync.Mutex
	target   *target
	queues   [lanes]queue
	inHand   map[hand]struct{} // claimed and not yet recorded
	freed    []hand            // recorded while a claim was reading
	fresh    []*parcel         // handed over while a claim was reading
	wanted   [lanes]bool       // the database may have due rows
	reload   bool              // target is not the endpoint as it is now
	claiming bool
	offered  bool // waits for a claimer
	closed   bool
	checking bool      // a sweep found old rows: some may be marked as ours that are not in hand
	idle     bool      // and that although nothing was in hand
	unsure   bool      // rows may be marked as ours that are not in hand
	claimed  time.Time // when the last claim began
	pausing  bool      // the next claim waits for more to come together

	workers int
	posting int // how many of them have a parcel
	window  int // how many workers there may be
	turn    int
	bucket  bucket
	noted   time.Time // when the endpoint's health was last written

	retryAt time.Time // when the timer goes off; zero when it is not set
	timer   *time.Timer
}

// claimPause is the least time between two claims of a line that has work in
// hand. Each claim reads past what is in hand, so a few events more at a time
// save much of it; a line with nothing to do claims at once.
const claimPause = 2 * time.Millisecond

// fewest is the window of an endpoint that does not answer: enough to notice
// that it is back.
const fewest = 4

func newLine(d *Deliverer, team uuid.UUID, id EndpointID) *line {
	return &line{
		d: d, team: team, id: id,
		transport: newTransport(d.cfg.Guard, d.cfg.Dial, d.cfg.TLS),
		pace:      make(chan struct{}, 1),
		inHand:    map[hand]struct{}{},
		window:    maxInFlight,
	}
}

func teamID(id uuid.UUID) teams.ID { return ids.From[teams.Team](id) }

// poke says that there may be due rows in lanes.
func (l *line) poke(which ...int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, lane := range which {
		l.wanted[lane] = true
	}
	l.ask()
}

// changed looks at all lanes, and reads the endpoint anew when target is not of
// its present revision: what is queued goes out as it says now.
func (l *line) changed(revision int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wanted = [lanes]bool{true, true, true}
	l.noteRevision(revision)
	l.ask()
}

// noteRevision compares what is known with the present revision. l.mu is held.
func (l *line) noteRevision(present int64) {
	l.reload = l.reload || l.target != nil && l.target.revision != present
}

// found takes in what a sweep saw of the endpoint.
func (l *line) found(b *backlog, starting bool) {
	now := l.d.db.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	idle := len(l.inHand) == 0 && !l.claiming && !l.offered
	for lane, at := range b.earliest {
		switch {
		case at.IsZero():
		case at.After(now):
			l.setTimer(at)
		default:
			l.wanted[lane] = true
			if !starting && now.Sub(at) > overdue {
				l.checking, l.idle = true, l.idle || idle
			}
		}
	}
	l.noteRevision(b.revision)
	l.ask()
}

// ask offers the line to the claimers if a lane wants rows and has room, or the
// endpoint is to be read anew. l.mu is held, here and in what follows.
func (l *line) ask() {
	if l.offered || l.claiming || l.closed || l.pausing {
		return
	}
	for lane := range l.wanted {
		if l.room(lane) == 0 && !l.reload {
			continue
		}
		if wait := claimPause - l.d.db.Now().Sub(l.claimed); wait > 0 && len(l.inHand) > 0 {
			l.pause(wait)
			return
		}
		l.offered = true
		l.d.offer(l)
		return
	}
}

// pause asks again in a moment.
func (l *line) pause(wait time.Duration) {
	l.pausing = true
	time.AfterFunc(min(wait, claimPause), func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.pausing = false
		l.ask()
	})
}

// room is how many rows to claim of a lane: none until few are left, so that
// claims are large when there is much to do.
func (l *line) room(lane int) int {
	if have := l.queues[lane].len(); l.wanted[lane] && have <= maxInFlight {
		return claimSize - have
	}
	return 0
}

// setTimer makes sure that retries are looked for at a moment.
func (l *line) setTimer(at time.Time) {
	if l.closed || !l.retryAt.IsZero() && !at.Before(l.retryAt) {
		return
	}
	if l.timer != nil {
		l.timer.Stop()
	}
	l.retryAt = at
	l.timer = time.AfterFunc(max(0, at.Sub(l.d.db.Now())), func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.retryAt = time.Time{}
		l.wanted[laneRetry] = true
		l.ask()
	})
}

// release lets go of a recorded parcel.
func (l *line) release(h hand, retryAt time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.claiming {
		l.freed = append(l.freed, h) // the claim may have read the row as it was before
	} else {
		delete(l.inHand, h)
	}
	if !retryAt.IsZero() {
		l.setTimer(retryAt)
	}
}

// open lets the line work, again after a close.
func (l *line) open(yes bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed && yes {
		l.closed, l.target, l.window = false, nil, maxInFlight
	}
}

func (l *line) busy() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.inHand) > 0 || l.claiming || l.workers > 0
}

// close ends the line. Workers finish the post they are at.
func (l *line) close() {
	l.mu.Lock()
	l.closed = true
	if l.timer != nil {
		l.timer.Stop()
		l.retryAt = time.Time{}
	}
	var back []*parcel
	for lane := range l.queues {
		for p := l.queues[lane].pop(); p != nil; p = l.queues[lane].pop() {
			back = append(back, p)
		}
	}
	l.mu.Unlock()
	for _, p := range back {
		l.d.results.Add(result{line: l, parcel: p, fate: returned})
	}
	l.transport.CloseIdleConnections()
}

// random spreads retries; it is no secret.
func random() float64 { return rand.Float64() }
