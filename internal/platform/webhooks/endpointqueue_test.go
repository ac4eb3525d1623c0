package webhooks

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/store/storetest"
)

func testQueue(t *testing.T) *endpointQueue { return testQueueAt(t, nil) }

// testQueueAt returns a queue with a clock. nil is the clock of the machine.
func testQueueAt(t *testing.T, now func() time.Time) *endpointQueue {
	q := newEndpointQueue(NewDeliverer(storetest.NewSQLite(t).Open(t, now), Config{}), uuid.New(), EndpointID(uuid.New()))
	q.target = &target{revision: 1}
	return q
}

func (q *endpointQueue) add(lane int) {
	c := &claimedDelivery{event: events.ID(uuid.New()), lane: lane, body: []byte("{}")}
	q.claimed[c.key()] = struct{}{}
	q.waiting[lane].push(c)
}

// When an endpoint has stopped answering, workers that exceed the window end. They
// do not use up the rate limit.
func TestExcessWorkersStop(t *testing.T) {
	q := testQueue(t)
	q.limit.setRate(1)
	q.add(laneNew)
	q.window, q.workers = leastWindow, leastWindow+1
	if c, _ := q.nextDelivery(); c != nil || q.workers != leastWindow || q.limit.tokens != 1 {
		t.Errorf("%d workers, %v tokens", q.workers, q.limit.tokens)
	}
	if c, _ := q.nextDelivery(); c == nil || q.workers != leastWindow || q.limit.tokens != 0 {
		t.Errorf("within the window: %d workers, %v tokens", q.workers, q.limit.tokens)
	}
}

// Nothing is posted to an endpoint that changed until it is read again.
func TestChangedEndpointIsReadBeforePosts(t *testing.T) {
	q := testQueue(t)
	q.add(laneNew)
	q.refresh(2)
	if c, _, _ := q.next(); c != nil || !q.needsTarget() {
		t.Error("a delivery goes out as the endpoint was before")
	}
	q.target = &target{revision: 2}
	if c, at, _ := q.next(); c == nil || at != q.target || q.needsTarget() {
		t.Error("a delivery does not go out as the endpoint is now")
	}
}

// Every eighth delivery is a retry or a replay while new events wait.
func TestLanesTakeTurns(t *testing.T) {
	q := testQueue(t)
	for lane := range lanes {
		for range 40 {
			q.add(lane)
		}
	}
	var got [lanes]int
	for range 40 {
		c, _, _ := q.next()
		got[c.lane]++
	}
	if got != [lanes]int{35, 5, 0} {
		t.Errorf("%v", got)
	}
}

// Claims are large: none is made before few deliveries wait, and a queue that has
// work pauses between two claims.
func TestClaimsAreLarge(t *testing.T) {
	clock := storetest.NewClock(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	q := testQueueAt(t, clock.Now)
	q.refresh(0)
	if most, pause := q.plan(); most != [lanes]int{claimSize, claimSize, claimSize} || pause != 0 {
		t.Errorf("at first %v after %v", most, pause)
	}
	for range maxInFlight + 1 {
		q.add(laneNew)
	}
	q.addEvents()
	if most, _ := q.plan(); most != [lanes]int{} {
		t.Errorf("with %d waiting: %v", maxInFlight+1, most)
	}
	q.waiting[laneNew].pop()
	if _, pause := q.plan(); pause <= 0 || pause > claimPause {
		t.Errorf("right after a claim: pause %v", pause)
	}
	clock.Advance(claimPause)
	if most, _ := q.plan(); most != [lanes]int{laneNew: claimSize - maxInFlight} {
		t.Errorf("later: %v", most)
	}
}

// A queue ends only when it has claimed nothing. So another queue of the same
// endpoint does not repeat a post in progress.
func TestQueueClosesWhenIdle(t *testing.T) {
	q := testQueue(t)
	q.add(laneNew)
	if q.close() {
		t.Error("closed with a claimed delivery")
	}
	q.target = &target{}
	c, _, _ := q.next()
	q.release(c.key(), time.Time{})
	if !q.close() {
		t.Error("not closed although idle")
	}
	q.accept([lanes]claim{{deliveries: []*claimedDelivery{c}}}, [lanes]int{claimSize})
	if len(q.claimed) != 0 {
		t.Error("a closed queue accepts a claim")
	}
}

// A bucket never lets more through than a second's worth and the rate.
func TestBucket(t *testing.T) {
	var b bucket
	b.setRate(10)
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	start, through := now, 0
	for range 1000 {
		wait := b.take(now)
		if wait == 0 {
			through++
			continue
		}
		now = now.Add(wait)
	}
	if most := 10 + 10*now.Sub(start).Seconds() + 1; float64(through) > most || float64(through) < most-3 {
		t.Errorf("%d in %v at 10 a second", through, now.Sub(start))
	}
	b.setRate(0)
	if b.take(now) != 0 {
		t.Error("no limit, and yet a wait")
	}
}
